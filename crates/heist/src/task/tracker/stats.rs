//! What is known of one task.

use super::{Ran, Tracker};
use crate::metrics::{Counter, SharedCounter};
use crate::task::Id;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The numbers of one task. They may outlive it: whoever polls it and whoever asks have shares of their own.
///
/// Times are nanoseconds since the tracker began. What happens while the task is somebody's, queued or
/// running, has one writer at a time (T1, T2), and the queues order them. What is written when a poll has
/// ended is not so: by then the task may be polled again elsewhere.
///
/// They are counts for people (M1). Nobody decides anything by them, so loom need not see them, and all
/// orderings are Relaxed.
pub(crate) struct Stats {
    tracker: Arc<Tracker>,
    /// Where it is in the table.
    place: usize,
    has_ended: AtomicBool,
    pub(crate) id: Id,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) spawned_at: &'static Location<'static>,
    spawned: u64,
    /// When it became runnable last. With QUEUED until it is polled.
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

const QUEUED: u64 = 1 << 63;

/// A poll that goes on.
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

    /// By whoever has made the task runnable, before anybody else can take it.
    pub(in crate::task_core) fn woken(&self) {
        self.woken.store(self.tracker.now() | QUEUED, Ordering::Relaxed);
    }

    /// By whoever has the right to run the task.
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

    /// By the one who began it. Only a task that is to run again is still his.
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

    /// The task has ended: it leaves the table, if nobody has seen to that before.
    pub(crate) fn end(&self) {
        if !self.has_ended.swap(true, Ordering::Relaxed) {
            self.tracker.remove(self.id, self.place);
        }
    }

    /// What there is to tell at this moment, which the tracker's clock shows. A poll that goes on counts, and
    /// so does a wait for one.
    pub(crate) fn view(&self, now: u64) -> View {
        // In this order: what begins in between makes it look busy, not idle.
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

/// The numbers of a task at one moment; times in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) state: TaskState,
    pub(crate) polls: u64,
    pub(crate) busy: u64,
    pub(crate) longest_poll: u64,
    pub(crate) delay: u64,
    pub(crate) longest_delay: u64,
    /// How long ago.
    pub(crate) last_wake: u64,
    pub(crate) age: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Running,
    Queued,
    Waiting,
}
