//! gRPC by tonic. Its client and its server call Tokio's runtime by name; with the feature
//! `tokio-context` they find one. The same service runs on heist's workers if `heist::hyper` serves
//! it.
//!
//! No `.proto` file here, to need no compiler for it: messages are text, by the codec in `text.rs`.

mod text;

use heist::sync::oneshot;
use hyper::http::uri::PathAndQuery;
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use text::Text;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::transport::Endpoint;
use tonic::transport::server::{Server, TcpIncoming};
use tonic::{Request, Response, Status};

#[heist::main]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let address = incoming.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::builder()
        .add_service(Greeter)
        .serve_with_incoming_shutdown(incoming, async { drop(stopped.await) });
    let server = heist::spawn(server);
    println!("served by tonic: {}", greet(address.to_string(), "you").await?);
    let rude = greet(address.to_string(), "").await.expect_err("nobody has no name");
    println!("refused: {rude}");
    stop.send(()).expect("the server waits for it");
    server.await??;

    let listener = heist::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    heist::spawn(heist::hyper::serve(listener, Routes::new(Greeter).prepare()).into_future());
    println!("served by heist: {}", greet(address.to_string(), "you").await?);
    Ok(())
}

async fn greet(address: String, name: &str) -> Result<String, Box<dyn Error>> {
    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect().await?;
    let mut client = tonic::client::Grpc::new(channel);
    client.ready().await?;
    let path = PathAndQuery::from_static("/demo.Greeter/Greet");
    Ok(client.unary(Request::new(name.to_owned()), path, Text).await?.into_inner())
}

#[derive(Clone)]
struct Greeter;

impl NamedService for Greeter {
    const NAME: &'static str = "demo.Greeter";
}

impl tower::Service<http::Request<Body>> for Greeter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let greet = tower::service_fn(|name: Request<String>| async move {
            match name.into_inner() {
                name if name.is_empty() => Err(Status::invalid_argument("what is your name?")),
                name => Ok(Response::new(format!("hello, {name}"))),
            }
        });
        Box::pin(async move { Ok(tonic::server::Grpc::new(Text).unary(greet, request).await) })
    }
}
