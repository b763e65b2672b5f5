//! The queues of a [`LocalSet`](super::LocalSet), and its end.

use crate::canary;
use crate::env::this_thread;
use crate::task::{self, JoinHandle, Notified, Ran, Schedule, TaskList, TaskRef};
use crate::trace::{self, OffWorker, Outcome};
use crate::tuning::{NESTED_DROPS, TICK_INTERVAL};
use heist_sync::{Condvar, Mutex, MutexGuard, UnsafeCell};
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

/// The scheduler of a set, to which its tasks refer.
#[derive(Clone)]
pub(super) struct LocalScheduler(Arc<Shared>);

struct Shared {
    owned: Owned<Local>,
    remote: Mutex<Remote>,
    /// Notified when a task arrives in the remote queue of a set that is closing.
    has_come: Condvar,
}

/// State that only the set's own thread uses.
struct Local {
    runnable: RefCell<TaskList<LocalScheduler>>,
    waiting: RefCell<Slab<TaskRef>>,
    tick: Cell<u32>,
    /// Whether the set is being polled, so that tasks that become runnable need no wake-up.
    is_running: Cell<bool>,
    /// Whether the waker of what polls it is prompt, so that those of its tasks are.
    is_prompt: Cell<bool>,
    is_closed: Cell<bool>,
    /// How many tasks that were spawned after the close are being dropped, each in the drop of the
    /// one before.
    depth: Cell<usize>,
    /// Those that came at the greatest depth.
    refused: RefCell<TaskList<LocalScheduler>>,
    /// The number of tasks that were waiting when the set was closed and have not ended yet.
    ending: Cell<usize>,
}

/// State that all threads use.
struct Remote {
    runnable: TaskList<LocalScheduler>,
    /// The task that polls the set.
    waker: Option<Waker>,
    is_closing: bool,
}

/// A value that belongs to one thread. Other threads cannot access it.
struct Owned<T> {
    owner: u64,
    value: UnsafeCell<T>,
}

// SAFETY: (T6) get() lends the value only to its own thread.
unsafe impl<T: Send> Sync for Owned<T> {}

impl<T> Owned<T> {
    fn new(value: T) -> Self {
        Owned { owner: this_thread(), value: UnsafeCell::new(value) }
    }

    fn get(&self) -> Option<&T> {
        if self.owner != this_thread() && !canary::LOCAL_LENT_TO_ALL.sings() {
            return None;
        }
        // Accessed as if for writing, so that a model notices if two threads get here. The value is
        // only lent for reading.
        let value = self.value.with_mut(|value| value.cast_const());
        // SAFETY: (T6) this is the owner, and the value is changed only through its cells.
        Some(unsafe { &*value })
    }
}

impl LocalScheduler {
    /// Creates the scheduler of a set that belongs to the calling thread.
    pub(super) fn new() -> Self {
        let state = Local {
            runnable: RefCell::new(TaskList::new()),
            waiting: RefCell::default(),
            tick: Cell::new(0),
            is_running: Cell::new(false),
            is_prompt: Cell::new(false),
            is_closed: Cell::new(false),
            depth: Cell::new(0),
            refused: RefCell::new(TaskList::new()),
            ending: Cell::new(0),
        };
        let remote = Remote { runnable: TaskList::new(), waker: None, is_closing: false };
        LocalScheduler(Arc::new(Shared {
            owned: Owned::new(state),
            remote: Mutex::new(remote),
            has_come: Condvar::new(),
        }))
    }

    fn state(&self) -> &Local {
        self.0.owned.get().expect("a LocalSet and its tasks stay on their thread")
    }

    fn remote(&self) -> MutexGuard<'_, Remote> {
        // No panic can leave the state inconsistent, so a poisoned lock can be used.
        self.0.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Spawns a task. If the set has been dropped, the task is cancelled at once.
    pub(super) fn spawn<F>(
        &self,
        future: F,
        name: Option<&str>,
        spawned_at: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let state = self.state();
        // SAFETY: (T6) this is the set's thread, as state() has made sure. Rights to run the task
        // are used and dropped in Local alone; elsewhere they are only handed on.
        let (task, join) =
            unsafe { task::new_local(future, spawned_at, name.map(Arc::from), None) };
        if state.is_closed.get() {
            self.refuse(task);
        } else {
            trace::spawned_off_worker(task.id().number().get(), OffWorker::LocalSet, spawned_at);
            self.push(task);
        }
        join
    }

