//! What can be counted from the outside.

use super::roster::{Roster, Sleeper, Summon, Taken};
use super::{Blocking, Closure, Config, Host, Limits, NoThread, Unbegun};
use crate::env::ThreadSpec;
use crate::task;
use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Starts threads as long as `may_start`, which is given the number of those before it, says so.
#[derive(Clone)]
struct Threads {
    blocking: Arc<Blocking>,
    starts: Arc<AtomicUsize>,
    may_start: fn(&Threads, usize) -> bool,
}

impl Host for Threads {
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        if !(self.may_start)(self, self.starts.fetch_add(1, SeqCst)) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.blocking.start(body)
    }

    fn within(&self, act: impl FnOnce()) {
        act();
    }

    fn core(&self) -> usize {
        CORE.get()
    }

    fn started(&self) {}

    fn stopping(&self) {}
}

thread_local! {
    /// Where the thread is, as far as the roster can tell.
    static CORE: Cell<usize> = const { Cell::new(0) };
}

impl Threads {
    fn new(threads: usize) -> Threads {
        Threads::with(threads, Duration::MAX, |_, _| true)
    }

    fn with(threads: usize, keep_alive: Duration, may_start: fn(&Threads, usize) -> bool) -> Self {
        let config = Config { limits: Limits { threads, keep_alive }, threads: ThreadSpec::new() };
        let blocking = Arc::new(Blocking::new(config));
        Threads { blocking, starts: Arc::default(), may_start }
    }

    fn submit(&self, closure: impl FnOnce() + Send + 'static) {
        let (task, _join) = task::new(Closure::new(closure), Location::caller());
        drop(self.blocking.submit(task, false, self));
    }

    /// Whether it was accepted.
    fn submit_mandatory(&self, closure: impl FnOnce() + Send + 'static) -> bool {
        let (task, _join) = task::new(Closure::new(closure), Location::caller());
        self.blocking.submit(task, true, self).is_ok()
    }

    fn close(&self) {
        self.blocking.close().for_each(Unbegun::end);
    }

    fn call(&self, call: impl FnOnce() + Send + 'static) -> Result<(), NoThread> {
        self.blocking.call(call, self)
    }

    fn counts(&self) -> (usize, usize, usize) {
        let blocking = &self.blocking;
        (
            blocking.num_blocking_threads(),
            blocking.num_idle_blocking_threads(),
            blocking.blocking_queue_depth(),
        )
    }

    fn wait_for(&self, counts: (usize, usize, usize)) {
        while self.counts() != counts {
            thread::yield_now();
        }
    }

    fn end(&self) {
        self.close();
        self.blocking.join(None);
        assert_eq!(self.counts(), (0, 0, 0));
    }
}

/// A closure that says on which thread it is, and ends when it is told to.
struct Stuck {
    begun: Receiver<ThreadId>,
    release: Sender<usize>,
}

impl Stuck {
    fn new() -> (Stuck, impl FnOnce() + Send + 'static) {
        let (begin, begun) = channel();
        let (release, released) = channel();
        let closure = move || {
            begin.send(thread::current().id()).unwrap();
            CORE.set(released.recv().unwrap());
        };
        (Stuck { begun, release }, closure)
    }

    fn begin(threads: &Threads) -> Stuck {
        let (stuck, closure) = Stuck::new();
        threads.submit(closure);
        stuck
    }

    fn thread(&self) -> ThreadId {
        self.begun.recv().unwrap()
    }

    fn end(self) {
        self.end_on(0);
    }

    fn end_on(self, core: usize) {
        self.release.send(core).unwrap();
    }
}

#[test]
fn threads_sleepers_and_the_queue_are_counted() {
    let threads = Threads::new(1);
    assert_eq!(threads.counts(), (0, 0, 0), "no thread before it is needed");
    let stuck = Stuck::begin(&threads);
    stuck.thread();
    threads.submit(|| {});
    threads.submit(|| {});
    assert_eq!(threads.counts(), (1, 0, 2));
    stuck.end();
    threads.wait_for((1, 1, 0));
    threads.end();
}

