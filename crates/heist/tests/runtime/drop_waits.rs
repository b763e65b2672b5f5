//! What is dropped with a runtime may wait for that runtime, and gets an answer (T9). A test that
//! fails here hangs.

use crate::support;
use heist::runtime::{Builder, Handle, Runtime, WorkerThread};
use heist::task::{JoinHandle, LocalSet};
use std::cell::Cell;
use std::future::{Future, pending};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Waits as a foreign executor does, which knows nothing of heist.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let (waker, mut future) = (Waker::from(Arc::new(Unpark(thread::current()))), pin!(future));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// Does something when it is dropped.
pub(crate) struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|act| act());
    }
}

pub(crate) fn on_drop<F: FnOnce()>(act: F) -> OnDrop<F> {
    OnDrop(Some(act))
}

/// A future that has `held` until it is dropped, after its first poll.
pub(crate) async fn hold<T>(held: T) {
    pending::<()>().await;
    drop(held);
}

/// Runtimes of all kinds, but for those whose tasks are all pinned.
fn runtimes() -> Vec<Runtime> {
    vec![support::runtime(1), support::runtime(3), support::current_thread()]
}

fn thread_per_core() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).thread_per_core(true).enable_all().build().unwrap()
}

fn on_threads() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let start = |worker: WorkerThread| {
        thread::spawn(move || worker.run());
        Ok(())
    };
    builder.worker_threads(1).enable_all().build_on(start).unwrap()
}

/// Where a task is when its runtime is shut down.
#[derive(Debug, Clone, Copy)]
enum Place {
    Waiting,
    Queued,
}

impl Place {
    /// Has something dropped with a task that is there.
    fn hold<T: Send + 'static>(self, runtime: &Runtime, held: T) {
        drop(runtime.spawn(hold(held)));
        match self {
            Place::Waiting => runtime.block_on(settle()),
            Place::Queued => {}
        }
    }
}

/// Waits until the tasks that were spawned have been polled.
async fn settle() {
    for _ in 0..100 {
        heist::task::yield_now().await;
        thread::yield_now();
    }
}

/// Shuts runtimes of all kinds down, and with each a task that waits when it is dropped.
fn each_drop(act: impl Fn(Handle) + Clone + Send + 'static) {
    for place in [Place::Waiting, Place::Queued] {
        for end in [drop::<Runtime>, Runtime::shutdown_background] {
            for runtime in runtimes().into_iter().chain([thread_per_core()]) {
                let (done, is_done) = mpsc::channel();
                let (handle, act) = (runtime.handle().clone(), act.clone());
                let also_done = done.clone();
                let acts = move || {
                    act(handle);
                    done.send(()).unwrap();
                };
                place.hold(&runtime, on_drop(acts));
                place.hold(&runtime, on_drop(move || also_done.send(()).unwrap()));
                end(runtime);
                (0..2).for_each(|_| is_done.recv().unwrap());
            }
        }
    }
}

pub(crate) fn assert_cancelled<T: std::fmt::Debug>(join: JoinHandle<T>) {
    assert!(wait(join).unwrap_err().is_cancelled());
}

#[test]
fn t9_for_a_task() {
    each_drop(|handle| assert_cancelled(handle.spawn(async { 5 })));
    each_drop(|handle| assert_cancelled(handle.spawn(pending::<()>())));
    each_drop(|handle| assert!(handle.block_on(handle.spawn(async { 5 })).is_err()));
}

#[test]
fn t9_for_a_pinned_task() {
    each_drop(|handle| assert_cancelled(handle.spawn_pinned(|| async { 5 })));
    each_drop(|handle| assert_cancelled(handle.spawn_pinned_on(0, || async { 5 })));
}

#[test]
fn t9_for_a_closure() {
    each_drop(|handle| assert_cancelled(handle.spawn_blocking(|| 5)));
}

