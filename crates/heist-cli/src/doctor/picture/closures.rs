//! Closures on threads that are no workers.

use super::PlaceId;
use heist::trace::TaskId;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The number of closures that are known at a time; nothing is said about more. Guessed: some
/// megabytes.
const KEPT: usize = 1 << 16;

/// A closure that has got its thread.
#[derive(Debug, Clone, Copy)]
pub(in crate::doctor) struct Ran {
    pub(in crate::doctor) task: TaskId,
    pub(in crate::doctor) place: PlaceId,
    /// How long it waited for that.
    pub(in crate::doctor) waited: Duration,
    /// The number of closures that ran when this one got its thread; 0 if that number was a new
    /// maximum.
    pub(in crate::doctor) level: u32,
}

#[derive(Debug, Default)]
pub(super) struct Closures {
    waiting: HashMap<TaskId, Duration>,
    running: HashSet<TaskId>,
    most: u32,
}

impl Closures {
    pub(super) fn spawned(&mut self, task: TaskId, now: Duration) {
        if self.waiting.len() < KEPT {
            self.waiting.insert(task, now);
        }
    }

    /// What is known of it, if it is a closure that was seen when it was spawned.
    pub(super) fn started(&mut self, task: TaskId, place: PlaceId, now: Duration) -> Option<Ran> {
        let since = self.waiting.remove(&task)?;
        if self.running.len() < KEPT {
            self.running.insert(task);
        }
        let running = self.running.len() as u32;
        let level = if running > self.most { 0 } else { running };
        self.most = self.most.max(running);
        Some(Ran { task, place, waited: now.saturating_sub(since), level })
    }

    pub(super) fn ended(&mut self, task: TaskId) {
        self.running.remove(&task);
    }

    /// Those that nobody has begun.
    pub(super) fn left(&self, now: Duration) -> impl Iterator<Item = (TaskId, Duration, u32)> {
        let level = self.running.len() as u32;
        let waiting = self.waiting.iter();
        waiting.map(move |(task, since)| (*task, now.saturating_sub(*since), level))
    }

    /// The number of closures that ran at the same time.
    pub(super) fn most(&self) -> u32 {
        self.most
    }
}
