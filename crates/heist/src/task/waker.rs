//! A task's waker is the task: no allocation, one reference.
//!
//! A reactor calls a waker at once if that is *prompt*: it runs no foreign code, so it neither
//! waits nor panics. Any other waker may wait for the very thread that calls it.

use super::cell::{Header, RawTask};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Waker};

/// Of tasks whose scheduler takes them promptly.
static TASK: RawWakerVTable = RawWakerVTable::new(clone::<true>, wake, wake_by_ref, drop);

/// Of tasks whose scheduler calls a foreign waker.
static SLOW_TASK: RawWakerVTable = RawWakerVTable::new(clone::<false>, wake, wake_by_ref, drop);

static PROMPT: RawWakerVTable =
    RawWakerVTable::new(prompt::clone, prompt::wake, prompt::wake_by_ref, prompt::drop);

/// Whether waking neither waits nor panics.
pub(crate) fn is_prompt(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &TASK) || ptr::eq(waker.vtable(), &PROMPT)
}

/// Something that is no task. Waking it neither waits nor panics.
pub(crate) trait Prompt: Send + Sync + 'static {
    fn wake(&self);
}

/// A prompt waker.
pub(crate) fn prompt_waker(target: impl Prompt) -> Waker {
    let target: prompt::Target = Box::new(target);
    let data = Arc::into_raw(Arc::new(target)).cast();
    // SAFETY: (T8) the vtable's functions fit the pointer, and may be called from any thread.
    unsafe { Waker::from_raw(RawWaker::new(data, &PROMPT)) }
}

/// The functions of [`PROMPT`]. Each is called by a waker of [`prompt_waker`], whose `data` is an
/// `Arc` to a target.
mod prompt {
    use super::{Arc, PROMPT, Prompt, RawWaker};

    pub(super) type Target = Box<dyn Prompt>;

    pub(super) unsafe fn clone(data: *const ()) -> RawWaker {
        // SAFETY: (T8) the waker has a reference.
        unsafe { Arc::<Target>::increment_strong_count(data.cast()) };
        RawWaker::new(data, &PROMPT)
    }

    pub(super) unsafe fn wake(data: *const ()) {
        // SAFETY: (T8) the waker gives up its reference.
        unsafe { Arc::<Target>::from_raw(data.cast()) }.wake();
    }

    pub(super) unsafe fn wake_by_ref(data: *const ()) {
        // SAFETY: (T8) the waker has a reference.
        unsafe { &*data.cast::<Target>() }.wake();
    }

    pub(super) unsafe fn drop(data: *const ()) {
        // SAFETY: (T8) the waker gives up its reference.
        std::mem::drop(unsafe { Arc::<Target>::from_raw(data.cast()) });
    }
}

/// Lends a waker for the duration of a poll, without counting a reference: the worker that
/// polls holds one.
pub(super) fn with_borrowed<R>(task: RawTask, is_prompt: bool, f: impl FnOnce(&Waker) -> R) -> R {
    // SAFETY: (T8) the vtable's functions fit the pointer, and may be called from any thread.
    let waker = unsafe { Waker::from_raw(raw(task, is_prompt)) };
    f(&ManuallyDrop::new(waker))
}

fn raw(task: RawTask, is_prompt: bool) -> RawWaker {
    let vtable = if is_prompt { &TASK } else { &SLOW_TASK };
    RawWaker::new(task.0.as_ptr().cast_const().cast(), vtable)
}

/// # Safety
/// `data` is that of a waker made here.
unsafe fn task(data: *const ()) -> RawTask {
    // SAFETY: (T8) made by raw() from a pointer that is not null.
    RawTask(unsafe { NonNull::new_unchecked(data.cast_mut().cast::<Header>()) })
}

unsafe fn clone<const IS_PROMPT: bool>(data: *const ()) -> RawWaker {
    // SAFETY: (T8) called by a waker made here.
    let task = unsafe { task(data) };
    task.add_ref();
    raw(task, IS_PROMPT)
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
