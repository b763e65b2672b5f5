//! The state word of a task.

use crate::canary;
use heist_sync::{AtomicU64, Ordering};
use std::fmt;

// Layout: see the table of `State`.
const RUNNING: u64 = 1 << 0;
const NOTIFIED: u64 = 1 << 1;
const COMPLETE: u64 = 1 << 2;
const CANCELLED: u64 = 1 << 3;
const JOIN_INTEREST: u64 = 1 << 4;
const JOIN_WAKER: u64 = 1 << 5;
const REF: u64 = 1 << 6;

// Layout: all flags.
const FLAGS: u64 = RUNNING | NOTIFIED | COMPLETE | CANCELLED | JOIN_INTEREST | JOIN_WAKER;
const _: () = assert!(FLAGS == REF - 1, "the flags are disjoint and leave no gap");
/// Layout: queued, with a reference for the queue and one for the join handle.
const NEW: u64 = NOTIFIED | JOIN_INTEREST | (2 * REF);
/// Subtracting this turns "queued" into "running".
const NOTIFIED_TO_RUNNING: u64 = NOTIFIED - RUNNING;
/// Far below an overflow, and far above what fits into memory.
const MAX_REFS: u64 = u64::MAX >> 8;

/// A snapshot of the state word. Its table is in this module's README.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Snapshot(u64);

impl Snapshot {
    pub(super) fn is_running(self) -> bool {
        self.0 & RUNNING != 0
    }

    pub(super) fn is_notified(self) -> bool {
        self.0 & NOTIFIED != 0
    }

    pub(super) fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }

    pub(super) fn is_cancelled(self) -> bool {
        self.0 & CANCELLED != 0
    }

    pub(super) fn has_join_interest(self) -> bool {
        self.0 & JOIN_INTEREST != 0
    }

    pub(super) fn has_join_waker(self) -> bool {
        self.0 & JOIN_WAKER != 0
    }

    fn refs(self) -> u64 {
        self.0 / REF
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("running", &self.is_running())
            .field("notified", &self.is_notified())
            .field("complete", &self.is_complete())
            .field("cancelled", &self.is_cancelled())
            .field("join_interest", &self.has_join_interest())
            .field("join_waker", &self.has_join_waker())
            .field("refs", &self.refs())
            .finish()
    }
}

/// What a worker must do with a task that it took from a queue.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Start {
    Poll,
    Cancel,
}

/// What the worker must do after a poll that returned `Pending`.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Pause {
    /// The task waits; the worker's reference is gone.
    Idle,
    /// The task waits, and the worker's reference was the last one.
    Dealloc,
    /// It was woken meanwhile, and goes back into a queue with the worker's reference.
    Reschedule,
    /// It was aborted meanwhile; the worker still holds it running.
    Cancel,
}

/// What a wake-up or an abort must do.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Notify {
    /// Nothing: the task is queued, running or done.
    Nothing,
    /// Put the task into a queue; a reference for the queue was made.
    Schedule,
    /// Nothing, and the reference that was given up was the last one.
    Dealloc,
}

/// The state word. Every change but the plain counting of references is a method here.
pub(super) struct State(AtomicU64);

impl State {
    /// Layout: queued, with a reference for the queue and one for the join handle.
    pub(super) fn new() -> Self {
        State(AtomicU64::new(NEW))
    }

