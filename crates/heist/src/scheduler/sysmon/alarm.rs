//! How sysmon sleeps, and which threads wake it.
//!
//! Sysmon sleeps without a limit only while all seats are idle; the thread that wakes a seat then
//! wakes sysmon too.
//!
//! | a thread that wakes a seat | sysmon |
//! |---|---|
//! | 1. takes the seat out of the idle count | 1. notes that it is going to sleep |
//! | 2. **light barrier** | 2. **heavy barrier** |
//! | 3. if sysmon has noted that it sleeps: wakes it | 3. if all seats are idle, and no reported stall has ended since: sleeps |
//!
//! One of the two sees the other. Where stalls are not watched and there are no reactors, sysmon
//! sleeps unless a seat is unstaffed, by the same steps.

use crate::canary;
use crate::env::Parker;
use crate::reactor::Reactors;
use heist_sync::{AdaptiveBarrier, AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

pub(in crate::scheduler) struct Alarm {
    /// Whether sysmon sleeps until it is woken, or is about to.
    is_asleep: AtomicBool,
    parker: Parker,
    barrier: AdaptiveBarrier,
    /// Whether sysmon watches workers or their reactors, so that it must be awake while one works.
    watches: bool,
    /// Where it sleeps, if there are any.
    reactors: Option<Arc<Reactors>>,
}

impl Alarm {
    pub(in crate::scheduler) fn new(watches: bool, reactors: Option<Arc<Reactors>>) -> Self {
        Alarm {
            is_asleep: AtomicBool::new(false),
            parker: Parker::new(),
            barrier: AdaptiveBarrier::detect(),
            watches,
            reactors,
        }
    }

    /// A seat has been woken.
    #[inline]
    pub(in crate::scheduler) fn seat_woken(&self) {
        if self.watches {
            self.needed();
        }
    }

    /// There is something for sysmon to do: wakes it if it sleeps without a limit.
    #[inline]
    pub(in crate::scheduler) fn needed(&self) {
        if !canary::ALARM_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after what has happened by the barrier, which pairs with the heavy one
        // in sleep().
        if self.is_asleep.load(Ordering::Relaxed) {
            self.end_sleep();
        }
    }

    #[cold]
    fn end_sleep(&self) {
        // Relaxed: one thread that wakes sysmon is enough.
        if self.is_asleep.swap(false, Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Wakes sysmon, whatever it does.
    pub(in crate::scheduler) fn wake(&self) {
        self.parker
            .unpark_or(|| self.reactors.iter().for_each(|reactors| reactors.interrupt_guard()));
    }

    /// Sleeps until a seat is woken, sysmon is [`needed`](Self::needed), or `limit` has passed, if
    /// there is one. Does not sleep if `may_sleep` returns `false` behind the barrier. Returns
    /// whether it has slept.
    pub(super) fn sleep(&self, limit: Option<Duration>, may_sleep: impl FnOnce() -> bool) -> bool {
        self.is_asleep.store(true, Ordering::Relaxed);
        let has_barrier = canary::ALARM_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        let sleeps = has_barrier && may_sleep();
        if sleeps {
            self.park(limit, |_| false);
        }
        self.is_asleep.store(false, Ordering::Relaxed);
        sleeps
    }

    /// Sleeps for about `duration`, or until there is an event for a seat that is vacant or left
    /// alone. Returns whether it was woken.
    pub(super) fn doze(&self, duration: Duration, is_left_alone: impl Fn(usize) -> bool) -> bool {
        self.park(Some(duration), is_left_alone)
    }

    /// Sleeps for about `duration`, or until it is woken. There are no reactors to poll any more.
    pub(in crate::scheduler) fn wait(&self, duration: Duration) {
        self.parker.park_lightly(Some(duration));
    }

    fn park(&self, limit: Option<Duration>, is_left_alone: impl Fn(usize) -> bool) -> bool {
        match (&self.reactors, limit) {
            (Some(reactors), _) => {
                self.parker.park_in(|| reactors.stand_guard(limit, is_left_alone))
            }
            (None, Some(_)) => self.parker.park_lightly(limit),
            (None, None) => {
                self.parker.park();
                true
            }
        }
    }
}