#[test]
fn the_thread_that_slept_last_is_woken_first() {
    let threads = Threads::new(2);
    let both = [(); 2].map(|()| Stuck::begin(&threads));
    let ids = [0, 1].map(|index| both[index].thread());
    for (sleeping, stuck) in both.into_iter().enumerate() {
        stuck.end();
        threads.wait_for((2, sleeping + 1, 0));
    }
    let next = Stuck::begin(&threads);
    assert_eq!(next.thread(), ids[1]);
    next.end();
    threads.end();
}

#[test]
fn a_call_has_a_thread_that_counts_as_any_other() {
    let threads = Threads::new(1);
    let (stuck, call) = Stuck::new();
    threads.call(call).unwrap();
    let thread = stuck.thread();
    assert_ne!(thread, thread::current().id());
    let closure = Stuck::begin(&threads);
    assert_eq!(threads.counts(), (1, 0, 1), "the closure waits");
    stuck.end();
    assert_eq!(closure.thread(), thread, "a thread goes on after a call");
    closure.end();
    threads.end();
}

#[test]
fn a_call_is_run_by_a_sleeper() {
    let threads = Threads::new(2);
    let stuck = Stuck::begin(&threads);
    let thread = stuck.thread();
    stuck.end();
    threads.wait_for((1, 1, 0));
    let (stuck, call) = Stuck::new();
    threads.call(call).unwrap();
    assert_eq!(stuck.thread(), thread);
    assert_eq!(threads.counts(), (1, 0, 0));
    stuck.end();
    threads.end();
}

/// The other two sleep on another core, one of them since a shorter time.
#[test]
fn a_call_is_run_by_who_sleeps_on_the_callers_core() {
    let threads = Threads::new(3);
    let three = [(); 3].map(|()| Stuck::begin(&threads));
    let ids = three.each_ref().map(Stuck::thread);
    for (sleeping, (stuck, core)) in three.into_iter().zip([7, 5, 7]).enumerate() {
        stuck.end_on(core);
        threads.wait_for((3, sleeping + 1, 0));
    }
    let called = [(5, ids[1]), (7, ids[2]), (5, ids[0])].map(|(core, id)| {
        CORE.set(core);
        let (stuck, call) = Stuck::new();
        threads.call(call).unwrap();
        assert_eq!(stuck.thread(), id, "called from core {core}");
        stuck
    });
    called.into_iter().for_each(Stuck::end);
    threads.end();
}

#[test]
fn a_call_does_not_wait_for_busy_threads() {
    let threads = Threads::new(1);
    let stuck = Stuck::begin(&threads);
    stuck.thread();
    let (tell, dropped) = channel::<()>();
    assert!(matches!(threads.call(move || drop(tell)), Err(NoThread::AllBusy)));
    dropped.recv().unwrap_err();
    stuck.end();
    threads.end();
}

#[test]
fn a_call_whose_thread_cannot_be_started_is_refused() {
    let threads = Threads::with(2, Duration::MAX, |_, before| before != 0);
    assert!(matches!(threads.call(|| unreachable!()), Err(NoThread::NotStarted(_))));
    assert_eq!(threads.counts(), (0, 0, 0));
    let (stuck, call) = Stuck::new();
    threads.call(call).unwrap();
    stuck.thread();
    stuck.end();
    threads.end();
}

#[test]
fn a_call_whose_thread_cannot_be_started_is_run_by_one_that_sleeps_by_then() {
    let threads = Threads::with(2, Duration::MAX, |threads, before| {
        if before == 1 {
            threads.submit(|| {});
            threads.wait_for((2, 1, 0));
        }
        before == 0
    });
    let stuck = Stuck::begin(&threads);
    let thread = stuck.thread();
    let (second, call) = Stuck::new();
    // The first thread is busy until the start of the second is tried.
    let releaser = {
        let threads = threads.clone();
        thread::spawn(move || {
            threads.wait_for((2, 0, 1));
            stuck.end();
        })
    };
    threads.call(call).unwrap();
    assert_eq!(second.thread(), thread);
    second.end();
    releaser.join().unwrap();
    threads.end();
}

