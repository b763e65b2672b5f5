//! TLS by tokio-rustls on both ends of a socket of heist's, with a certificate made on the spot.

use heist::io::{AsyncReadExt, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use std::error::Error;
use std::sync::Arc;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

#[heist::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = issued.cert.der().clone();
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der())?;
    let server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)?;

    let acceptor = TlsAcceptor::from(Arc::new(server));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    heist::spawn(serve(listener, acceptor));

    // A client that does not know the certificate rejects it. The server goes on.
    let refused =
        connect(RootCertStore::empty()).connect(name()?, TcpStream::connect(address).await?);
    println!("client: {}", refused.await.expect_err("nobody has signed it"));

    let mut trusted = RootCertStore::empty();
    trusted.add(certificate)?;
    let stream = TcpStream::connect(address).await?;
    let mut stream = connect(trusted).connect(name()?, stream).await?;
    stream.write_all(b"a secret").await?;
    stream.shutdown().await?;
    let mut echo = String::new();
    stream.read_to_string(&mut echo).await?;
    assert_eq!(echo, "a secret");
    println!("client: got back {echo:?}, by {:?}", stream.get_ref().1.protocol_version());
    Ok(())
}

/// Sends back what it gets.
pub async fn serve(listener: TcpListener, acceptor: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let handshake = acceptor.accept(stream);
        heist::spawn(async move {
            match handshake.await {
                Ok(stream) => {
                    let (mut reader, mut writer) = heist::io::split(stream);
                    // A client that goes away in the middle is no fault of ours.
                    let _ = heist::io::copy(&mut reader, &mut writer).await;
                    let _ = writer.shutdown().await;
                }
                Err(error) => println!("server: not served: {error}"),
            }
        });
    }
}

fn connect(trusted: RootCertStore) -> TlsConnector {
    let config = ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

fn name() -> Result<ServerName<'static>, Box<dyn Error>> {
    Ok(ServerName::try_from("localhost")?)
}
