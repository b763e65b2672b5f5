//! Sending signals.

use heist::signal::unix::SignalKind;

/// Sends a signal to the calling thread. Its handler has run when this returns.
pub fn raise(kind: SignalKind) {
    // SAFETY: (FFI) it takes any number.
    assert_eq!(unsafe { libc::raise(kind.as_raw_value()) }, 0);
}

/// Sends a signal to the process: any thread may run its handler, now or later.
pub fn send(kind: SignalKind) {
    // SAFETY: (FFI) it takes any number.
    assert_eq!(unsafe { libc::kill(std::process::id() as i32, kind.as_raw_value()) }, 0);
}
