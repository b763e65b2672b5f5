//! Workers with threads and reactors, and somebody beside them who does one thing at the worst
//! moment.

use super::*;
use crate::reactor::io::{Evented, Interest};
use crate::reactor::timers::Clock as ReactorClock;
use crate::reactor::{self, Reactors};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;

/// A runtime's workers with their threads, and a socket in each reactor, to which nothing comes.
struct Crew {
    scheduler: Scheduler,
    reactors: Arc<Reactors>,
    threads: Vec<thread::JoinHandle<()>>,
    _sockets: Vec<Evented<UnixStream>>,
}

impl Crew {
    fn new(seats: usize) -> Crew {
        let config = reactor::Config {
            seats,
            is_guarded: false,
            has_io: true,
            has_time: true,
            clock: ReactorClock::new(false),
        };
        let reactors = Arc::new(Reactors::new(config).unwrap());
        let socket = |seat| {
            let _sits = reactors.sit(seat);
            let (near, far) = UnixStream::pair().unwrap();
            std::mem::forget(far);
            Evented::registered(reactors.clone(), near, Interest::READABLE).ok().unwrap()
        };
        let _sockets = (0..seats).map(socket).collect();
        let config = Config { reactors: Some(reactors.clone()), ..config_of(seats, 0, None) };
        let (scheduler, workers) = Scheduler::new(config);
        let run = |worker: Worker| thread::spawn(move || worker.run(|| {}, || {}));
        let threads = workers.into_iter().map(run).collect();
        Crew { scheduler, reactors, threads, _sockets }
    }

    fn spawn(&self, f: impl FnOnce() + Send + 'static) {
        let (task, _join) = task::new(async move { f() }, Location::caller());
        self.scheduler.submit(task);
    }

    /// Waits until `count` workers sleep or are about to: they are counted, and have looked
    /// everywhere.
    fn wait_for_idle(&self, count: usize) {
        while self.scheduler.idle.counts() != (0, count) {
            thread::yield_now();
        }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let is_first = self.scheduler.close();
        self.scheduler.cancel_all(is_first);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// I1: somebody looks at a reactor in which a worker is about to sleep, and hears the bell that is
/// rung for that one.
#[test]
fn i1_a_wake_up_beside_a_look_at_the_reactor() {
    let crew = Crew::new(1);
    for _ in 0..200 {
        let (begun, begins) = mpsc::channel();
        let (let_go, waits) = mpsc::channel::<()>();
        crew.spawn(move || {
            begun.send(()).unwrap();
            waits.recv().unwrap();
        });
        begins.recv().unwrap();
        let (ran, runs) = mpsc::channel();
        crew.reactors[0].turn_beside(|| {
            let_go.send(()).unwrap();
            crew.wait_for_idle(1);
            // It comes to the reactor, and finds that somebody looks.
            thread::sleep(Duration::from_micros(100));
            crew.spawn(move || ran.send(()).unwrap());
        });
        runs.recv().unwrap();
    }
}
