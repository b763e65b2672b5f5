//! Futures that are made on the thread where they run.

use crate::env::this_thread;
use pin_project_lite::pin_project;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// A future that is made by its first poll. Until then it is `Send` if the closure is.
    #[project = MadeHereProjection]
    pub(crate) enum MadeHere<M, F> {
        NotYet { make: Option<M> },
        Made { #[pin] future: F },
    }
}

impl<M, F> MadeHere<M, F>
where
    M: FnOnce() -> F,
    F: Future,
{
    pub(crate) fn new(make: M) -> Self {
        MadeHere::NotYet { make: Some(make) }
    }
}

impl<M, F> Future for MadeHere<M, F>
where
    M: FnOnce() -> F,
    F: Future,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let MadeHereProjection::NotYet { make } = self.as_mut().project() {
            let make = make.take().expect("a task that has panicked is not polled again");
            let future = make();
            self.set(MadeHere::Made { future });
        }
        match self.project() {
            MadeHereProjection::Made { future } => future.poll(cx),
            MadeHereProjection::NotYet { .. } => unreachable!("made above"),
        }
    }
}

/// A future that stays on the thread that made it, on a runtime without worker threads, whose
/// worker may move. On other threads it is neither polled nor dropped (T6).
pub(crate) struct OnOneThread<F> {
    thread: u64,
    /// Boxed, so that it can be leaked alone: the memory of a pinned future must not be reused
    /// before it has been dropped.
    future: ManuallyDrop<Pin<Box<F>>>,
}

impl<F: Future> OnOneThread<F> {
    pub(crate) fn new(future: F) -> Self {
        OnOneThread { thread: this_thread(), future: ManuallyDrop::new(Box::pin(future)) }
    }
}

impl<F: Future> Future for OnOneThread<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if self.thread != this_thread() {
            panic!(
                "spawn_pinned: the task belongs to the thread that first ran it, and another one \
                 runs this runtime now; while a current-thread runtime has pinned tasks, call its \
                 block_on on one thread only"
            );
        }
        self.future.as_mut().poll(cx)
    }
}

impl<F> Drop for OnOneThread<F> {
    fn drop(&mut self) {
        if self.thread == this_thread() {
            // SAFETY: (T6) dropped only here, and on the thread that made it.
            unsafe { ManuallyDrop::drop(&mut self.future) };
        }
    }
}
