//! Threads for closures that block: started when they are needed, kept for a while, then ended.
//!
//! | module | what |
//! |---|---|
//! | `queue` | the closures that wait |
//! | `roster` | the threads that exist, sleep or come: the accounting, under one lock |
//! | `crew` | what a thread does, and how the next one is called |
//!
//! `blocking/README.md` specifies the protocol.

mod crew;
mod queue;
mod roster;

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use crew::{Host, NoThread};
pub(crate) use roster::Limits;

use crate::env::{ThreadSpec, this_thread, turns};
use crate::task::{Notified, Ran, Schedule, TaskRef, coop};
use crate::trace::{self, Outcome};
use crate::tuning::SHARDS;
use crew::{Crew, Work};
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle, ThreadId};

/// The settings from the runtime's builder.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub(crate) limits: Limits,
    pub(crate) threads: ThreadSpec,
}

/// The blocking threads of a runtime.
pub(crate) struct Blocking {
    crew: Crew<Unbegun>,
    threads: ThreadSpec,
    /// Locked while a thread is started, so that the handle of each running thread is here when
    /// another thread gets the lock.
    handles: Mutex<Handles>,
}

#[derive(Default)]
struct Handles {
    /// Handles of the threads that have not ended. During a shutdown, of ended ones too.
    running: Vec<JoinHandle<()>>,
    /// The handle of the thread that ended last.
    ended: Option<JoinHandle<()>>,
}

impl Blocking {
    pub(crate) fn new(config: Config) -> Self {
        let Config { limits, threads } = config;
        Blocking { crew: Crew::new(limits, SHARDS), threads, handles: Mutex::default() }
    }

    /// Has a thread run the closure; a mandatory one even if the runtime shuts down before its
    /// turn. Returns the closure after [`close`](Self::close).
    pub(crate) fn submit(
        &self,
        closure: Notified<NeverWaits>,
        is_mandatory: bool,
        host: &impl Host,
    ) -> Result<(), Unbegun> {
        self.crew.submit(this_thread() as usize, Unbegun { closure, is_mandatory }, host)
    }

    /// Has a sleeping or a new thread run `call` now. If there is no such thread, the call is
    /// dropped; it never waits for a busy thread. It is also dropped if the runtime shuts down
    /// before it has begun. It must not panic.
    pub(crate) fn call(
        &self,
        call: impl FnOnce() + Send + 'static,
        host: &impl Host,
    ) -> Result<(), NoThread> {
        self.crew.call(Box::new(call), host)
    }

    /// The settings of the threads.
    pub(crate) fn threads(&self) -> &ThreadSpec {
        &self.threads
    }

