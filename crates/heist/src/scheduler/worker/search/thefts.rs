//! When a thief leaves the jobs of joins alone, because stealing them does not pay.

use super::Worker;
use crate::env::Clock;
use crate::scheduler::jobs::Job;
use crate::tuning::{LONGEST_PAUSE, THEFT_COST};
use std::cell::Cell;

/// A thief's pauses. Two workers that steal from each other what is too small make a list,
/// `join(first, rest)`, four times as slow as one worker alone would be. So a theft that did not
/// pay doubles the pause before the next one, and a theft that paid halves it. It does not end it:
/// of two workers that steal from each other, one finds that it has paid because the other one
/// pauses.
pub(super) struct Thefts {
    /// When the stolen job began, while it is being timed.
    begun: Cell<Option<Clock>>,
    /// Length of the last pause, in yields.
    pause: Cell<u32>,
    /// Whether that pause is still to come.
    is_due: Cell<bool>,
}

impl Thefts {
    pub(super) fn new() -> Self {
        Thefts { begun: Cell::new(None), pause: Cell::new(0), is_due: Cell::new(false) }
    }

    /// The thief begins a job that a join waits for. It is timed only if that was the victim's last
    /// job: where there are others, many may be too small and the next one large.
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

impl Worker {
    /// [`back_off`](Self::back_off) for a worker that waits for a job, until the wait `is_over` or
    /// the worker has something else to run.
    pub(crate) fn pause_before_theft(&self, is_over: impl Fn() -> bool) -> bool {
        self.back_off(|| {
            is_over()
                || if self.is_fixed() { self.has_more_urgent() } else { self.has_direct_job() }
        })
    }

    /// Pauses before a theft, if the last thefts did not pay. Returns `false` if `is_urgent` has
    /// ended the pause: there is something to do that comes before the theft.
    fn back_off(&self, is_urgent: impl Fn() -> bool) -> bool {
        let thefts = &self.search.thefts;
        thefts.end();
        let yields = thefts.take();
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

    /// [`back_off`](Self::back_off) for a worker that is about to search. A worker that waits for a
    /// job has done so before; others rely on a searcher; and a worker that takes no jobs steals
    /// none.
    pub(in crate::scheduler) fn pause_before_search(&self) -> bool {
        let is_free = self.takes_jobs() && !self.search.is_on() && !self.jobs.is_waiting();
        !is_free || self.back_off(|| self.has_more_urgent())
    }

    /// Returns whether there is anything to do but to take jobs from other workers' deques.
    fn has_more_urgent(&self) -> bool {
        self.has_own() || self.me.scheduler.has_work_but_in_deques()
    }

    /// The worker begins a job of a join that it has stolen from `victim`.
    pub(in crate::scheduler::worker) fn begin_theft(&self, victim: usize) {
        let was_last = self.me.scheduler.remotes[victim].jobs.is_empty();
        self.search.thefts.begin(was_last);
    }

    /// That job has ended.
    pub(in crate::scheduler::worker) fn end_theft(&self) {
        self.search.thefts.end();
    }

    /// The next job of the worker that the last one was stolen from. Returns `None` if a pause is
    /// due: there are other things to look at before that.
    pub(in crate::scheduler::worker) fn steal_next_of(&self, victim: usize) -> Option<Job> {
        let is_due = self.search.thefts.is_due();
        if is_due { None } else { self.me.scheduler.steal_job_of(victim) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;
    use std::time::Duration;

    fn steal(clock: &StoppedClock, thefts: &Thefts, takes: Duration) {
        thefts.begin(true);
        clock.advance(takes);
        thefts.end();
    }

    impl Worker {
        /// As if it had stolen a job that was too small.
        pub(in crate::scheduler::worker) fn steal_crumb(&self, clock: &StoppedClock) {
            steal(clock, &self.search.thefts, Duration::ZERO);
        }
    }

    #[test]
    fn thefts_that_do_not_pay_make_the_pause_longer_and_those_that_do_shorter() {
        let (clock, thefts) = (StoppedClock::stop(), Thefts::new());
        assert_eq!(thefts.take(), 0, "it has stolen nothing");
        for pause in [1, 2, 4, 8, 16, 32, 64, 64] {
            steal(&clock, &thefts, THEFT_COST / 2);
            assert_eq!(thefts.take(), pause);
        }
        for pause in [32, 16, 8, 4, 2, 1, 0, 0] {
            steal(&clock, &thefts, THEFT_COST);
            assert_eq!(thefts.take(), pause, "that has paid");
        }
        steal(&clock, &thefts, THEFT_COST / 2);
        assert_eq!(thefts.take(), 1);
    }

    #[test]
    fn a_theft_is_timed_once() {
        let (clock, thefts) = (StoppedClock::stop(), Thefts::new());
        steal(&clock, &thefts, Duration::ZERO);
        assert_eq!(thefts.take(), 1);
        thefts.end();
        assert!(!thefts.is_due(), "nothing was stolen since");
        steal(&clock, &thefts, Duration::ZERO);
        assert_eq!(thefts.take(), 2);
    }

    #[test]
    fn a_wait_in_the_middle_of_a_stolen_job_is_not_timed() {
        let (clock, thefts) = (StoppedClock::stop(), Thefts::new());
        thefts.begin(true);
        thefts.end();
        clock.advance(10 * THEFT_COST);
        thefts.end();
        assert_eq!(thefts.take(), 1);
    }

    #[test]
    fn a_theft_from_a_victim_with_more_jobs_is_not_timed() {
        let (clock, thefts) = (StoppedClock::stop(), Thefts::new());
        steal(&clock, &thefts, Duration::ZERO);
        steal(&clock, &thefts, Duration::ZERO);
        assert_eq!(thefts.take(), 2);
        thefts.begin(false);
        thefts.end();
        assert!(!thefts.is_due());
        steal(&clock, &thefts, Duration::ZERO);
        assert_eq!(thefts.take(), 4, "earlier thefts still count");
    }
}
