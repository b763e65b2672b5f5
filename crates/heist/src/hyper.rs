//! Adapters that run [hyper] on heist, and a server. Requires the feature `hyper`.
//!
//! hyper leaves tasks, timers and sockets to a runtime. [`Executor`], [`Timer`] and [`Io`] provide
//! them.
//!
//! [`serve`] combines them into a server for an axum `Router`, tonic's `Routes`, or any other tower
//! service, with HTTP/1 and HTTP/2. For more control, write the loop yourself:
//!
//! ```
//! use ::hyper::body::Incoming;
//! use ::hyper::server::conn::http1;
//! use ::hyper::service::service_fn;
//! use ::hyper::{Request, Response};
//! use heist::hyper::{Io, Timer};
//! use heist::io::{AsyncReadExt, AsyncWriteExt};
//! use heist::net::{TcpListener, TcpStream};
//! use std::convert::Infallible;
//!
//! # fn main() -> std::io::Result<()> { heist::runtime::Runtime::new()?.block_on(async {
//! async fn hello(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
//!     Ok(Response::new(format!("hello, {}", request.uri().path())))
//! }
//!
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! heist::spawn(async move {
//!     while let Ok((stream, _)) = listener.accept().await {
//!         let mut http = http1::Builder::new();
//!         heist::spawn(http.timer(Timer).serve_connection(Io::new(stream), service_fn(hello)));
//!     }
//! });
//!
//! let mut client = TcpStream::connect(address).await?;
//! client.write_all(b"GET /you HTTP/1.0\r\n\r\n").await?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer).await?;
//! assert!(answer.ends_with("hello, /you"), "{answer}");
//! # Ok(()) }) }
//! ```

mod connection;
mod executor;
mod io;
mod listener;
mod serve;
mod timer;

pub use executor::Executor;
pub use io::Io;
pub use listener::Listener;
pub use serve::{Serve, serve};
pub use timer::Timer;
