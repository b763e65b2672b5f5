//! Traits for asynchronous I/O and their helpers, and the standard streams of the process.
//!
//! The traits ([`AsyncRead`], [`AsyncWrite`], [`AsyncBufRead`], [`AsyncSeek`] and their extensions)
//! and helpers ([`BufReader`], [`BufWriter`], [`copy`], [`duplex`], [`split`] …) are those of the
//! tokio crate. The helpers do not take part in the budget of [`task::coop`](crate::task::coop);
//! see [`sync`](crate::sync).
//!
//! [`stdin`], [`stdout`] and [`stderr`] are heist's, and use blocking threads.
//! [`unix::AsyncFd`] waits for file descriptors of other crates. With the feature `futures-io`, the
//! module `compat` converts to and from the traits of the futures-io crate.
//!
//! # Examples
//!
//! ```
//! use heist::io::{self, AsyncReadExt, AsyncWriteExt};
//!
//! # #[heist::main(flavor = "current_thread")]
//! # async fn main() -> io::Result<()> {
//! let (mut here, mut there) = io::duplex(64);
//! here.write_all(b"over there").await?;
//! here.shutdown().await?;
//! let mut text = String::new();
//! there.read_to_string(&mut text).await?;
//! assert_eq!(text, "over there");
//! # Ok(())
//! # }
//! ```

mod async_fd;
pub(crate) mod background;
#[cfg(feature = "futures-io")]
pub mod compat;
mod stdio;

pub use crate::reactor::io::{Interest, Ready};
pub use crate::tokio_parts::io::*;
pub use stdio::{Stderr, Stdin, Stdout, stderr, stdin, stdout};

/// File descriptors of your own.
pub mod unix {
    #[allow(deprecated, reason = "Tokio still has the name")]
    pub use super::async_fd::AsyncFdTryNewError;
    pub use super::async_fd::{
        AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError,
    };
}
