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

/// A runtime with so many workers.
pub fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// Counts its drop.
pub struct Counted(pub Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