    pub(super) fn load(&self) -> Snapshot {
        // Acquire: pairs with the Release half of complete(): a thread that sees COMPLETE sees the
        // output.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// The state, if the caller, which has `count` references, is alone with the task: there are no
    /// other handles, wakers or list entries, and new references are only made from old ones. The
    /// caller then needs no exchange.
    pub(super) fn alone(&self, count: u64) -> Option<Snapshot> {
        // Acquire: pairs with the Release of every reference that was given up: a thread that is
        // alone sees everything that others did.
        let order = canary::TASK_ALONE_RELAXED.weakens(Ordering::Acquire);
        let now = Snapshot(self.0.load(order));
        (now.refs() == count).then_some(now)
    }

    /// Exchanges the word for the result of `change`, until that succeeds or `change` declines.
    fn update<R>(&self, mut change: impl FnMut(Snapshot) -> (R, Option<u64>)) -> R {
        let mut current = self.load();
        loop {
            let (result, new) = change(current);
            let Some(new) = new else { return result };
            // AcqRel: pairs with itself. What a waker did before its wake-up is visible to the
            // poll that follows, what a poll did is visible to the next, also on another thread.
            let success = canary::TASK_UPDATE_RELAXED.weakens(Ordering::AcqRel);
            match self.0.compare_exchange(current.0, new, success, Ordering::Acquire) {
                Ok(_) => return result,
                Err(now) => current = Snapshot(now),
            }
        }
    }

    /// A worker has taken the task from its queue and begins to poll it (T2).
    pub(super) fn start(&self) -> Start {
        let before = match self.alone(1) {
            Some(now) => {
                // Relaxed: no other thread looks before the poll makes a waker and passes it on.
                self.0.store(now.0 - NOTIFIED_TO_RUNNING, Ordering::Relaxed);
                now
            }
            // AcqRel: pairs with the AcqRel in update(): wake-ups before this are visible to the
            // poll.
            None => Snapshot(self.0.fetch_sub(NOTIFIED_TO_RUNNING, Ordering::AcqRel)),
        };
        debug_assert!(before.is_notified() && !before.is_running() && !before.is_complete());
        if before.is_cancelled() { Start::Cancel } else { Start::Poll }
    }

    /// The poll was not ready (T4). If the task now waits, the worker's reference is given up.
    pub(super) fn pause(&self) -> Pause {
        self.update(|now| {
            debug_assert!(now.is_running() && !now.is_complete());
            if now.is_cancelled() {
                (Pause::Cancel, None)
            } else if now.is_notified() && !canary::TASK_WAKE_IN_POLL_LOST.sings() {
                (Pause::Reschedule, Some(now.0 & !RUNNING))
            } else {
                let idle = (now.0 & !(RUNNING | NOTIFIED)) - REF;
                let pause = if idle < REF { Pause::Dealloc } else { Pause::Idle };
                (pause, Some(idle))
            }
        })
    }

    /// The output is in place (T5). Returns the state before.
    pub(super) fn complete(&self) -> Snapshot {
        // AcqRel: pairs with the Acquire in load() by which the join handle finds the output, and
        // acquires the handle's waker.
        let order = canary::TASK_COMPLETE_RELAXED.weakens(Ordering::AcqRel);
        let before = Snapshot(self.0.fetch_xor(RUNNING | COMPLETE, order));
        debug_assert!(before.is_running() && !before.is_complete());
        before
    }

    /// A wake-up that keeps its waker (T4).
    pub(super) fn notify_by_ref(&self) -> Notify {
        self.update(|now| {
            if now.is_complete() {
                (Notify::Nothing, None)
            } else if now.is_running() || now.is_notified() {
                // Also when it is queued already: the exchange orders what the waker did before
                // the poll to come.
                (Notify::Nothing, Some(now.0 | NOTIFIED))
            } else {
                (Notify::Schedule, Some((now.0 | NOTIFIED) + REF))
            }
        })
    }

    /// A wake-up that gives up its waker, and with it a reference (T4).
    pub(super) fn notify_by_value(&self) -> Notify {
        self.update(|now| {
            if now.is_complete() || now.is_running() || now.is_notified() {
                let flag = if now.is_complete() { 0 } else { NOTIFIED };
                let left = (now.0 | flag) - REF;
                let notify = if left < REF { Notify::Dealloc } else { Notify::Nothing };
                (notify, Some(left))
            } else {
                (Notify::Schedule, Some(now.0 | NOTIFIED))
            }
        })
    }

    /// An abort (T6). The task is cancelled by the worker that runs it, or for which it is queued
    /// now.
    pub(super) fn cancel(&self) -> Notify {
        self.update(|now| {
            if now.is_complete() || now.is_cancelled() {
                (Notify::Nothing, None)
            } else if now.is_running() || now.is_notified() {
                (Notify::Nothing, Some(now.0 | CANCELLED | NOTIFIED))
            } else {
                (Notify::Schedule, Some((now.0 | CANCELLED | NOTIFIED) + REF))
            }
        })
    }

    /// A shutdown seizes a waiting task in order to cancel it. Returns `false` if the task is
    /// queued, running or complete; its holder then cancels it.
    pub(super) fn seize(&self) -> bool {
        self.update(|now| {
            if now.is_complete() {
                (false, None)
            } else if now.is_running() || now.is_notified() {
                (false, Some(now.0 | CANCELLED))
            } else {
                (true, Some(now.0 | CANCELLED | RUNNING))
            }
        })
    }

    /// The join handle has put its waker in place. `false` if the task has completed meanwhile:
    /// then the waker is still the handle's.
    pub(super) fn set_join_waker(&self) -> bool {
        self.update(|now| {
            debug_assert!(now.has_join_interest() && !now.has_join_waker());
            if now.is_complete() { (false, None) } else { (true, Some(now.0 | JOIN_WAKER)) }
        })
    }

    /// The join handle takes its waker back, to exchange it. `false` if the task has completed
    /// meanwhile: then the waker is the task's.
    pub(super) fn unset_join_waker(&self) -> bool {
        self.update(|now| {
            debug_assert!(now.has_join_interest() && now.has_join_waker());
            if now.is_complete() { (false, None) } else { (true, Some(now.0 & !JOIN_WAKER)) }
        })
    }

    /// Drops the join handle and its reference if no other thread has touched the task yet.
    /// Otherwise does nothing and returns `false`.
    pub(super) fn detach_new(&self) -> bool {
        let detached = NEW - JOIN_INTEREST - REF;
        // Release: pairs with the Acquire in alone() by which the one that is left finds itself
        // alone.
        self.0.compare_exchange(NEW, detached, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// The join handle goes. If the task was complete the output is still there, and the handle
    /// must drop it; if not, a waker that was in place is the handle's again.
    pub(super) fn drop_join_interest(&self) -> Snapshot {
        self.update(|now| {
            debug_assert!(now.has_join_interest());
            // Once it is complete, the interest is not read any more.
            let detached = now.0 & !(JOIN_INTEREST | JOIN_WAKER);
            (now, (!now.is_complete()).then_some(detached))
        })
    }

    pub(super) fn add_ref(&self) {
        // Relaxed: the new reference is made from one that keeps the task alive.
        let before = self.0.fetch_add(REF, Ordering::Relaxed);
        if before / REF > MAX_REFS {
            // A panic cannot report a program that leaks this many wakers.
            std::process::abort();
        }
    }

    /// Gives up `count` references; `true` if they were the last.
    #[must_use]
    pub(super) fn drop_refs(&self, count: u64) -> bool {
        if self.alone(count).is_some() {
            return true;
        }
        // AcqRel: pairs with itself: the thread that frees the task sees everything that others did
        // with it.
        let before = Snapshot(self.0.fetch_sub(count * REF, Ordering::AcqRel));
        debug_assert!(before.refs() >= count);
        before.refs() == count
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}
