//! What can be counted from the outside.

use super::{Blocking, Closure, Config, Host, Limits};
use crate::env::ThreadSpec;
use crate::task;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

#[derive(Clone)]
struct Threads(Arc<Blocking>);

impl Host for Threads {
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.0.start(body)
    }

    fn within(&self, act: impl FnOnce()) {
        act();
    }

    fn started(&self) {}

    fn stopping(&self) {}
}

impl Threads {
    fn new(threads: usize) -> Threads {
        let limits = Limits { threads, keep_alive: Duration::MAX };
        Threads(Arc::new(Blocking::new(Config { limits, threads: ThreadSpec::new() })))
    }

    fn submit(&self, closure: impl FnOnce() + Send + 'static) {
        let (task, _join) = task::new(Closure::new(closure), Location::caller());
        self.0.submit(task, self);
    }

    fn counts(&self) -> (usize, usize, usize) {
        let blocking = &self.0;
        (
            blocking.num_blocking_threads(),
            blocking.num_idle_blocking_threads(),
            blocking.blocking_queue_depth(),
        )
    }
}

#[test]
fn threads_sleepers_and_the_queue_are_counted() {
    let threads = Threads::new(1);
    assert_eq!(threads.counts(), (0, 0, 0), "no thread before it is needed");
    let (begin, begun) = channel();
    let (release, released) = channel::<()>();
    threads.submit(move || {
        begin.send(()).unwrap();
        released.recv().unwrap();
    });
    begun.recv().unwrap();
    threads.submit(|| {});
    threads.submit(|| {});
    assert_eq!(threads.counts(), (1, 0, 2));
    release.send(()).unwrap();
    while threads.counts() != (1, 1, 0) {
        std::thread::yield_now();
    }
    threads.0.close();
    threads.0.join(None);
    assert_eq!(threads.counts(), (0, 0, 0));
}

#[test]
fn the_thread_that_slept_last_is_woken_first() {
    let threads = Threads::new(2);
    let (begin, begun) = channel();
    let mut releases = Vec::new();
    for _ in 0..2 {
        let begin = begin.clone();
        let (release, released) = channel::<()>();
        threads.submit(move || {
            begin.send(std::thread::current().id()).unwrap();
            released.recv().unwrap();
        });
        releases.push((begun.recv().unwrap(), release));
    }
    for (sleeping, (_, release)) in releases.iter().enumerate() {
        release.send(()).unwrap();
        while threads.counts().1 != sleeping + 1 {
            std::thread::yield_now();
        }
    }
    threads.submit(move || begin.send(std::thread::current().id()).unwrap());
    assert_eq!(begun.recv().unwrap(), releases[1].0);
    threads.0.close();
    threads.0.join(None);
}
