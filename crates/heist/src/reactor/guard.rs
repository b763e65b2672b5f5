//! The guard, which watches the reactors of vacant seats.
//!
//! A worker that steps aside or is robbed leaves a vacant seat until there is work, and its reactor
//! may bring work (L3). Therefore sysmon polls the reactors of such seats, and sleeps in a poller
//! that watches their pollers. `README.md` specifies the protocol.

mod guard_sleep;
#[cfg(all(test, loom))]
mod loom_tests;
mod vacancy;

pub(super) use vacancy::Vacancy;

use super::poller::{Events, Poller};
use super::timers::Time;
use super::{Reactor, Reactors};
use crate::tuning::RECHECK;
use guard_sleep::GuardSleep;
use std::io;
use std::sync::Mutex;
use std::task::Waker;
use std::time::Duration;

pub(super) struct Guard {
    poller: Poller,
    events: Mutex<Events>,
    sleep: GuardSleep,
}

impl Guard {
    pub(super) fn new<'a>(reactors: impl Iterator<Item = &'a Reactor>) -> io::Result<Self> {
        let poller = Poller::new()?;
        for (seat, reactor) in reactors.enumerate() {
            poller.add_other(&reactor.poller, seat as u64)?;
        }
        Ok(Guard { poller, events: Mutex::new(Events::default()), sleep: GuardSleep::new() })
    }
}

/// For workers, and for threads that register something.
impl Reactors {
    /// A worker has left this seat; `is_vacant` returns the current state.
    /// [`watch_if_vacant`](Self::watch_if_vacant) must follow.
    pub(crate) fn seat_left(&self, seat: usize, is_vacant: impl Fn() -> bool) {
        self[seat].vacancy.settle(is_vacant, |is_left| {
            if !is_left {
                self.ignore(seat);
            }
        });
        // If the barrier is not available, the guard does not have it either, and never sleeps for
        // long.
        let _ = self.barrier.heavy();
    }

    /// A worker has taken this seat; `is_vacant` returns the current state.
    pub(crate) fn seat_taken(&self, seat: usize, is_vacant: impl Fn() -> bool) {
        self[seat].vacancy.settle(is_vacant, |is_left| match is_left {
            false => self.ignore(seat),
            // The seat was lost again at once, and the thread that took it may have seen the mark.
            true => {
                // As in seat_left().
                let _ = self.barrier.heavy();
                self.watch_if_vacant(seat);
            }
        });
    }

    /// Has the guard watch the reactor if the seat is vacant. Called after the barrier of
    /// [`seat_left`](Self::seat_left).
    pub(crate) fn watch_if_vacant(&self, seat: usize) {
        if self[seat].vacancy.is_marked() {
            self.watch_sources(seat);
            self.watch_timers(seat);
        }
    }

    /// A source has been added to this reactor.
    pub(super) fn added_source(&self, seat: usize) {
        self[seat].parker_sleep.added_source(&self[seat].parker);
        if self[seat].vacancy.is_marked_after_barrier(&self.barrier) {
            self.watch_sources(seat);
        }
    }

    /// A timer has been added to this reactor.
    pub(super) fn added_timer(&self, seat: usize) {
        if self[seat].vacancy.is_marked_after_barrier(&self.barrier) {
            self.watch_timers(seat);
        }
    }

    /// Has events of the sources end the guard's sleep. Without sources the poller is not watched,
    /// because its eventfd may be signalled, and a check of the timers does not consume that.
    fn watch_sources(&self, seat: usize) {
        let reactor = &self[seat];
        if let Some(guard) = self.guard.as_ref().filter(|_| reactor.sources.len() > 0) {
            reactor.vacancy.set_watched(true);
            guard.poller.watch_other(&reactor.poller, seat as u64);
        }
    }

    /// Makes sure that the guard sleeps no longer than until the next timer. It is woken by its own
    /// eventfd, because another thread may consume the reactor's.
    fn watch_timers(&self, seat: usize) {
        let next = self[seat].timers.next();
        if let Some(guard) = self.guard.as_ref().filter(|guard| guard.sleep.is_too_long_for(next)) {
            guard.poller.wake();
        }
    }

    fn ignore(&self, seat: usize) {
        let vacancy = &self[seat].vacancy;
        if let Some(guard) = self.guard.as_ref().filter(|_| vacancy.set_watched(false)) {
            guard.poller.ignore_other(&self[seat].poller, seat as u64);
        }
    }
}

/// For sysmon.
impl Reactors {
    /// Polls the reactors whose seats are vacant or neglected by their workers, and those that were
    /// not polled for `limit`. For `call_later`, see [`Harvest::deliver`](super::Harvest::deliver).
    pub(crate) fn turn_neglected(
        &self,
        limit: Duration,
        is_left_alone: impl Fn(usize) -> bool,
        call_later: impl Fn(Waker),
    ) {
        let now = self.clock.now();
        let is_neglected = |seat: &usize| {
            let reactor = &self[*seat];
            reactor.vacancy.is_marked() || reactor.is_stale(now, limit) || is_left_alone(*seat)
        };
        (0..self.len()).filter(is_neglected).for_each(|seat| _ = self[seat].turn(&call_later));
    }

    /// Sleeps until there is an event for a reactor whose seat is vacant or neglected, until the
    /// guard is woken, or until `limit` has passed. It may return early.
    pub(crate) fn stand_guard(
        &self,
        limit: Option<Duration>,
        is_left_alone: impl Fn(usize) -> bool,
    ) {
        let Some(guard) = &self.guard else { unreachable!("sysmon comes with a guard") };
        let has_barrier = guard.sleep.begin(&self.barrier);
        // Without the barrier the guard may have missed something.
        let limit =
            if has_barrier { limit } else { Some(limit.map_or(RECHECK, |it| it.min(RECHECK))) };
        let now = self.clock.now();
        let mut until = limit.map_or(Time::NEVER, |limit| now.plus(limit));
        let is_left = |seat: &usize| self[*seat].vacancy.is_marked() || is_left_alone(*seat);
        for seat in (0..self.len()).filter(is_left) {
            self.watch_sources(seat);
            until = until.min(self[seat].timers.next());
        }
        guard.sleep.lasts_until(until);
        let events = &mut *guard.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        _ = guard.poller.wait(events, (until != Time::NEVER).then(|| now.until(until)));
        guard.sleep.end();
    }

    /// Ends the guard's current sleep or, if there is none, the next one.
    pub(crate) fn interrupt_guard(&self) {
        self.guard.iter().for_each(|guard| guard.poller.wake());
    }
}
