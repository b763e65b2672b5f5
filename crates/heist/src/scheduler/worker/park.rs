//! What a worker does when it has nothing to run: it looks at reactors, waits a moment, and parks.

use super::{Me, Worker};
use crate::env::Clock;
use crate::reactor::{Reactor, Slept};
use crate::scheduler::shared::Runnable;
use crate::trace::PollSource;
use crate::tuning::PATIENCE;
use std::task::Waker;

/// A worker that is about to sleep, or sleeps.
#[must_use = "it must park, and then get up"]
pub(super) struct Parking {
    has_woken_itself: bool,
}

impl Worker {
    /// There is nothing to run: waits awake for a moment, then sleeps until it is woken, unless
    /// there is something `else_to_do`.
    pub(crate) fn park(&self, else_to_do: impl Fn() -> bool) {
        if else_to_do() || self.finds_while_waiting() {
            return;
        }
        self.arena().rest();
        let threads = self.me.scheduler.blocking.threads();
        threads.parking();
        if !self.turn_a_stale_reactor() {
            if let Some(parking) = self.begin_parking(else_to_do) {
                self.sleep(parking);
            }
        }
        threads.unparked();
    }

    /// Sleeps in its seat's reactor, if there are reactors: what comes there wakes it, too (W1).
    fn sleep(&self, parking: Parking) {
        let Some(reactor) = self.me.reactor() else {
            self.me.seat().sleep();
            return self.unparked(parking);
        };
        // A closure that runs elsewhere takes no time of a clock that stands still.
        let is_quiet = || self.me.scheduler.blocking.is_idle();
        loop {
            let Slept { is_woken, harvest } = reactor.sleep(is_quiet);
            if is_woken || harvest.is_some() {
                if is_woken {
                    self.unparked(parking);
                } else {
                    self.get_up(parking);
                }
                self.seat.reactors_turned(self.queues.interval());
                if let Some(harvest) = harvest {
                    self.queues.between_tasks(|| harvest.deliver(self.call_later()));
                }
                return;
            }
            // A timer has come that is due before the one it slept for, a source, or nothing at
            // all.
        }
    }

    /// Everything that a worker does to go to sleep, except the sleep. Returns `None` if there is
    /// something to do after all, perhaps left by the callback that was called before. Otherwise
    /// the worker must park, and then get up.
    pub(super) fn begin_parking(&self, else_to_do: impl Fn() -> bool) -> Option<Parking> {
        let (me, shared) = (&self.me, &self.me.scheduler);
        if else_to_do() || me.remote().has_own() {
            return None;
        }
        // No worker is woken for what is in the slot, so it must be empty while its owner sleeps.
        let had_task = self.queues.empty_slot(me);
        if had_task {
            return None;
        }
        let since = Clock::now();
        let has_work = || else_to_do() || shared.has_work();
        let woken = shared.put_to_sleep(me.seat_index(), self.search.end(), has_work);
        if me.seat().is_closed() {
            // No wake-up may be coming: a searcher that has left counts as searching forever. This
            // worker's next step is its last, so it does not park a second time.
            return None;
        }
        me.counters.parks(since);
        me.scribe.iter().for_each(|scribe| scribe.park());
        Some(Parking { has_woken_itself: woken == Some(me.seat_index()) })
    }

    /// It has been unparked.
    pub(super) fn unparked(&self, parking: Parking) {
        self.end_parking(&parking, parking.has_woken_itself);
        // The thread that woke this worker has counted it as searching.
        self.search.counted();
    }

    /// It was not woken: its reactor has something.
    fn get_up(&self, parking: Parking) {
        self.me.seat().begin_to_get_up();
        self.end_parking(&parking, true);
        self.get_up_again();
    }

    fn end_parking(&self, parking: &Parking, by_itself: bool) {
        let now = Clock::now();
        self.me.counters.unparked(now, parking.has_woken_itself);
        self.me.scribe.iter().for_each(|scribe| scribe.unpark(by_itself));
        self.queues.rested(now);
    }
}

/// Looks at reactors without sleeping.
impl Worker {
    /// Now and then polls its reactor, and one that another worker should have polled (W1, F3).
    #[inline]
    pub(in crate::scheduler) fn turn_reactors_in_time(&self) {
        if self.seat.is_turn_of_reactors() {
            self.do_what_is_rare();
        }
    }

    #[cold]
    fn do_what_is_rare(&self) {
        self.seat.reactors_turned(self.queues.interval());
        self.turn_reactor();
        self.turn_a_stale_reactor();
        self.help_a_neighbour();
        self.me.scheduler.idle.settle_barrier();
    }

    /// The worker has run out of tasks and jobs of its own: polls its reactor, and one that another
    /// worker should have polled. Returns a task that this has woken (W1). A searcher polls none:
    /// it has just slept in its reactor, or will do so next.
    pub(in crate::scheduler) fn next_from_reactors(&self) -> Option<(Runnable, PollSource)> {
        if self.search.is_on() {
            return None;
        }
        let has_woken = self.turn_reactor() | self.turn_a_stale_reactor();
        if has_woken { self.queues.next_own(&self.me) } else { None }
    }

    /// Polls its reactor. Returns whether that has woken a worker.
    pub(super) fn turn_reactor(&self) -> bool {
        let Some(reactor) = self.me.reactor() else { return false };
        self.queues.between_tasks(|| reactor.turn(self.call_later()))
    }

    /// Polls a reactor that was not polled for a while: its worker may be in a long poll, or may
    /// have no core to run on (L3): a machine with much to do may let a worker wait for some
    /// milliseconds, with all its sockets. One only: there may be many in which workers sleep well.
    /// Returns whether that has woken a worker.
    fn turn_a_stale_reactor(&self) -> bool {
        let Some(reactors) = &self.me.scheduler.config.reactors else { return false };
        if reactors.len() == 1 {
            return false;
        }
        let mine = self.me.seat_index();
        let mut others = (1..reactors.len()).map(|offset| (mine + offset) % reactors.len());
        let now = reactors.clock.now();
        let stale = others.find(|seat| reactors[*seat].is_stale(now, PATIENCE));
        let Some(seat) = stale else { return false };
        self.queues.between_tasks(|| reactors[seat].turn(self.call_later()))
    }

    /// What happens to wakers of other code.
    fn call_later(&self) -> impl FnMut(Waker) {
        |waker| self.me.scheduler.call_later(waker)
    }
}

impl Me {
    /// The reactor of the seat that it sits on, or sat on last.
    fn reactor(&self) -> Option<&Reactor> {
        self.scheduler.config.reactors.as_ref().map(|reactors| &reactors[self.seat_index()])
    }
}