    /// Starts a thread that [`join`](Self::join) waits for.
    pub(crate) fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = self.threads.thread()?;
        let mut handles = self.handles();
        // When the runtime goes down no thread retires.
        handles.running.retain(|handle| !handle.is_finished());
        handles.running.push(thread.spawn(body)?);
        Ok(())
    }

    /// Called by a thread that ends. It releases the handle of the thread that ended before it,
    /// whose stack the system then takes back. So at most one stack is kept. (It does not join that
    /// thread, which may be in foreign destructors that wait for anything.)
    pub(crate) fn retire(&self) {
        let this = thread::current().id();
        let mut handles = self.handles();
        let is_this = |handle: &JoinHandle<()>| handle.thread().id() == this;
        // The thread that shuts the runtime down may wait for it already.
        let Some(index) = handles.running.iter().position(is_this) else { return };
        let own = handles.running.swap_remove(index);
        let before = handles.ended.replace(own);
        drop(handles);
        // Without the lock: the handle may hold a panic's payload, whose drop is foreign code.
        drop(before);
    }

    /// Closes the queue, and has the threads end when they are done. Returns the closures that no
    /// thread will begin, which the caller [ends](Unbegun::end).
    pub(crate) fn close(&self) -> impl Iterator<Item = Unbegun> + use<> {
        self.crew.close()
    }

    /// The threads that have not ended, except the one with this id.
    pub(crate) fn unfinished(&self, except: Option<ThreadId>) -> Vec<thread::Thread> {
        let handles = self.handles();
        let threads =
            handles.running.iter().filter(|handle| !handle.is_finished()).map(|h| h.thread());
        threads.filter(|thread| Some(thread.id()) != except).cloned().collect()
    }

    /// After [`close`](Self::close): waits for all threads except the one with this id.
    pub(crate) fn join(&self, except: Option<ThreadId>) {
        self.crew.wait_until_ended(usize::from(except.is_some()));
        loop {
            let Handles { running, ended } = std::mem::take(&mut *self.handles());
            let is_other = |handle: &JoinHandle<()>| Some(handle.thread().id()) != except;
            let mut others = running.into_iter().chain(ended).filter(is_other).peekable();
            if others.peek().is_none() {
                return;
            }
            // A thread that drops leftovers may have started another one meanwhile. The panic of a
            // callback that ended a thread has been printed.
            others.for_each(|handle| _ = handle.join());
        }
    }

    /// The id of the calling thread, if it is a blocking thread of this runtime.
    pub(crate) fn own_thread(&self) -> Option<ThreadId> {
        let this = thread::current().id();
        let handles = self.handles();
        let mut all = handles.running.iter().chain(&handles.ended);
        all.any(|handle| handle.thread().id() == this).then_some(this)
    }

    /// Whether no closure runs or waits.
    pub(crate) fn is_idle(&self) -> bool {
        let census = self.crew.census();
        census.queued == 0 && census.threads == census.idle
    }

    /// The number of threads, including those that start or end.
    pub(crate) fn num_blocking_threads(&self) -> usize {
        self.crew.census().threads
    }

    /// The number of threads that sleep.
    pub(crate) fn num_idle_blocking_threads(&self) -> usize {
        self.crew.census().idle
    }

    /// The number of closures that no thread has begun.
    pub(crate) fn blocking_queue_depth(&self) -> usize {
        self.crew.census().queued
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        // Should starting a thread panic, what is in the list is still right.
        self.handles.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl fmt::Debug for Blocking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking")
            .field("threads", &self.num_blocking_threads())
            .field("idle", &self.num_idle_blocking_threads())
            .field("queued", &self.blocking_queue_depth())
            .finish()
    }
}

/// A closure as a future that is ready when it is first polled, so that it can be a task.
pub(crate) struct Closure<F>(Option<F>);

impl<F> Closure<F> {
    pub(crate) fn new(closure: F) -> Self {
        Closure(Some(closure))
    }
}

impl<F> Unpin for Closure<F> {}

impl<F: FnOnce() -> R, R> Future for Closure<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<R> {
        let closure = self.0.take().expect("a task is not polled again once it was ready");
        // The closure has its thread to itself: there is no other task to yield to.
        Poll::Ready(coop::with_no_budget(closure))
    }
}

/// The scheduler of tasks that are queued once, when they are spawned, and never wait.
#[derive(Clone)]
pub(crate) struct NeverWaits;

impl Schedule for NeverWaits {
    type Link = ();

    fn adopt(&self, _task: TaskRef) -> Option<()> {
        unreachable!("a closure's task is ready after its first poll")
    }

    fn release((): ()) -> bool {
        unreachable!("a closure's task was never adopted")
    }

    unsafe fn schedule(_home: *const (), _task: Notified<Self>) {
        unreachable!("a closure's task is queued, running or done whenever it is woken")
    }
}

/// What waits for a thread.
pub(crate) struct Unbegun {
    closure: Notified<NeverWaits>,
    is_mandatory: bool,
}

impl Unbegun {
    /// Called if no thread will run the closure: cancels it, or runs it here if it is mandatory.
    pub(crate) fn end(self) {
        if self.is_mandatory { self.run() } else { drop(self.closure) }
    }
}

impl Work for Unbegun {
    fn run(self) {
        // It may have stood in for a worker before.
        turns::lengthen();
        let id = self.closure.id().number().get();
        let run = || self.closure.run(&NeverWaits);
        let ran = match trace::is_recording() {
            false => run(),
            true => trace::run_off_worker(id, run, |_| Outcome::Done),
        };
        debug_assert!(matches!(ran, Ran::Done), "a closure's task is ready after its first poll");
    }

    fn fail(self, error: &Arc<io::Error>) {
        self.closure.fail(error);
    }

    fn is_mandatory(&self) -> bool {
        self.is_mandatory
    }
}
