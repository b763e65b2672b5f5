//! What the tests share.

use axum::Router;
use axum::routing::get;
use heist::hyper::{Executor, Io, serve};
use heist::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use heist::net::{TcpListener, TcpStream};
use heist::runtime::{Builder, Runtime};
use heist::sync::oneshot;
use heist::task::JoinHandle;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use rcgen::{CertifiedKey, KeyPair};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

/// Without a Tokio runtime beside it: a crate that calls one would panic.
pub fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_io().enable_time().build().unwrap()
}

/// For crates that call Tokio's runtime.
pub fn runtime_with_tokio() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// A server that runs.
pub struct Server {
    pub address: SocketAddr,
    pub stop: oneshot::Sender<()>,
    pub task: JoinHandle<()>,
}

impl Server {
    pub async fn start(router: Router) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let server = serve(listener, router).with_graceful_shutdown(async { drop(stopped.await) });
        Server { address, stop, task: heist::spawn(server.into_future()) }
    }

    /// One that says "hello".
    pub async fn hello() -> Server {
        Server::start(hello()).await
    }

    /// Tells it to end, and waits until it takes no more connections.
    pub async fn close(self) -> JoinHandle<()> {
        self.stop.send(()).unwrap();
        while TcpStream::connect(self.address).await.is_ok() {
            heist::task::yield_now().await;
        }
        self.task
    }
}

pub fn hello() -> Router {
    Router::new().route("/", get(|| async { "hello" }))
}

pub type Http1 = http1::SendRequest<Empty<Bytes>>;
pub type Http2 = http2::SendRequest<Empty<Bytes>>;

pub async fn http1<T>(stream: T) -> Http1
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(Io::new(stream)).await.unwrap();
    heist::spawn(connection);
    sender
}

pub async fn http2<T>(stream: T) -> Http2
where
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http2::handshake(Executor, Io::new(stream)).await.unwrap();
    heist::spawn(connection);
    sender
}

pub async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.unwrap()
}

pub fn request(path: &str) -> Request<Empty<Bytes>> {
    let uri = format!("http://localhost{path}");
    Request::get(uri).header("host", "localhost").body(Empty::new()).unwrap()
}

/// Asks on a connection that is kept; the status and the text.
pub async fn ask(sender: &mut Http1, path: &str) -> (u16, String) {
    sender.ready().await.unwrap();
    read(sender.send_request(request(path)).await.unwrap()).await
}

pub async fn ask2(mut sender: Http2, path: &str) -> (u16, String) {
    read(sender.send_request(request(path)).await.unwrap()).await
}

async fn read(answer: hyper::Response<hyper::body::Incoming>) -> (u16, String) {
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.into()).unwrap())
}

/// Asserts that a well-behaved client is served.
pub async fn assert_serves(address: SocketAddr) {
    let mut sender = http1(connect(address).await).await;
    assert_eq!(ask(&mut sender, "/").await, (200, "hello".into()));
    let sender = http2(connect(address).await).await;
    assert_eq!(ask2(sender, "/").await, (200, "hello".into()));
}

/// Sends these bytes and no more, and takes what comes back until the server closes.
pub async fn talk(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = connect(address).await;
    // The server may close before it has read everything: whatever then fails is as it should be.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

/// For `localhost`, signed by itself.
pub fn certificate() -> CertifiedKey<KeyPair> {
    rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

pub fn server_config(issued: &CertifiedKey<KeyPair>) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::try_from(issued.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    Arc::new(config.with_single_cert(vec![issued.cert.der().clone()], key).unwrap())
}

pub fn trust(certificates: &[&CertificateDer<'static>]) -> RootCertStore {
    let mut trusted = RootCertStore::empty();
    certificates.iter().for_each(|&certificate| trusted.add(certificate.clone()).unwrap());
    trusted
}

pub fn connector(trusted: RootCertStore) -> TlsConnector {
    let config = ClientConfig::builder().with_root_certificates(trusted).with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

pub fn localhost() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}
