//! How sysmon sleeps, and who wakes it.
//!
//! It sleeps without limit only while all seats are idle. Whoever wakes a seat then wakes sysmon too.
//!
//! | wake a seat | sysmon |
//! |---|---|
//! | 1. the seat counts as idle no more | 1. store "asleep" |
//! | 2. **light barrier** | 2. **heavy barrier** |
//! | 3. if sysmon is asleep: wake it | 3. are all seats idle? then sleep |
//!
//! One of the two sees the other. Where nobody asks for stalls it sleeps unless a seat is unstaffed, by
//! the same recipe.

use crate::canary;
use crate::env::Parker;
use heist_sync::{AtomicBool, Barrier, Ordering};
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

pub(in crate::scheduler) struct Alarm {
    is_asleep: AtomicBool,
    parker: Parker,
    barrier: Barrier,
    /// Whether sysmon watches workers, and wants to know when one has something to do.
    watches: bool,
}

impl Alarm {
    pub(in crate::scheduler) fn new(barrier: Barrier, watches: bool) -> Self {
        Alarm { is_asleep: AtomicBool::new(false), parker: Parker::new(), barrier, watches }
    }

    /// A seat has been woken.
    #[inline]
    pub(in crate::scheduler) fn seat_woken(&self) {
        if self.watches {
            self.needed();
        }
    }

    /// There is something for sysmon to do.
    #[inline]
    pub(in crate::scheduler) fn needed(&self) {
        if !canary::ALARM_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after the count by the barrier, which pairs with the heavy one in sleep().
        if self.is_asleep.load(Ordering::Relaxed) {
            self.ring();
        }
    }

    #[cold]
    fn ring(&self) {
        if self.is_asleep.swap(false, Ordering::Relaxed) {
            self.parker.unpark();
        }
    }

    /// Wakes sysmon whatever it does.
    pub(in crate::scheduler) fn wake(&self) {
        self.parker.unpark();
    }

    /// Sleeps until a seat is woken, or for so long if there is a `limit`; but only if `is_quiet` says
    /// that all sleep; whether it has. It may wake up for nothing.
    pub(super) fn sleep(&self, is_quiet: impl Fn() -> bool, limit: Option<Duration>) -> bool {
        self.is_asleep.store(true, Ordering::Relaxed);
        let has_barrier = canary::ALARM_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        let sleeps = has_barrier && is_quiet();
        match limit {
            Some(limit) if sleeps => self.parker.park_timeout(limit),
            None if sleeps => self.parker.park(),
            _ => {}
        }
        self.is_asleep.store(false, Ordering::Relaxed);
        sleeps
    }

    /// Sleeps for about so long.
    pub(super) fn doze(&self, duration: Duration) {
        self.parker.park_timeout(duration);
    }
}
