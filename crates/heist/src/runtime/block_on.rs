//! Waiting for a future on a thread that is no worker.

use crate::env::{Clock, Parker, Wakeup};
use crate::scheduler::{answer_call_aside, waiter_aside};
use crate::task::coop;
use std::cell::Cell;
use std::future::Future;
use std::hint;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

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
    linger: Linger,
}

thread_local! {
    /// The calling thread's, unless it is in use.
    static KEPT: Cell<Option<Waiter>> = const { Cell::new(None) };
}

impl Waiter {
    fn new(parker: Arc<Parker>) -> Self {
        let unpark = Arc::new(Unpark(Wakeup::new(parker)));
        Waiter { waker: Waker::from(Arc::clone(&unpark)), unpark, linger: Linger::default() }
    }

    /// Calls `f` with one that is this thread's.
    pub(super) fn with<R>(f: impl FnOnce(&Waiter) -> R) -> R {
        if let Some(parker) = waiter_aside() {
            return f(&Waiter::new(parker));
        }
        // One who waits may poll something that waits, too, or be ending.
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
                self.linger.until(|| wakeup.ends_sleep());
                wakeup.sleep();
            }
        }
    }

    /// For somebody else to wake it by.
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

/// So long a thread waits awake: about what a sleep and a wake-up take. A call of `block_on` that awaits a task takes 0.4 times the time, with 20 µs as well.
const MOMENT: Duration = Duration::from_micros(10);
/// So many turns of a spin loop are between two looks. Guessed.
const SPINS_PER_LOOK: u32 = 4;
/// So many waits at most begin with sleep, until one is tried awake again. Guessed: what is tried for nothing then takes 0.2 µs a wait.
const LONGEST_PAUSE: u32 = 63;

/// Waits awake before a sleep, as long as they pay: what comes within a moment costs nobody a wake-up. What does not has the
/// core for nothing, which perhaps is the one that it needs to come.
#[derive(Default)]
struct Linger {
    /// So many waits begin with sleep from now on.
    left: Cell<u32>,
    /// So many did after it lingered last, or do, if that was for nothing.
    pause: Cell<u32>,
}

impl Linger {
    /// Waits for a moment, or until it `is_over`, unless it has turned out lately that this is for nothing.
    fn until(&self, is_over: impl Fn() -> bool) {
        if is_over() {
            return;
        }
        if let Some(left) = self.left.get().checked_sub(1) {
            return self.left.set(left);
        }
        let begun = Clock::now();
        while Clock::now().since(begun) < MOMENT {
            (0..SPINS_PER_LOOK).for_each(|_| hint::spin_loop());
            if is_over() {
                return self.pause.set(0);
            }
        }
        let pause = (2 * self.pause.get() + 1).min(LONGEST_PAUSE);
        self.pause.set(pause);
        self.left.set(pause);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;

    /// A wait that is over after so many looks at intervals of 1 µs; how often it was looked at.
    fn wait(clock: &StoppedClock, linger: &Linger, looks: u32) -> u32 {
        let looked = Cell::new(0);
        linger.until(|| {
            looked.set(looked.get() + 1);
            clock.advance(Duration::from_micros(1));
            looked.get() >= looks
        });
        looked.get()
    }

    #[test]
    fn a_thread_lingers_as_long_as_it_pays() {
        let (clock, linger) = (StoppedClock::stop(), Linger::default());
        assert!((0..100).all(|_| wait(&clock, &linger, 5) == 5));
        // For nothing: from now on there are more and more waits without one.
        let mut waits = (0..1000).map(|_| wait(&clock, &linger, u32::MAX));
        for pause in [1, 3, 7, 15, 31, 63, 63] {
            assert_eq!(waits.next(), Some(11));
            assert!(waits.by_ref().take(pause).all(|looks| looks == 1));
        }
        // The next that pays ends that.
        assert_eq!(waits.next(), Some(11));
        assert!((0..63).all(|_| wait(&clock, &linger, 5) == 1));
        assert!((0..100).all(|_| wait(&clock, &linger, 5) == 5));
        // And all that was for nothing before is forgotten.
        assert_eq!(wait(&clock, &linger, u32::MAX), 11);
        assert_eq!(wait(&clock, &linger, 5), 1);
        assert_eq!(wait(&clock, &linger, 5), 5);
    }

    /// What needs no wait says nothing of those that do.
    #[test]
    fn what_is_over_at_once_changes_nothing() {
        let (clock, linger) = (StoppedClock::stop(), Linger::default());
        assert_eq!(wait(&clock, &linger, u32::MAX), 11);
        assert!((0..100).all(|_| wait(&clock, &linger, 1) == 1));
        assert_eq!(wait(&clock, &linger, 5), 1);
        assert_eq!(wait(&clock, &linger, 5), 5);
    }
}
