//! How sysmon sleeps, and who wakes it.
//!
//! It sleeps without limit only while all seats are idle, and then whoever wakes a seat wakes sysmon too. It sleeps for long
//! only while nobody is in a task, and then whoever begins with tasks wakes it.
//!
//! | wake a seat, or begin with tasks | sysmon |
//! |---|---|
//! | 1. the seat counts as idle no more; or its worker is seen to be in a task | 1. store what it wants to be woken for |
//! | 2. **light barrier** | 2. **heavy barrier** |
//! | 3. if sysmon wants to be woken for that: wake it | 3. are all seats idle, or is nobody in a task? then sleep |
//!
//! One of the two sees the other. Where nobody asks for stalls, and there are no reactors, it sleeps unless a
//! seat is unstaffed, by the same recipe.

use crate::canary;
use crate::env::Parker;
use crate::reactor::Reactors;
use heist_sync::{AdaptiveBarrier, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

#[cfg(all(test, loom))]
mod loom_tests;

/// What ends sysmon's sleep before its time, beside what only sysmon can do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Somebody begins with tasks.
    Tasks = 1,
    /// Any seat is woken.
    Seats = 2,
}

/// It looks by itself soon.
const AWAKE: u32 = 0;

pub(in crate::scheduler) struct Alarm {
    /// What sysmon sleeps until, or AWAKE.
    until: AtomicU32,
    parker: Parker,
    barrier: AdaptiveBarrier,
    /// Whether sysmon watches workers or their reactors, and wants to know when one has something to do.
    watches: bool,
    /// Where it sleeps, if there are any.
    reactors: Option<Arc<Reactors>>,
}

impl Alarm {
    pub(in crate::scheduler) fn new(watches: bool, reactors: Option<Arc<Reactors>>) -> Self {
        let until = AtomicU32::new(AWAKE);
        Alarm {
            until,
            parker: Parker::new(),
            barrier: AdaptiveBarrier::detect(),
            watches,
            reactors,
        }
    }

    /// A seat has been woken.
    #[inline]
    pub(in crate::scheduler) fn seat_woken(&self) {
        if self.watches && self.until() == Until::Seats as u32 {
            self.ring();
        }
    }

    /// A worker begins with tasks: others see that it is in one.
    #[inline]
    pub(in crate::scheduler) fn tasks_begun(&self) {
        if self.until() == Until::Tasks as u32 {
            self.ring();
        }
    }

    /// There is something for sysmon to do.
    #[inline]
    pub(in crate::scheduler) fn needed(&self) {
        if self.until() != AWAKE {
            self.ring();
        }
    }

    #[inline]
    fn until(&self) -> u32 {
        if !canary::ALARM_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after what has happened by the barrier, which pairs with the heavy one in sleep().
        self.until.load(Ordering::Relaxed)
    }

    #[cold]
    fn ring(&self) {
        if self.until.swap(AWAKE, Ordering::Relaxed) != AWAKE {
            self.wake();
        }
    }

    /// Wakes sysmon whatever it does.
    pub(in crate::scheduler) fn wake(&self) {
        self.parker.unpark_or(|| self.reactors.iter().for_each(|reactors| reactors.rouse_guard()));
    }

    /// Sleeps until that, or for so long if there is a `limit`, or until something comes to a seat that is vacant or left alone; but only if
    /// `may_sleep` says that it has not happened yet. Whether it has happened; `None` if it has not slept.
    pub(super) fn sleep(
        &self,
        until: Until,
        limit: Option<Duration>,
        may_sleep: impl Fn() -> bool,
        is_left_alone: impl Fn(usize) -> bool,
    ) -> Option<bool> {
        self.until.store(until as u32, Ordering::Relaxed);
        let has_barrier = canary::ALARM_NO_HEAVY_BARRIER.sings() || self.barrier.heavy();
        let sleeps = has_barrier && may_sleep();
        if sleeps {
            self.park(limit, until == Until::Tasks, is_left_alone);
        }
        let is_rung = self.until.swap(AWAKE, Ordering::Relaxed) == AWAKE;
        sleeps.then_some(is_rung)
    }

    /// Sleeps for about so long, or until something comes to a seat that is vacant or left alone; whether it was woken.
    pub(super) fn doze(&self, duration: Duration, is_left_alone: impl Fn(usize) -> bool) -> bool {
        self.park(Some(duration), false, is_left_alone)
    }

    /// Sleeps for about so long, or until it is woken. There are no reactors to look at any more.
    pub(in crate::scheduler) fn wait(&self, duration: Duration) {
        self.parker.park_lightly(Some(duration));
    }

    /// If `is_for_long` it is woken, too, when there is something to wait for that was not there before.
    fn park(
        &self,
        limit: Option<Duration>,
        is_for_long: bool,
        is_left_alone: impl Fn(usize) -> bool,
    ) -> bool {
        match (&self.reactors, limit) {
            (Some(reactors), _) => {
                self.parker.park_in(|| reactors.stand_guard(limit, is_for_long, is_left_alone))
            }
            (None, Some(_)) => self.parker.park_lightly(limit),
            (None, None) => {
                self.parker.park();
                true
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
impl Alarm {
    /// Whether sysmon sleeps until somebody begins with tasks, or is about to.
    pub(in crate::scheduler) fn is_for_tasks(&self) -> bool {
        self.until() == Until::Tasks as u32
    }

    /// Sysmon sleeps until somebody begins with tasks, or would if there were one.
    pub(in crate::scheduler) fn set_for_tasks(&self) {
        self.until.store(Until::Tasks as u32, Ordering::Relaxed);
    }
}
