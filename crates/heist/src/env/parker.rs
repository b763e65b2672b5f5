//! Sleeping and being woken.

use crate::canary;
use heist_sync::{AtomicU32, Condvar, Mutex, MutexGuard, Ordering};
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

/// Puts a thread to sleep, and lets any other wake it. A wake-up that comes first is kept.
///
/// | state | meaning |
/// |---|---|
/// | EMPTY | nobody sleeps, and no wake-up is kept |
/// | PARKED | a thread sleeps, or is about to and holds the lock |
/// | AWAY | a thread sleeps elsewhere, or is about to: it must be roused there |
/// | NOTIFIED | a wake-up is kept |
pub(crate) struct Parker {
    state: AtomicU32,
    lock: Mutex<()>,
    wake_up: Condvar,
}

const EMPTY: u32 = 0;
const PARKED: u32 = 1;
const NOTIFIED: u32 = 2;
const AWAY: u32 = 3;

impl Parker {
    pub(crate) fn new() -> Self {
        Parker { state: AtomicU32::new(EMPTY), lock: Mutex::new(()), wake_up: Condvar::new() }
    }

    /// Sleeps until [`unpark`](Self::unpark) has been called since the last time. For one thread
    /// at a time.
    pub(crate) fn park(&self) {
        if self.take_wake_up() {
            return;
        }
        let mut guard = self.lock();
        // Relaxed: either way the wake-up is acquired by take_wake_up() below.
        let _ = self.state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        while self.state.load(Ordering::Relaxed) == PARKED {
            guard = self.wake_up.wait(guard);
        }
        drop(guard);
        let woken = self.take_wake_up();
        debug_assert!(woken, "only a wake-up ends PARKED");
    }

    /// As [`park`](Self::park), but for about so long at most; whether a wake-up has come.
    pub(crate) fn park_timeout(&self, duration: Duration) -> bool {
        if self.take_wake_up() {
            return true;
        }
        let guard = self.lock();
        // Relaxed: as in park().
        let _ = self.state.compare_exchange(EMPTY, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        if self.state.load(Ordering::Relaxed) == PARKED {
            // Whether it was long enough is the caller's business: it may wake up for nothing.
            let _ = self.wake_up.wait_timeout(&self.lock, guard, duration);
        }
        // Late or not, a wake-up that has come is taken.
        self.take_wake_up()
    }

    /// Sleeps in `sleep_elsewhere`, unless there is a wake-up. Whether one has come by its end. What was done before
    /// the call is known where that sleep is ended. For one thread at a time.
    pub(crate) fn park_in(&self, sleep_elsewhere: impl FnOnce()) -> bool {
        // Release: pairs with the Acquire in unpark_or(): who rouses us, and whom he tells, knows what was done
        // before.
        let went = self.state.compare_exchange(EMPTY, AWAY, Ordering::Release, Ordering::Relaxed);
        if went.is_ok() {
            sleep_elsewhere();
        }
        self.take_wake_up()
    }

    /// Takes a wake-up that is kept, if there is one: what a sleeper that never sleeps needs.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn try_park(&self) -> bool {
        self.take_wake_up()
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_notified(&self) -> bool {
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }

    fn take_wake_up(&self) -> bool {
        // Acquire: pairs with the Release in unpark().
        self.state.swap(EMPTY, Ordering::Acquire) == NOTIFIED
    }

    /// Wakes the thread that sleeps, or the next one to come.
    pub(crate) fn unpark(&self) {
        self.unpark_or(|| unreachable!("nobody sleeps elsewhere"));
    }

    /// The same; if the thread sleeps elsewhere, or is about to, `rouse` must end that sleep.
    pub(crate) fn unpark_or(&self, rouse: impl FnOnce()) {
        // Release: pairs with the Acquire in take_wake_up(). Acquire: with the Release in park_in().
        let order = canary::PARKER_UNPARK_RELAXED.weakens(Ordering::AcqRel);
        match self.state.swap(NOTIFIED, order) {
            PARKED => {
                // From PARKED on the sleeper holds the lock until it sleeps. Having had it, we know
                // that it does, and that it will not miss the notification.
                if !canary::PARKER_NO_LOCK.sings() {
                    drop(self.lock());
                }
                self.wake_up.notify_one();
            }
            AWAY if !canary::PARKER_NOT_ROUSED.sings() => rouse(),
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
