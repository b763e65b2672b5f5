//! What a runtime counts and measures (M1).

mod alive;
mod counts;
mod histogram;
#[path = "../support/mod.rs"]
mod support;

use heist::runtime::{Builder, Runtime};
use std::sync::mpsc;
use std::thread;

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// A task that keeps its worker until the sender is dropped. Returns when it runs.
fn block_worker(rt: &Runtime) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = mpsc::channel();
    rt.spawn(async move {
        begin.send(()).unwrap();
        let _ = released.recv();
    });
    begun.recv().unwrap();
    release
}
