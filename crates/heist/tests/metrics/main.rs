//! What a runtime counts and measures (M1).

mod alive;
mod counts;
mod histogram;

use heist::runtime::{Builder, Runtime};
use std::sync::mpsc;
use std::thread;

/// A runtime whose workers keep their seats. Elsewhere sysmon moves the task in the slot of a
/// worker that has no core for the stall threshold, and a spare worker runs a part of its tasks:
/// then what each of the workers counts depends on the machine.
fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).stall_threshold(None).enable_io().enable_time();
    builder.build().unwrap()
}

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
