//! Waiting for a future on a thread that is not a worker.

use crate::env::{Clock, Parker, Wakeup};
use crate::scheduler::{answer_call_aside, waiter_aside};
use crate::task::coop;
use crate::tuning::{SPIN_TIME, SPINS_SKIPPED};
use std::cell::Cell;
use std::future::Future;
use std::hint;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// The waker of a thread that waits for a future.
pub(super) struct Unpark(Wakeup);

impl Unpark {
    pub(super) fn unpark(&self) {
        self.0.wake();
    }
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

/// A thread that waits for a future, and how it is woken. It is reused for the thread's next wait:
/// a waker that outlives its future causes one needless poll of a later one.
pub(super) struct Waiter {
    unpark: Arc<Unpark>,
    waker: Waker,
    spin: Spin,
}

thread_local! {
    /// The calling thread's, unless it is in use.
    static KEPT: Cell<Option<Waiter>> = const { Cell::new(None) };
}

impl Waiter {
    fn new(parker: Arc<Parker>) -> Self {
        let unpark = Arc::new(Unpark(Wakeup::new(parker)));
        Waiter { waker: Waker::from(Arc::clone(&unpark)), unpark, spin: Spin::default() }
    }

    /// Calls `f` with the waiter of this thread, or with a new one if that is in use.
    pub(super) fn with<R>(f: impl FnOnce(&Waiter) -> R) -> R {
        if let Some(parker) = waiter_aside() {
            return f(&Waiter::new(parker));
        }
        // `None` if the polled future waits itself, or if the thread is ending.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let waiter = kept.unwrap_or_else(|| Waiter::new(Arc::new(Parker::new())));
        let result = f(&waiter);
        let _ = KEPT.try_with(|kept| kept.set(Some(waiter)));
        result
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }

    /// Sleeps until this wait is woken (I7). A worker that has stepped aside runs its parts of
    /// broadcasts meanwhile, also those of a future that is woken whenever it is polled (J5).
    pub(super) fn park(&self) {
        let wakeup = &self.unpark.0;
        loop {
            let has_answered = answer_call_aside();
            if wakeup.take() {
                return;
            }
            if !has_answered {
                self.spin.until(|| wakeup.ends_sleep());
                wakeup.sleep();
            }
        }
    }

    /// A handle that wakes it.
    pub(super) fn unpark(&self) -> &Arc<Unpark> {
        &self.unpark
    }
}

/// Polls `future` on this thread until it is ready, and sleeps in between.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    Waiter::with(|waiter| {
        let mut cx = waiter.context();
        loop {
            if let Poll::Ready(output) = coop::with_fresh_budget(|| future.as_mut().poll(&mut cx)) {
                return output;
            }
            waiter.park();
        }
    })
}

/// Spins before a sleep, as long as that pays. A wake-up that comes within [`SPIN_TIME`] costs no
/// system call. Spinning in vain keeps a core busy, possibly the one on which the waker would run.
#[derive(Default)]
struct Spin {
    /// Number of waits from now on that do not spin.
    skips_left: Cell<u32>,
    /// Number of waits that were skipped after the last spin in vain; 0 after one that paid.
    skips: Cell<u32>,
}

impl Spin {
    /// Spins until it `is_over`, for at most [`SPIN_TIME`]. Does not spin if that was in vain
    /// lately.
    fn until(&self, is_over: impl Fn() -> bool) {
        if is_over() {
            return;
        }
        if let Some(left) = self.skips_left.get().checked_sub(1) {
            return self.skips_left.set(left);
        }
        let begun = Clock::now();
        while Clock::now().since(begun) < SPIN_TIME {
            hint::spin_loop();
            if is_over() {
                return self.skips.set(0);
            }
        }
        let skips = (2 * self.skips.get() + 1).min(SPINS_SKIPPED);
        self.skips.set(skips);
        self.skips_left.set(skips);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;
    use std::time::Duration;

    /// Waits for something that is over after this many checks, which are 1 µs apart. Returns the
    /// number of checks.
    fn wait(clock: &StoppedClock, spin: &Spin, looks: u32) -> u32 {
        let looked = Cell::new(0);
        spin.until(|| {
            looked.set(looked.get() + 1);
            clock.advance(Duration::from_micros(1));
            looked.get() >= looks
        });
        looked.get()
    }

    #[test]
    fn a_thread_spins_as_long_as_it_pays() {
        let (clock, spin) = (StoppedClock::stop(), Spin::default());
        assert!((0..100).all(|_| wait(&clock, &spin, 5) == 5));
        // In vain: now more and more waits do not spin.
        let mut waits = (0..1000).map(|_| wait(&clock, &spin, u32::MAX));
        for pause in [1, 3, 7, 15, 31, 63, 63] {
            assert_eq!(waits.next(), Some(11));
            assert!(waits.by_ref().take(pause).all(|looks| looks == 1));
        }
        // The next one that pays ends that.
        assert_eq!(waits.next(), Some(11));
        assert!((0..63).all(|_| wait(&clock, &spin, 5) == 1));
        assert!((0..100).all(|_| wait(&clock, &spin, 5) == 5));
        // Earlier spins in vain are forgotten.
        assert_eq!(wait(&clock, &spin, u32::MAX), 11);
        assert_eq!(wait(&clock, &spin, 5), 1);
        assert_eq!(wait(&clock, &spin, 5), 5);
    }

    /// A wait that is over at once does not count as one that paid.
    #[test]
    fn what_is_over_at_once_changes_nothing() {
        let (clock, spin) = (StoppedClock::stop(), Spin::default());
        assert_eq!(wait(&clock, &spin, u32::MAX), 11);
        assert!((0..100).all(|_| wait(&clock, &spin, 1) == 1));
        assert_eq!(wait(&clock, &spin, 5), 1);
        assert_eq!(wait(&clock, &spin, 5), 5);
    }
}
