//! The accounting of blocking threads in every interleaving that loom can find.
//!
//! Loom reports a closure that no thread comes for as a deadlock: the model waits for it. A
//! keep-alive of zero passes at once, any other never; see `heist_sync::Condvar`.

use super::crew::{Crew, Host, NoThread, Work};
use super::roster::Limits;
use crate::canary;
use heist_sync::{Condvar, Mutex};
use loom::thread;
use std::io;
// Not loom's: these are looked at when all threads have ended, and add no steps to the model.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const NEVER: Duration = Duration::MAX;
const NEVER_FAILS: fn(usize) -> bool = |_| false;

/// Counts down; threads that wait go on at zero.
struct Latch {
    left: Mutex<usize>,
    is_zero: Condvar,
}

impl Latch {
    fn new(count: usize) -> Arc<Latch> {
        Arc::new(Latch { left: Mutex::new(count), is_zero: Condvar::new() })
    }

    fn count_down(&self) {
        let mut left = self.left.lock().unwrap();
        *left -= 1;
        if *left == 0 {
            self.is_zero.notify_all();
        }
    }

    fn wait(&self) {
        let mut left = self.left.lock().unwrap();
        while *left > 0 {
            left = self.is_zero.wait(left);
        }
    }
}

#[derive(Default)]
struct Counts {
    ran: AtomicUsize,
    failed: AtomicUsize,
    dropped: AtomicUsize,
}

/// A closure that counts down when anything has become of it.
struct Item {
    latch: Arc<Latch>,
    counts: Arc<Counts>,
    /// Whether it ends only when all others have begun.
    meets: bool,
    is_mandatory: bool,
    is_done: bool,
}

impl Work for Item {
    fn run(mut self) {
        self.is_done = true;
        self.counts.ran.fetch_add(1, Relaxed);
        self.latch.count_down();
        if self.meets {
            self.latch.wait();
        }
    }

    fn fail(mut self, _error: &Arc<io::Error>) {
        self.is_done = true;
        self.counts.failed.fetch_add(1, Relaxed);
        self.latch.count_down();
    }

    fn is_mandatory(&self) -> bool {
        self.is_mandatory
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if !self.is_done && !std::thread::panicking() {
            self.counts.dropped.fetch_add(1, Relaxed);
            self.latch.count_down();
        }
    }
}

/// Starts threads, all but those whose turn it is to fail.
#[derive(Clone)]
struct Threads {
    started: Arc<AtomicUsize>,
    fails: fn(usize) -> bool,
    /// Happens while a start fails.
    meanwhile: Arc<std::sync::Mutex<Option<Box<dyn FnOnce() + Send>>>>,
}

impl Threads {
    fn meanwhile(&self) {
        let act = self.meanwhile.lock().unwrap().take();
        act.into_iter().for_each(|act| act());
    }
}

impl Host for Threads {
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        if (self.fails)(self.started.fetch_add(1, Relaxed)) {
            self.meanwhile();
            return Err(io::Error::from(io::ErrorKind::WouldBlock));
        }
        thread::spawn(body);
        Ok(())
    }

    fn within(&self, act: impl FnOnce()) {
        act();
    }

    fn core(&self) -> usize {
        0
    }

    fn started(&self) {}

    fn stopping(&self) {}
}

#[derive(Clone)]
struct Model {
    crew: Crew<Item>,
    threads: Threads,
    counts: Arc<Counts>,
}

impl Model {
    fn new(threads: usize, keep_alive: Duration, fails: fn(usize) -> bool) -> Model {
        Model {
            crew: Crew::new(Limits { threads, keep_alive }, 1),
            threads: Threads { started: Arc::default(), fails, meanwhile: Arc::default() },
            counts: Arc::default(),
        }
    }

    fn item(&self, latch: &Arc<Latch>, meets: bool) -> Item {
        let (latch, counts) = (Arc::clone(latch), Arc::clone(&self.counts));
        Item { latch, counts, meets, is_mandatory: false, is_done: false }
    }

