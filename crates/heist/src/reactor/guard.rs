//! The guard: who waits in the place of those that have left their seats.
//!
//! A worker that steps aside, or is robbed, leaves a seat behind on which nobody sits until there is
//! work; and work is what its reactor may bring (L3). So the reactors of such seats are looked at by
//! sysmon, which sleeps in a poller of pollers. The protocol is told in `README.md`.

#[cfg(all(test, loom))]
mod loom_tests;
mod post;
mod vigil;

pub(super) use post::Post;

use super::poller::{Events, Poller};
use super::timers::Time;
use super::{Reactor, Reactors};
use std::io;
use std::sync::Mutex;
use std::time::Duration;
use vigil::Vigil;

/// How long the guard sleeps where the barrier is not to be had, so that it may have missed something. Guessed.
const SHORT: Duration = Duration::from_millis(10);

pub(super) struct Guard {
    poller: Poller,
    events: Mutex<Events>,
    vigil: Vigil,
}

impl Guard {
    pub(super) fn new<'a>(reactors: impl Iterator<Item = &'a Reactor>) -> io::Result<Self> {
        let poller = Poller::new()?;
        for (seat, reactor) in reactors.enumerate() {
            poller.add_other(&reactor.poller, seat as u64)?;
        }
        Ok(Guard { poller, events: Mutex::new(Events::default()), vigil: Vigil::new() })
    }
}

/// For workers, and for those that register something.
impl Reactors {
    /// Somebody has left this seat; `is_vacant` tells what is so now. [`entrust`](Self::entrust) must follow.
    pub(crate) fn leave(&self, seat: usize, is_vacant: impl Fn() -> bool) {
        self[seat].post.settle(is_vacant, |is_left| {
            if !is_left {
                self.ignore(seat);
            }
        });
        // If it cannot be had the guard does not have it either: it never sleeps for long, and looks by itself.
        let _ = self.barrier.heavy();
    }

    /// Somebody has sat down on this seat; `is_vacant` tells what is so now.
    pub(crate) fn attend(&self, seat: usize, is_vacant: impl Fn() -> bool) {
        self[seat].post.settle(is_vacant, |is_left| match is_left {
            false => self.ignore(seat),
            // It was lost at once, and who took it may have seen our mark.
            true => {
                // As in leave().
                let _ = self.barrier.heavy();
                self.entrust(seat);
            }
        });
    }

    /// Behind the barrier of [`leave`](Self::leave): if nobody sits there, the guard sees to what there is to wait for.
    pub(crate) fn entrust(&self, seat: usize) {
        if self[seat].post.is_left() {
            self.watch_sources(seat);
            self.watch_timers(seat);
        }
    }

    /// A source has been added to this reactor.
    pub(super) fn added_source(&self, seat: usize) {
        self[seat].apart.added_source(&self[seat].parker);
        if self[seat].post.is_left_behind(&self.barrier) {
            self.watch_sources(seat);
        }
        self.end_long_vigil();
    }

    /// A timer has been added to this reactor.
    pub(super) fn added_timer(&self, seat: usize) {
        if self[seat].post.is_left_behind(&self.barrier) {
            self.watch_timers(seat);
        }
        self.end_long_vigil();
    }

    /// Something was added; the barrier is behind us.
    #[inline]
    fn end_long_vigil(&self) {
        if let Some(guard) = self.guard.as_ref().filter(|guard| guard.vigil.is_for_anything()) {
            guard.poller.wake();
        }
    }

    /// What comes to the sources ends the guard's sleep. Where there are none the poller is not watched: its bell
    /// may have rung, and a look at timers alone does not hear it.
    fn watch_sources(&self, seat: usize) {
        let reactor = &self[seat];
        if let Some(guard) = self.guard.as_ref().filter(|_| reactor.sources.len() > 0) {
            reactor.post.set_watched(true);
            guard.poller.watch_other(&reactor.poller, seat as u64);
        }
    }

    /// The guard sleeps no longer than until the next one. It is roused by its own bell: that of the reactor
    /// may be heard by somebody else, who looks.
    fn watch_timers(&self, seat: usize) {
        let next = self[seat].timers.next();
        if let Some(guard) = self.guard.as_ref().filter(|guard| guard.vigil.is_too_long_for(next)) {
            guard.poller.wake();
        }
    }

    fn ignore(&self, seat: usize) {
        let post = &self[seat].post;
        if let Some(guard) = self.guard.as_ref().filter(|_| post.set_watched(false)) {
            guard.poller.ignore_other(&self[seat].poller, seat as u64);
        }
    }
}

/// For sysmon.
impl Reactors {
    /// Looks at those whose seats are vacant, or left alone by who sits there, and at those that nobody has looked at for
    /// so long.
    pub(crate) fn turn_neglected(&self, limit: Duration, is_left_alone: impl Fn(usize) -> bool) {
        let now = self.clock.now();
        let is_neglected = |seat: &usize| {
            let reactor = &self[*seat];
            reactor.post.is_left() || reactor.is_stale(now, limit) || is_left_alone(*seat)
        };
        (0..self.len()).filter(is_neglected).for_each(|seat| _ = self[seat].turn());
    }

    /// Sleeps until something comes to a reactor whose seat is vacant, or left alone by who sits there, it is roused, or so
    /// much time has passed. It may wake up for nothing. `is_for_long`: not if there is a source or a timer anywhere, and no longer than until there is one.
    pub(crate) fn stand_guard(
        &self,
        limit: Option<Duration>,
        is_for_long: bool,
        is_left_alone: impl Fn(usize) -> bool,
    ) {
        let Some(guard) = &self.guard else { unreachable!("sysmon comes with a guard") };
        let has_barrier = guard.vigil.begin(&self.barrier, is_for_long);
        if is_for_long && self.is_anything_waited_for() {
            return guard.vigil.end();
        }
        let limit = if has_barrier { limit } else { Some(limit.map_or(SHORT, |it| it.min(SHORT))) };
        let now = self.clock.now();
        let mut until = limit.map_or(Time::NEVER, |limit| now.plus(limit));
        let is_left = |seat: &usize| self[*seat].post.is_left() || is_left_alone(*seat);
        for seat in (0..self.len()).filter(is_left) {
            self.watch_sources(seat);
            until = until.min(self[seat].timers.next());
        }
        if !is_for_long {
            guard.vigil.lasts_until(until);
        }
        let events = &mut *guard.events.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        _ = guard.poller.wait(events, (until != Time::NEVER).then(|| now.until(until)));
        guard.vigil.end();
    }

    /// Whether there is a source or a timer anywhere.
    pub(crate) fn is_anything_waited_for(&self) -> bool {
        let is_in_use =
            |reactor: &Reactor| reactor.sources.len() > 0 || reactor.timers.next() < Time::NEVER;
        (0..self.len()).any(|seat| is_in_use(&self[seat]))
    }

    /// Whether the guard sleeps for long, or is about to.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_guarded_for_long(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.vigil.is_long())
    }

    /// Ends that sleep, or the next.
    pub(crate) fn rouse_guard(&self) {
        self.guard.iter().for_each(|guard| guard.poller.wake());
    }
}
