//! Kinds of signals.

use std::ffi::c_int;

/// A kind of signal.
///
/// ```
/// use heist::signal::unix::SignalKind;
///
/// assert_eq!(SignalKind::interrupt().as_raw_value(), libc::SIGINT);
/// assert_eq!(SignalKind::from_raw(libc::SIGTSTP), SignalKind::from(libc::SIGTSTP));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignalKind(c_int);

impl SignalKind {
    /// By its number; for kinds that have no function here, such as the real-time signals.
    /// [`signal`](super::signal) finds out whether there is such a kind.
    pub const fn from_raw(signum: c_int) -> Self {
        SignalKind(signum)
    }

    /// Its number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// `SIGALRM`: a timer of the system has run out. Ends the process by default.
    pub const fn alarm() -> Self {
        SignalKind(libc::SIGALRM)
    }

    /// `SIGCHLD`: a child process has exited, was stopped or goes on. Ignored by default.
    pub const fn child() -> Self {
        SignalKind(libc::SIGCHLD)
    }

    /// `SIGHUP`: the terminal has gone; by custom, a daemon reads its configuration again. Ends the
    /// process by default.
    pub const fn hangup() -> Self {
        SignalKind(libc::SIGHUP)
    }

    /// `SIGINT`: somebody pressed Ctrl-C. Ends the process by default.
    pub const fn interrupt() -> Self {
        SignalKind(libc::SIGINT)
    }

    /// `SIGIO`: a file descriptor that was asked to signal is ready. Ends the process by default on
    /// Linux.
    pub const fn io() -> Self {
        SignalKind(libc::SIGIO)
    }

    /// `SIGPIPE`: a write to a pipe or socket that nobody reads. Programs in Rust ignore it unless
    /// they choose not to.
    pub const fn pipe() -> Self {
        SignalKind(libc::SIGPIPE)
    }

    /// `SIGQUIT`: somebody pressed Ctrl-\. Ends the process with a core dump by default.
    pub const fn quit() -> Self {
        SignalKind(libc::SIGQUIT)
    }

    /// `SIGTERM`: the process is asked to end. Ends it by default.
    pub const fn terminate() -> Self {
        SignalKind(libc::SIGTERM)
    }

    /// `SIGUSR1`: what it means is up to the program. Ends the process by default.
    pub const fn user_defined1() -> Self {
        SignalKind(libc::SIGUSR1)
    }

    /// `SIGUSR2`: what it means is up to the program. Ends the process by default.
    pub const fn user_defined2() -> Self {
        SignalKind(libc::SIGUSR2)
    }

    /// `SIGWINCH`: the window of the terminal has another size. Ignored by default.
    pub const fn window_change() -> Self {
        SignalKind(libc::SIGWINCH)
    }
}

impl From<c_int> for SignalKind {
    fn from(signum: c_int) -> Self {
        SignalKind::from_raw(signum)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> c_int {
        kind.as_raw_value()
    }
}