    /// Begins a turn of the set, which is run by the task of `waker`. Inside of another turn, in
    /// one of the set's own tasks, the outer one goes on running it.
    pub(super) fn begin(&self, waker: &Waker) -> Turn<'_> {
        let was_running = self.state().is_running.replace(true);
        // First: a foreign waker may panic when it is cloned, and then the turn is over.
        let turn = Turn { scheduler: self, was_running };
        if !was_running {
            self.state().is_prompt.set(task::is_prompt(waker));
            self.register(waker);
        }
        turn
    }

    fn register(&self, waker: &Waker) {
        if self.remote().waker.as_ref().is_some_and(|old| old.will_wake(waker)) {
            return;
        }
        // Cloned and dropped outside of the lock, because that may run any code.
        let new = waker.clone();
        let old = self.remote().waker.replace(new);
        drop(old);
    }

    /// Drops a task that was spawned after the close: at once, because what spawns it may wait for
    /// it (T9). A chain, in which each drop spawns the next task, is no recursion; but no other
    /// thread may drop the tasks of the set, so a wait that is nested deeper does not end.
    fn refuse(&self, task: Notified<LocalScheduler>) {
        let state = self.state();
        let depth = state.depth.get();
        if depth >= NESTED_DROPS {
            state.refused.borrow_mut().push(task);
            return;
        }
        state.depth.set(depth + 1);
        drop(task);
        if depth == 0 {
            // Nothing is borrowed while a task is dropped.
            let next = || state.refused.borrow_mut().pop();
            while let Some(task) = next() {
                drop(task);
            }
        }
        state.depth.set(depth);
    }

    /// Wakes the task that polls the set.
    fn wake(&self) {
        let waker = self.remote().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn next(&self) -> Option<Notified<LocalScheduler>> {
        let state = self.state();
        let tick = state.tick.get().wrapping_add(1);
        state.tick.set(tick);
        let take_own = || state.runnable.borrow_mut().pop();
        let take_remote = || self.remote().runnable.pop();
        if tick % (TICK_INTERVAL / 2) == 0 {
            return take_remote().or_else(take_own);
        }
        take_own().or_else(|| {
            state.runnable.borrow_mut().append(&mut self.remote().runnable);
            take_own()
        })
    }

    fn has_runnable(&self) -> bool {
        self.state().runnable.borrow().len() > 0 || self.remote().runnable.len() > 0
    }

    /// Drops all futures of the set (T6). The README describes the steps.
    pub(super) fn shut_down(&self) {
        let state = self.state();
        debug_assert!(!state.is_running.get(), "a set that is being polled is borrowed");
        state.is_closed.set(true);
        self.remote().is_closing = true;
        // Dropping a future may wake tasks, so nothing is borrowed here.
        while let Some(task) = self.next() {
            drop(task);
        }
        let waiting = state.waiting.take();
        state.ending.set(waiting.len());
        for (_, task) in waiting {
            task.shut_down();
        }
        loop {
            while let Some(task) = self.next() {
                drop(task);
            }
            if state.ending.get() == 0 || canary::LOCAL_END_IMPATIENT.sings() {
                break;
            }
            self.wait_for_remote();
        }
        let waker = self.remote().waker.take();
        drop(waker);
    }

    fn wait_for_remote(&self) {
        let mut remote = self.remote();
        while remote.runnable.len() == 0 {
            remote = self.0.has_come.wait(remote);
        }
    }
}

