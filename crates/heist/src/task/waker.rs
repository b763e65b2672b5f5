//! A task's waker is the task: no allocation, one reference.

use super::cell::{Header, RawTask};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop);

/// Lends a waker for the duration of a poll, without counting a reference: the worker that
/// polls holds one.
pub(super) fn with_borrowed<R>(task: RawTask, f: impl FnOnce(&Waker) -> R) -> R {
    // SAFETY: (T8) the vtable's functions fit the pointer, and may be called from any thread.
    let waker = unsafe { Waker::from_raw(raw(task)) };
    f(&ManuallyDrop::new(waker))
}

fn raw(task: RawTask) -> RawWaker {
    RawWaker::new(task.0.as_ptr().cast_const().cast(), &VTABLE)
}

/// # Safety
/// `data` is that of a waker made here.
unsafe fn task(data: *const ()) -> RawTask {
    // SAFETY: (T8) made by raw() from a pointer that is not null.
    RawTask(unsafe { NonNull::new_unchecked(data.cast_mut().cast::<Header>()) })
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: (T8) called by a waker made here.
    let task = unsafe { task(data) };
    task.add_ref();
    raw(task)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: (T8) called by a waker made here, which gives up its reference.
    unsafe { task(data) }.wake_by_value();
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: (T8) called by a waker made here.
    unsafe { task(data) }.wake_by_ref();
}

unsafe fn drop(data: *const ()) {
    // SAFETY: (T8) called by a waker made here, which gives up its reference.
    unsafe { task(data) }.drop_ref();
}
