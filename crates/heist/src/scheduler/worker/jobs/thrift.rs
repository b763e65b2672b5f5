//! Whether it pays to steal what joins offer.

use super::Local;
use crate::env::Clock;
use crate::scheduler::jobs::Job;
use std::cell::Cell;
use std::time::Duration;

/// A theft that keeps its thief at work for less does not pay: so long it takes, about, to pass a job of a join to another worker, and its end back. Chosen by a
/// loop of joins of two equal closures: with those of 0.8 µs it takes longer in parallel than one after the other, with those of 4 µs 0.6 times as long.
const SHORT: Duration = Duration::from_nanos(1250);
/// So long a thief holds back after many that did not pay, in spells; after the first it is one, and twice as many after each that follows; after one that has paid half as many. (Not none: of two who steal from each
/// other one finds that it has paid, because the other has held back.) What comes
/// meanwhile waits about as long as for a worker that has to be woken. Guessed.
const LONGEST: u32 = 32;
/// How often it looks in a spell whether there is a reason to end it, and how long it waits before each look, in turns of a spin loop: together
/// about half a microsecond, where a turn takes 40 ns; on some machines it takes a fifth of that. Guessed.
const LOOKS_PER_SPELL: u32 = 4;
const SPINS_PER_LOOK: u32 = 4;
/// After so long it has held back for long enough, however few spells those were: threads that it has let run have kept its core. Guessed.
const OVERDUE: Duration = Duration::from_micros(50);

/// So often a thief looks whether who it has stolen from has something new. Guessed: who waited for what was stolen goes on within this time.
const LOOKS: u32 = 12;
/// After longer jobs it does not: beside them it does not show how long it takes to find the next. Guessed.
const BRIEF: Duration = Duration::from_micros(8);

/// What a worker knows of its thefts.
pub(super) struct Thrift {
    /// Since when it is at what it has stolen, if that is to be weighed.
    at_it_since: Cell<Option<Clock>>,
    /// For how many spells the last theft has it hold back, and how many of them are left.
    pause: Cell<u32>,
    left: Cell<u32>,
    /// Whether the last theft was weighed, and did not take long.
    was_brief: Cell<bool>,
}

impl Thrift {
    pub(super) fn new() -> Self {
        Thrift {
            at_it_since: Cell::new(None),
            pause: Cell::new(0),
            left: Cell::new(0),
            was_brief: Cell::new(false),
        }
    }

    /// It begins with a job that it has stolen, and that nobody waits for.
    pub(super) fn begin_other(&self) {
        self.was_brief.set(false);
    }

    /// The same with one that somebody waits for. Only if that was the last of its victim it is weighed: where there are others,
    /// many may be too small until there is a large one.
    pub(super) fn begin(&self, is_last: bool) {
        self.at_it_since.set(is_last.then(Clock::now));
        self.was_brief.set(false);
    }

    /// It has done with the last one, or got to where it waits for another thief.
    pub(super) fn weigh(&self) {
        let Some(begun) = self.at_it_since.take() else { return };
        let took = Clock::now().since(begun);
        self.was_brief.set(took < BRIEF);
        let spells = match took < SHORT {
            true => (2 * self.pause.get()).clamp(1, LONGEST),
            false => self.pause.get() / 2,
        };
        self.pause.set(spells);
        self.left.set(spells);
    }

    /// Whether it should hold back before the next.
    fn is_due(&self) -> bool {
        self.left.get() > 0
    }
}

impl Local {
    /// Before it steals a job: waits, if the last ones were not worth it. `false`: that was ended by a `reason`, and it should look at that first.
    pub(crate) fn hold_back(&self, reason: impl Fn() -> bool) -> bool {
        self.jobs.thrift.weigh();
        let spells = self.jobs.thrift.left.take();
        let begun = (spells > 0).then(Clock::now);
        for _ in 0..spells {
            for _ in 0..LOOKS_PER_SPELL {
                if reason() {
                    return false;
                }
                (0..SPINS_PER_LOOK).for_each(|_| std::hint::spin_loop());
            }
            // Perhaps it has the core of the one that it leaves alone.
            std::thread::yield_now();
            if begun.is_some_and(|begun| Clock::now().since(begun) > OVERDUE) {
                break;
            }
        }
        true
    }

    /// Whether what it stole the last times was too small.
    pub(in crate::scheduler::worker) fn is_thrifty(&self) -> bool {
        self.jobs.thrift.pause.get() > 0
    }