/// What the new task would have sent.
#[test]
fn t9_for_a_channel_of_a_new_task() {
    each_drop(|handle| {
        let (sender, receiver) = heist::sync::oneshot::channel();
        handle.spawn(async move { sender.send(5) });
        assert!(wait(receiver).is_err());
    });
    each_drop(|handle| {
        let (sender, receiver) = mpsc::channel();
        handle.spawn_blocking(move || sender.send(5));
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn t9_for_a_set_of_tasks() {
    each_drop(|handle| {
        let mut set = heist::task::JoinSet::new();
        (0..10).for_each(|_| drop(set.spawn_on(async { 5 }, &handle)));
        while let Some(joined) = wait(set.join_next()) {
            assert!(joined.unwrap_err().is_cancelled());
        }
    });
}

#[test]
fn t9_for_jobs() {
    each_drop(|handle| {
        assert_eq!(heist::join(|| 1, || 2), (1, 2));
        assert_eq!(
            heist::scope(|scope| {
                scope.spawn(|_| ());
                5
            }),
            5
        );
        let job = heist::spawn_job(|| 5).wait();
        assert!(job.map_or_else(|error| error.is_cancelled(), |five| five == 5));
        assert_eq!(handle.install(|| 5), 5);
        assert!(heist::broadcast(|_| 5).iter().all(|part| *part == 5));
    });
}

/// An answer is enough: a timer or a socket of a runtime that is down is an error.
#[test]
fn t9_for_time_and_io() {
    each_drop(|handle| {
        let _entered = handle.enter();
        let sleep = std::panic::AssertUnwindSafe(|| {
            wait(heist::time::sleep(Duration::from_millis(1)));
        });
        let _ = std::panic::catch_unwind(sleep);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        if let Ok(listener) = heist::net::TcpListener::from_std(listener) {
            assert!(wait(listener.accept()).is_err());
        }
    });
}

/// Each drop spawns the next task, and waits for it.
fn descend(handle: Handle, depth: usize, count: Arc<AtomicUsize>) {
    count.fetch_add(1, SeqCst);
    if depth > 0 {
        let deeper = handle.clone();
        let held = on_drop(move || descend(deeper, depth - 1, count));
        assert_cancelled(handle.spawn(hold(held)));
    }
}

#[test]
fn t9_drops_that_wait_inside_of_drops_that_wait() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    each_drop(move |handle| descend(handle, 20, count.clone()));
    assert_eq!(counted.load(SeqCst) % 21, 0);
}

/// The same without a wait, and far deeper than a stack is.
#[test]
fn t6_a_chain_of_tasks_that_drops_spawn_is_no_recursion() {
    fn spawn_next(handle: Handle, depth: usize, last: mpsc::Sender<()>) {
        if depth == 0 {
            last.send(()).unwrap();
            return;
        }
        let next = handle.clone();
        let held = on_drop(move || spawn_next(next, depth - 1, last));
        drop(handle.spawn(hold(held)));
    }
    for runtime in runtimes() {
        let (last, is_last) = mpsc::channel();
        let handle = runtime.handle().clone();
        let held = on_drop(move || spawn_next(handle, 20_000, last));
        Place::Waiting.hold(&runtime, held);
        drop(runtime);
        is_last.recv().unwrap();
    }
}

/// Tasks in a row, each of which waits for the end of a neighbour when it is dropped. Whichever is
/// dropped first, the others have to be dropped meanwhile.
fn row<W: Send + 'static>(
    runtime: &Runtime,
    tasks: usize,
    is_first_held: bool,
    wait_for: fn(W),
    end: impl Fn(JoinHandle<()>, mpsc::Receiver<()>) -> W,
) {
    let mut neighbours: Vec<mpsc::Sender<W>> = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..tasks {
        let (neighbour, has_neighbour) = mpsc::channel::<W>();
        let (held, is_held) = mpsc::channel();
        let task = hold(on_drop(move || {
            has_neighbour.recv().into_iter().for_each(wait_for);
            drop(held);
        }));
        ends.push(end(runtime.spawn(task), is_held));
        neighbours.push(neighbour);
    }
    // All but one wait: each for the one after it, or for the one before.
    if is_first_held {
        neighbours.pop();
        ends.remove(0);
    } else {
        neighbours.remove(0);
        ends.pop();
    }
    neighbours.iter().zip(ends).for_each(|(neighbour, end)| neighbour.send(end).unwrap());
    drop(neighbours);
    runtime.block_on(settle());
}

#[test]
fn t9_for_tasks_that_are_dropped_later() {
    for (tasks, is_first_held) in [(2, true), (2, false), (30, true), (30, false)] {
        for runtime in runtimes() {
            let wait_for = |is_held: mpsc::Receiver<()>| assert!(is_held.recv().is_err());
            row(&runtime, tasks, is_first_held, wait_for, |_, is_held| is_held);
            drop(runtime);
        }
    }
}

#[test]
fn t9_for_the_handles_of_tasks_that_are_dropped_later() {
    for (tasks, is_first_held) in [(2, true), (2, false), (30, true), (30, false)] {
        for runtime in runtimes() {
            row(&runtime, tasks, is_first_held, assert_cancelled, |join, _| join);
            drop(runtime);
        }
    }
}

/// Has a worker do this at the end of a poll that is going on while the runtime shuts down: in the
/// poll, or in the drop of its task.
fn at_the_end_of_a_poll(runtime: Runtime, is_in_poll: bool, act: fn(Handle)) {
    let (begun, begins) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let (ended, is_ended) = mpsc::channel::<()>();
    let handle = runtime.handle().clone();
    let held = on_drop(move || act(handle));
    runtime.spawn(async move {
        let (held, _ended) = (held, ended);
        begun.send(()).unwrap();
        goes.recv().unwrap();
        if !is_in_poll {
            pending::<()>().await;
        }
        drop(held);
    });
    begins.recv().unwrap();
    let handle = runtime.handle().clone();
    let ends = thread::spawn(move || drop(runtime));
    while !handle.spawn(pending::<()>()).is_finished() {
        thread::yield_now();
    }
    go.send(()).unwrap();
    ends.join().unwrap();
    // The threads that it was built on are not its own.
    is_ended.recv().unwrap_err();
}

/// The worker cancels the task at the end of its poll: a timer in the drop must not count as one
/// that a task waits for.
#[test]
fn t9_for_time_on_the_worker_that_polls() {
    at_the_end_of_a_poll(support::runtime(1), false, |_| {
        let sleep = || wait(heist::time::sleep(Duration::from_millis(1)));
        let _ = std::panic::catch_unwind(sleep);
    });
}

/// A wait in the middle of a poll gets an answer, though the task that is polled gets none: it is
/// dropped. The wait begins when the runtime is down, or before.
#[test]
fn t9_for_time_in_a_poll() {
    let act = |_: Handle| {
        let sleep = || wait(heist::time::sleep(Duration::from_secs(3600)));
        assert!(std::panic::catch_unwind(sleep).is_err());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = heist::net::TcpListener::from_std(listener).unwrap();
        assert!(wait(listener.accept()).is_err());
    };
    for runtime in [|| support::runtime(1), thread_per_core, on_threads] {
        at_the_end_of_a_poll(runtime(), true, act);
        let runtime = runtime();
        let (ended, is_ended) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel();
        runtime.spawn(async move {
            let _ended = ended;
            let mut sleep = Box::pin(heist::time::sleep(Duration::from_secs(3600)));
            let begins = std::future::poll_fn(move |cx| {
                let polled = sleep.as_mut().poll(cx);
                begun.send(()).unwrap();
                polled
            });
            wait(begins);
        });
        begins.recv().unwrap();
        drop(runtime);
        is_ended.recv().unwrap_err();
    }
}

/// A new job is no worker's, or it would wait for the one that waits for it: no other comes.
#[test]
fn t9_for_a_job_in_a_poll() {
    for runtime in [|| support::runtime(1), thread_per_core, on_threads] {
        for is_in_poll in [false, true] {
            at_the_end_of_a_poll(runtime(), is_in_poll, |handle| {
                let _ = wait(handle.spawn_job(|| 5));
                let _ = wait(heist::spawn_job(|| 5));
                let (sender, receiver) = mpsc::channel();
                handle.spawn_detached(move || sender.send(5).unwrap());
                assert_eq!(receiver.recv().unwrap(), 5);
            });
        }
    }
}

/// A new task is no worker's yet, or it would wait for the one that waits for it.
#[test]
fn t9_for_a_pinned_task_on_the_worker_that_polls() {
    for runtime in [|| support::runtime(1), thread_per_core] {
        for is_in_poll in [false, true] {
            at_the_end_of_a_poll(runtime(), is_in_poll, |handle| {
                assert_cancelled(handle.spawn_pinned(pending::<()>));
                assert_cancelled(handle.spawn_pinned_on(0, pending::<()>));
                assert_cancelled(handle.spawn(pending::<()>()));
            });
        }
    }
}

/// A waker that waits for a task when it is dropped: here for all that others wait for in the
/// reactor.
#[test]
fn t9_for_a_waker_of_another_executor() {
    struct WaitsInDrop(Mutex<mpsc::Receiver<()>>);
    impl Wake for WaitsInDrop {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for WaitsInDrop {
        fn drop(&mut self) {
            assert!(self.0.lock().unwrap().recv().is_err());
        }
    }
    for runtime in runtimes().into_iter().chain([thread_per_core()]) {
        let (held, is_held) = mpsc::channel();
        runtime.spawn(hold(held));
        runtime.block_on(settle());
        let waker = Waker::from(Arc::new(WaitsInDrop(Mutex::new(is_held))));
        let mut sleep = {
            let _entered = runtime.enter();
            Box::pin(heist::time::sleep(Duration::from_secs(3600)))
        };
        assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        // The runtime has the last one.
        drop(waker);
        drop(runtime);
        drop(sleep);
    }
}

/// A closure that has not begun waits, when it is dropped, for the only task.
#[test]
fn t9_for_a_task_in_a_closure() {
    for builder in
        [&mut Builder::new_current_thread(), Builder::new_multi_thread().worker_threads(1)]
    {
        let runtime = builder.max_blocking_threads(1).enable_all().build().unwrap();
        let (held, is_held) = mpsc::channel::<()>();
        runtime.spawn(hold(held));
        runtime.block_on(settle());
        let (begun, begins) = mpsc::channel();
        let (go, goes) = mpsc::channel::<()>();
        runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            goes.recv().unwrap_err();
        });
        begins.recv().unwrap();
        let waits = on_drop(move || {
            assert!(is_held.recv().is_err());
            drop(go);
        });
        runtime.spawn_blocking(move || drop(waits));
        drop(runtime);
    }
}

