//! What a runtime had not begun when it was shut down is dropped when all of it is closed: the drop
//! may wait for that runtime, and gets an answer (T9). A test that fails here hangs.

use crate::drop_waits::{assert_cancelled, hold, on_drop, wait};
use heist::runtime::{Builder, Handle, Runtime};
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

/// What runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    CurrentThread,
    Workers(usize),
    ThreadPerCore,
    /// The same without a monitor.
    Unwatched,
    OnThreads(usize),
}

const KINDS: [Kind; 6] = [
    Kind::CurrentThread,
    Kind::Workers(1),
    Kind::Workers(3),
    Kind::ThreadPerCore,
    Kind::Unwatched,
    Kind::OnThreads(2),
];

impl Kind {
    fn workers(self) -> usize {
        match self {
            Kind::CurrentThread => 0,
            Kind::ThreadPerCore | Kind::Unwatched => 2,
            Kind::Workers(workers) | Kind::OnThreads(workers) => workers,
        }
    }

    /// Whether all tasks are pinned.
    fn is_per_core(self) -> bool {
        matches!(self, Kind::ThreadPerCore | Kind::Unwatched)
    }

    /// A task on this worker, as far as that can be chosen.
    fn spawn_on(self, worker: usize, runtime: &Runtime, work: impl FnOnce() + Send + 'static) {
        if self.is_per_core() {
            runtime.handle().spawn_pinned_on(worker, || async { work() });
        } else {
            runtime.spawn(async { work() });
        }
    }

    /// A runtime with one blocking thread at most.
    fn build(self) -> Runtime {
        let mut builder = match self {
            Kind::CurrentThread => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        builder.max_blocking_threads(1).enable_io().enable_time();
        if self != Kind::CurrentThread {
            builder.worker_threads(self.workers());
        }
        match self {
            Kind::CurrentThread | Kind::Workers(_) => builder.build(),
            Kind::ThreadPerCore => builder.thread_per_core(true).build(),
            Kind::Unwatched => builder.thread_per_core(true).stall_threshold(None).build(),
            Kind::OnThreads(_) => builder.build_on(|worker| {
                thread::spawn(move || worker.run());
                Ok(())
            }),
        }
        .unwrap()
    }
}

/// Where a value is when its runtime is shut down.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// In a closure for which there is no thread.
    Closure,
    /// In a job from outside, while all workers are busy.
    Job,
    /// In a job in the deque of a worker.
    OwnJob,
    /// In the waker of a timer.
    Timer,
    /// In the waker of a socket.
    Socket,
}

const PLACES: [Place; 5] = [Place::Closure, Place::Job, Place::OwnJob, Place::Timer, Place::Socket];

/// Keeps threads busy until it is dropped.
#[derive(Default)]
struct Busy(Vec<mpsc::Sender<()>>);

impl Busy {
    /// What keeps one of them busy, and says so.
    fn work(&mut self) -> (impl FnOnce() + Send + 'static, mpsc::Receiver<()>) {
        let ((go, goes), (begun, begins)) = (mpsc::channel::<()>(), mpsc::channel());
        self.0.push(go);
        let work = move || {
            begun.send(()).unwrap();
            goes.recv().unwrap_err();
        };
        (work, begins)
    }

    /// The only blocking thread, so that there are no spares either.
    fn block_closures(&mut self, runtime: &Runtime) {
        let (work, begins) = self.work();
        runtime.spawn_blocking(work);
        begins.recv().unwrap();
    }

    /// This number of workers, from the last.
    fn block_workers(&mut self, runtime: &Runtime, kind: Kind, count: usize) {
        for worker in (0..kind.workers()).rev().take(count) {
            let (work, begins) = self.work();
            kind.spawn_on(worker, runtime, work);
            begins.recv().unwrap();
        }
    }
}

/// Something that does something when it is dropped.
type Held = Box<dyn Any + Send>;

