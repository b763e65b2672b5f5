//! A runtime whose only blocking thread does nothing until it is told to.

use heist::runtime::{Builder, Handle, Runtime};
use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Waker};

pub fn runtime_with_one_blocking_thread() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Keeps the only blocking thread of a runtime busy.
pub struct Held {
    release: Sender<()>,
}

impl Held {
    pub fn begin(handle: &Handle) -> Held {
        let (begin, begun) = channel();
        let (release, released): (_, Receiver<()>) = channel();
        handle.spawn_blocking(move || {
            begin.send(()).unwrap();
            released.recv().unwrap();
        });
        begun.recv().unwrap();
        Held { release }
    }

    pub fn release(self) {
        self.release.send(()).unwrap();
    }
}

/// Polls once.
pub fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Begins something that has to wait, and drops it.
#[track_caller]
pub fn cancel<F: Future>(future: F) {
    assert!(poll_once(future).is_pending(), "there was nothing to wait for");
}
