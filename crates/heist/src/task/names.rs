//! The names of tasks, to be found by id.
//!
//! A report about a task is made by a thread that has no reference to it, and must not follow a
//! pointer to what may be freed meanwhile. Ids are never used again, so it asks by id. Only tasks
//! with a name come here: all others have nothing to do with these locks.
//!
//! A recorder tells of tasks when they have ended. If there is one, the names of those that ended last are kept.

use super::Id;
use super::id::BLOCK;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Guessed. A thread has ids of a block for itself, and each block is in one of these: threads
/// that spawn named tasks at the same time seldom meet.
const SHARDS: usize = 16;

/// So many of each shard are kept when they have ended. Guessed: a megabyte of all of them.
const ENDED: usize = 1024;

static NAMES: [Mutex<Names>; SHARDS] = [const { Mutex::new(Names::new()) }; SHARDS];

/// Whether anybody will ask for the names of tasks that have ended.
static IS_ENDED_KEPT: AtomicBool = AtomicBool::new(false);

struct Names {
    alive: BTreeMap<Id, Arc<str>>,
    ended: BTreeMap<Id, Arc<str>>,
    /// Those of `ended`, the first first.
    order: VecDeque<Id>,
}

impl Names {
    const fn new() -> Self {
        Names { alive: BTreeMap::new(), ended: BTreeMap::new(), order: VecDeque::new() }
    }

    fn end(&mut self, task: Id) {
        let name = self.alive.remove(&task);
        // Relaxed: whoever has a runtime that records has seen it built.
        if !IS_ENDED_KEPT.load(Ordering::Relaxed) {
            return;
        }
        self.ended.extend(name.map(|name| (task, name)));
        self.order.push_back(task);
        if self.order.len() > ENDED {
            self.order.pop_front().and_then(|first| self.ended.remove(&first));
        }
    }
}

/// The name of a task that has one and has not been freed.
pub(crate) fn name_of(task: Id) -> Option<Arc<str>> {
    shard(task).alive.get(&task).cloned()
}

/// The same, also of a task that has ended lately; those that had before [`keep_ended`] was called are not known.
pub(crate) fn last_name_of(task: Id) -> Option<Arc<str>> {
    let names = shard(task);
    names.alive.get(&task).or_else(|| names.ended.get(&task)).cloned()
}

/// From now on the names of tasks that have ended are kept for a while.
pub(crate) fn keep_ended() {
    IS_ENDED_KEPT.store(true, Ordering::Relaxed);
}

/// A task's name, which is known as long as this lives.
pub(super) struct Name {
    task: Id,
    name: Arc<str>,
}

impl Name {
    pub(super) fn new(task: Id, name: Arc<str>) -> Self {
        shard(task).alive.insert(task, Arc::clone(&name));
        Name { task, name }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.name
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        shard(self.task).end(self.task);
    }
}

fn shard(task: Id) -> MutexGuard<'static, Names> {
    let shard = (task.number().get() / BLOCK) as usize % SHARDS;
    // Nothing panics with the lock held.
    NAMES[shard].lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The first that ended is the first to be forgotten, however old the tasks are.
    #[test]
    fn the_names_of_those_that_ended_last_are_kept() {
        keep_ended();
        let mut names = Names::new();
        let ids: Vec<_> = (0..=ENDED).map(|_| Id::next()).collect();
        names.alive.extend(ids.iter().map(|id| (*id, "name".into())));
        ids.iter().rev().for_each(|id| names.end(*id));
        assert!(names.alive.is_empty());
        assert!(names.ended.keys().eq(&ids[..ENDED]));
        assert_eq!(names.order.len(), ENDED);
    }
}
