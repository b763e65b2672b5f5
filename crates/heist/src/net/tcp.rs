//! Types that belong to [`TcpStream`] and are rarely named.

pub(super) mod listener;
mod options;
pub(super) mod socket;
mod split;
pub(super) mod stream;

use listener::TcpListener;
use socket::TcpSocket;
pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
use stream::TcpStream;
