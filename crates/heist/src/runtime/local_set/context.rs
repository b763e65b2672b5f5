//! The `LocalSet` that a thread is in.

use super::scheduler::LocalScheduler;
use crate::task::JoinHandle;
use heist_sync::thread_local;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;

thread_local! {
    static CURRENT: RefCell<Option<LocalScheduler>> = RefCell::new(None);
}

/// A guard of [`LocalSet::enter`](super::LocalSet::enter): until it is dropped, [`spawn_local`]
/// adds tasks to that set.
///
/// # Examples
///
/// ```
/// use heist::task::{LocalSet, spawn_local};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let set = LocalSet::new();
/// let guard = set.enter();
/// let task = spawn_local(async { 7 });
/// drop(guard);
/// assert_eq!(set.run_until(task).await.unwrap(), 7);
/// # }
/// ```
#[must_use = "the thread leaves the set when the guard is dropped"]
pub struct LocalEnterGuard {
    outer: Option<LocalScheduler>,
    /// It must be dropped on the thread whose current set it changes.
    _thread: PhantomData<*const ()>,
}

impl LocalEnterGuard {
    pub(super) fn new(scheduler: &LocalScheduler) -> Self {
        LocalEnterGuard { outer: exchange(Some(scheduler.clone())), _thread: PhantomData }
    }
}

impl Drop for LocalEnterGuard {
    fn drop(&mut self) {
        drop(exchange(self.outer.take()));
    }
}

impl fmt::Debug for LocalEnterGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEnterGuard").finish_non_exhaustive()
    }
}

/// Replaces the current set. On a thread that is ending this does nothing.
fn exchange(scheduler: Option<LocalScheduler>) -> Option<LocalScheduler> {
    CURRENT.try_with(|current| current.replace(scheduler)).ok().flatten()
}

/// Spawns a task on the current [`LocalSet`](super::LocalSet). Its future need not be `Send`.
///
/// # Examples
///
/// ```
/// use heist::task::{self, LocalSet};
///
/// let rt = heist::runtime::Runtime::new().unwrap();
/// LocalSet::new().block_on(&rt, async {
///     let text = std::rc::Rc::<str>::from("local");
///     let task = task::spawn_local(async move { text.len() });
///     assert_eq!(task.await.unwrap(), 5);
/// });
/// ```
///
/// # Panics
///
/// Panics if the calling thread is in no set. Call it in a task of a set, inside
/// [`LocalSet::run_until`](super::LocalSet::run_until), or while the guard of
/// [`LocalSet::enter`](super::LocalSet::enter) exists.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn_with(future, None)
}

#[track_caller]
pub(in crate::runtime) fn spawn_with<F>(future: F, name: Option<&str>) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let current = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
    let Some(current) = current else {
        panic!(
            "spawn_local: there is no LocalSet on this thread; call it inside of \
             LocalSet::run_until or LocalSet::block_on, or use LocalSet::spawn_local. For a \
             future that is Send, use spawn"
        )
    };
    current.spawn(future, name, Location::caller())
}
