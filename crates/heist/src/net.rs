//! TCP, UDP and Unix sockets, pipes, and the lookup of names.
//!
//! A socket belongs to the runtime in which it was made, and may be used by any task of any
//! runtime. It takes part in a reactor only when a task first waits for it, with the reactor of the
//! worker that runs the task; an operation that need not wait costs one system call.
//!
//! | type | what |
//! |---|---|
//! | [`TcpListener`], [`TcpStream`] | TCP connections; [`TcpSocket`] for options that have to be set before |
//! | [`UdpSocket`] | datagrams between machines |
//! | [`UnixListener`], [`UnixStream`] | connections on one machine; [`UnixSocket`] for both in steps |
//! | [`UnixDatagram`] | datagrams on one machine |
//! | [`unix::pipe`] | pipes, and FIFOs in the file system |
//! | [`lookup_host`] | the addresses of a name |

// The macros first: what comes behind them can use them.
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
mod ip_addr;
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
