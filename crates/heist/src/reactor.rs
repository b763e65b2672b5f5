//! Reactors: what wakes tasks that wait for I/O or for time. There is one for each seat, with a poller
//! and a timer wheel of its own, and any thread may use it. The protocol is told in `reactor/README.md`.
//!
//! A reactor never touches a run queue: it calls wakers.

mod errand;
pub(crate) mod io;
mod poller;

pub(crate) use errand::Errand;

use poller::Poller;
use std::sync::Arc;

/// The reactors of a runtime, one a seat.
pub(crate) struct Reactors {
    reactors: Box<[Reactor]>,
}

/// The reactor of a seat.
pub(crate) struct Reactor {
    poller: Poller,
}

impl Reactors {
    /// The number of the seat that the calling thread sits on, if it is a worker of this runtime.
    pub(crate) fn is_shut_down(&self) -> bool {
        todo!()
    }

    pub(crate) fn here(&self) -> Option<usize> {
        todo!()
    }
}

impl crate::runtime::Handle {
    pub(crate) fn reactors_if_io(&self) -> Option<Arc<Reactors>> {
        todo!()
    }

    /// For an `api` that does I/O. Panics, naming it and the fix, if the runtime has none.
    #[track_caller]
    pub(crate) fn reactors_for_io(&self, _api: &str) -> Arc<Reactors> {
        todo!()
    }
}