/// A waker that holds something, until it was called and dropped.
struct Holds<T>(#[allow(dead_code, reason = "it is dropped")] Mutex<T>);

impl<T: Send> Wake for Holds<T> {
    fn wake(self: Arc<Self>) {}
}

impl Place {
    /// Puts values there, each for itself; `busy` keeps them there until that is dropped.
    fn hold(self, runtime: &Runtime, kind: Kind, busy: &Mutex<Busy>, values: Vec<Held>) {
        let mut busy = busy.lock().unwrap();
        match self {
            Place::Closure => {
                busy.block_closures(runtime);
                for held in values {
                    runtime.spawn_blocking(move || drop(held));
                }
            }
            Place::Job => {
                busy.block_closures(runtime);
                busy.block_workers(runtime, kind, kind.workers());
                for held in values {
                    runtime.handle().spawn_job(move || drop(held)).detach();
                }
            }
            Place::OwnJob if kind == Kind::CurrentThread => {
                runtime.block_on(async { spawn_jobs(values) });
            }
            Place::OwnJob => {
                busy.block_closures(runtime);
                busy.block_workers(runtime, kind, kind.workers() - 1);
                let (begun, begins) = mpsc::channel();
                let handle = runtime.handle().clone();
                let work = move || {
                    spawn_jobs(values);
                    begun.send(()).unwrap();
                    wait_for_shutdown(&handle);
                };
                kind.spawn_on(0, runtime, work);
                begins.recv().unwrap();
            }
            Place::Timer => {
                let _entered = runtime.enter();
                for held in values {
                    poll_once(heist::time::sleep(Duration::from_secs(3600)), held);
                }
            }
            Place::Socket => {
                let _entered = runtime.enter();
                for held in values {
                    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
                    listener.set_nonblocking(true).unwrap();
                    let listener = heist::net::TcpListener::from_std(listener).unwrap();
                    poll_once(async move { listener.accept().await }, held);
                }
            }
        }
    }
}

fn spawn_jobs(values: Vec<Held>) {
    for held in values {
        heist::spawn_job(move || drop(held)).detach();
    }
}

/// Blocks until the runtime, whose blocking thread is busy, takes no more closures.
fn wait_for_shutdown(handle: &Handle) {
    while !handle.spawn_blocking(|| ()).is_finished() {
        thread::yield_now();
    }
}

/// Leaves a waker that holds `held` to the runtime, which has the last one. The future is never
/// dropped.
fn poll_once<F: Future + Send + 'static>(future: F, held: Held) {
    static KEPT: Mutex<Vec<Pin<Box<dyn Send>>>> = Mutex::new(Vec::new());
    let waker = Waker::from(Arc::new(Holds(Mutex::new(held))));
    let mut future = Box::pin(future);
    assert!(future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    KEPT.lock().unwrap().push(future);
}

/// Shuts runtimes of all kinds down, and with each a value that waits when it is dropped.
fn each_drop(act: impl Fn(Handle) + Clone + Send + 'static) {
    each_drop_beside(true, act);
}

/// The same; what `is_busy` until the shutdown is so until the end of the drop, or only until then.
fn each_drop_beside(is_busy: bool, act: impl Fn(Handle) + Clone + Send + 'static) {
    for kind in KINDS {
        for place in PLACES {
            for end in [drop::<Runtime>, Runtime::shutdown_background] {
                let runtime = kind.build();
                let (done, is_done) = mpsc::channel();
                let (handle, act) = (runtime.handle().clone(), act.clone());
                let busy = Arc::new(Mutex::new(Busy::default()));
                let go = busy.clone();
                let held = on_drop(move || {
                    let go = on_drop(move || go.lock().unwrap().0.clear());
                    let _go = is_busy.then_some(go);
                    act(handle);
                    done.send(()).unwrap();
                });
                place.hold(&runtime, kind, &busy, vec![Box::new(held)]);
                end(runtime);
                is_done.recv().unwrap();
            }
        }
    }
}

#[test]
fn t9_for_a_task() {
    each_drop(|handle| assert_cancelled(handle.spawn(async { 5 })));
    each_drop(|handle| assert_cancelled(handle.spawn_pinned_on(0, || async { 5 })));
    each_drop(|handle| assert!(handle.block_on(handle.spawn(async { 5 })).is_err()));
}

#[test]
fn t9_for_a_closure() {
    each_drop(|handle| assert_cancelled(handle.spawn_blocking(|| 5)));
    each_drop(|handle| assert!(handle.block_on(handle.spawn_blocking(|| 5)).is_err()));
}

#[test]
fn t9_for_jobs() {
    // A broadcast waits for each worker.
    each_drop_beside(false, |handle| {
        assert_eq!(heist::join(|| 1, || 2), (1, 2));
        assert_eq!(heist::scope(|scope| scope.spawn(|_| ())), ());
        assert!(heist::broadcast(|_| 5).iter().all(|part| *part == 5));
        assert_eq!(handle.install(|| 5), 5);
        let _ = heist::spawn_job(|| 5).wait();
        let _ = handle.spawn_job(|| 5).wait();
    });
}

#[test]
fn t9_for_what_a_task_or_closure_would_have_sent() {
    each_drop(|handle| {
        let (sender, receiver) = heist::sync::oneshot::channel();
        handle.spawn(async move { sender.send(5) });
        assert!(wait(receiver).is_err());
        let (sender, receiver) = mpsc::channel();
        handle.spawn_blocking(move || sender.send(5));
        assert!(receiver.recv().is_err());
    });
}

#[test]
fn t9_for_time_and_io() {
    each_drop(|handle| {
        let _entered = handle.enter();
        let sleep = std::panic::AssertUnwindSafe(|| {
            wait(heist::time::sleep(Duration::from_secs(3600)));
        });
        let _ = std::panic::catch_unwind(sleep);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        if let Ok(listener) = heist::net::TcpListener::from_std(listener) {
            assert!(wait(listener.accept()).is_err());
        }
    });
}

/// The drop of one value waits for that of another.
fn pair(busy: &Arc<Mutex<Busy>>) -> (Held, Held) {
    let (other, is_other_held) = mpsc::channel::<()>();
    let go = busy.clone();
    let waits = on_drop(move || {
        is_other_held.recv().unwrap_err();
        go.lock().unwrap().0.clear();
    });
    (Box::new(waits), Box::new(other))
}

#[test]
fn t9_for_the_drop_of_another_in_the_same_place() {
    for (kind, place) in KINDS.iter().flat_map(|kind| PLACES.map(|place| (*kind, place))) {
        for waits_first in [true, false] {
            let (runtime, busy) = (kind.build(), Arc::new(Mutex::new(Busy::default())));
            let (waits, other) = pair(&busy);
            let values = if waits_first { vec![waits, other] } else { vec![other, waits] };
            place.hold(&runtime, kind, &busy, values);
            drop(runtime);
        }
    }
}

#[test]
fn t9_for_the_drop_of_a_task_and_the_other_way_round() {
    // With thread_per_core only the worker, which is busy, may drop the task.
    let kinds = KINDS.into_iter().filter(|kind| !kind.is_per_core());
    for (kind, place) in kinds.flat_map(|kind| PLACES.map(|place| (kind, place))) {
        for waits_in_task in [true, false] {
            let (runtime, busy) = (kind.build(), Arc::new(Mutex::new(Busy::default())));
            let (waits, other) = pair(&busy);
            let (task, held) = if waits_in_task { (waits, other) } else { (other, waits) };
            place.hold(&runtime, kind, &busy, vec![held]);
            drop(runtime.spawn(hold(task)));
            drop(runtime);
        }
    }
}

/// What a poll that is going on during the shutdown does with values.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leaves {
    JobsBefore,
    JobsAfter,
    TasksAfter,
}

