//! When a thief leaves the jobs of joins alone, because to steal them does not pay.

use super::Local;
use crate::env::Clock;
use crate::scheduler::jobs::Job;
use std::cell::Cell;
use std::time::Duration;

/// What it costs to pass the job of a join to another worker and its result back: a dozen cache lines, one after
/// the other. A theft that keeps the thief at work for less does not pay. Measured by a loop of joins of two equal
/// closures: in parallel it takes longer than serially with closures of 0.8 µs, and 0.6 times as long with 4 µs.
const THEFT_COST: Duration = Duration::from_nanos(1250);

/// The longest pause, in yields, of which one takes a third of a microsecond if no other thread wants the core. A
/// new job of the victim waits no longer for the thief than it would for a worker that has to be woken. Does not
/// matter within a factor of four (lists of closures of 10 ns to 1 µs).
const LONGEST_PAUSE: u32 = 64;

/// A thief's back-off. Two workers that steal from each other what is too small make a list, `join(first, rest)`,
/// four times as slow as one worker alone would be. So a theft that did not pay makes the pause before the next one
/// twice as long, and a theft that paid half as long. Half, not zero: of two workers that steal from each other one
/// finds that it has paid because the other one pauses.
pub(super) struct Backoff {
    /// When the stolen job began, while it is being timed.
    begun: Cell<Option<Clock>>,
    /// How long the last pause was to be, in yields.
    pause: Cell<u32>,
    /// Whether that pause is still to come.
    is_due: Cell<bool>,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Backoff { begun: Cell::new(None), pause: Cell::new(0), is_due: Cell::new(false) }
    }

    /// The thief begins a job that a join waits for. It is timed only if that was the victim's last job: where there
    /// are others, many may be too small and the next one large.
    pub(super) fn begin(&self, was_last: bool) {
        self.begun.set(was_last.then(Clock::now));
    }

    /// The job has ended, or has come to where it waits for another thief.
    pub(super) fn end(&self) {
        let Some(begun) = self.begun.take() else { return };
        let has_paid = Clock::now().since(begun) >= THEFT_COST;
        let pause = if has_paid {
            self.pause.get() / 2
        } else {
            (2 * self.pause.get()).clamp(1, LONGEST_PAUSE)
        };
        self.pause.set(pause);
        self.is_due.set(pause > 0);
    }

    /// Whether a pause is to come before the next theft.
    fn is_due(&self) -> bool {
        self.is_due.get()
    }

    /// Takes the pause that is due, in yields; 0 if none is.
    fn take(&self) -> u32 {
        if self.is_due.take() { self.pause.get() } else { 0 }
    }
}

impl Local {
    /// To be called before a theft: pauses if the last thefts did not pay. Returns `false` if `is_urgent` has ended
    /// the pause: there is something to do that comes before the theft.
    pub(crate) fn back_off(&self, is_urgent: impl Fn() -> bool) -> bool {
        self.jobs.backoff.end();
        let yields = self.jobs.backoff.take();
        let begun = (yields > 0).then(Clock::now);
        for _ in 0..yields {
            if is_urgent() {
                return false;
            }
            std::thread::yield_now();
            // A yield that let another thread run may have taken longer than all others together.
            if begun.is_some_and(|begun| Clock::now().since(begun) > THEFT_COST * LONGEST_PAUSE) {
                break;
            }
        }
        true
    }

    /// [`back_off`](Self::back_off) for a worker that is about to search. A worker that waits for a job has done so
    /// before; others count on a searcher; and a worker that takes no jobs steals none.
    pub(in crate::scheduler::worker) fn back_off_from_search(&self) -> bool {
        let is_free = self.takes_jobs() && !self.is_searching.get() && !self.jobs.is_waiting.get();
        !is_free || self.back_off(|| self.has_more_urgent())
    }

    /// Whether there is anything to do but to take jobs from other workers' deques.
    pub(crate) fn has_more_urgent(&self) -> bool {
        let has_own = self.remote().has_own() || self.remote().own.lifo.has_task();
        has_own || self.scheduler.has_work_but_in_deques()
    }

    /// The next job of the worker that the last one was stolen from. Returns `None` if a pause is due: there are
    /// other things to look at before that.
    pub(in crate::scheduler::worker) fn steal_next_of(&self, victim: usize) -> Option<Job> {
        if self.jobs.backoff.is_due() { None } else { self.scheduler.steal_job_of(victim) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;

    fn steal(clock: &StoppedClock, backoff: &Backoff, takes: Duration) {
        backoff.begin(true);
        clock.advance(takes);
        backoff.end();
    }

    impl Local {
        /// As if it had stolen a job that was too small.
        pub(in crate::scheduler::worker) fn steal_crumb(&self, clock: &StoppedClock) {
            steal(clock, &self.jobs.backoff, Duration::ZERO);
        }
    }

    #[test]
    fn thefts_that_do_not_pay_make_the_pause_longer_and_those_that_do_shorter() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::new());
        assert_eq!(backoff.take(), 0, "it has stolen nothing");
        for pause in [1, 2, 4, 8, 16, 32, 64, 64] {
            steal(&clock, &backoff, THEFT_COST / 2);
            assert_eq!(backoff.take(), pause);
        }
        for pause in [32, 16, 8, 4, 2, 1, 0, 0] {
            steal(&clock, &backoff, THEFT_COST);
            assert_eq!(backoff.take(), pause, "that has paid");
        }
        steal(&clock, &backoff, THEFT_COST / 2);
        assert_eq!(backoff.take(), 1);
    }

    #[test]
    fn a_theft_is_timed_once() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::new());
        steal(&clock, &backoff, Duration::ZERO);
        assert_eq!(backoff.take(), 1);
        backoff.end();
        assert!(!backoff.is_due(), "nothing was stolen since");
        steal(&clock, &backoff, Duration::ZERO);
        assert_eq!(backoff.take(), 2);
    }

    #[test]
    fn a_wait_in_the_middle_of_a_stolen_job_is_not_timed() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::new());
        backoff.begin(true);
        backoff.end();
        clock.advance(10 * THEFT_COST);
        backoff.end();
        assert_eq!(backoff.take(), 1);
    }

    #[test]
    fn a_theft_from_a_victim_with_more_jobs_is_not_timed() {
        let (clock, backoff) = (StoppedClock::stop(), Backoff::new());
        steal(&clock, &backoff, Duration::ZERO);
        steal(&clock, &backoff, Duration::ZERO);
        assert_eq!(backoff.take(), 2);
        backoff.begin(false);
        backoff.end();
        assert!(!backoff.is_due());
        steal(&clock, &backoff, Duration::ZERO);
        assert_eq!(backoff.take(), 4, "earlier thefts still count");
    }
}
