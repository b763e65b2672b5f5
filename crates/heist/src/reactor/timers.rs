//! The timers of one reactor. Any thread may register timers, and fire those that are due.
//! `timers/README.md` specifies how it works, and why no operation takes linear time.

mod clock;
mod list;
mod time;
mod timer;
mod wheel;

pub(crate) use clock::Clock;
pub(crate) use time::Time;
pub(crate) use timer::{Polled, Timer};

use crate::canary;
use heist_sync::{AtomicU64, Mutex, MutexGuard, Ordering};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::Waker;
use time::Millis;
use wheel::Wheel;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) struct Timers {
    /// `None` once the timers are closed.
    wheel: Mutex<Option<Wheel>>,
    /// When the next timer may be due. Written with the lock, and read without.
    next: AtomicU64,
    /// Until when a thread sleeps in this reactor; 0 if none does, or if it is being woken. Set
    /// with the lock.
    asleep_until: AtomicU64,
}

/// The result of registering a timer.
#[derive(Debug)]
#[must_use]
pub(crate) enum Registered {
    /// It will fire. If `interrupt`, a thread sleeps in this reactor beyond the deadline and must
    /// be woken.
    Waiting { interrupt: bool },
    /// Its deadline has passed: it is not registered. The waker is that of the caller.
    Elapsed(Waker),
    /// The runtime is being shut down: it is not registered.
    Closed(Waker),
}

impl Timers {
    pub(crate) fn new(now: Time) -> Self {
        Timers {
            wheel: Mutex::new(Some(Wheel::new(Millis::before(now)))),
            next: AtomicU64::new(Time::NEVER.as_nanos()),
            asleep_until: AtomicU64::new(0),
        }
    }

    /// Registers `timer`, which does not wait, to call `waker` at `deadline`.
    pub(crate) fn register(
        self: &Arc<Self>,
        timer: Pin<&mut Timer>,
        waker: Waker,
        deadline: Time,
    ) -> Registered {
        let node = timer.move_to(self);
        let mut wheel = self.lock();
        let Some(open) = &mut *wheel else { return Registered::Closed(waker) };
        let Some(due) = open.due(deadline) else { return Registered::Elapsed(waker) };
        // SAFETY: (T11) it does not wait, so it is in no list. It is pinned, and leaves the wheel
        // when it is dropped.
        unsafe { open.insert(node, due) };
        // SAFETY: (T11) its owner lends it.
        let entered = unsafe { node.as_ref() };
        // SAFETY: (T11) it does not wait yet, this is a call by its owner, and the wheel is locked.
        unsafe { entered.begin(deadline, waker) };
        let due = due.time().as_nanos();
        if due < self.next.load(Ordering::Relaxed) {
            self.next.store(due, Ordering::Relaxed);
        }
        let interrupt = due < self.asleep_until.load(Ordering::Relaxed);
        if interrupt {
            self.asleep_until.store(0, Ordering::Relaxed);
        }
        Registered::Waiting { interrupt }
    }

    /// Fires at most `limit` timers that are due at `now`. The caller must call their wakers
    /// without holding a lock. Returns whether there may be more that are due.
    pub(crate) fn advance(&self, now: Time, limit: usize, wakers: &mut Vec<Waker>) -> bool {
        let mut wheel = self.lock();
        let Some(open) = &mut *wheel else { return false };
        let more = open.advance(now, limit, wakers);
        self.publish(open);
        more
    }

    /// When the next timer may be due, or [`Time::NEVER`]. Without the lock it may be too early, if
    /// timers were cancelled or moved, and too late only for timers that are being registered.
    pub(crate) fn next(&self) -> Time {
        Time::from_nanos(self.next.load(Ordering::Relaxed))
    }

    /// Announces that the calling thread is going to sleep in this reactor, and returns until when;
    /// `None` means forever. A thread that registers an earlier timer must wake it.
    pub(crate) fn begin_sleep(&self) -> Option<Time> {
        let mut wheel = self.lock();
        if let Some(open) = &mut *wheel {
            self.publish(open);
        }
        let next = self.next();
        if canary::TIMERS_SLEEP_UNLOCKED.sings() {
            drop(wheel);
        }
        self.asleep_until.store(next.as_nanos(), Ordering::Relaxed);
        (next != Time::NEVER).then_some(next)
    }

    /// Ends the announcement of [`begin_sleep`](Self::begin_sleep).
    pub(crate) fn end_sleep(&self) {
        // Relaxed: a thread that still sees the announcement wakes once too often.
        self.asleep_until.store(0, Ordering::Relaxed);
    }

    /// Closes the timers at shutdown: none fires any more, and none can be registered. Appends the
    /// wakers of all waiting tasks.
    pub(crate) fn close(&self, wakers: &mut Vec<Waker>) {
        let mut wheel = self.lock();
        if let Some(open) = &mut *wheel {
            open.close(wakers);
        }
        if !canary::TIMERS_CLOSE_UNSEEN.sings() {
            *wheel = None;
        }
        self.next.store(Time::NEVER.as_nanos(), Ordering::Relaxed);
    }

    fn publish(&self, wheel: &mut Wheel) {
        let next = wheel.next().map_or(Time::NEVER, |due| due.time());
        self.next.store(next.as_nanos(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Wheel>> {
        self.wheel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
