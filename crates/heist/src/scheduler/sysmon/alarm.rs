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
//! One of the two sees the other. Where nobody asks for stalls, and there are no reactors, it sleeps unless a
//! seat is unstaffed, by the same recipe.

use crate::canary;
use crate::env::Parker;
use crate::reactor::Reactors;
use heist_sync::{AtomicBool, Barrier, Ordering};
use std::sync::Arc;
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

pub(in crate::scheduler) struct Alarm {
    is_asleep: AtomicBool,
    parker: Parker,
    barrier: Barrier,
    /// Whether sysmon watches workers or their reactors, and wants to know when one has something to do.
    watches: bool,
    /// Where it sleeps, if there are any.
    reactors: Option<Arc<Reactors>>,
}

impl Alarm {
    pub(in crate::scheduler) fn new(
        barrier: Barrier,
        watches: bool,
        reactors: Option<Arc<Reactors>>,
    ) -> Self {
        let is_asleep = AtomicBool::new(false);
        Alarm { is_asleep, parker: Parker::new(), barrier, watches, reactors }
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
            self.wake();
        }
    }

    /// Wakes sysmon whatever it does.
    pub(in crate::scheduler) fn wake(&self) {
        self.parker.unpark_or(|| self.reactors.iter().for_each(|reactors| reactors.rouse_guard()));
    }

    /// Sleeps until a seat is woken, or for so long if there is a `limit`; but only if `is_quiet` says
    /// that all sleep; whether it has. It may wake up for nothing.
    pub(super) fn sleep(&self, is_quiet: impl Fn() -> bool, limit: Option<Duration>) -> bool {
        self.is_asleep.store(true, Ordering::Relaxed);
        let has_barrier = canary::ALARM_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        let sleeps = has_barrier && is_quiet();
        if sleeps {
            self.park(limit, |_| false);
        }
        self.is_asleep.store(false, Ordering::Relaxed);
        sleeps
    }

    /// Sleeps for about so long, or until something comes to a seat that is vacant or left alone; whether it was woken.
    pub(super) fn doze(&self, duration: Duration, is_left_alone: impl Fn(usize) -> bool) -> bool {
        self.park(Some(duration), is_left_alone)
    }

    /// Sleeps for about so long, or until it is woken. There are no reactors to look at any more.
    pub(in crate::scheduler) fn wait(&self, duration: Duration) {
        self.parker.park_timeout(duration);
    }

    fn park(&self, limit: Option<Duration>, is_left_alone: impl Fn(usize) -> bool) -> bool {
        match (&self.reactors, limit) {
            (Some(reactors), _) => {
                self.parker.park_in(|| reactors.stand_guard(limit, is_left_alone))
            }
            (None, Some(limit)) => self.parker.park_timeout(limit),
            (None, None) => {
                self.parker.park();
                true
            }
        }
    }
}
