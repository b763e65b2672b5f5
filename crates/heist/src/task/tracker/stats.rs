//! Statistics of one task.

use super::{Ran, Tracker};
use crate::metrics::{Counter, SharedCounter};
use crate::task::Id;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The statistics of one task. They may outlive it: the thread that polls it and clients of the
/// console have shares of their own.
///
/// Times are in nanoseconds since the tracker was created. Fields that change while the task is
/// queued or running have one writer at a time (T1, T2), and the queues order the writers. Fields
/// that change after a poll may have several, because the task may then already be polled
/// elsewhere.
///
/// All orderings are Relaxed: these are counts for people (M1), and nothing depends on them.
pub(crate) struct Stats {
    tracker: Arc<Tracker>,
    /// Its index in the table.
    place: usize,
    has_ended: AtomicBool,
    pub(crate) id: Id,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) spawned_at: &'static Location<'static>,
    spawned: u64,
    /// When it became runnable last, with QUEUED set until it is polled.
    woken: AtomicU64,
    delay: Counter,
    longest_delay: Counter,
    polls_begun: Counter,
    /// When the last poll began.
    poll_began: Counter,
    polls_ended: SharedCounter,
    busy: SharedCounter,
    longest_poll: AtomicU64,
}

/// Layout: a flag above the time in `woken`.
const QUEUED: u64 = 1 << 63;

/// A poll in progress.
#[must_use = "it has to end"]
pub(crate) struct Poll {
    began: u64,
}

impl Stats {
    pub(super) fn new(
        tracker: Arc<Tracker>,
        place: usize,
        id: Id,
        spawned_at: &'static Location<'static>,
        name: Option<Arc<str>>,
    ) -> Self {
        let now = tracker.now();
        Stats {
            tracker,
            place,
            has_ended: AtomicBool::new(false),
            id,
            name,
            spawned_at,
            spawned: now,
            woken: AtomicU64::new(now | QUEUED),
            delay: Counter::default(),
            longest_delay: Counter::default(),
            polls_begun: Counter::default(),
            poll_began: Counter::default(),
            polls_ended: SharedCounter::default(),
            busy: SharedCounter::default(),
            longest_poll: AtomicU64::new(0),
        }
    }

    /// Called by the thread that has made the task runnable, before another thread can take it.
    pub(in crate::task_core) fn woken(&self) {
        self.woken.store(self.tracker.now() | QUEUED, Ordering::Relaxed);
    }

    /// Called by the thread that has the right to run the task.
    pub(in crate::task_core) fn poll_begins(&self) -> Poll {
        let now = self.tracker.now();
        let woken = self.woken.load(Ordering::Relaxed) & !QUEUED;
        self.woken.store(woken, Ordering::Relaxed);
        let delay = now.saturating_sub(woken);
        self.delay.add(delay);
        self.longest_delay.set(self.longest_delay.get().max(delay));
        self.tracker.delays.record(delay);
        self.poll_began.set(now);
        self.polls_begun.add(1);
        Poll { began: now }
    }

    /// Called by the thread that began the poll. It still owns the task only if `ran` is `Again`.
    pub(in crate::task_core) fn poll_ends<T>(&self, poll: Poll, ran: &Ran<T>) {
        let now = self.tracker.now();
        let took = now.saturating_sub(poll.began);
        self.tracker.poll_times.record(took);
        self.busy.add(took);
        if took > self.longest_poll.load(Ordering::Relaxed) {
            self.longest_poll.fetch_max(took, Ordering::Relaxed);
        }
        self.polls_ended.add(1);
        match ran {
            Ran::Again(_) => self.woken.store(now | QUEUED, Ordering::Relaxed),
            Ran::Done => self.end(),
            Ran::Waits => {}
        }
    }

    /// Removes the task from the table when it has ended. Only the first call does something.
    pub(crate) fn end(&self) {
        if !self.has_ended.swap(true, Ordering::Relaxed) {
            self.tracker.remove(self.id, self.place);
        }
    }

    /// The statistics at the time `now` of the tracker's clock. They include the current poll, or
    /// the current wait for one.
    pub(crate) fn view(&self, now: u64) -> View {
        // In this order: a poll that begins in between makes the task look busy, not idle.
        let ended = self.polls_ended.get();
        let (busy, longest) = (self.busy.get(), self.longest_poll.load(Ordering::Relaxed));
        let (delay, longest_delay) = (self.delay.get(), self.longest_delay.get());
        let woken = self.woken.load(Ordering::Relaxed);
        let polls = self.polls_begun.get();
        let (is_running, is_queued) = (polls > ended, woken & QUEUED != 0);
        let woken = woken & !QUEUED;
        let since = |then: u64, is_so: bool| if is_so { now.saturating_sub(then) } else { 0 };
        let going_on = since(self.poll_began.get(), is_running);
        let waiting = since(woken, is_queued);
        View {
            state: match (is_queued, is_running) {
                (true, _) => TaskState::Queued,
                (false, true) => TaskState::Running,
                (false, false) => TaskState::Waiting,
            },
            polls,
            busy: busy + going_on,
            longest_poll: longest.max(going_on),
            delay: delay + waiting,
            longest_delay: longest_delay.max(waiting),
            last_wake: now.saturating_sub(woken),
            age: now.saturating_sub(self.spawned),
        }
    }
}

/// The statistics of a task at one moment; times in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) state: TaskState,
    pub(crate) polls: u64,
    pub(crate) busy: u64,
    pub(crate) longest_poll: u64,
    pub(crate) delay: u64,
    pub(crate) longest_delay: u64,
    /// Time since the last wake-up.
    pub(crate) last_wake: u64,
    pub(crate) age: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Running,
    Queued,
    Waiting,
}
