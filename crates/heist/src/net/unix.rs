//! Types that belong to Unix sockets and are rarely named, and [`pipe`].

mod credentials;
pub(super) mod datagram;
pub(super) mod listener;
pub mod pipe;
pub(super) mod socket;
mod socket_addr;
mod split;
pub(super) mod stream;

pub use credentials::{UCred, gid_t, pid_t, uid_t};
use datagram::UnixDatagram;
use listener::UnixListener;
use socket::UnixSocket;
pub use socket_addr::SocketAddr;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use stream::UnixStream;
