//! Tasks to put into a place that is tested by itself: each says what became of it.

use crate::task::{self, Notified, Ran, Schedule, TaskRef};
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// A scheduler for tasks that never wait.
#[derive(Clone)]
pub(super) struct Nowhere;

impl Schedule for Nowhere {
    type Link = ();

    fn adopt(&self, _task: TaskRef) -> Option<()> {
        None
    }

    fn release((): ()) -> bool {
        false
    }

    unsafe fn schedule(_home: *const (), _task: Notified<Nowhere>) {
        unreachable!("nobody wakes these tasks");
    }
}

/// What became of the tasks, in order. The lock is std's on purpose: it is nothing that a model
/// should see.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<(u32, End)>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Ran,
    Cancelled,
}

impl Log {
    /// A task that has this number.
    pub(super) fn task(&self, number: u32) -> Notified<Nowhere> {
        let life = Life { number, end: End::Cancelled, log: self.clone() };
        task::new(life, Location::caller()).0
    }

    /// What has come to its end since the last call.
    pub(super) fn take(&self) -> Vec<(u32, End)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// The numbers of those that ran since the last call. None was cancelled.
    pub(super) fn ran(&self) -> Vec<u32> {
        let ended = self.take();
        assert!(ended.iter().all(|(_, end)| *end == End::Ran), "{ended:?}");
        ended.into_iter().map(|(number, _)| number).collect()
    }
}

pub(super) fn run(task: Notified<Nowhere>) {
    assert!(matches!(task.run(&Nowhere), Ran::Done));
}

/// Done in its first poll. Its end is logged when it is dropped.
struct Life {
    number: u32,
    end: End,
    log: Log,
}

impl Future for Life {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.end = End::Ran;
        Poll::Ready(())
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.log.0.lock().unwrap().push((self.number, self.end));
    }
}
