//! The names of tasks, to be found by id.
//!
//! A report about a task is made by a thread that has no reference to it, and must not follow a
//! pointer to what may be freed meanwhile. Ids are never used again, so it asks by id. Only tasks
//! with a name come here: all others have nothing to do with these locks.

use super::Id;
use super::id::BLOCK;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Guessed. A thread has ids of a block for itself, and each block is in one of these: threads
/// that spawn named tasks at the same time seldom meet.
const SHARDS: usize = 16;

type Names = BTreeMap<Id, Arc<str>>;

static NAMES: [Mutex<Names>; SHARDS] = [const { Mutex::new(BTreeMap::new()) }; SHARDS];

/// The name of a task that has one and has not been freed.
pub(crate) fn name_of(task: Id) -> Option<Arc<str>> {
    shard(task).get(&task).cloned()
}

/// A task's name, which is known as long as this lives.
pub(super) struct Name {
    task: Id,
    name: Arc<str>,
}

impl Name {
    pub(super) fn new(task: Id, name: Arc<str>) -> Self {
        shard(task).insert(task, Arc::clone(&name));
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
        shard(self.task).remove(&self.task);
    }
}

fn shard(task: Id) -> MutexGuard<'static, Names> {
    let shard = (task.number().get() / BLOCK) as usize % SHARDS;
    // Nothing panics with the lock held.
    NAMES[shard].lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests;