/// Deeper than drops are nested on one stack.
#[test]
fn t9_drops_that_wait_far_inside_of_each_other() {
    for runtime in runtimes() {
        let (count, handle) = (Arc::new(AtomicUsize::new(0)), runtime.handle().clone());
        let counted = count.clone();
        Place::Waiting.hold(&runtime, on_drop(move || descend(handle, 100, counted)));
        drop(runtime);
        assert_eq!(count.load(SeqCst), 101);
    }
}

/// The depth up to which drops may wait where no other thread drops what they spawn.
const NESTED: usize = 15;

#[test]
fn t9_after_the_end() {
    for runtime in runtimes().into_iter().chain([thread_per_core()]) {
        let (count, handle) = (Arc::new(AtomicUsize::new(0)), runtime.handle().clone());
        drop(runtime);
        descend(handle, NESTED + 1, count.clone());
        assert_eq!(count.load(SeqCst), NESTED + 2);
    }
}

#[test]
fn t9_for_the_tasks_of_a_set() {
    fn descend(depth: usize, count: Rc<Cell<usize>>) {
        count.set(count.get() + 1);
        if depth > 0 {
            let held = on_drop(move || descend(depth - 1, count));
            assert_cancelled(heist::task::spawn_local(hold(held)));
        }
    }
    let (runtime, set) = (support::current_thread(), LocalSet::new());
    let count = Rc::new(Cell::new(0));
    let counted = count.clone();
    set.spawn_local(hold(on_drop(move || descend(NESTED + 1, counted))));
    set.block_on(&runtime, settle());
    drop(set);
    assert_eq!(count.get(), NESTED + 2);
}

