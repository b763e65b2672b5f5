//! A source of events: its readiness, and the tasks that wait for it.

use super::readiness::{Readiness, Word};
use super::{Direction, Interest, Ready};
use crate::canary;
use heist_sync::{Mutex, MutexGuard};
use slab::Slab;
use std::mem;
use std::task::{Context, Poll, Waker};

/// The readiness of a source at one moment. Clearing it does not clear later events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadyEvent {
    pub(crate) ready: Ready,
    seen: Word,
}

impl ReadyEvent {
    /// The same moment, restricted to `ready`.
    pub(crate) fn with_ready(self, ready: Ready) -> ReadyEvent {
        ReadyEvent { ready, ..self }
    }

    /// Whether the runtime had been shut down.
    pub(super) fn is_shutdown(self) -> bool {
        self.seen.is_shutdown()
    }

    /// Whether there was urgent data.
    pub(super) fn is_priority(self) -> bool {
        self.seen.ready().is_priority()
    }
}

/// The state that a reactor and waiting tasks share: one allocation per descriptor.
pub(super) struct Source {
    readiness: Readiness,
    /// No foreign code runs under this lock: wakers are cloned, called and dropped outside.
    waiters: Mutex<Waiters>,
}

#[derive(Default)]
struct Waiters {
    /// The tasks that polled last for reading and for writing.
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Any number of futures; most sources never have one.
    futures: Option<Box<Slab<Waiter>>>,
}

struct Waiter {
    wanted: Ready,
    waker: Option<Waker>,
    /// The event that woke it. It is reported even if another task has cleared it since.
    told: Ready,
}

impl Source {
    /// Creates a source that is assumed to be `ready` before the first event.
    pub(super) fn new(ready: Ready) -> Self {
        Source { readiness: Readiness::assumed(ready), waiters: Mutex::new(Waiters::default()) }
    }

    /// What it is ready for of what is `wanted`, or `None` if for nothing.
    #[inline]
    pub(super) fn look(&self, wanted: Ready) -> Option<ReadyEvent> {
        let seen = self.readiness.load();
        seen.ends_wait(wanted).then(|| ReadyEvent { ready: seen.ready() & wanted, seen })
    }

    /// Clears `event`, unless there was another event since. Closed directions stay closed.
    pub(super) fn clear(&self, event: ReadyEvent) {
        self.readiness.clear(event.seen, event.ready - Ready::CLOSED);
    }

    /// Clears `event` after an operation has returned `WouldBlock`, including closed directions: an
    /// error event had made them look closed.
    pub(super) fn refute(&self, event: ReadyEvent) {
        self.readiness.clear(event.seen, event.ready);
    }

    /// Adds an event, and appends the wakers to be called. The caller calls them without a lock.
    #[inline]
    pub(super) fn event(&self, ready: Ready, wakers: &mut Vec<Waker>) {
        self.readiness.event(ready);
        self.lock().take(ready, wakers);
    }

    /// Marks that the runtime has been shut down, and appends all wakers.
    pub(super) fn shut_down(&self, wakers: &mut Vec<Waker>) {
        self.readiness.shut_down();
        if !canary::SOURCE_SHUT_DOWN_SILENT.sings() {
            self.lock().take(Ready::ALL, wakers);
        }
    }

    /// Waits in a direction. Replaces the task that waited there before.
    #[inline]
    pub(super) fn poll(&self, direction: Direction, cx: &mut Context<'_>) -> Poll<ReadyEvent> {
        let mut waker = Some(cx.waker().clone());
        let mut waiters = self.lock();
        let place = match direction {
            Direction::Read | Direction::Receive => &mut waiters.reader,
            Direction::Write => &mut waiters.writer,
        };
        mem::swap(place, &mut waker);
        let event = self.look_again(direction.wanted());
        // Before the waker that was there is dropped.
        drop(waiters);
        event
    }

    /// The second check, under the lock: an event that it does not see finds the waker.
    #[inline]
    fn look_again(&self, wanted: Ready) -> Poll<ReadyEvent> {
        match self.look(wanted) {
            Some(event) if !canary::SOURCE_NO_SECOND_LOOK.sings() => Poll::Ready(event),
            _ => Poll::Pending,
        }
    }

    /// How many futures wait.
    #[cfg(test)]
    pub(super) fn futures(&self) -> usize {
        self.lock().futures.as_ref().map_or(0, |futures| futures.len())
    }

    fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Waiters {
    #[inline(always)]
    fn take(&mut self, ready: Ready, wakers: &mut Vec<Waker>) {
        // A lone error wakes a task that only reads, which then checks again.
        let is_error = ready.is_error() && !canary::SOURCE_ERROR_UNTOLD.sings();
        if ready.is_readable() || is_error {
            if let Some(reader) = self.reader.take() {
                wakers.push(reader);
            }
        }
        if ready.is_writable() {
            if let Some(writer) = self.writer.take() {
                wakers.push(writer);
            }
        }
        if let Some(futures) = &mut self.futures {
            take_futures(futures, ready, wakers);
        }
    }
}

#[inline(never)]
fn take_futures(futures: &mut Slab<Waiter>, ready: Ready, wakers: &mut Vec<Waker>) {
    for (_, waiter) in futures {
        let told = ready & waiter.wanted;
        if let Some(waker) = waiter.waker.take_if(|_| !told.is_empty()) {
            waiter.told = told;
            wakers.push(waker);
        }
    }
}

/// A future's entry in the list of waiters, removed when this is dropped.
pub(super) struct Wait<'a> {
    source: &'a Source,
    wanted: Ready,
    /// The index of the entry, once the future had to wait.
    index: Option<usize>,
}

impl<'a> Wait<'a> {
    pub(super) fn new(source: &'a Source, interest: Interest) -> Self {
        Wait { source, wanted: Ready::of(interest), index: None }
    }

    pub(super) fn wanted(&self) -> Ready {
        self.wanted
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ReadyEvent> {
        let mut waker = Some(cx.waker().clone());
        let mut waiters = self.source.lock();
        let futures = waiters.futures.get_or_insert_default();
        let index = self.index.get_or_insert_with(|| {
            futures.insert(Waiter { wanted: self.wanted, waker: None, told: Ready::EMPTY })
        });
        let waiter = &mut futures[*index];
        let told = mem::replace(&mut waiter.told, Ready::EMPTY);
        let event = match told.is_empty() {
            true => {
                mem::swap(&mut waiter.waker, &mut waker);
                self.source.look_again(self.wanted)
            }
            false => Poll::Ready(ReadyEvent { ready: told, seen: self.source.readiness.load() }),
        };
        // Before the waker that was there is dropped.
        drop(waiters);
        event
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let Some(index) = self.index else { return };
        if heist_sync::model_has_failed() {
            return;
        }
        let mut waiters = self.source.lock();
        let waiter = waiters.futures.as_mut().map(|futures| futures.remove(index));
        drop(waiters);
        drop(waiter);
    }
}
