//! TLS before HTTP: a handshake of `serve`.

use crate::support::{
    ask, ask2, certificate, connect, connector, hello, http1, http2, localhost, runtime,
    server_config, talk, trust,
};
use heist::hyper::serve;
use heist::io::AsyncReadExt;
use heist::net::TcpListener;
use heist::sync::oneshot;
use heist::task::JoinHandle;
use std::net::SocketAddr;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::CertificateDer;

struct Server {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn start() -> Server {
    let issued = certificate();
    let acceptor = TlsAcceptor::from(server_config(&issued));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = serve(listener, hello())
        .with_handshake(move |stream| acceptor.accept(stream))
        .with_graceful_shutdown(async { drop(stopped.await) });
    let task = heist::spawn(server.into_future());
    Server { address, certificate: issued.cert.der().clone(), stop, task }
}

async fn assert_serves(server: &Server) {
    let connector = connector(trust(&[&server.certificate]));
    let stream = connector.connect(localhost(), connect(server.address).await).await.unwrap();
    let mut sender = http1(stream).await;
    for _ in 0..3 {
        assert_eq!(ask(&mut sender, "/").await, (200, "hello".into()));
    }
    let stream = connector.connect(localhost(), connect(server.address).await).await.unwrap();
    assert_eq!(ask2(http2(stream).await, "/").await, (200, "hello".into()));
}

#[test]
fn both_versions_are_served() {
    runtime().block_on(async { assert_serves(&start().await).await });
}

#[test]
fn clients_without_trust_or_without_tls_harm_nobody() {
    runtime().block_on(async {
        let server = start().await;
        let stranger = certificate();
        for trusted in [trust(&[]), trust(&[stranger.cert.der()])] {
            let stream = connect(server.address).await;
            let error = connector(trusted).connect(localhost(), stream).await.unwrap_err();
            assert!(error.to_string().contains("invalid peer certificate"), "{error}");
        }
        for plain in [&b""[..], b"GET / HTTP/1.1\r\nhost: a\r\n\r\n", &[0; 70_000], &[0x16, 3, 1]] {
            let answer = talk(server.address, plain).await;
            assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
        }
        assert_serves(&server).await;
    });
}

/// It may take its time, but not that of others, and not that of a server which ends.
#[test]
fn a_handshake_that_hangs_delays_nobody() {
    runtime().block_on(async {
        let server = start().await;
        let mut hangs = connect(server.address).await;
        assert_serves(&server).await;
        server.stop.send(()).unwrap();
        server.task.await.unwrap();
        assert_eq!(hangs.read(&mut [0]).await.unwrap(), 0);
    });
}