/// A drop on a worker's thread is in no task: it may drop another runtime, and wait for that.
#[test]
fn t9_for_another_runtime() {
    let runtime = support::runtime(2);
    for _ in 0..8 {
        let inner = support::runtime(1);
        let (done, is_done) = mpsc::channel::<()>();
        inner.spawn(hold(done));
        let held = on_drop(move || {
            drop(inner);
            assert!(is_done.recv().is_err());
        });
        runtime.spawn(hold(held));
    }
    runtime.block_on(settle());
    drop(runtime);
}

/// M1: tasks that drops spawn count as spawned if they count as cancelled.
#[test]
fn m1_tasks_that_drops_spawn_leave_no_trace() {
    fn spawn_next(handle: Handle, depth: usize) {
        if depth > 0 {
            let next = handle.clone();
            let held = on_drop(move || spawn_next(next, depth - 1));
            drop(handle.spawn(hold(held)));
        }
    }
    let runtime = support::runtime(1);
    let (metrics, handle) = (runtime.metrics(), runtime.handle().clone());
    let (go, goes) = mpsc::channel::<()>();
    let (begun, begins) = mpsc::channel();
    let (last, is_last) = mpsc::channel::<()>();
    let held = on_drop(move || {
        spawn_next(handle, 300);
        drop(last);
    });
    Place::Waiting.hold(&runtime, held);
    let stuck = runtime.spawn(async move {
        begun.send(()).unwrap();
        goes.recv().unwrap_err();
    });
    begins.recv().unwrap();
    runtime.shutdown_background();
    is_last.recv().unwrap_err();
    // One is in its poll, and of the others none is left when all have been cancelled.
    while metrics.num_alive_tasks() > 1 {
        thread::yield_now();
    }
    assert_eq!(metrics.num_alive_tasks(), 1);
    drop(go);
    let _ = wait(stuck);
}

/// A drop may wait for what the caller does next, or for longer than that may wait.
#[test]
fn t9_a_shutdown_in_the_background_waits_for_no_drop() {
    let background = |runtime: Runtime| runtime.shutdown_background();
    let timeout = |runtime: Runtime| runtime.shutdown_timeout(Duration::from_millis(1));
    for place in [Place::Waiting, Place::Queued] {
        for end in [background, timeout] {
            for runtime in [support::runtime(1), support::runtime(3), thread_per_core()] {
                let ((go, goes), (held, is_held)) = (mpsc::channel::<()>(), mpsc::channel::<()>());
                let waits = on_drop(move || {
                    assert!(goes.recv().is_err());
                    drop(held);
                });
                place.hold(&runtime, waits);
                end(runtime);
                drop(go);
                assert!(is_held.recv().is_err());
            }
        }
    }
}
