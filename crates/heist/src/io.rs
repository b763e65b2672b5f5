//! The traits of asynchronous I/O and their helpers, and the standard streams of the process.
//!
//! The traits ([`AsyncRead`], [`AsyncWrite`], [`AsyncBufRead`], [`AsyncSeek`] and their extensions)
//! and what is built on them alone ([`BufReader`], [`BufWriter`], [`copy`], [`duplex`], [`split`] …)
//! are those of the tokio crate. They take no part in the budget of
//! [`task::coop`](crate::task::coop), as said in [`sync`](crate::sync).
//!
//! [`stdin`], [`stdout`] and [`stderr`] are heist's, and go through blocking threads. With the feature
//! `futures-io`, the module `compat` has wrappers to and from the traits of that crate.
//!
//! Descriptors that heist does not know are waited for with [`unix::AsyncFd`].
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

/// Descriptors of your own.
pub mod unix {
    #[allow(deprecated, reason = "Tokio still has the name")]
    pub use super::async_fd::AsyncFdTryNewError;
    pub use super::async_fd::{
        AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError,
    };
}
