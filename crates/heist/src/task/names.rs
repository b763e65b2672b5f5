//! The names of tasks, found by id.
//!
//! A report about a task is made by a thread that has no reference to it, and that must not follow
//! a pointer to memory that may be freed meanwhile. Ids are never reused, so it asks by id. Only
//! tasks with a name are entered here; all others never touch these locks.
//!
//! A recorder describes tasks after they have ended. If there is one, the names of the tasks that
//! ended last are kept.

use super::Id;
use crate::tuning::{COUNTER_BLOCK, KEPT_BYTES, SHARDS};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Layout: names of ended tasks that each shard keeps, at about 64 bytes each.
const ENDED: usize = KEPT_BYTES / SHARDS / 64;

static NAMES: [Mutex<Names>; SHARDS] = [const { Mutex::new(Names::new()) }; SHARDS];

/// Whether a runtime records, so that names of ended tasks are needed.
static IS_ENDED_KEPT: AtomicBool = AtomicBool::new(false);

struct Names {
    alive: BTreeMap<Id, Arc<str>>,
    ended: BTreeMap<Id, Arc<str>>,
    /// The keys of `ended`, oldest first.
    order: VecDeque<Id>,
}

impl Names {
    const fn new() -> Self {
        Names { alive: BTreeMap::new(), ended: BTreeMap::new(), order: VecDeque::new() }
    }

    fn end(&mut self, task: Id) {
        let name = self.alive.remove(&task);
        // Relaxed: a thread that runs tasks of a recording runtime has seen it built.
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

/// The name of a task, if it has one and has not been freed.
pub(crate) fn name_of(task: Id) -> Option<Arc<str>> {
    shard(task).alive.get(&task).cloned()
}

/// The name of a task that may have ended recently, but after [`keep_ended`] was called.
pub(crate) fn last_name_of(task: Id) -> Option<Arc<str>> {
    let names = shard(task);
    names.alive.get(&task).or_else(|| names.ended.get(&task)).cloned()
}

/// Starts to keep the names of tasks that end.
pub(crate) fn keep_ended() {
    IS_ENDED_KEPT.store(true, Ordering::Relaxed);
}

/// A task's name, registered until this is dropped.
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

/// A thread takes ids in blocks, and all ids of a block are in one shard, so threads that spawn
/// named tasks at the same time rarely share a lock.
fn shard(task: Id) -> MutexGuard<'static, Names> {
    let shard = (task.number().get() / COUNTER_BLOCK) as usize % SHARDS;
    // Nothing panics with the lock held.
    NAMES[shard].lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Names are forgotten in the order in which the tasks ended, not in which they were spawned.
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