/// The drop of one waits for that of another, and a poll leaves both when all else has ended.
#[test]
fn t9_for_the_drop_of_another_that_the_same_poll_leaves() {
    let kinds = KINDS.into_iter().filter(|kind| *kind != Kind::CurrentThread);
    let kinds = kinds.chain([Kind::OnThreads(1)]);
    let all = [Leaves::JobsBefore, Leaves::JobsAfter, Leaves::TasksAfter];
    for (kind, leaves) in kinds.flat_map(|kind| all.map(|leaves| (kind, leaves))) {
        // Only their worker may drop pinned tasks.
        if leaves == Leaves::TasksAfter && kind.is_per_core() {
            continue;
        }
        for waits_first in [true, false] {
            let (runtime, busy) = (kind.build(), Arc::new(Mutex::new(Busy::default())));
            busy.lock().unwrap().block_closures(&runtime);
            busy.lock().unwrap().block_workers(&runtime, kind, kind.workers() - 1);
            let (done, is_done) = mpsc::channel::<()>();
            let (waits, other) = pair(&busy);
            let waits: Held = Box::new((waits, done));
            let values = if waits_first { vec![waits, other] } else { vec![other, waits] };
            let ((go, goes), (begun, begins)) = (mpsc::channel::<()>(), mpsc::channel());
            kind.spawn_on(0, &runtime, move || {
                let mut values = Some(values);
                if leaves == Leaves::JobsBefore {
                    spawn_jobs(values.take().unwrap());
                }
                begun.send(()).unwrap();
                goes.recv().unwrap_err();
                match leaves {
                    Leaves::JobsBefore => {}
                    Leaves::JobsAfter => spawn_jobs(values.take().unwrap()),
                    Leaves::TasksAfter => values.take().unwrap().into_iter().for_each(|held| {
                        heist::spawn(hold(held));
                    }),
                }
            });
            begins.recv().unwrap();
            runtime.shutdown_background();
            drop(go);
            is_done.recv().unwrap_err();
        }
    }
}

