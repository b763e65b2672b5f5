//! Writes that must not end the process.
//!
//! A write past the limit on a file's size raises SIGXFSZ, and a write to a pipe without a reader
//! raises SIGPIPE. Both end the process by default. The kernel sends them to the writing thread,
//! which can therefore remove them itself. The signal dispositions are not changed, because they
//! belong to the program.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

const RAISED_BY_WRITES: [c_int; 2] = [libc::SIGXFSZ, libc::SIGPIPE];

/// Calls `write`. A write in it that raises one of these signals returns its error, `EFBIG` or
/// `EPIPE`, and has no other effect.
pub(crate) fn without_signals<R>(write: impl FnOnce() -> R) -> R {
    let _held = Held::new();
    write()
}

/// A guard: the signals are blocked in this thread.
struct Held {
    /// The thread's mask before.
    mask: libc::sigset_t,
    /// The signals that this guard removes: those that were not pending before.
    ours: [bool; RAISED_BY_WRITES.len()],
    /// The mask belongs to the thread.
    _thread: PhantomData<*const ()>,
}

impl Held {
    /// Returns `None` if the system call fails, for which there is no known reason.
    fn new() -> Option<Self> {
        if cfg!(miri) {
            return None;
        }
        let mut mask = empty_set();
        let blocked = set_of(&RAISED_BY_WRITES);
        // SAFETY: (FFI) both sets are initialised, and live here.
        let refused = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &blocked, &mut mask) };
        if refused != 0 {
            return None;
        }
        let ours = RAISED_BY_WRITES.map(|signal| !is_pending(signal));
        Some(Held { mask, ours, _thread: PhantomData })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for (signal, is_ours) in RAISED_BY_WRITES.into_iter().zip(self.ours) {
            if is_ours && is_pending(signal) {
                take(signal);
            }
        }
        // SAFETY: (FFI) the set is the one that the same function has filled in.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.mask, ptr::null_mut()) };
    }
}

/// Removes a pending signal, preferably the thread's own.
fn take(signal: c_int) {
    let set = set_of(&[signal]);
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: (FFI) set and time are initialised, and it may be told nothing about the signal.
    unsafe { libc::sigtimedwait(&set, ptr::null_mut(), &at_once) };
}

fn is_pending(signal: c_int) -> bool {
    let mut pending = empty_set();
    // SAFETY: (FFI) it fills in a set that lives here.
    unsafe { libc::sigpending(&mut pending) };
    // SAFETY: (FFI) the set is initialised.
    unsafe { libc::sigismember(&pending, signal) == 1 }
}

fn empty_set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: (FFI) it initialises the set that it is given.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: (FFI) the call above has initialised it.
    unsafe { set.assume_init() }
}

fn set_of(signals: &[c_int]) -> libc::sigset_t {
    let mut set = empty_set();
    for signal in signals {
        // SAFETY: (FFI) the set is initialised.
        unsafe { libc::sigaddset(&mut set, *signal) };
    }
    set
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// To this thread, as a write would.
    fn raise(signal: c_int) {
        // SAFETY: (FFI) it takes any number.
        assert_eq!(unsafe { libc::raise(signal) }, 0);
    }

    fn is_blocked(signal: c_int) -> bool {
        let mut mask = empty_set();
        // SAFETY: (FFI) it fills in a set that lives here.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut mask) };
        // SAFETY: (FFI) the set is initialised.
        unsafe { libc::sigismember(&mask, signal) == 1 }
    }

    /// SIGXFSZ would end the process.
    #[test]
    fn what_a_write_raises_is_gone_afterwards() {
        for signal in RAISED_BY_WRITES {
            assert_eq!(without_signals(|| raise(signal)), ());
            assert!(!is_pending(signal) && !is_blocked(signal));
        }
    }

    #[test]
    fn the_mask_is_restored_after_a_panic() {
        let panics = || without_signals(|| panic!("on purpose"));
        catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        assert!(RAISED_BY_WRITES.iter().all(|signal| !is_blocked(*signal)));
    }

    /// A program that blocks the signal, and has one pending, keeps both.
    #[test]
    fn what_was_pending_before_stays() {
        let set = set_of(&[libc::SIGXFSZ]);
        // SAFETY: (FFI) the set is initialised.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, ptr::null_mut()) };
        raise(libc::SIGXFSZ);
        without_signals(|| raise(libc::SIGXFSZ));
        assert!(is_pending(libc::SIGXFSZ) && is_blocked(libc::SIGXFSZ));
        take(libc::SIGXFSZ);
        assert!(!is_pending(libc::SIGXFSZ));
        without_signals(|| raise(libc::SIGXFSZ));
        assert!(!is_pending(libc::SIGXFSZ) && is_blocked(libc::SIGXFSZ));
    }
}
