//! A task in memory: header, future and output in one allocation.

mod detailed;

pub(super) use detailed::{Details, allocate_detailed};

use super::id::Running;
use super::state::{Notify, Pause, Start, State};
use super::{Id, JoinError, Schedule, coop, waker};
use crate::env::quietly;
use crate::memory;
use crate::trace;
use heist_sync::{UnsafeCell, model_has_failed};
use std::alloc::Layout;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

/// The part of a task that does not depend on its future. A pointer to it is a pointer to the
/// task.
#[repr(C)]
pub(crate) struct Header {
    pub(super) state: State,
    vtable: &'static VTable,
    pub(super) id: Id,
    pub(super) spawned_at: &'static Location<'static>,
}

/// Operations on a task whose future's type is erased.
struct VTable {
    run: unsafe fn(NonNull<Header>, scheduler: NonNull<()>) -> Ran<()>,
    cancel: unsafe fn(NonNull<Header>, why: JoinError),
    schedule: unsafe fn(NonNull<Header>),
    read_output: unsafe fn(NonNull<Header>, into: NonNull<()>, waker: &Waker),
    drop_join_handle: unsafe fn(NonNull<Header>),
    name: unsafe fn(NonNull<Header>) -> Option<NonNull<str>>,
    dealloc: unsafe fn(NonNull<Header>),
}

/// The result of running a task.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Ran<T> {
    /// It has ended: ready, panicked or cancelled.
    Done,
    /// It waits for a wake-up.
    Waits,
    /// It was woken while it ran: it is runnable, and the worker has it.
    Again(T),
}

#[repr(C)]
struct Cell<F: Future, S: Schedule> {
    header: Header,
    /// The scheduler of the task. Set by the worker before the task waits for the first time; until
    /// then only a worker schedules it, which knows its scheduler.
    link: UnsafeCell<Option<S::Link>>,
    stage: UnsafeCell<Stage<F>>,
    /// Belongs to the task if JOIN_WAKER is set, and otherwise to the join handle.
    join_waker: UnsafeCell<Option<Waker>>,
}

enum Stage<F: Future> {
    Future(F),
    Output(Result<F::Output, JoinError>),
    Taken,
}

/// Allocates a task: queued, with one reference for the queue and one for the join handle.
pub(super) fn allocate<F, S>(
    future: F,
    id: Id,
    spawned_at: &'static Location<'static>,
) -> NonNull<Header>
where
    F: Future,
    S: Schedule,
{
    place(Cell::<F, S>::new(future, id, spawned_at))
}

/// Moves a cell to memory of its own. It begins with the header.
#[inline(always)]
fn place<C>(cell: C) -> NonNull<Header> {
    let place = memory::allocate(Layout::new::<C>()).cast::<C>();
    // SAFETY: (type) memory for a C that no other thread knows.
    unsafe { place.write(cell) };
    place.cast()
}

/// Ends a cell and its memory.
///
/// # Safety
/// The cell was made by [`place`] as a `C`, and the last reference is gone.
unsafe fn displace<C>(header: NonNull<Header>) {
    // The rest may include a waker of a foreign executor, whose panic must not reach the holder of
    // the last reference (T7). SAFETY: (T10) passed on to the caller.
    quietly(|| unsafe { header.cast::<C>().drop_in_place() });
    // SAFETY: (T10) passed on to the caller: what was in it has been dropped.
    unsafe { memory::free(header.cast(), Layout::new::<C>()) };
}

