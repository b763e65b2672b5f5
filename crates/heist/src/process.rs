//! Child processes.
//!
//! [`Command`] is used like [`std::process::Command`]. What it starts is a [`Child`], whose exit
//! can be awaited, and whose pipes are read and written like other streams.
//!
//! # Examples
//!
//! ```
//! use heist::process::Command;
//!
//! #[heist::main]
//! async fn main() -> std::io::Result<()> {
//!     let output = Command::new("echo").arg("hello").output().await?;
//!     assert!(output.status.success());
//!     assert_eq!(output.stdout, b"hello\n");
//!     Ok(())
//! }
//! ```
//!
//! A dialog with a child, in both directions at the same time:
//!
//! ```
//! use heist::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
//! use heist::process::Command;
//! use std::process::Stdio;
//!
//! #[heist::main]
//! async fn main() -> std::io::Result<()> {
//!     let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//!     let mut to = cat.stdin.take().unwrap();
//!     let mut lines = BufReader::new(cat.stdout.take().unwrap()).lines();
//!     for line in ["one", "two"] {
//!         to.write_all(line.as_bytes()).await?;
//!         to.write_all(b"\n").await?;
//!         assert_eq!(lines.next_line().await?.as_deref(), Some(line));
//!     }
//!     drop(to); // This ends its input.
//!     assert!(cat.wait().await?.success());
//!     Ok(())
//! }
//! ```
//!
//! # Dropped children
//!
//! Dropping a [`Child`] does not end the process, unless [`kill_on_drop`](Command::kill_on_drop) is
//! set. In both cases the runtime waits for the process in the background, so that no zombie
//! remains. If the runtime is shut down first, the next runtime that starts a process takes over.
//! If there is none, a zombie may remain until this process ends; to prevent that, await
//! [`wait`](Child::wait) or [`kill`](Child::kill).
//!
//! # Platform notes
//!
//! Starting a process blocks the thread during `fork` and `exec`. Linux 5.3 and newer report the
//! exit of a child through a `pidfd`. On older systems, and where that is forbidden, `SIGCHLD` is
//! used. No other code should wait for these children: `waitpid(-1, …)` takes their status away,
//! and so does ignoring `SIGCHLD`.

mod child;
mod command;
mod orphans;
mod reaper;
mod stdio;

pub use child::Child;
pub use command::Command;
pub use stdio::{ChildStderr, ChildStdin, ChildStdout};
