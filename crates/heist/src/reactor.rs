//! Reactors: what wakes tasks that wait for I/O or for time. There is one for each seat, with a poller
//! and a timer wheel of its own, and any thread may use it. The protocol is told in `reactor/README.md`.
//!
//! A reactor never touches a run queue: it calls wakers.

pub(crate) mod io;
mod poller;
mod shut_down;

pub(crate) use shut_down::ShutDown;

use io::Sources;
use poller::{Events, Poller};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The reactors of a runtime, one a seat.
pub(crate) struct Reactors {
    reactors: Box<[Reactor]>,
    next: AtomicUsize,
}

/// The reactor of a seat.
pub(crate) struct Reactor {
    poller: Poller,
    sources: Sources,
}

thread_local! {
    static HERE: Cell<Option<usize>> = const { Cell::new(None) };
}

impl Reactors {
    pub(crate) fn new(seats: usize) -> std::io::Result<Arc<Reactors>> {
        let reactor = |_| Ok(Reactor { poller: Poller::new()?, sources: Sources::new() });
        let reactors = (0..seats).map(reactor).collect::<std::io::Result<_>>()?;
        Ok(Arc::new(Reactors { reactors, next: AtomicUsize::new(0) }))
    }

    /// The number of the seat that the calling thread sits on, if it is a worker of this runtime.
    pub(crate) fn here(&self) -> Option<usize> {
        HERE.get()
    }

    /// For tests: the calling thread sits here.
    pub(crate) fn sit(seat: Option<usize>) {
        HERE.set(seat);
    }

    /// The number of a seat for one who has none.
    pub(crate) fn any(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed) % self.reactors.len()
    }

    pub(crate) fn reactor(&self, seat: usize) -> &Reactor {
        &self.reactors[seat]
    }

    pub(crate) fn close(&self) {
        let mut wakers = Vec::new();
        self.reactors.iter().for_each(|reactor| reactor.sources.close(&mut wakers));
        wakers.into_iter().for_each(|waker| waker.wake());
    }
}

impl Reactor {
    pub(crate) fn turn(&self, timeout: Option<Duration>) -> std::io::Result<usize> {
        let mut events = Events::new();
        self.poller.wait(&mut events, timeout)?;
        let mut wakers = Vec::new();
        self.sources.dispatch(events.iter(), &mut wakers);
        let woken = wakers.len();
        wakers.into_iter().for_each(|waker| waker.wake());
        Ok(woken)
    }

    pub(crate) fn wake(&self) {
        self.poller.wake();
    }
}

impl crate::runtime::Handle {
    /// For an `api` that does I/O. Panics, naming it and the fix, if the runtime has none.
    #[track_caller]
    pub(crate) fn reactors_for_io(&self, _api: &str) -> Arc<Reactors> {
        todo!()
    }
}
