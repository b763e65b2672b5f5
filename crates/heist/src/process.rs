//! Child processes, awaited.
//!
//! [`Command`] is built like [`std::process::Command`]; what it starts is a [`Child`], whose exit
//! is awaited, and whose pipes are read and written like any other stream.
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
//! A conversation with a child, in both directions at once:
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
//!     drop(to); // That is the end of its input.
//!     assert!(cat.wait().await?.success());
//!     Ok(())
//! }
//! ```
//!
//! # Children that nobody waits for
//!
//! Dropping a [`Child`] does not end the process, unless [`kill_on_drop`](Command::kill_on_drop)
//! says so. Either way the runtime waits for it in the background, so that no zombie is left. If
//! the runtime is shut down before the child exits, the next runtime that starts a process takes
//! that over; if there is none, a zombie may stay until this process ends. Where that matters,
//! await [`wait`](Child::wait) or [`kill`](Child::kill).
//!
//! # Fine print
//!
//! Starting a process blocks the thread for the time of a `fork` and `exec`. On Linux 5.3 and newer
//! the exit of a child is told by a descriptor of its own (`pidfd`), elsewhere, or where that is
//! forbidden, by `SIGCHLD`. Nobody else should wait for the children of this module: `waitpid(-1,
//! …)` takes their status away, and so does ignoring `SIGCHLD`.

mod child;
mod command;
mod orphans;
mod reaper;
mod stdio;

pub use child::Child;
pub use command::Command;
pub use stdio::{ChildStderr, ChildStdin, ChildStdout};
