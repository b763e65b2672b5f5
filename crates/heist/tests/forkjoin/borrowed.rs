//! Seats that are borrowed for tasks while their workers are at jobs.

use heist::runtime::{Builder, Runtime};
use heist::task;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A runtime whose sysmon sleeps for good after its first looks, unless it is needed.
fn unwatched(workers: usize) -> Runtime {
    let runtime =
        Builder::new_multi_thread().worker_threads(workers).stall_threshold(None).build().unwrap();
    // If that is too short, a test that should fail may pass.
    thread::sleep(Duration::from_millis(300));
    runtime
}

/// Something that is so, or not yet.
#[derive(Clone, Default)]
pub(crate) struct Flag(Arc<AtomicBool>);

impl Flag {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn wait(&self) {
        while !self.0.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }
}

/// A job that burns until `end` is set.
pub(crate) fn burn(runtime: &Runtime, end: &Flag) -> heist::JobHandle<()> {
    let (begun, end) = (Flag::default(), end.clone());
    let has_begun = begun.clone();
    let job = runtime.handle().spawn_job(move || {
        has_begun.set();
        end.wait();
    });
    begun.wait();
    job
}

/// A task that has begun, and yields until `end` is set.
pub(crate) fn yields_until(runtime: &Runtime, end: &Flag) -> heist::task::JoinHandle<()> {
    let (begun, end) = (Flag::default(), end.clone());
    let has_begun = begun.clone();
    let task = runtime.spawn(async move {
        has_begun.set();
        while !end.0.load(Ordering::SeqCst) {
            task::yield_now().await;
        }
    });
    begun.wait();
    task
}

/// J5, F3: a job blocks until another has run, and a task that always yields keeps the borrower of
/// its worker's seat busy.
#[test]
fn j5_a_lender_that_blocks() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let is_over = Flag::default();
    let yields = yields_until(&rt, &is_over);
    let (sender, receiver) = mpsc::channel::<()>();
    let (a, b) = (move || receiver.recv().unwrap(), move || sender.send(()).unwrap());
    rt.handle().install(move || heist::join(a, b));
    is_over.set();
    rt.block_on(yields).unwrap();
}

/// L5: a task on a borrowed seat steps aside, and waits for a task in its own ring.
#[test]
fn l5_a_borrower_that_steps_aside() {
    let (rt, end) = (unwatched(1), Flag::default());
    let job = burn(&rt, &end);
    let waits = rt.spawn(async {
        let (sender, receiver) = mpsc::channel::<()>();
        let inner = task::spawn(async move { sender.send(()).unwrap() });
        task::block_in_place(move || receiver.recv().unwrap());
        inner.await.unwrap();
    });
    rt.block_on(waits).unwrap();
    end.set();
    job.wait().unwrap();
}

/// F3: a job spawns a task while the other worker is at a task, and goes on to a job then.
#[test]
fn f3_a_task_in_the_ring_of_one_at_a_job() {
    let (rt, in_task, end_task) = (unwatched(2), Flag::default(), Flag::default());
    let [has_run, is_spawned] = [Flag::default(), Flag::default()];
    let (in_task_there, end_task_there) = (in_task.clone(), end_task.clone());
    let at_task = rt.spawn(async move {
        in_task_there.set();
        end_task_there.wait();
    });
    in_task.wait();
    let (has_run_there, is_spawned_there) = (has_run.clone(), is_spawned.clone());
    let spawns = rt.handle().spawn_job(move || {
        let has_run = has_run_there.clone();
        drop(task::spawn(async move { has_run.set() }));
        is_spawned_there.set();
        has_run_there.wait();
    });
    is_spawned.wait();
    let has_run_there = has_run.clone();
    let waits = rt.handle().spawn_job(move || has_run_there.wait());
    end_task.set();
    spawns.wait().unwrap();
    waits.wait().unwrap();
    rt.block_on(at_task).unwrap();
}

/// F3: there is no thread for a spare when the task comes. Later there is.
#[test]
fn f3_spares_at_their_limit() {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).max_blocking_threads(1).stall_threshold(None).build();
    let (rt, end) = (rt.unwrap(), Flag::default());
    let ((sender, receiver), is_blocked) = (mpsc::channel::<()>(), Flag::default());
    let is_blocked_there = is_blocked.clone();
    let blocks = rt.spawn_blocking(move || {
        is_blocked_there.set();
        receiver.recv().unwrap();
    });
    is_blocked.wait();
    let job = burn(&rt, &end);
    let ends_it = rt.spawn(async move { end.set() });
    // As in unwatched().
    thread::sleep(Duration::from_millis(300));
    sender.send(()).unwrap();
    job.wait().unwrap();
    rt.block_on(async { (blocks.await.unwrap(), ends_it.await.unwrap()) });
}

/// F3: what is pinned to a lender comes before the next job, which waits for it.
#[test]
fn f3_a_lender_with_a_pinned_task() {
    let (rt, end, is_over) = (unwatched(1), Flag::default(), Flag::default());
    let job = burn(&rt, &end);
    let yields = yields_until(&rt, &is_over);
    let is_over_there = is_over.clone();
    let next = rt.handle().spawn_job(move || is_over_there.wait());
    let pinned = rt.spawn_pinned(move || async move { is_over.set() });
    end.set();
    job.wait().unwrap();
    next.wait().unwrap();
    rt.block_on(async { (pinned.await.unwrap(), yields.await.unwrap()) });
}

/// Jobs from outside are no tasks: nobody is called for them.
#[test]
fn a_job_calls_no_spare() {
    let (rt, end) = (unwatched(1), Flag::default());
    let job = burn(&rt, &end);
    let jobs: Vec<_> = (0..10).map(|_| rt.handle().spawn_job(|| ())).collect();
    let threads = rt.metrics().num_blocking_threads();
    end.set();
    job.wait().unwrap();
    jobs.into_iter().for_each(|job| job.wait().unwrap());
    assert_eq!(threads, 0);
}

/// L5, L7: the lender steps aside while the spare that was called sits down.
#[test]
fn l5_a_lender_that_steps_aside_at_any_moment() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for round in 0..2000u32 {
        let ((sender, receiver), begun) = (mpsc::channel::<()>(), Flag::default());
        let has_begun = begun.clone();
        let job = rt.handle().spawn_job(move || {
            has_begun.set();
            (0..round % 997 * 20).for_each(|_| std::hint::spin_loop());
            task::block_in_place(move || receiver.recv().unwrap());
        });
        begun.wait();
        let sends = rt.spawn(async move { sender.send(()).unwrap() });
        job.wait().unwrap();
        rt.block_on(sends).unwrap();
    }
}

/// The longest of all thresholds is no reason to panic: sysmon looks at those at jobs, and goes on.
#[test]
fn a_threshold_that_never_comes() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_sysmon = thread::current().name() == Some("heist-sysmon");
        PANICS.fetch_add(usize::from(is_sysmon), Ordering::SeqCst);
        before(panic);
    }));
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).stall_threshold(Some(Duration::MAX)).build().unwrap();
    let end = Flag::default();
    let job = burn(&rt, &end);
    // As in unwatched(): it looks twice, and finds the worker where it was.
    thread::sleep(Duration::from_millis(200));
    end.set();
    job.wait().unwrap();
    drop(rt);
    assert_eq!(PANICS.load(Ordering::SeqCst), 0);
}