impl LocalScheduler {
    /// A task that was woken: to the set's own queue, or to the one for all other threads.
    fn push(&self, task: Notified<LocalScheduler>) {
        if let Some(state) = self.0.owned.get() {
            state.runnable.borrow_mut().push(task);
            if !state.is_running.get() {
                self.wake();
            }
            return;
        }
        let mut remote = self.remote();
        remote.runnable.push(task);
        let waker = remote.waker.take().filter(|_| !canary::LOCAL_PUSH_SILENT.sings());
        if remote.is_closing && !canary::LOCAL_END_SILENT.sings() {
            self.0.has_come.notify_one();
        }
        drop(remote);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Schedule for LocalScheduler {
    type Link = (LocalScheduler, usize);

    fn adopt(&self, task: TaskRef) -> Option<Self::Link> {
        let state = self.state();
        if state.is_closed.get() {
            task.forget();
            return None;
        }
        Some((self.clone(), state.waiting.borrow_mut().insert(task)))
    }

    fn release((scheduler, key): Self::Link) -> bool {
        let state = scheduler.state();
        let task = state.waiting.borrow_mut().try_remove(key);
        if task.is_none() {
            state.ending.set(state.ending.get() - 1);
        }
        task.map(TaskRef::forget).is_some()
    }

    fn is_prompt(&self) -> bool {
        self.state().is_prompt.get()
    }

    unsafe fn schedule(link: *const Self::Link, task: Notified<LocalScheduler>) {
        // SAFETY: (T10) `link` is in the task, which has not been handed on yet.
        let (scheduler, _) = unsafe { &*link }.clone();
        scheduler.push(task);
    }
}

/// A turn of a set: it is being polled.
pub(super) struct Turn<'a> {
    scheduler: &'a LocalScheduler,
    was_running: bool,
}

impl Turn<'_> {
    /// Runs tasks until none is runnable or the turn is over (W7).
    pub(super) fn run(&self) {
        let is_recorded = trace::is_recording();
        for _ in 0..TICK_INTERVAL {
            let Some(task) = self.scheduler.next() else { return };
            let ran = match is_recorded {
                false => task.run(self.scheduler),
                true => self.run_recorded(task),
            };
            if let Ran::Again(task) = ran {
                self.scheduler.push(task);
            }
        }
    }

    #[cold]
    fn run_recorded(&self, task: Notified<LocalScheduler>) -> Ran<Notified<LocalScheduler>> {
        let id = task.id().number().get();
        trace::run_off_worker(
            id,
            || task.run(self.scheduler),
            |ran| match ran {
                Ran::Done => Outcome::Done,
                Ran::Waits => Outcome::Waits,
                Ran::Again(_) => Outcome::Again,
            },
        )
    }

    /// Whether all tasks have ended. One that is woken elsewhere, and on its way here, counts as
    /// waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.scheduler.state().waiting.borrow().is_empty() && !self.scheduler.has_runnable()
    }
}

impl Drop for Turn<'_> {
    /// The remaining tasks run in another turn.
    fn drop(&mut self) {
        self.scheduler.state().is_running.set(self.was_running);
        if !self.was_running && self.scheduler.has_runnable() {
            self.scheduler.wake();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::LocalSet;
    use super::*;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};
    use std::thread;

    /// T6: another thread has made the task queued, and reaches the queue only when the set is
    /// about to be gone.
    #[test]
    fn the_end_waits_for_a_task_that_is_on_its_way() {
        let set = LocalSet::new();
        let kept = Rc::new(Cell::new(None));
        let (keep, is_alive) = (Rc::clone(&kept), Rc::new(()));
        let future_is_alive = Rc::downgrade(&is_alive);
        let join = set.spawn_local(poll_fn(move |cx| -> Poll<()> {
            let _ = &is_alive;
            keep.set(Some(cx.waker().clone()));
            Poll::Pending
        }));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pin!(set.run_until(std::future::pending::<()>())).poll(&mut cx).is_pending());

        let waker = kept.take().unwrap();
        // SAFETY: (type) the waker of a task of this set.
        let notified = unsafe { Notified::<LocalScheduler>::half_woken(&waker) };
        let scheduler = set.scheduler.clone();
        let slow = thread::spawn(move || {
            while !scheduler.remote().is_closing {
                thread::yield_now();
            }
            // Time for an end that does not wait to go wrong.
            (0..1000).for_each(|_| thread::yield_now());
            scheduler.push(notified);
        });
        drop(set);
        assert!(future_is_alive.upgrade().is_none());
        assert!(join.is_finished());
        slow.join().unwrap();
    }
}