    fn submit(&self, latch: &Arc<Latch>, meets: bool) {
        let _ = self.crew.submit(0, self.item(latch, meets), &self.threads);
    }

    /// Whether it was accepted.
    fn submit_mandatory(&self, latch: &Arc<Latch>) -> bool {
        let mut item = self.item(latch, false);
        item.is_mandatory = true;
        self.crew.submit(0, item, &self.threads).is_ok()
    }

    /// Calls a thread; the call is dropped if there is none.
    fn call(&self, latch: &Arc<Latch>, meets: bool) -> Result<(), NoThread> {
        let item = self.item(latch, meets);
        self.crew.call(Box::new(move || item.run()), &self.threads)
    }

    /// Shuts down, and accounts for what has become of all items.
    fn end(self) -> (usize, usize, usize) {
        let left = self.crew.close();
        left.for_each(|item| if item.is_mandatory { item.run() } else { drop(item) });
        self.crew.wait_until_ended(0);
        let census = self.crew.census();
        assert_eq!((census.threads, census.idle, census.queued), (0, 0, 0), "nothing is left");
        let Counts { ran, failed, dropped } = &*self.counts;
        (ran.load(Relaxed), failed.load(Relaxed), dropped.load(Relaxed))
    }
}

/// Two closures that wait for each other get a thread each.
fn each_has_a_thread() {
    let model = Model::new(2, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    model.submit(&latch, true);
    model.submit(&latch, true);
    latch.wait();
    assert_eq!(model.end(), (2, 0, 0));
}

/// With one thread that ends as soon as it has nothing to do, the second closure is taken by
/// that thread or by another, whether it has slept, is ending or has ended.
fn threads_end() {
    let model = Model::new(1, Duration::ZERO, NEVER_FAILS);
    for _ in 0..2 {
        let latch = Latch::new(1);
        model.submit(&latch, false);
        latch.wait();
    }
    assert_eq!(model.end(), (2, 0, 0));
}

/// The second thread cannot be started; what was submitted meanwhile is taken by the first.
fn one_cannot_be_started() {
    let model = Model::new(2, NEVER, |start| start > 0);
    let latch = Latch::new(3);
    let submit = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        move || model.submit(&latch, false)
    };
    *model.threads.meanwhile.lock().unwrap() = Some(Box::new(submit));
    model.submit(&latch, false);
    model.submit(&latch, false);
    // If no second thread was needed.
    model.threads.meanwhile();
    latch.wait();
    assert_eq!(model.end(), (3, 0, 0));
}

/// The first thread cannot be started: nothing waits for one that will never be.
fn none_can_be_started() {
    let model = Model::new(2, NEVER, |start| start == 0);
    let latch = Latch::new(2);
    let other = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        thread::spawn(move || model.submit(&latch, false))
    };
    model.submit(&latch, false);
    latch.wait();
    other.join().unwrap();
    let (ran, failed, dropped) = model.end();
    assert_eq!((ran + failed, dropped), (2, 0));
    assert!(failed > 0);
}

/// Closing while closures come, run and wait, and while threads sleep: each closure is run or
/// dropped, and the threads end.
fn closing() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    let other = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        thread::spawn(move || model.submit(&latch, false))
    };
    model.submit(&latch, false);
    let (ran, failed, dropped) = model.clone().end();
    other.join().unwrap();
    latch.wait();
    let Counts { ran: all_ran, dropped: all_dropped, .. } = &*model.counts;
    assert_eq!(all_ran.load(Relaxed), ran, "nothing runs afterwards");
    assert!(all_dropped.load(Relaxed) >= dropped);
    assert_eq!((all_ran.load(Relaxed) + all_dropped.load(Relaxed), failed), (2, 0));
}

