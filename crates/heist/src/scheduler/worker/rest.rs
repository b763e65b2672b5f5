//! What a worker does when it has nothing to do: it looks at reactors, waits a moment, and sleeps.

use super::Local;
use crate::env::Clock;
use crate::reactor::{Reactor, Slept};
use std::time::Duration;

/// After so long without a turn a worker looks at a reactor that is not its own. In the design it is 1 ms, and
/// for idle workers. But a busy machine may let a worker wait some ms for a core, with all its sockets: so busy
/// workers look too, and as often as it does not show in the rate. Chosen by p99 of `echo_tcp_64x64` (1.1 ms; 1.9
/// with 1 ms) and of `http_hello` (1.2 ms and 1.9); 50 and 150 µs are as good.
const STALE: Duration = Duration::from_micros(100);

/// A worker that is about to sleep, or sleeps.
#[must_use = "it must park, and then get up"]
pub(super) struct Lying {
    has_woken_itself: bool,
}

impl Local {
    /// Nothing to run: waits a moment, then sleeps until it is woken, unless there is something
    /// `else_to_do`.
    pub(crate) fn idle(&self, else_to_do: impl Fn() -> bool) {
        if else_to_do() || self.finds_while_waiting() {
            return;
        }
        self.arena().rest();
        let threads = self.scheduler.blocking.threads();
        threads.parking();
        if !self.turn_a_stale_reactor() {
            if let Some(lying) = self.lie_down(else_to_do) {
                self.sleep(lying);
            }
        }
        threads.unparked();
    }

    /// Sleeps in its seat's reactor, if there are reactors: what comes there wakes it, too (W1).
    fn sleep(&self, lying: Lying) {
        let Some(reactor) = self.reactor() else {
            self.seat().sleep();
            return self.get_up(lying);
        };
        // A closure that runs elsewhere takes no time of a clock that stands still.
        let is_quiet = || self.scheduler.blocking.is_idle();
        loop {
            let Slept { is_woken, harvest } = reactor.sleep(is_quiet);
            if is_woken || harvest.is_some() {
                self.get_up_from(lying, is_woken);
                self.until_turn.set(self.core.borrow().pace.interval());
                harvest.into_iter().for_each(|harvest| _ = harvest.deliver());
                return;
            }
            // A timer has come that is due before the one it slept for, a source, or nothing at all.
        }
    }

    /// It may have been woken, or get up by itself because its reactor has something.
    fn get_up_from(&self, lying: Lying, is_woken: bool) {
        if is_woken {
            return self.get_up(lying);
        }
        self.seat().stir();
        self.has_slept(lying, true);
        self.get_up_again();
    }

    /// A searcher that has found nothing waits awake before it sleeps: what comes now costs nobody
    /// a wake-up. Returns whether something has come. On a borrowed seat it would wait on a core
    /// that others use.
    pub(super) fn finds_while_waiting(&self) -> bool {
        if !self.is_searching.get() || !self.has_others() || !self.takes_jobs() {
            return false;
        }
        while self.backoff.pause(|| false) {
            if self.scheduler.has_work() || self.remote().has_own() {
                self.backoff.succeed();
                return true;
            }
        }
        false
    }

    /// All of going to sleep but the sleep. `None`: there is something to do after all, perhaps
    /// left by the callback that was called before. Else it must park, and then get up.
    pub(super) fn lie_down(&self, else_to_do: impl Fn() -> bool) -> Option<Lying> {
        if else_to_do() || self.remote().has_own() {
            return None;
        }
        if let Some(task) = self.take_lifo() {
            // Nobody is woken for what is in the slot, so it must be empty while its owner sleeps.
            self.push(task);
            return None;
        }
        let shared = &self.scheduler;
        let since = Clock::now();
        let has_work = || else_to_do() || shared.has_work();
        let woken = shared.put_to_sleep(self.seat.get(), self.is_searching.take(), has_work);
        if self.seat().is_closed() {
            // No wake-up may be coming: a searcher that has left counts as searching for ever. This
            // worker's next step is its last, so it does not lie down a second time.
            return None;
        }
        self.counters.parks(since);
        self.scribe.iter().for_each(|scribe| scribe.park());
        Some(Lying { has_woken_itself: woken == Some(self.seat.get()) })
    }

    /// It has been unparked.
    pub(super) fn get_up(&self, lying: Lying) {
        let by_itself = lying.has_woken_itself;
        self.has_slept(lying, by_itself);
        // Whoever woke this worker has counted it as searching.
        self.is_searching.set(true);
    }

    fn has_slept(&self, lying: Lying, by_itself: bool) {
        let now = Clock::now();
        self.counters.unparked(now, lying.has_woken_itself);
        self.scribe.iter().for_each(|scribe| scribe.unpark(by_itself));
        self.core.borrow_mut().pace.rested(now);
    }

    /// The reactor of the seat that it sits on, or sat on last.
    pub(super) fn reactor(&self) -> Option<&Reactor> {
        self.scheduler.config.reactors.as_ref().map(|reactors| &reactors[self.seat.get()])
    }

    /// Looks at its reactor without waiting, now and then (W1, F3), and at one that another should have looked at.
    #[inline]
    pub(super) fn turn_reactor_in_time(&self) {
        match self.until_turn.get().checked_sub(1) {
            Some(left) => self.until_turn.set(left),
            None => self.turn_reactors(),
        }
    }

    #[cold]
    fn turn_reactors(&self) {
        let steps = self.core.borrow().pace.interval();
        self.until_turn.set(steps);
        self.turn_reactor();
        self.turn_a_stale_reactor();
        self.help_a_neighbour();
        self.scheduler.idle.settle_barrier();
    }

    /// Takes what waits behind a poll that does not end.
    fn help_a_neighbour(&self) {
        if self.scheduler.config.staffing.is_per_core() {
            return;
        }
        let core = &mut *self.core.borrow_mut();
        if let Some(task) = core.search.help(&self.scheduler, self.index, &mut core.ring) {
            self.push_to(core, task);
        }
    }

    /// Has run out of tasks and jobs of its own: polls its reactor, and one that another worker
    /// should have polled. Returns whether that has woken a task (W1). A searcher does not: it has
    /// just slept in its reactor, or will do so next.
    pub(super) fn turn_reactor_when_dry(&self) -> bool {
        !self.is_searching.get() && (self.turn_reactor() | self.turn_a_stale_reactor())
    }

    /// Looks at its reactor without waiting; whether that has woken anybody.
    pub(super) fn turn_reactor(&self) -> bool {
        self.reactor().is_some_and(|reactor| reactor.turn())
    }

    /// Looks at a reactor that nobody has looked at for a while: its worker may be in a long poll, or may have no
    /// core to run on (L3). At one: there may be many in which all sleep well. Whether that has woken anybody.
    fn turn_a_stale_reactor(&self) -> bool {
        let Some(reactors) = &self.scheduler.config.reactors else { return false };
        let mut others =
            (1..reactors.len()).map(|offset| (self.seat.get() + offset) % reactors.len());
        let now = reactors.clock.now();
        let stale = others.find(|seat| reactors[*seat].is_stale(now, STALE));
        stale.is_some_and(|seat| reactors[seat].turn())
    }
}
