//! quinn on heist.

use crate::quic_example::serve;
use crate::support::{certificate, runtime, trust};
use heist::quinn::Runtime as QuicRuntime;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use quinn::{
    AsyncUdpSocket, ClientConfig, ConnectionError, Endpoint, EndpointConfig, IdleTimeout, Runtime,
    ServerConfig, TransportConfig,
};
use std::future::poll_fn;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn endpoint(server: Option<ServerConfig>) -> Endpoint {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(QuicRuntime)).unwrap()
}

/// A server that sends back what it gets, and what it shows to be trusted.
fn start() -> (Endpoint, SocketAddr, CertificateDer<'static>) {
    let issued = certificate();
    let certificate = issued.cert.der().clone();
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::with_single_cert(vec![certificate.clone()], key).unwrap();
    let server = endpoint(Some(config));
    let address = server.local_addr().unwrap();
    heist::spawn(serve(server.clone()));
    (server, address, certificate)
}

fn trusting(certificate: &CertificateDer<'static>) -> ClientConfig {
    ClientConfig::with_root_certificates(Arc::new(trust(&[certificate]))).unwrap()
}

/// Sends `length` bytes and gets them back.
async fn echo(client: &Endpoint, config: ClientConfig, server: SocketAddr, length: usize) {
    let connection = client.connect_with(config, server, "localhost").unwrap().await.unwrap();
    let sent: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    let write = async {
        send.write_all(&sent).await.unwrap();
        send.finish().unwrap();
    };
    let ((), received) = heist::join!(write, receive.read_to_end(length));
    assert!(received.unwrap() == sent);
    connection.close(0_u32.into(), b"");
}

#[test]
fn long_streams_on_many_connections_arrive_whole() {
    runtime().block_on(async {
        let (_server, address, certificate) = start();
        let client = endpoint(None);
        let connections: Vec<_> = (0..8)
            .map(|number| {
                let (client, config) = (client.clone(), trusting(&certificate));
                heist::spawn(async move { echo(&client, config, address, number * 100_000).await })
            })
            .collect();
        for connection in connections {
            connection.await.unwrap();
        }
        client.wait_idle().await;
    });
}

#[test]
fn garbage_and_strangers_harm_nobody() {
    runtime().block_on(async {
        let (_server, address, certificate) = start();
        let noise = UdpSocket::bind("127.0.0.1:0").unwrap();
        for length in [0, 1, 20, 1200, 9000] {
            let bytes: Vec<u8> = (0..length).map(|n: u32| (n * 167 + 0xC3) as u8).collect();
            noise.send_to(&bytes, address).unwrap();
        }
        let client = endpoint(None);
        let stranger = trusting(crate::support::certificate().cert.der());
        let refused = client.connect_with(stranger, address, "localhost").unwrap().await;
        assert!(matches!(refused, Err(ConnectionError::TransportError(_))), "{refused:?}");
        echo(&client, trusting(&certificate), address, 1000).await;
    });
}

/// Nobody answers: only a timer can end it. And a port where nobody listens is no reason for the
/// endpoint to give up.
#[test]
fn a_connection_without_an_answer_times_out() {
    runtime().block_on(async {
        let (_server, address, certificate) = start();
        let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut transport = TransportConfig::default();
        let limit = Duration::from_millis(300);
        transport.max_idle_timeout(Some(IdleTimeout::try_from(limit).unwrap()));
        let mut config = trusting(&certificate);
        config.transport_config(Arc::new(transport));
        let client = endpoint(None);
        let since = Instant::now();
        let connection = client.connect_with(config, nobody, "localhost").unwrap().await;
        assert_eq!(connection.unwrap_err(), ConnectionError::TimedOut);
        assert!(since.elapsed() >= limit);
        echo(&client, trusting(&certificate), address, 1000).await;
    });
}

/// Whatever connections and endpoints are at, and whatever lock they share.
#[test]
fn a_runtime_may_end_in_the_middle_of_it() {
    for millis in 0..20 {
        let runtime = runtime();
        runtime.block_on(async {
            let (_server, address, certificate) = start();
            let client = endpoint(None);
            for _ in 0..4 {
                let (client, config) = (client.clone(), trusting(&certificate));
                heist::spawn(async move {
                    loop {
                        echo(&client, config.clone(), address, 20_000).await;
                    }
                });
            }
            heist::time::sleep(Duration::from_millis(millis)).await;
        });
        drop(runtime);
    }
}

/// A poller can be asked again and again.
#[test]
fn pollers_and_timers_are_used_again() {
    runtime().block_on(async {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket: Arc<dyn AsyncUdpSocket> = QuicRuntime.wrap_udp_socket(socket).unwrap();
        let mut pollers = [socket.clone().create_io_poller(), socket.create_io_poller()];
        for _ in 0..3 {
            for poller in &mut pollers {
                poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.unwrap();
            }
        }
        let start = QuicRuntime.now();
        let mut timer = QuicRuntime.new_timer(start + Duration::from_secs(3600));
        for millis in [20, 40] {
            let deadline = start + Duration::from_millis(millis);
            timer.as_mut().reset(deadline);
            poll_fn(|cx| timer.as_mut().poll(cx)).await;
            assert!(QuicRuntime.now() >= deadline);
        }
    });
}
