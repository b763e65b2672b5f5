//! `SignalKind`.

use std::ffi::c_int;

/// A kind of signal.
///
/// # Examples
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
    /// Creates a kind from its number, for kinds that have no function here, such as real-time
    /// signals.
    ///
    /// [`signal`](super::signal) returns an error if there is no such kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::from_raw(15), SignalKind::terminate());
    /// ```
    pub const fn from_raw(signum: c_int) -> Self {
        SignalKind(signum)
    }

    /// Returns the number of the kind.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// `SIGALRM`: a timer of the system has expired. Ends the process by default.
    pub const fn alarm() -> Self {
        SignalKind(libc::SIGALRM)
    }

    /// `SIGCHLD`: a child process has exited, stopped or continued. Ignored by default.
    pub const fn child() -> Self {
        SignalKind(libc::SIGCHLD)
    }

    /// `SIGHUP`: the terminal is gone. By convention a daemon reloads its configuration. Ends the
    /// process by default.
    pub const fn hangup() -> Self {
        SignalKind(libc::SIGHUP)
    }

    /// `SIGINT`: the user has pressed Ctrl-C. Ends the process by default.
    pub const fn interrupt() -> Self {
        SignalKind(libc::SIGINT)
    }

    /// `SIGIO`: a file descriptor that was asked to signal is ready. Ends the process by default on
    /// Linux.
    pub const fn io() -> Self {
        SignalKind(libc::SIGIO)
    }

    /// `SIGPIPE`: a write to a pipe or socket without a reader. Rust programs ignore it by default.
    pub const fn pipe() -> Self {
        SignalKind(libc::SIGPIPE)
    }

    /// `SIGQUIT`: the user has pressed Ctrl-\. Ends the process with a core dump by default.
    pub const fn quit() -> Self {
        SignalKind(libc::SIGQUIT)
    }

    /// `SIGTERM`: the process is asked to end. Ends it by default.
    pub const fn terminate() -> Self {
        SignalKind(libc::SIGTERM)
    }

    /// `SIGUSR1`: its meaning is up to the program. Ends the process by default.
    pub const fn user_defined1() -> Self {
        SignalKind(libc::SIGUSR1)
    }

    /// `SIGUSR2`: its meaning is up to the program. Ends the process by default.
    pub const fn user_defined2() -> Self {
        SignalKind(libc::SIGUSR2)
    }

    /// `SIGWINCH`: the window of the terminal has changed its size. Ignored by default.
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