#[test]
fn a_call_is_refused_when_the_runtime_is_down() {
    let threads = Threads::new(1);
    threads.end();
    assert!(matches!(threads.call(|| unreachable!()), Err(NoThread::AllBusy)));
}

/// Two wait for the only thread when the runtime goes down.
#[test]
fn what_is_mandatory_runs_though_the_runtime_goes_down_before_its_turn() {
    let threads = Threads::new(1);
    let stuck = Stuck::begin(&threads);
    stuck.thread();
    let (ran, runs) = channel();
    let says = |word| {
        let ran = ran.clone();
        move || ran.send(word).unwrap()
    };
    threads.submit(says("cancelled"));
    assert!(threads.submit_mandatory(says("mandatory")));
    threads.close();
    assert!(!threads.submit_mandatory(says("late")));
    stuck.end();
    threads.end();
    drop(ran);
    assert_eq!(runs.into_iter().collect::<Vec<_>>(), ["mandatory"]);
}

fn roster(threads: usize) -> Roster<u32> {
    Roster::new(Limits { threads, keep_alive: Duration::MAX }, 1)
}

/// Calls a thread; returns the one that has to be started.
fn start_for_call(roster: &Roster<u32>) -> Sleeper {
    let Ok(Summon::Start(number)) = roster.call(Box::new(|| {}), 0) else {
        unreachable!("there is room for a thread")
    };
    Sleeper::new(number)
}

#[test]
fn a_call_goes_before_closures() {
    let roster = roster(1);
    let thread = start_for_call(&roster);
    assert!(matches!(roster.submit(0, 7), Ok(Summon::Nobody)));
    assert!(matches!(roster.arrive(&thread), (Some(Taken::Call(_)), Summon::Nobody)));
    assert!(matches!(roster.next(&thread, || 0), Some((Taken::Closure(7), Summon::Nobody))));
}

#[test]
fn a_call_that_has_not_begun_when_the_runtime_goes_down_is_given_back() {
    let roster = roster(2);
    let threads = [(); 2].map(|()| start_for_call(&roster));
    assert!(matches!(roster.arrive(&threads[0]), (Some(Taken::Call(_)), Summon::Nobody)));
    let left = roster.close(|_| true);
    assert_eq!((left.cancelled.len(), left.mandatory.len(), left.calls.len()), (0, 0, 1));
    assert!(matches!(roster.arrive(&threads[1]), (None, Summon::Nobody)));
    for thread in &threads {
        assert!(roster.next(thread, || 0).is_none());
        assert!(matches!(roster.ended(), Summon::Nobody));
    }
    roster.wait_until_ended(0);
}

#[test]
fn calls_and_closures_are_all_accounted_for_under_load() {
    for round in 0..50 {
        let may_start = |_: &Threads, before: usize| before % 3 != 1;
        let threads = Threads::with(1 + round % 4, Duration::ZERO, may_start);
        let (ran, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let spawners = [(); 3].map(|()| {
            let (threads, ran, asked) = (threads.clone(), Arc::clone(&ran), Arc::clone(&asked));
            thread::spawn(move || {
                for number in 0..100 {
                    let count = {
                        let ran = Arc::clone(&ran);
                        move || {
                            ran.fetch_add(1, SeqCst);
                        }
                    };
                    if number % 4 > 0 {
                        let count = Count(Some(count));
                        threads.submit(move || drop(count));
                        asked.fetch_add(1, SeqCst);
                    } else if threads.call(count).is_ok() {
                        asked.fetch_add(1, SeqCst);
                    }
                }
            })
        });
        spawners.into_iter().for_each(|spawner| spawner.join().unwrap());
        // Before the runtime goes down: nothing that was accepted waits for that.
        while ran.load(SeqCst) < asked.load(SeqCst) {
            thread::yield_now();
        }
        threads.end();
        assert_eq!(ran.load(SeqCst), asked.load(SeqCst));
    }
}

/// Counts when it is dropped: with its closure, which was run or failed for want of a thread.
struct Count<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for Count<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|count| count());
    }
}
