//! `block_in_place`: blocking in the middle of a task.

use super::context::{self, Polling};
use crate::scheduler::{self, Aside};
use crate::task::coop;

/// Runs a closure that may block on the calling thread, and lets a spare worker take its place.
///
/// In a task this is for closures that cannot be sent to another thread, or that are too short to
/// be worth it. Prefer [`spawn_blocking`](crate::task::spawn_blocking) otherwise: it leaves the
/// task free to be cancelled, or to wait for several things at once.
///
/// The worker gives its seat away at once. If tasks wait, or arrive while the closure runs, a spare
/// worker runs them; if there are none, no other thread is woken. The worker gets its seat back at
/// the end of the poll, so blocking a second time in the same poll costs almost nothing.
///
/// Other futures of the *same* task, in `join!` for example, do wait. So do tasks that are pinned
/// to this worker, and tasks of a [`LocalSet`](crate::task::LocalSet) that runs on this thread.
///
/// The closure may call [`Handle::block_on`](super::Handle::block_on). Calls may be nested. In
/// blocking closures, in `block_on` and on threads outside of runtimes, `block_in_place` just calls
/// the closure.
///
/// # Examples
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// use heist::task;
/// use std::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel();
/// let waits = rt.spawn(async move { task::block_in_place(|| receiver.recv().unwrap()) });
/// // The only worker blocks in the first task, and the second task runs nevertheless.
/// rt.spawn(async move { sender.send(7).unwrap() });
/// assert_eq!(rt.block_on(waits).unwrap(), 7);
/// ```
///
/// # Panics
///
/// Panics if the closure panics. Also panics if it is called in a task of a runtime without worker
/// threads, or with [`thread_per_core`](super::Builder::thread_per_core), because no other thread
/// could run the tasks of this thread meanwhile. Use `spawn_blocking` there.
#[track_caller]
pub fn block_in_place<F, R>(closure: F) -> R
where
    F: FnOnce() -> R,
{
    let _aside = step_aside("block_in_place", "use spawn_blocking");
    coop::with_no_budget(closure)
}

/// Marks the calling thread as not polling for a runtime; dropping it restores the previous state.
pub(super) struct Outside {
    // In this order: the thread becomes a worker again before it counts as polling.
    _aside: Option<Aside>,
    _pause: Polling,
}

/// Prepares the calling thread to block in `api`: a worker gives its seat away (L5).
#[track_caller]
pub(super) fn step_aside(api: &str, fix: &str) -> Option<Outside> {
    if !context::is_in_task() {
        return None;
    }
    match scheduler::step_aside() {
        Ok(aside) => Some(Outside { _aside: aside, _pause: Polling::pause() }),
        Err(_) => panic!(
            "{api}: called from within a task of a runtime without worker threads, or with \
             thread_per_core, where no thread could run the other tasks meanwhile; {fix}, or \
             build the runtime without either"
        ),
    }
}
