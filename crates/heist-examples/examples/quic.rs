//! QUIC by quinn: a server that sends back what each stream brings, and a client with several
//! streams on one connection.

use heist::quinn::Runtime;
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig};
use std::error::Error;
use std::net::UdpSocket;
use std::sync::Arc;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

type BoxError = Box<dyn Error + Send + Sync>;

#[heist::main]
pub async fn main() -> Result<(), BoxError> {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = issued.cert.der().clone();
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der())?;
    let server = endpoint(Some(ServerConfig::with_single_cert(vec![certificate.clone()], key)?))?;
    let address = server.local_addr()?;
    let serving = heist::spawn(serve(server.clone()));

    let mut trusted = RootCertStore::empty();
    trusted.add(certificate)?;
    let client = endpoint(None)?;
    let config = ClientConfig::with_root_certificates(Arc::new(trusted))?;
    let connection = client.connect_with(config, address, "localhost")?.await?;
    let streams = (1..=4_usize).map(|number| {
        let connection = connection.clone();
        heist::spawn(async move {
            let sent = vec![number as u8; number * 100_000];
            let (mut send, mut receive) = connection.open_bi().await?;
            let (_, echo) = heist::try_join!(
                async {
                    send.write_all(&sent).await?;
                    Ok(send.finish()?)
                },
                async { Ok::<_, BoxError>(receive.read_to_end(sent.len()).await?) }
            )?;
            assert!(echo == sent, "stream {number} brought back something else");
            Ok::<_, BoxError>(echo.len())
        })
    });
    for stream in streams.collect::<Vec<_>>() {
        println!("a stream brought back {} bytes", stream.await??);
    }
    connection.close(0_u32.into(), b"done");
    client.wait_idle().await;
    server.close(0_u32.into(), b"done");
    serving.await?;
    server.wait_idle().await;
    Ok(())
}

fn endpoint(server: Option<ServerConfig>) -> Result<Endpoint, BoxError> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    Ok(Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(Runtime))?)
}

/// Until the endpoint is closed. Every connection is a task, and every stream.
pub async fn serve(endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        heist::spawn(async move {
            let connection = incoming.await?;
            while let Ok((mut send, mut receive)) = connection.accept_bi().await {
                heist::spawn(async move {
                    heist::io::copy(&mut receive, &mut send).await?;
                    Ok::<_, BoxError>(send.finish()?)
                });
            }
            Ok::<_, BoxError>(())
        });
    }
}
