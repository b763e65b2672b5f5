//! TCP, UDP and Unix sockets, pipes, and DNS lookups.
//!
//! | type | use |
//! |---|---|
//! | [`TcpListener`], [`TcpStream`] | TCP connections; [`TcpSocket`] sets options before they exist |
//! | [`UdpSocket`] | UDP datagrams |
//! | [`UnixListener`], [`UnixStream`] | connections within one machine; [`UnixSocket`] makes both in steps |
//! | [`UnixDatagram`] | datagrams within one machine |
//! | [`unix::pipe`] | pipes, and FIFOs in the file system |
//! | [`lookup_host`] | the addresses of a host name |
//!
//! A socket belongs to the runtime in which it was made, which must have
//! [`enable_io`](crate::runtime::Builder::enable_io), and may be used by tasks of any runtime. It
//! is registered with the reactor of a worker when a task first waits for it; an operation that
//! need not wait costs one system call.
//!
//! # Examples
//!
//! An echo server and its client:
//!
//! ```
//! use heist::io::{self, AsyncReadExt, AsyncWriteExt};
//! use heist::net::{TcpListener, TcpStream};
//!
//! #[heist::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let addr = listener.local_addr()?;
//!     heist::spawn(async move {
//!         let (mut stream, _) = listener.accept().await?;
//!         let (mut read, mut write) = stream.split();
//!         io::copy(&mut read, &mut write).await
//!     });
//!
//!     let mut client = TcpStream::connect(addr).await?;
//!     client.write_all(b"echo").await?;
//!     let mut answer = [0; 4];
//!     client.read_exact(&mut answer).await?;
//!     assert_eq!(&answer, b"echo");
//!     Ok(())
//! }
//! ```
//!
//! # Polling and `try_` methods
//!
//! Most operations come in three forms: an `async` method; a `poll_` method for hand-written
//! futures; and a `try_` method, which never waits and returns
//! [`WouldBlock`](std::io::ErrorKind::WouldBlock) instead. Of several tasks that poll the same
//! direction of a socket, only the most recent one is woken; the `async` methods have no such
//! limit.

// The macros first: the modules below use them.
#[macro_use]
mod methods;
#[macro_use]
mod datagram;
#[macro_use]
mod halves;
#[macro_use]
mod ip_options;

mod accept;
mod addr;
mod receive;
mod source;
pub mod tcp;
mod udp;
pub mod unix;

pub use addr::{ToSocketAddrs, lookup_host};
pub use tcp::listener::TcpListener;
pub use tcp::socket::TcpSocket;
pub use tcp::stream::TcpStream;
pub use udp::UdpSocket;
pub use unix::datagram::UnixDatagram;
pub use unix::listener::UnixListener;
pub use unix::socket::UnixSocket;
pub use unix::stream::UnixStream;
