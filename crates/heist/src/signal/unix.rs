//! Unix signals of any kind.

mod kind;

pub use kind::SignalKind;

use super::board::Listener;
use crate::reactor::Reactors;
use crate::runtime::Handle;
use crate::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Listens to signals of one kind; created by [`signal`].
///
/// All listeners of a kind receive each signal. Signals that are sent in quick succession may be
/// merged, by the system or by heist: each [`recv`](Self::recv) means that **at least** one signal
/// was sent since the last one, and no signal goes unnoticed.
///
/// It can be used in every runtime with I/O, even if the runtime in which it was created has been
/// shut down.
///
/// # Examples
///
/// ```
/// use heist::signal::unix::{SignalKind, signal};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut hangups = signal(SignalKind::hangup())?;
/// # let pid = std::process::id().to_string();
/// # std::process::Command::new("kill").args(["-HUP", &pid]).status()?;
/// // Somebody calls `kill -HUP`.
/// assert!(hangups.recv().await.is_some());
/// # Ok(())
/// # }
/// ```
#[must_use = "a listener does nothing unless it is polled"]
pub struct Signal {
    listener: Listener,
}

/// Starts to listen to signals of the given kind.
///
/// A signal that was sent before, and that the runtime has not noticed yet, may be received too.
///
/// # Errors
///
/// - The signal does not exist, or cannot have a handler: `SIGKILL`, `SIGSTOP`, `SIGILL`, `SIGFPE`
///   and `SIGSEGV`.
/// - The handler cannot be installed, or there are no file descriptors left.
/// - The runtime has been shut down.
///
/// # Examples
///
/// ```
/// use heist::signal::unix::{SignalKind, signal};
///
/// # fn send_sighup() {
/// #     use rustix::process::{Signal, getpid, kill_process};
/// #     kill_process(getpid(), Signal::HUP).unwrap();
/// # }
/// # let rt = heist::runtime::Builder::new_current_thread().enable_all().build().unwrap();
/// # rt.block_on(async {
/// let mut hangups = signal(SignalKind::hangup())?;
/// # send_sighup();
/// # let mut reloads = 0;
/// while hangups.recv().await.is_some() {
///     println!("reading the configuration again");
/// #   reloads += 1;
/// #   if reloads == 2 { break }
/// #   send_sighup();
/// }
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
///
/// # Panics
///
/// Panics if the calling thread is in no runtime, or if its runtime has no I/O; see
/// [`enable_io`](crate::runtime::Builder::enable_io).
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    listen(kind, &Handle::current_for("signal").reactors_for_io("signal"))
}

/// [`signal`] in the runtime of `reactors`.
pub(crate) fn listen(kind: SignalKind, reactors: &Arc<Reactors>) -> io::Result<Signal> {
    Ok(Signal { listener: Listener::new(kind, reactors)? })
}

impl Signal {
    /// Waits for the next signal. Never returns `None`.
    ///
    /// # Cancel safety
    ///
    /// This method is cancel safe: if the future is dropped before it completes, no signal is lost.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Polls for the next signal; see [`recv`](Self::recv). Only the most recent caller is woken.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::signal::unix::Signal;
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    ///
    /// /// Completes when either of two kinds arrives.
    /// struct Either(Signal, Signal);
    ///
    /// impl Future for Either {
    ///     type Output = ();
    ///
    ///     fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
    ///         let first = self.0.poll_recv(cx).is_ready();
    ///         let second = self.1.poll_recv(cx).is_ready();
    ///         if first || second { Poll::Ready(()) } else { Poll::Pending }
    ///     }
    /// }
    /// ```
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let budget = ready!(coop::poll_proceed(cx));
        let here = || Handle::try_current().ok()?.reactors_if_io();
        ready!(self.listener.poll(cx, here));
        budget.made_progress();
        Poll::Ready(Some(()))
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("kind", &self.listener.kind()).finish()
    }
}