    /// The same for who looks for anything at all. Not in the middle of a wait, where it has held back before, nor where others count on it, or it takes no jobs.
    pub(in crate::scheduler::worker) fn hold_back_from_search(&self) -> bool {
        let is_free = self.takes_jobs() && !self.is_searching.get() && !self.jobs.is_waiting.get();
        !is_free || self.hold_back(|| self.has_more_urgent())
    }

    /// Whether there is anything for it to do but what is in the deques of others.
    pub(crate) fn has_more_urgent(&self) -> bool {
        let has_own = self.remote().has_own() || self.remote().own.lifo.has_task();
        has_own || self.scheduler.has_work_but_in_deques()
    }

    /// A thief has done with its job, and comes for the next of the same worker. If that was a brief one it waits for it a moment: who has waited for the last may fork
    /// again at once. If it has to hold back, it has other things to do before.
    pub(in crate::scheduler::worker) fn steal_next_of(&self, victim: usize) -> Option<Job> {
        if self.jobs.thrift.is_due() {
            return None;
        }
        let next = self.steal_job_of(victim);
        if next.is_some() || !self.jobs.thrift.was_brief.get() {
            return next;
        }
        // A scope may be over.
        self.jobs.credit.settle();
        // Not before: here it looks at what its owner writes with each push.
        let jobs = &self.scheduler.remotes[victim].jobs;
        (0..LOOKS).take_while(|_| jobs.is_empty()).for_each(|_| std::hint::spin_loop());
        self.steal_job_of(victim)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::StoppedClock;

    fn steal(clock: &StoppedClock, thrift: &Thrift, takes: Duration) {
        thrift.begin(true);
        clock.advance(takes);
        thrift.weigh();
    }

    impl Local {
        /// As if it had stolen what was too small.
        pub(in crate::scheduler::worker) fn steal_crumb(&self, clock: &StoppedClock) {
            steal(clock, &self.jobs.thrift, Duration::ZERO);
        }
    }

    #[test]
    fn what_is_too_small_is_left_alone_for_longer_and_longer() {
        let (clock, thrift) = (StoppedClock::stop(), Thrift::new());
        assert_eq!(thrift.left.take(), 0, "it has stolen nothing");
        for spells in [1, 2, 4, 8, 16, 32, 32] {
            steal(&clock, &thrift, SHORT / 2);
            assert_eq!(thrift.left.take(), spells);
        }
        for spells in [16, 8, 4, 2, 1, 0, 0] {
            steal(&clock, &thrift, SHORT);
            assert_eq!(thrift.left.take(), spells, "that was worth it");
        }
        steal(&clock, &thrift, SHORT / 2);
        assert_eq!(thrift.left.take(), 1);
    }

    #[test]
    fn a_theft_is_weighed_once() {
        let (clock, thrift) = (StoppedClock::stop(), Thrift::new());
        steal(&clock, &thrift, Duration::ZERO);
        assert_eq!(thrift.left.take(), 1);
        thrift.weigh();
        assert!(!thrift.is_due(), "nothing was stolen since");
        steal(&clock, &thrift, Duration::ZERO);
        assert_eq!(thrift.left.take(), 2);
    }

    #[test]
    fn what_a_thief_waits_for_in_the_middle_is_not_counted_as_its_work() {
        let (clock, thrift) = (StoppedClock::stop(), Thrift::new());
        thrift.begin(true);
        thrift.weigh();
        clock.advance(10 * SHORT);
        thrift.weigh();
        assert_eq!(thrift.left.take(), 1);
    }

    #[test]
    fn only_after_brief_jobs_a_thief_waits_for_the_next() {
        let (clock, thrift) = (StoppedClock::stop(), Thrift::new());
        let was_brief_after = |takes| {
            steal(&clock, &thrift, takes);
            thrift.was_brief.get()
        };
        assert!(was_brief_after(BRIEF / 2));
        assert!(!was_brief_after(BRIEF));
        assert!(was_brief_after(Duration::ZERO));
        thrift.begin(false);
        assert!(!thrift.was_brief.get(), "there was more: the next one is there, or it is over");
    }

    #[test]
    fn where_there_is_more_nothing_is_too_small() {
        let (clock, thrift) = (StoppedClock::stop(), Thrift::new());
        steal(&clock, &thrift, Duration::ZERO);
        steal(&clock, &thrift, Duration::ZERO);
        assert_eq!(thrift.left.take(), 2);
        thrift.begin(false);
        thrift.weigh();
        assert!(!thrift.is_due());
        steal(&clock, &thrift, Duration::ZERO);
        assert_eq!(thrift.left.take(), 4, "what it knows it knows");
    }
}
