//! Blocking in the middle of a task.

use super::context::{self, Polling};
use crate::scheduler::{self, Aside};
use crate::task::coop;

/// Runs a closure that may block, on this thread, and lets another worker run in this one's place
/// meanwhile.
///
/// In a task this is for what cannot be sent to another thread, or is too short to be worth it:
/// [`spawn_blocking`](crate::task::spawn_blocking) leaves the task free to be cancelled or to wait
/// for several things at once. The worker gives its seat away at once: if anything waits, or comes
/// while the closure runs, another thread runs it. If nothing does, no other thread is bothered. It
/// gets its seat back at the end of the poll, so what the task computes until then is done beside as
/// many other workers as there are seats, and blocking once more costs next to nothing. Other futures of *this* task (in `join!`, say) do wait, and so do tasks that are pinned to this
/// worker and tasks of a [`LocalSet`](crate::task::LocalSet) that runs here.
///
/// What the closure spawns comes from outside of the workers, and
/// [`Handle::block_on`](super::Handle::block_on) may be called in it. May be nested; in blocking
/// closures, in `block_on` and on threads that are in no runtime it just calls the closure.
///
/// ```
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
/// use heist::task;
/// use std::sync::mpsc;
///
/// let (sender, receiver) = mpsc::channel();
/// let waits = rt.spawn(async move { task::block_in_place(|| receiver.recv().unwrap()) });
/// // The one worker blocks in the first task; the second runs all the same.
/// rt.spawn(async move { sender.send(7).unwrap() });
/// assert_eq!(rt.block_on(waits).unwrap(), 7);
/// ```
///
/// # Panics
/// In a task of a runtime without worker threads, or with
/// [`thread_per_core`](super::Builder::thread_per_core): nobody else could run the tasks of this
/// thread. Use `spawn_blocking` there.
#[track_caller]
pub fn block_in_place<F, R>(closure: F) -> R
where
    F: FnOnce() -> R,
{
    let _aside = step_aside("block_in_place", "use spawn_blocking");
    coop::with_no_budget(closure)
}

/// The calling thread, if it polls for a runtime, does so no more until this is dropped.
pub(super) struct Outside {
    // First the thread is a worker's again, then it polls.
    _aside: Option<Aside>,
    _pause: Polling,
}

/// The calling thread is going to wait, for `api`. If it is a worker's, that gives its seat away (L5).
#[track_caller]
pub(super) fn step_aside(api: &str, fix: &str) -> Option<Outside> {
    if !context::is_in_task() {
        return None;
    }
    match scheduler::step_aside() {
        Ok(aside) => Some(Outside { _aside: aside, _pause: Polling::pause() }),
        Err(_) => panic!(
            "{api}: called from within a task of a runtime without worker threads, or with \
             thread_per_core, where nobody else would run this thread's tasks meanwhile; {fix}, or \
             build the runtime without either"
        ),
    }
}