/// How a drop has something dropped later.
type Spawn = fn(&Handle, Held);

const SPAWNS: [Spawn; 3] = [
    |handle, held| drop(handle.spawn(hold(held))),
    |handle, held| drop(handle.spawn_blocking(move || drop(held))),
    |handle, held| drop(handle.spawn_job(move || drop(held)).detach()),
];

/// Each drop spawns something whose drop does the same, `left` times.
fn chain(handle: Handle, spawn: Spawn, left: usize, last: mpsc::Sender<()>) -> Held {
    Box::new(on_drop(move || match left {
        0 => last.send(()).unwrap(),
        _ => spawn(&handle, chain(handle.clone(), spawn, left - 1, last)),
    }))
}

/// Far deeper than a stack is.
const LINKS: usize = 20_000;

#[test]
fn t6_a_chain_of_drops_is_no_recursion() {
    for (kind, place) in KINDS.iter().flat_map(|kind| PLACES.map(|place| (*kind, place))) {
        for spawn in SPAWNS {
            let (runtime, busy) = (kind.build(), Arc::new(Mutex::new(Busy::default())));
            let (last, is_last) = mpsc::channel();
            let (links, go) = (chain(runtime.handle().clone(), spawn, LINKS, last), busy.clone());
            // With thread_per_core the next task may be the worker's to drop.
            let held = on_drop(move || {
                go.lock().unwrap().0.clear();
                drop(links);
            });
            place.hold(&runtime, kind, &busy, vec![Box::new(held)]);
            drop(runtime);
            is_last.recv().unwrap();
        }
    }
}

#[test]
fn t6_a_chain_of_drops_after_the_end_is_no_recursion() {
    for kind in KINDS {
        for spawn in SPAWNS {
            let runtime = kind.build();
            let handle = runtime.handle().clone();
            drop(runtime);
            let (last, is_last) = mpsc::channel();
            drop(chain(handle, spawn, LINKS, last));
            is_last.recv().unwrap();
        }
    }
}

/// Each drop waits for the next one: where others drop what is left, at any depth.
#[test]
fn t9_for_closures_and_jobs_far_inside_of_each_other() {
    const SPAWNS: [fn(&Handle, Held); 2] = [
        |handle, held| assert_cancelled(handle.spawn_blocking(move || drop(held))),
        |handle, held| {
            let join = handle.spawn_job(move || drop(held)).detach();
            assert_cancelled(join);
        },
    ];
    for (kind, place) in KINDS.iter().flat_map(|kind| PLACES.map(|place| (*kind, place))) {
        for spawn in SPAWNS {
            let (runtime, busy) = (kind.build(), Arc::new(Mutex::new(Busy::default())));
            let (last, is_last) = mpsc::channel();
            let links = chain(runtime.handle().clone(), spawn, 100, last);
            let go = busy.clone();
            let held = on_drop(move || {
                drop(links);
                go.lock().unwrap().0.clear();
            });
            place.hold(&runtime, kind, &busy, vec![Box::new(held)]);
            drop(runtime);
            is_last.recv().unwrap();
        }
    }
}

/// The same on a set, whose tasks only its own thread may drop.
#[test]
fn t6_a_chain_of_local_tasks_that_drops_spawn_is_no_recursion() {
    fn link(left: usize, last: mpsc::Sender<()>) -> impl FnOnce() {
        move || match left {
            0 => last.send(()).unwrap(),
            _ => {
                let held: Box<dyn Any> = Box::new(on_drop(link(left - 1, last)));
                drop(heist::task::spawn_local(hold(held)));
            }
        }
    }
    let runtime = Kind::CurrentThread.build();
    let (last, is_last) = mpsc::channel();
    let set = heist::task::LocalSet::new();
    let held: Box<dyn Any> = Box::new(on_drop(link(LINKS, last)));
    set.spawn_local(hold(held));
    set.block_on(&runtime, heist::task::yield_now());
    drop(set);
    is_last.recv().unwrap();
}
