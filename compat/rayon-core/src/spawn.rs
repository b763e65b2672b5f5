//! Closures that nobody waits for.

use crate::pool::Pool;
use crate::{global, member, panics};
use heist::runtime::Handle;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Has a thread of the current pool, or of the global one, call `f` some time. What the calling
/// thread has spawned last it calls first.
///
/// Its panic goes to the pool's panic handler; without one it ends the process.
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(1).unwrap());
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
pub fn spawn<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    match global::current() {
        Some(pool) => spawn_on(&pool, f),
        None => Handle::current_or_global().spawn_detached(|| panics::contain(None, f)),
    }
}

/// Like [`spawn`], but of those that the calling thread has spawned so it calls the oldest first.
pub fn spawn_fifo<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    match global::current() {
        Some(pool) => spawn_fifo_on(&pool, f),
        None if heist::current_thread_index().is_some() => spawn(in_order(f)),
        None => spawn(f),
    }
}

pub(crate) fn spawn_on<F>(pool: &Arc<Pool>, f: F)
where
    F: FnOnce() + Send + 'static,
{
    if pool.breadth_first { spawn_fifo_on(pool, f) } else { pool.spawn(f) }
}

pub(crate) fn spawn_fifo_on<F>(pool: &Arc<Pool>, f: F)
where
    F: FnOnce() + Send + 'static,
{
    if member::is_of(pool) { pool.spawn(in_order(f)) } else { pool.spawn(f) }
}

type Queue = Arc<Mutex<VecDeque<Box<dyn FnOnce() + Send>>>>;

thread_local! {
    /// What this thread has spawned to be called in that order.
    static QUEUE: Queue = Queue::default();
}

/// Appends `f` to the queue of this thread. For each there is a closure, pushed where the newest is
/// taken first, that calls the oldest.
fn in_order(f: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
    let queue = QUEUE.with(Arc::clone);
    lock(&queue).push_back(Box::new(f));
    move || {
        let oldest = lock(&queue).pop_front();
        oldest.into_iter().for_each(|f| f());
    }
}

fn lock(queue: &Queue) -> std::sync::MutexGuard<'_, VecDeque<Box<dyn FnOnce() + Send>>> {
    // Nothing panics with the lock held.
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
