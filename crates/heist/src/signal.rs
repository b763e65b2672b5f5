//! Unix signals sent to the process.
//!
//! When a program first listens to a kind of signal, a handler is installed that replaces the
//! system's default action. It remains installed **for the life of the process**, even if nothing
//! listens any more: a program that has once awaited [`ctrl_c`] is no longer ended by Ctrl-C.
//! Handlers that other code has installed before are called too.
//!
//! ```no_run
//! use heist::signal;
//!
//! #[heist::main]
//! async fn main() -> std::io::Result<()> {
//!     println!("press Ctrl-C to stop");
//!     signal::ctrl_c().await?;
//!     println!("cleaning up");
//!     Ok(())
//! }
//! ```
//!
//! `signal/README.md` describes how a signal gets from its handler to a task.

mod board;
pub mod unix;

use std::io;
use unix::{SignalKind, signal};

/// Waits for Ctrl-C, which is `SIGINT`.
///
/// Signals that are sent before the future is first polled may be missed. To wait in a loop, create
/// one [`Signal`](unix::Signal) before it.
///
/// # Cancel safety
///
/// If the future is dropped, a signal may be missed; a [`Signal`](unix::Signal) misses none.
///
/// # Errors
///
/// Returns an error if the handler cannot be installed.
///
/// # Examples
///
/// ```
/// # use heist::signal;
/// # fn user_presses_ctrl_c() {
/// #     use rustix::process::{Signal, getpid, kill_process};
/// #     kill_process(getpid(), Signal::INT).unwrap();
/// # }
/// # let rt = heist::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # rt.block_on(async {
/// let pressed = signal::ctrl_c();
/// # let pressed = async { heist::join!(biased; pressed, async { user_presses_ctrl_c() }).0 };
/// pressed.await.unwrap();
/// println!("good bye");
/// # });
/// ```
///
/// # Panics
///
/// Panics when it is polled if the calling thread is in no runtime, or if its runtime has no I/O;
/// see [`enable_io`](crate::runtime::Builder::enable_io).
pub async fn ctrl_c() -> io::Result<()> {
    signal(SignalKind::interrupt())?.recv().await;
    Ok(())
}
