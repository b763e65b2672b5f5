//! What the tests share.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod children;
pub mod futures;
pub mod net;
pub mod resident;
pub mod seccomp;
pub mod signals;

use heist::runtime::{Builder, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A runtime with this number of workers, and without a companion, which would end in the
/// background: some tests count descriptors and threads.
pub fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_io().enable_time().build().unwrap()
}

/// A runtime without workers, and without a companion.
pub fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_io().enable_time().build().unwrap()
}

/// Counts its drop.
pub struct Counted(pub Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
