//! Foreign wakers that a reactor or the announcement of a signal has to call. Such a waker may wait
//! for another task, or for the next waker of the same harvest. So each is called in a task of its
//! own, in which a worker may be stuck (L2).

use super::refused::Late;
use super::shared::Scheduler;
use crate::env::quietly;
use crate::task::{self, Notified};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

impl Scheduler {
    /// Has a task call `waker`. If the runtime is closed first, the waker is called when the task
    /// is dropped, by another thread: this one may be sysmon's.
    pub(crate) fn call_later(&self, waker: Waker) {
        let (task, _): (Notified<Scheduler>, _) = task::new(Call(Some(waker)), Location::caller());
        if let Err(task) = self.try_submit(task) {
            self.leave_new(Late::Task(task));
        }
    }
}

struct Call(Option<Waker>);

impl Call {
    fn call(&mut self) {
        // A panic in the waker is caught and dropped (T7).
        self.0.take().into_iter().for_each(|waker| quietly(|| waker.wake()));
    }
}

impl Future for Call {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.call();
        Poll::Ready(())
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.call();
    }
}