/// What was there before the runtime goes down, and need not wait for a thread, runs; also if
/// its thread is only on its way, or has still to be called.
fn closing_late() {
    let model = Model::new(2, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    model.submit(&latch, true);
    model.submit(&latch, true);
    assert_eq!(model.end(), (2, 0, 0), "both run");
}

/// What is mandatory runs before the end though it waits for a thread; or it is refused.
fn closing_beside_a_mandatory_closure() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    let latch = Latch::new(1);
    let other = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        thread::spawn(move || model.submit_mandatory(&latch))
    };
    let (ran, ..) = model.clone().end();
    let accepted = other.join().unwrap();
    let all_ran = model.counts.ran.load(Relaxed);
    assert_eq!((all_ran, all_ran), (ran, usize::from(accepted)));
}

/// The same behind a closure that has the only thread.
fn closing_before_a_mandatory_closure_has_its_turn() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    model.submit(&latch, false);
    assert!(model.submit_mandatory(&latch));
    assert_eq!(model.end(), (2, 0, 0));
}

/// A start that fails when the runtime is down already: its closure fails, or another thread
/// takes it.
fn closing_beside_a_failure() {
    let model = Model::new(2, NEVER, |start| start == 1);
    let latch = Latch::new(2);
    model.submit(&latch, false);
    model.submit(&latch, false);
    let (ran, failed, dropped) = model.end();
    assert_eq!(ran + failed + dropped, 2);
}

/// A thread goes to sleep, for good unless it is told, while a closure comes.
fn falling_asleep() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    for _ in 0..2 {
        let latch = Latch::new(1);
        model.submit(&latch, false);
        latch.wait();
    }
    assert_eq!(model.end(), (2, 0, 0));
}

/// A call and a closure that wait for each other: each has a thread.
fn a_call_beside_a_closure() {
    let model = Model::new(2, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    model.submit(&latch, true);
    let called = model.call(&latch, true);
    latch.wait();
    assert!(called.is_ok(), "one of two threads can be had");
    assert_eq!(model.end(), (2, 0, 0));
}

/// A call for a thread that may sleep, be about to, or be at the end of its time; or a new one.
fn a_call_for_a_sleeper() {
    let model = Model::new(1, Duration::ZERO, NEVER_FAILS);
    let latch = Latch::new(1);
    model.submit(&latch, false);
    latch.wait();
    let latch = Latch::new(1);
    let called = model.call(&latch, false);
    latch.wait();
    let (ran, failed, dropped) = model.end();
    assert_eq!((ran, failed, dropped), if called.is_ok() { (2, 0, 0) } else { (1, 0, 1) });
}

/// All that there may be are busy: the call does not wait.
fn no_thread_for_a_call() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    let latch = Latch::new(2);
    model.submit(&latch, true);
    assert!(matches!(model.call(&latch, false), Err(NoThread::AllBusy)));
    latch.wait();
    assert_eq!(model.end(), (1, 0, 1));
}

/// The thread for a call cannot be started. What is submitted while it still counts, and all
/// threads seem to be taken, is not forgotten.
fn a_call_cannot_be_started() {
    let model = Model::new(1, NEVER, |start| start == 0);
    let latch = Latch::new(2);
    let other = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        thread::spawn(move || model.submit(&latch, false))
    };
    let called = model.call(&latch, false);
    latch.wait();
    other.join().unwrap();
    let (ran, failed, dropped) = model.end();
    assert_eq!((ran + failed, dropped), if called.is_ok() { (2, 0) } else { (1, 1) });
}

/// While the start for a call fails a thread goes to sleep: it takes the call instead.
fn a_sleeper_instead() {
    let model = Model::new(2, NEVER, |start| start == 1);
    let latch = Latch::new(1);
    model.submit(&latch, false);
    latch.wait();
    let latch = Latch::new(1);
    let called = model.call(&latch, false);
    latch.wait();
    let (ran, failed, dropped) = model.end();
    assert_eq!((ran, failed, dropped), if called.is_ok() { (2, 0, 0) } else { (1, 0, 1) });
}

