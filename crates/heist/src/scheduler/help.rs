//! When a worker calls another for the tasks in its ring (I1). `help/README.md` specifies the rule.

use crate::env::Clock;
use crate::tuning::{PATIENCE, POLLS_REMEMBERED, TICK_INTERVAL};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a worker expects of its own ring.
pub(super) struct Help {
    /// Whether the worker may hold back at all: one that nobody watches may not.
    may_hold: bool,
    /// The last time at which the worker is known to have been between two tasks.
    boundary: Cell<Clock>,
    /// Number of steps from now on that begin with a look at the clock.
    looks_left: Cell<u32>,
    /// Whether the current step has begun with one, so that the next one tells how long it took.
    is_timed: Cell<bool>,
    /// Set while the worker is between two tasks, and delivers events or steals.
    is_between: Cell<bool>,
    /// Mean time from one task to the next, in nanoseconds, over the steps that were timed.
    per_task: Cell<u64>,
    /// Since when tasks have been waiting in the ring for which the worker has called nobody.
    waiting_since: Cell<Option<Clock>>,
    /// Whether the current poll has lasted for so long that each task that it makes is for others.
    is_calling: Cell<bool>,
}

/// What other workers see of it.
pub(super) struct Expected {
    /// Time from one task to the next, in nanoseconds; while the worker does not time its steps,
    /// that of a task that takes long. Written by the worker alone.
    per_task: AtomicU64,
}

impl Expected {
    pub(super) fn new() -> Self {
        Expected { per_task: AtomicU64::new(PATIENCE.as_nanos() as u64) }
    }

    /// Whether a ring with `tasks` tasks keeps its worker busy for long enough that another worker
    /// pays.
    pub(super) fn is_long(&self, tasks: usize) -> bool {
        // Relaxed: a hint. A worker whose tasks wait for longer than it expects calls by itself.
        takes_long(tasks, self.per_task.load(Ordering::Relaxed))
    }
}

fn takes_long(tasks: usize, per_task: u64) -> bool {
    tasks as u128 * u128::from(per_task) >= PATIENCE.as_nanos()
}

impl Help {
    pub(super) fn new(may_hold: bool) -> Self {
        Help {
            may_hold,
            boundary: Cell::new(Clock::now()),
            looks_left: Cell::new(0),
            is_timed: Cell::new(false),
            is_between: Cell::new(false),
            per_task: Cell::new(0),
            waiting_since: Cell::new(None),
            is_calling: Cell::new(false),
        }
    }

    /// A task has come to the ring, which has `tasks` now, while another worker is free. Returns
    /// whether the worker calls it: not if it will come to all of them soon by itself.
    pub(super) fn calls(&self, tasks: usize, expected: &Expected) -> bool {
        if !self.may_hold || self.is_calling.get() {
            return true;
        }
        // From now on steps are timed, for the next task that comes.
        self.looks_left.set(TICK_INTERVAL);
        if self.is_in_long_poll() {
            // (L1) It has been in this poll for so long, or it is not known for how long: then
            // nobody knows when it ends, either.
            self.is_calling.set(true);
            self.call_for_all(expected);
            return true;
        }
        self.expect(expected, self.per_task.get());
        takes_long(tasks, self.per_task.get())
    }

    /// A task has come. Whether it comes from a poll that has lasted for long, or for nobody knows
    /// how long. Notes since when tasks wait. What one harvest brings takes one look at the clock.
    fn is_in_long_poll(&self) -> bool {
        let (is_between, is_first) = (self.is_between.get(), self.waiting_since.get().is_none());
        if is_between && !is_first {
            return false;
        }
        let now = Clock::now();
        if is_first {
            self.waiting_since.set(Some(now));
        }
        !is_between && now.since(self.boundary.get()) >= PATIENCE
    }

    /// Until the worker knows better, it expects even one task to take long.
    pub(super) fn call_for_all(&self, expected: &Expected) {
        self.expect(expected, PATIENCE.as_nanos() as u64);
    }

    /// Whether the step that begins is to be timed.
    #[inline]
    pub(super) fn looks(&self) -> bool {
        self.looks_left.get() > 0
    }

    /// A step begins. Meanwhile `waiting` tasks wait in the ring. Returns whether the worker calls
    /// another for them, if any `is_free`.
    pub(super) fn look(&self, waiting: usize, is_free: bool, expected: &Expected) -> bool {
        let now = Clock::now();
        let took = now.since(self.boundary.replace(now)).as_nanos() as u64;
        let mean = self.per_task.get();
        if self.is_timed.replace(true) {
            self.per_task.set(mean - mean / POLLS_REMEMBERED + took / POLLS_REMEMBERED);
        }
        self.expect(expected, self.per_task.get());
        self.is_calling.set(false);
        if waiting == 0 || !is_free {
            // Nothing waits; or all are awake, and look at all rings before they sleep.
            self.waiting_since.set(None);
            self.looks_left.set(self.looks_left.get() - 1);
            self.is_timed.set(self.looks());
            if !self.looks() {
                // From now on nobody notices that tasks wait.
                self.call_for_all(expected);
            }
            return false;
        }
        // Some may have come while all were awake, or in a job: nobody counted their time.
        let since = self.waiting_since.get().unwrap_or(now);
        let calls = now.since(since) >= PATIENCE || takes_long(waiting, self.per_task.get());
        // Tasks that still wait after the same time need another call.
        self.waiting_since.set(Some(if calls { now } else { since }));
        calls
    }

    /// The worker is between two tasks while `f` runs.
    pub(super) fn between<R>(&self, f: impl FnOnce() -> R) -> R {
        let was_between = self.is_between.replace(true);
        let result = f();
        self.is_between.set(was_between);
        result
    }

    /// The worker has no task: the time until the next step tells nothing.
    pub(super) fn has_no_task(&self) {
        self.is_timed.set(false);
    }

    /// The worker was between two tasks until now, and what it did was no task.
    pub(super) fn rested(&self, now: Clock) {
        self.boundary.set(now);
        self.is_timed.set(false);
    }

    fn expect(&self, expected: &Expected, per_task: u64) {
        // Relaxed: as in Expected::is_long().
        expected.per_task.store(per_task, Ordering::Relaxed);
    }
}