thread_local! {
    static IS_CANCELLING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether this thread is dropping the future of a cancelled task. Code that waits in its
/// destructor is not dropped meanwhile, so it needs an answer (T9).
pub(crate) fn is_cancelling() -> bool {
    IS_CANCELLING.try_with(std::cell::Cell::get).unwrap_or(false)
}

/// A guard: the thread is cancelling a task.
struct Cancelling(bool);

impl Cancelling {
    fn begin() -> Self {
        Cancelling(IS_CANCELLING.try_with(|here| here.replace(true)).unwrap_or(false))
    }
}

impl Drop for Cancelling {
    fn drop(&mut self) {
        let _ = IS_CANCELLING.try_with(|here| here.set(self.0));
    }
}

/// A pointer to a task that is alive as long as the pointer's holder has a reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RawTask(pub(super) NonNull<Header>);

impl RawTask {
    pub(super) fn header(&self) -> &Header {
        // SAFETY: (T10) the holder has a reference, so the task has not been freed.
        unsafe { self.0.as_ref() }
    }

    /// Polls the task, or cancels it.
    ///
    /// # Safety
    /// The caller holds the task as runnable, and `S` is what it was allocated with.
    pub(super) unsafe fn run<S: Schedule>(self, scheduler: &S) -> Ran<()> {
        // SAFETY: (T2) passed on to the caller.
        unsafe { (self.header().vtable.run)(self.0, NonNull::from(scheduler).cast()) }
    }

    /// Cancels a runnable task instead of running it; `why` is what its handle gets.
    ///
    /// # Safety
    /// The caller holds the task as runnable.
    pub(super) unsafe fn cancel(self, why: JoinError) {
        let _ = self.header().state.start();
        // SAFETY: (T2) it counts as running now, on this thread.
        unsafe { (self.header().vtable.cancel)(self.0, why) };
    }

    /// Cancels a waiting task unless another thread holds it, and gives up the caller's reference.
    /// Returns whether it did; otherwise the holder will.
    pub(super) fn shut_down(self) -> bool {
        let is_seized = self.header().state.seize();
        if is_seized {
            let why = JoinError::cancelled(self.header().id);
            // SAFETY: (T6) seized: it counts as running now, on this thread.
            unsafe { (self.header().vtable.cancel)(self.0, why) };
        } else {
            self.drop_ref();
        }
        is_seized
    }

    pub(super) fn wake_by_ref(self) {
        self.act(self.header().state.notify_by_ref());
    }

    pub(super) fn wake_by_value(self) {
        self.act(self.header().state.notify_by_value());
    }

    pub(super) fn abort(self) {
        self.act(self.header().state.cancel());
    }

    fn act(self, notify: Notify) {
        match notify {
            Notify::Nothing => {}
            // SAFETY: (T4) the task was waiting, so it has a link; the reference is the queue's.
            Notify::Schedule => unsafe { (self.header().vtable.schedule)(self.0) },
            Notify::Dealloc => self.dealloc(),
        }
    }

    /// Moves the output to `into` if there is one, or leaves `waker` to be woken.
    ///
    /// # Safety
    /// The caller is the task's join handle, and `into` points to a `Poll` of its output.
    pub(super) unsafe fn read_output(self, into: NonNull<()>, waker: &Waker) {
        // SAFETY: (T5) passed on to the caller.
        unsafe { (self.header().vtable.read_output)(self.0, into, waker) };
    }

    /// # Safety
    /// The caller is the task's join handle, which does nothing more afterwards.
    pub(super) unsafe fn drop_join_handle(self) {
        if self.header().state.detach_new() {
            return;
        }
        // SAFETY: (T5) passed on to the caller.
        unsafe { (self.header().vtable.drop_join_handle)(self.0) };
    }

    pub(super) fn add_ref(self) {
        self.header().state.add_ref();
    }

    pub(super) fn drop_ref(self) {
        self.drop_refs(1);
    }

    fn drop_refs(self, count: u64) {
        if self.header().state.drop_refs(count) {
            self.dealloc();
        }
    }

    fn dealloc(self) {
        // SAFETY: (T10) the last reference is gone.
        unsafe { (self.header().vtable.dealloc)(self.0) };
    }

    /// The name that `task::Builder` gave it.
    pub(super) fn name(&self) -> Option<&str> {
        // SAFETY: (T10) the holder has a reference, so the task has not been freed.
        let name = unsafe { (self.header().vtable.name)(self.0) }?;
        // SAFETY: (T10) as above; and a task's name does not change.
        Some(unsafe { name.as_ref() })
    }
}

impl<F: Future, S: Schedule> Cell<F, S> {
    const VTABLE: &'static VTable = &VTable {
        run: Self::run,
        cancel: Self::cancel_held,
        schedule: Self::schedule,
        read_output: Self::read_output,
        drop_join_handle: Self::drop_join_handle,
        name: |_| None,
        dealloc: Self::dealloc,
    };

    #[inline(always)]
    fn new(future: F, id: Id, spawned_at: &'static Location<'static>) -> Self {
        Cell {
            header: Header { state: State::new(), vtable: Self::VTABLE, id, spawned_at },
            link: UnsafeCell::new(None),
            stage: UnsafeCell::new(Stage::Future(future)),
            join_waker: UnsafeCell::new(None),
        }
    }

    /// # Safety
    /// `header` is that of a live `Cell<F, S>`.
    unsafe fn of<'a>(header: NonNull<Header>) -> &'a Self {
        // SAFETY: (T10) the header is the cell's first field, and the caller vouches for the rest.
        unsafe { header.cast::<Self>().as_ref() }
    }

    unsafe fn run(header: NonNull<Header>, scheduler: NonNull<()>) -> Ran<()> {
        // SAFETY: (T10) the vtable belongs to this type.
        let cell = unsafe { Self::of(header) };
        // SAFETY: (type) RawTask::run passes a reference to the S of this task.
        let scheduler = unsafe { scheduler.cast::<S>().as_ref() };
        match cell.header.state.start() {
            Start::Cancel => cell.cancel(JoinError::cancelled(cell.header.id)),
            Start::Poll => match cell.poll(RawTask(header), scheduler) {
                Poll::Ready(()) => {}
                Poll::Pending if !cell.settle(RawTask(header), scheduler) => {
                    cell.cancel(JoinError::cancelled(cell.header.id));
                }
                // From here on the task may be another thread's, and be freed.
                Poll::Pending => match cell.header.state.pause() {
                    Pause::Idle => return Ran::Waits,
                    Pause::Reschedule => return Ran::Again(()),
                    Pause::Cancel => cell.cancel(JoinError::cancelled(cell.header.id)),
                    Pause::Dealloc => {
                        RawTask(header).dealloc();
                        return Ran::Done;
                    }
                },
            },
        }
        let references = cell.complete();
        RawTask(header).drop_refs(references);
        Ran::Done
    }

    /// Polls the future, and puts its output in place; a panic is an output too (T7).
    ///
    /// `task` is this task, by the pointer that it was allocated with: one made from a reference to
    /// the header would be good for the header only. So below.
    fn poll(&self, task: RawTask, scheduler: &S) -> Poll<()> {
        let _running = Running::begin(self.header.id);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let drop_future = DropFuture(self);
            let polled = self.stage.with_mut(|stage| {
                // SAFETY: (T2) the task runs on this thread alone.
                let Stage::Future(future) = (unsafe { &mut *stage }) else {
                    unreachable!("a task that is not complete has its future")
                };
                // SAFETY: (T2) the future stays in the task's allocation until it is dropped
                // in place.
                let future = unsafe { Pin::new_unchecked(future) };
                waker::with_borrowed(task, scheduler.is_prompt(), |waker| {
                    coop::with_fresh_budget(|| future.poll(&mut Context::from_waker(waker)))
                })
            });
            std::mem::forget(drop_future);
            polled.map(|output| self.exchange_stage(Stage::Output(Ok(output))))
        }));
        polled.unwrap_or_else(|panic| {
            trace::task_panicked();
            let error = JoinError::panic(self.header.id, panic);
            quietly(|| self.exchange_stage(Stage::Output(Err(error))));
            Poll::Ready(())
        })
    }

    /// After a poll that was not ready. A task that is going to wait for the first time is made
    /// known to the scheduler, so that it can be found when the runtime goes down. One that never
    /// waits costs nothing of that. `false`: the runtime is down.
    fn settle(&self, task: RawTask, scheduler: &S) -> bool {
        scheduler.poll_returned();
        let now = self.header.state.load();
        // SAFETY: (T2) set by the running worker only, which is this one.
        let is_linked = self.link.with(|link| unsafe { (*link).is_some() });
        if is_linked || now.is_notified() || now.is_cancelled() {
            return true;
        }
        // The scheduler's reference comes first: as soon as it keeps the task, a shutdown on
        // another thread may take it out again and give the reference up.
        task.add_ref();
        let Some(new) = scheduler.adopt(TaskRef(task)) else {
            task.drop_ref();
            return false;
        };
        // SAFETY: (T2) wakers read it only after the state has become idle, which is next.
        self.link.with_mut(|link| unsafe { *link = Some(new) });
        true
    }

    /// Drops the future; its place holds the cancellation, or what its drop panicked with (T6, T7).
    fn cancel(&self, why: JoinError) {
        let _running = Running::begin(self.header.id);
        let _cancelling = Cancelling::begin();
        let dropped = catch_unwind(AssertUnwindSafe(|| self.exchange_stage(Stage::Taken)));
        let error = match dropped {
            Ok(()) => why,
            Err(panic) => JoinError::panic(self.header.id, panic),
        };
        quietly(|| self.exchange_stage(Stage::Output(Err(error))));
    }

    /// Drops an output without a reader. A panic of its drop is swallowed.
    fn drop_output(&self) {
        let _running = Running::begin(self.header.id);
        quietly(|| self.exchange_stage(Stage::Taken));
    }

    /// Drops what the stage holds, in place, and puts `new` there, also if the drop panics.
    #[inline(always)]
    fn exchange_stage(&self, new: Stage<F>) {
        struct Write<F: Future>(*mut Stage<F>, ManuallyDrop<Stage<F>>);
        impl<F: Future> Drop for Write<F> {
            #[inline(always)]
            fn drop(&mut self) {
                // SAFETY: (T2) this is the end of both: it is moved out once.
                let new = unsafe { ManuallyDrop::take(&mut self.1) };
                // SAFETY: (T2) what was there has been dropped, whole or by unwinding.
                unsafe { self.0.write(new) };
            }
        }
        self.stage.with_mut(|stage| {
            let _write = Write(stage, ManuallyDrop::new(new));
            // SAFETY: (T2) the caller is alone with the stage; it is overwritten next.
            unsafe { stage.drop_in_place() };
        });
    }

    /// Called when the output is in place: notifies the join handle, or drops the output if there
    /// is none (T5). Returns how many references the caller must give up: its own, and perhaps the
    /// scheduler's.
    fn complete(&self) -> u64 {
        // A task without other references need not be marked as complete.
        let state = &self.header.state;
        let before = state.alone(1).unwrap_or_else(|| state.complete());
        if !before.has_join_interest() {
            self.drop_output();
        } else if before.has_join_waker() {
            // SAFETY: (T5) complete with JOIN_WAKER set: the waker is the task's.
            let waker = self.join_waker.with_mut(|waker| unsafe { (*waker).take() });
            quietly(|| waker.into_iter().for_each(Waker::wake));
        }
        // SAFETY: (T2) a complete task is never scheduled, and only the thread that completed it
        // comes here.
        let link = self.link.with_mut(|link| unsafe { (*link).take() });
        1 + u64::from(link.is_some_and(S::release))
    }

    /// Cancels a task that counts as running on this thread, and gives up the caller's reference.
    unsafe fn cancel_held(header: NonNull<Header>, why: JoinError) {
        // SAFETY: (T10) the vtable belongs to this type.
        let cell = unsafe { Self::of(header) };
        cell.cancel(why);
        let references = cell.complete();
        RawTask(header).drop_refs(references);
    }

    unsafe fn schedule(header: NonNull<Header>) {
        // SAFETY: (T10) the vtable belongs to this type.
        let cell = unsafe { Self::of(header) };
        // SAFETY: (T4) link was set before the task became idle, which the caller has acquired.
        let link = cell.link.with(|link| unsafe { (*link).as_ref() }.map(|link| &raw const *link));
        let link = link.expect("a task that waits has a link");
        // SAFETY: (T1) the state has just become NOTIFIED, with a reference for the queue.
        let task = unsafe { super::Notified::from_raw(RawTask(header)) };
        // SAFETY: (T10) `link` is in the task, which is alive as long as it is in no queue.
        unsafe { S::schedule(link, task) };
    }

    unsafe fn read_output(header: NonNull<Header>, into: NonNull<()>, waker: &Waker) {
        // SAFETY: (T10) the vtable belongs to this type.
        let cell = unsafe { Self::of(header) };
        if !cell.is_output_ready(waker) {
            return;
        }
        let stage = cell.stage.with_mut(|stage| {
            // SAFETY: (T5) complete with JOIN_INTEREST set: the stage is the join handle's.
            std::mem::replace(unsafe { &mut *stage }, Stage::Taken)
        });
        let Stage::Output(output) = stage else {
            panic!("JoinHandle: polled again after it had returned the output")
        };
        // SAFETY: (type) the join handle passes a `Poll` of this task's output.
        unsafe { into.cast::<Poll<Result<F::Output, JoinError>>>().write(Poll::Ready(output)) };
    }

    /// Whether the task is complete; if not, `waker` is in place for when it is.
    fn is_output_ready(&self, waker: &Waker) -> bool {
        let state = &self.header.state;
        let now = state.load();
        if now.is_complete() {
            return true;
        }
        // Take the place back before looking at it: a task that completes empties it.
        if now.has_join_waker() && !state.unset_join_waker() {
            return true;
        }
        self.join_waker.with_mut(|place| {
            // SAFETY: (T5) JOIN_WAKER is not set: the place is the join handle's.
            let place = unsafe { &mut *place };
            if !place.as_ref().is_some_and(|old| old.will_wake(waker)) {
                *place = Some(waker.clone());
            }
        });
        let is_complete = !state.set_join_waker();
        if is_complete {
            self.drop_join_waker();
        }
        is_complete
    }

    /// For the join handle, while it owns the place. A panic of a foreign waker's drop is
    /// swallowed.
    fn drop_join_waker(&self) {
        // SAFETY: (T5) JOIN_WAKER is not set, and only the handle sets it.
        let waker = self.join_waker.with_mut(|place| unsafe { (*place).take() });
        quietly(|| drop(waker));
    }

    unsafe fn drop_join_handle(header: NonNull<Header>) {
        // SAFETY: (T10) the vtable belongs to this type.
        let cell = unsafe { Self::of(header) };
        let before = cell.header.state.drop_join_interest();
        if before.is_complete() {
            cell.drop_output();
        }
        // A task that completed with JOIN_WAKER set has emptied the place, or is about to.
        if !before.is_complete() || !before.has_join_waker() {
            cell.drop_join_waker();
        }
        RawTask(header).drop_ref();
    }

    /// Shows the model that the whole cell is about to be freed. Does nothing else.
    #[inline(always)]
    fn show_end(&self) {
        if model_has_failed() {
            return;
        }
        self.link.with_mut(|_| ());
        self.stage.with_mut(|_| ());
        self.join_waker.with_mut(|_| ());
    }

    unsafe fn dealloc(header: NonNull<Header>) {
        // SAFETY: (T10) the vtable belongs to this type.
        unsafe { Self::of(header) }.show_end();
        // SAFETY: (T10) placed by allocate(), and the last reference is gone.
        unsafe { displace::<Self>(header) };
    }
}

/// Drops the future of a panicking poll during the unwinding, so that its values can notice:
/// `std::thread::panicking`, poisoned locks. A second panic, in that drop, is swallowed.
struct DropFuture<'a, F: Future, S: Schedule>(&'a Cell<F, S>);

impl<F: Future, S: Schedule> Drop for DropFuture<'_, F, S> {
    fn drop(&mut self) {
        quietly(|| self.0.exchange_stage(Stage::Taken));
    }
}

/// A task that a scheduler keeps while it waits; worth one reference.
pub(crate) struct TaskRef(RawTask);

// SAFETY: (T6) all that can be done with it is shutting the task down, which any thread may.
unsafe impl Send for TaskRef {}

impl TaskRef {
    /// Cancels the task if it still waits, and returns whether it did; otherwise its holder finds
    /// it cancelled.
    pub(crate) fn shut_down(self) -> bool {
        self.0.shut_down()
    }

    /// Leaves the reference to its new owner.
    pub(crate) fn forget(self) {}
}