/// A call that was accepted is run, or dropped because the runtime goes down.
fn closing_beside_a_call() {
    let model = Model::new(1, NEVER, NEVER_FAILS);
    let latch = Latch::new(1);
    let other = {
        let (model, latch) = (model.clone(), Arc::clone(&latch));
        thread::spawn(move || model.call(&latch, false))
    };
    let (ran, failed, _) = model.clone().end();
    let called = other.join().unwrap();
    latch.wait();
    let (all_ran, all_dropped) =
        (model.counts.ran.load(Relaxed), model.counts.dropped.load(Relaxed));
    assert_eq!(all_ran, ran, "nothing runs afterwards");
    assert_eq!((all_ran + all_dropped, failed), (1, 0));
    assert!(called.is_ok() || all_ran == 0, "what was refused does not run");
}

#[test]
fn a_closure_is_not_left_by_a_thread_that_falls_asleep() {
    loom::model(falling_asleep);
}

/// For models with more steps: three preemptions take a minute or more.
fn with_two_preemptions(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

#[test]
fn a_call_has_a_thread() {
    with_two_preemptions(a_call_beside_a_closure);
}

#[test]
fn a_call_is_not_left_by_a_thread_that_ends() {
    loom::model(a_call_for_a_sleeper);
}

#[test]
fn a_call_does_not_wait() {
    loom::model(no_thread_for_a_call);
}

#[test]
fn a_closure_is_not_left_when_the_start_for_a_call_fails() {
    loom::model(a_call_cannot_be_started);
}

#[test]
fn a_sleeper_takes_the_call_whose_start_failed() {
    loom::model(a_sleeper_instead);
}

#[test]
fn closing_accounts_for_calls() {
    loom::model(closing_beside_a_call);
}

#[test]
fn each_closure_has_a_thread() {
    with_two_preemptions(each_has_a_thread);
}

#[test]
fn a_closure_is_not_left_by_a_thread_that_ends() {
    loom::model(threads_end);
}

#[test]
fn a_closure_is_not_left_when_a_start_fails() {
    loom::model(one_cannot_be_started);
}

#[test]
fn a_closure_without_a_thread_fails() {
    loom::model(none_can_be_started);
}

#[test]
fn closing_accounts_for_all() {
    loom::model(closing);
}

#[test]
fn closing_leaves_what_has_a_thread() {
    with_two_preemptions(closing_late);
}

#[test]
fn closing_beside_a_start_that_fails() {
    loom::model(closing_beside_a_failure);
}

#[test]
fn closing_runs_what_is_mandatory() {
    loom::model(closing_beside_a_mandatory_closure);
    loom::model(closing_before_a_mandatory_closure_has_its_turn);
}

#[test]
#[should_panic(expected = "nothing is left")]
fn canary_close_deserts() {
    canary::BLOCKING_CLOSE_DESERTS.model(closing_beside_a_mandatory_closure);
}

#[test]
#[should_panic(expected = "both run")]
fn canary_close_takes_all() {
    canary::BLOCKING_CLOSE_TAKES_ALL.model(closing_late);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_no_chain() {
    canary::BLOCKING_NO_CHAIN.model(each_has_a_thread);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_expire_unchecked() {
    canary::BLOCKING_EXPIRE_UNCHECKED.model(threads_end);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_sleep_unsettled() {
    canary::BLOCKING_SLEEP_UNSETTLED.model(falling_asleep);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_end_forgets() {
    canary::BLOCKING_END_FORGETS.model(threads_end);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_failure_forgets() {
    canary::BLOCKING_FAILURE_FORGETS.model(one_cannot_be_started);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_close_silent() {
    canary::BLOCKING_CLOSE_SILENT.model(closing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_no_submit_fence() {
    canary::BLOCKING_NO_SUBMIT_FENCE.model(falling_asleep);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_no_settle_fence() {
    canary::BLOCKING_NO_SETTLE_FENCE.model(falling_asleep);
}

#[test]
#[should_panic(expected = "nothing runs afterwards")]
fn canary_close_unseen() {
    canary::BLOCKING_CLOSE_UNSEEN.model(closing);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_expire_unchecked_by_a_call() {
    canary::BLOCKING_EXPIRE_UNCHECKED.model(a_call_for_a_sleeper);
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_call_failure_forgets() {
    canary::BLOCKING_CALL_FAILURE_FORGETS.model(a_call_cannot_be_started);
}
