//! Closures that block (`spawn_blocking`): their threads, their handles, and shutting down.
//!
//! No test decides by the clock: where one waits for something that must not happen it would
//! wait for ever.

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{JoinHandle, spawn_blocking};
use std::error::Error;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Longer than any test.
const HOUR: Duration = Duration::from_secs(3600);

fn runtime(max_blocking_threads: usize) -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(max_blocking_threads)
        .thread_keep_alive(HOUR)
        .build()
        .unwrap()
}

/// Waits for something after, or outside of, its runtime.
fn wait<F: Future>(future: F) -> F::Output {
    Builder::new_current_thread().build().unwrap().block_on(future)
}

/// A closure that has begun, and ends when it is told to.
struct Stuck {
    handle: JoinHandle<ThreadId>,
    release: Sender<()>,
}

impl Stuck {
    fn begin(runtime: &Runtime) -> Stuck {
        let (begin, begun) = channel();
        let (release, released) = channel();
        let handle = runtime.spawn_blocking(move || {
            begin.send(()).unwrap();
            released.recv().unwrap();
            thread::current().id()
        });
        begun.recv().unwrap();
        Stuck { handle, release }
    }

    fn end(self) -> ThreadId {
        self.release.send(()).unwrap();
        wait(self.handle).unwrap()
    }
}

/// Tells when it is dropped.
struct Tell(Sender<()>);

impl Tell {
    fn new() -> (Tell, Receiver<()>) {
        let (sender, receiver) = channel();
        (Tell(sender), receiver)
    }
}

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

#[test]
fn many_closures_each_run_once() {
    let rt = runtime(8);
    let ran = Arc::new(AtomicUsize::new(0));
    let sum = rt.block_on(async {
        let mut tasks = Vec::new();
        for i in 0..4usize {
            let ran = Arc::clone(&ran);
            tasks.push(heist::spawn(async move {
                let spawn = |j| {
                    let ran = Arc::clone(&ran);
                    spawn_blocking(move || {
                        ran.fetch_add(1, SeqCst);
                        i * 1000 + j
                    })
                };
                let handles: Vec<_> = (0..1000).map(spawn).collect();
                let mut sum = 0;
                for handle in handles {
                    sum += handle.await.unwrap();
                }
                sum
            }));
        }
        let mut sum = 0;
        for task in tasks {
            sum += task.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, (0..4000).sum::<usize>());
    assert_eq!(ran.load(SeqCst), 4000);
}

#[test]
fn closures_that_wait_for_each_other_each_have_a_thread() {
    let rt = runtime(64);
    let barrier = Arc::new(Barrier::new(64));
    let spawn = |_| {
        let barrier = Arc::clone(&barrier);
        rt.spawn_blocking(move || barrier.wait().is_leader())
    };
    let handles: Vec<_> = (0..64).map(spawn).collect();
    let leaders = handles.into_iter().map(|h| rt.block_on(h).unwrap());
    assert_eq!(leaders.filter(|is_leader| *is_leader).count(), 1);
}

#[test]
fn no_more_than_the_bound_run_at_once() {
    let rt = runtime(3);
    let running = Arc::new(AtomicUsize::new(0));
    let barrier = Arc::new(Barrier::new(3));
    let spawn = |_| {
        let (running, barrier) = (Arc::clone(&running), Arc::clone(&barrier));
        rt.spawn_blocking(move || {
            let now = running.fetch_add(1, SeqCst) + 1;
            // Three at once: no more, as counted, and no fewer, or nobody would get past this.
            barrier.wait();
            running.fetch_sub(1, SeqCst);
            (now, thread::current().id())
        })
    };
    let handles: Vec<_> = (0..60).map(spawn).collect();
    let mut threads = std::collections::HashSet::new();
    for handle in handles {
        let (now, thread) = rt.block_on(handle).unwrap();
        assert!(now <= 3, "{now} at once");
        threads.insert(thread);
    }
    assert_eq!(threads.len(), 3);
}

#[test]
fn closures_beyond_the_bound_run_in_order() {
    let rt = runtime(1);
    let stuck = Stuck::begin(&rt);
    let (sender, receiver) = channel();
    for i in 0..20 {
        let sender = sender.clone();
        rt.spawn_blocking(move || sender.send(i).unwrap());
    }
    drop(sender);
    stuck.end();
    assert!(receiver.iter().eq(0..20));
}

#[test]
fn closures_of_each_thread_that_spawns_run_in_order() {
    let rt = runtime(1);
    let stuck = Stuck::begin(&rt);
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for spawner in 0..8 {
            let (sender, rt) = (sender.clone(), &rt);
            scope.spawn(move || {
                for i in 0..500 {
                    let sender = sender.clone();
                    rt.spawn_blocking(move || sender.send((spawner, i)).unwrap());
                }
            });
        }
    });
    drop(sender);
    stuck.end();
    let mut next = [0; 8];
    for (spawner, i) in receiver {
        assert_eq!(i, next[spawner], "of spawner {spawner}");
        next[spawner] += 1;
    }
    assert_eq!(next, [500; 8]);
}

#[test]
fn closures_of_several_spawners_that_wait_for_each_other_each_have_a_thread() {
    for _ in 0..20 {
        let rt = runtime(32);
        let barrier = Arc::new(Barrier::new(32));
        thread::scope(|scope| {
            for _ in 0..8 {
                let (rt, barrier) = (&rt, &barrier);
                scope.spawn(move || {
                    let spawn = |_| {
                        let barrier = Arc::clone(barrier);
                        rt.spawn_blocking(move || barrier.wait().is_leader())
                    };
                    let handles: Vec<_> = (0..4).map(spawn).collect();
                    for handle in handles {
                        rt.block_on(handle).unwrap();
                    }
                });
            }
        });
    }
}

#[test]
fn a_thread_is_used_again() {
    let rt = runtime(1);
    let id = || thread::current().id();
    let first = rt.block_on(rt.spawn_blocking(id)).unwrap();
    let second = rt.block_on(rt.spawn_blocking(id)).unwrap();
    assert_eq!(first, second);
    assert_ne!(first, thread::current().id());
}

#[test]
fn a_thread_with_nothing_to_do_ends_and_is_replaced() {
    let (stop, stopped) = channel();
    let rt = Builder::new_current_thread()
        .max_blocking_threads(1)
        .thread_keep_alive(Duration::ZERO)
        .on_thread_stop(move || stop.send(thread::current().id()).unwrap())
        .build()
        .unwrap();
    let id = || thread::current().id();
    for _ in 0..50 {
        let thread = rt.block_on(rt.spawn_blocking(id)).unwrap();
        assert_eq!(stopped.recv().unwrap(), thread);
    }
    // Without waiting for the end, too.
    for _ in 0..500 {
        rt.block_on(rt.spawn_blocking(id)).unwrap();
    }
}

#[test]
fn aborted_before_it_begins_it_never_runs() {
    let rt = runtime(1);
    let stuck = Stuck::begin(&rt);
    let (tell, dropped) = Tell::new();
    let ran = Arc::new(AtomicBool::new(false));
    let handle = {
        let ran = Arc::clone(&ran);
        rt.spawn_blocking(move || {
            let _tell = tell;
            ran.store(true, SeqCst);
        })
    };
    handle.abort();
    stuck.end();
    assert!(rt.block_on(handle).unwrap_err().is_cancelled());
    dropped.recv().unwrap();
    assert!(!ran.load(SeqCst));
}

#[test]
fn aborted_after_it_has_begun_it_goes_on() {
    let rt = runtime(1);
    let stuck = Stuck::begin(&rt);
    stuck.handle.abort();
    stuck.handle.abort_handle().abort();
    stuck.end();
}

/// T7
#[test]
fn a_panic_reaches_the_handle_and_the_thread_goes_on() {
    let rt = runtime(1);
    let id = rt.block_on(rt.spawn_blocking(|| thread::current().id())).unwrap();
    let error = rt.block_on(rt.spawn_blocking(|| panic!("boom"))).unwrap_err();
    assert!(error.is_panic());
    assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "boom");
    assert_eq!(rt.block_on(rt.spawn_blocking(|| thread::current().id())).unwrap(), id);
}

#[test]
fn a_closure_is_in_the_runtime_and_may_wait() {
    let rt = runtime(2);
    let handle = rt.spawn_blocking(|| {
        let task = heist::spawn(async {
            heist::task::yield_now().await;
            20
        });
        let waited = Handle::current().block_on(task).unwrap();
        (waited + Handle::current().block_on(async { 1 }), heist::task::id())
    });
    let id = handle.id();
    assert_eq!(rt.block_on(handle).unwrap(), (21, id));
}

#[test]
fn a_closure_may_spawn_closures() {
    fn depth(left: usize) -> usize {
        if left == 0 {
            return 0;
        }
        let inner = spawn_blocking(move || depth(left - 1));
        1 + Handle::current().block_on(inner).unwrap()
    }
    let rt = runtime(6);
    assert_eq!(rt.block_on(rt.spawn_blocking(|| depth(5))).unwrap(), 5);
}

#[test]
fn it_works_without_workers() {
    let rt = Builder::new_current_thread().build().unwrap();
    let sum = rt.block_on(async {
        let handles: Vec<_> = (0..100).map(|i| spawn_blocking(move || i)).collect();
        let mut sum = 0;
        for handle in handles {
            sum += handle.await.unwrap();
        }
        sum
    });
    assert_eq!(sum, 4950);
}

#[test]
fn threads_have_their_name_and_callbacks() {
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let count = |counter: &Arc<AtomicUsize>| {
        let counter = Arc::clone(counter);
        move || {
            counter.fetch_add(1, SeqCst);
        }
    };
    let rt = Builder::new_current_thread()
        .thread_name("digger")
        .on_thread_start(count(&started))
        .on_thread_stop(count(&stopped))
        .build()
        .unwrap();
    let name = || thread::current().name().map(str::to_owned);
    assert_eq!(rt.block_on(rt.spawn_blocking(name)).unwrap().as_deref(), Some("digger"));
    assert_eq!((started.load(SeqCst), stopped.load(SeqCst)), (1, 0));
    drop(rt);
    assert_eq!((started.load(SeqCst), stopped.load(SeqCst)), (1, 1));
}

#[test]
fn a_callback_that_waits_holds_up_no_other_thread() {
    let barrier = Arc::new(Barrier::new(3));
    let rt = Builder::new_current_thread()
        .on_thread_start(move || {
            barrier.wait();
        })
        .build()
        .unwrap();
    let handles: Vec<_> = (0..3).map(|_| rt.spawn_blocking(|| {})).collect();
    handles.into_iter().for_each(|handle| rt.block_on(handle).unwrap());
}

#[test]
fn a_callback_that_panics_costs_nothing() {
    let rt = Builder::new_current_thread()
        .max_blocking_threads(1)
        .on_thread_start(|| panic!("no"))
        .on_thread_stop(|| panic!("no"))
        .build()
        .unwrap();
    let handles = [rt.spawn_blocking(|| {}), rt.spawn_blocking(|| {})];
    handles.into_iter().for_each(|handle| rt.block_on(handle).unwrap());
}

/// What is running can only end because what is queued was dropped: dropping the runtime cancels
/// first and waits then.
#[test]
fn dropping_cancels_what_has_not_begun_and_waits_for_what_has() {
    let rt = runtime(1);
    let (tell, dropped) = Tell::new();
    let (begin, begun) = channel();
    let is_done = Arc::new(AtomicBool::new(false));
    let running = {
        let is_done = Arc::clone(&is_done);
        rt.spawn_blocking(move || {
            begin.send(()).unwrap();
            dropped.recv().unwrap();
            is_done.store(true, SeqCst);
            1
        })
    };
    begun.recv().unwrap();
    let queued = rt.spawn_blocking(move || drop(tell));
    drop(rt);
    assert!(is_done.load(SeqCst));
    assert_eq!(wait(running).unwrap(), 1);
    assert!(wait(queued).unwrap_err().is_cancelled());
}

/// Their threads are still being started, one after the other, when the runtime goes down.
#[test]
fn closures_that_have_a_thread_run_though_the_runtime_goes_down() {
    for flavor in [Builder::new_current_thread, Builder::new_multi_thread] {
        for _ in 0..20 {
            let rt = flavor().worker_threads(1).max_blocking_threads(3).build().unwrap();
            let (meeting, waits) = (Arc::new(Barrier::new(3)), Arc::new(()));
            let mut handles: Vec<_> = (0..3)
                .map(|_| {
                    let (meeting, others) = (Arc::clone(&meeting), Arc::downgrade(&waits));
                    rt.spawn_blocking(move || {
                        meeting.wait();
                        while others.strong_count() > 0 {
                            thread::yield_now();
                        }
                    })
                })
                .collect();
            handles.extend((0..2).map(|_| {
                let waits = Arc::clone(&waits);
                rt.spawn_blocking(move || drop(waits))
            }));
            drop(waits);
            drop(rt);
            let ends: Vec<_> = handles.into_iter().map(|handle| wait(handle).is_ok()).collect();
            assert_eq!(ends, [true, true, true, false, false]);
        }
    }
}

#[test]
fn shutting_down_with_a_limit_waits_for_closures() {
    let rt = runtime(2);
    let Stuck { handle, release } = Stuck::begin(&rt);
    let (tell, dropped) = Tell::new();
    rt.spawn(async move {
        let _tell = tell;
        std::future::pending::<()>().await;
    });
    let releaser = thread::spawn(move || {
        dropped.recv().unwrap();
        release.send(()).unwrap();
    });
    rt.shutdown_timeout(HOUR);
    assert!(handle.is_finished());
    releaser.join().unwrap();
}

#[test]
fn shutting_down_with_a_limit_leaves_a_stuck_closure_behind() {
    let rt = runtime(2);
    let stuck = Stuck::begin(&rt);
    rt.shutdown_timeout(Duration::from_millis(1));
    assert!(!stuck.handle.is_finished());
    stuck.end();
}

#[test]
fn shutting_down_in_the_background_waits_for_nothing() {
    let rt = runtime(1);
    let stuck = Stuck::begin(&rt);
    let queued = rt.spawn_blocking(|| {});
    rt.shutdown_background();
    assert!(!stuck.handle.is_finished());
    assert!(wait(queued).unwrap_err().is_cancelled());
    stuck.end();
}

#[test]
fn after_the_end_closures_are_cancelled() {
    let rt = runtime(1);
    let handle = rt.handle().clone();
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
    drop(rt);
    let (tell, dropped) = Tell::new();
    let late = handle.spawn_blocking(move || drop(tell));
    assert!(wait(late).unwrap_err().is_cancelled());
    dropped.recv().unwrap();
}

#[test]
fn a_closure_may_drop_its_runtime() {
    let rt = runtime(2);
    let handle = rt.handle().clone();
    let (sender, receiver) = channel::<Runtime>();
    let dropper = handle.spawn_blocking(move || drop(receiver.recv().unwrap()));
    let other = rt.spawn_blocking(|| {});
    sender.send(rt).unwrap();
    wait(dropper).unwrap();
    let _ = wait(other);
}

#[test]
fn shutting_down_under_load_accounts_for_every_closure() {
    for round in 0..50 {
        let rt = runtime(1 + round % 4);
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), channel());
        let spawner = {
            let (ran, handle, tell) = (Arc::clone(&ran), rt.handle().clone(), dropped.0);
            thread::spawn(move || {
                let spawn = |_| {
                    let (ran, tell) = (Arc::clone(&ran), Tell(tell.clone()));
                    handle.spawn_blocking(move || {
                        let _tell = tell;
                        ran.fetch_add(1, SeqCst);
                    })
                };
                (0..200).map(spawn).collect::<Vec<_>>()
            })
        };
        for _ in 0..round {
            dropped.1.recv().unwrap();
        }
        drop(rt);
        let handles = spawner.join().unwrap();
        let finished = handles.into_iter().filter_map(|handle| wait(handle).ok()).count();
        assert_eq!(finished, ran.load(SeqCst));
        assert_eq!(dropped.1.iter().count() + round, 200);
    }
}

#[test]
fn without_any_thread_the_handle_says_why() {
    let rt = Builder::new_current_thread().thread_stack_size(1 << 60).build().unwrap();
    let (tell, dropped) = Tell::new();
    let error = rt.block_on(rt.spawn_blocking(move || drop(tell))).unwrap_err();
    dropped.recv().unwrap();
    assert!(error.is_cancelled() && !error.is_panic());
    let message = error.to_string();
    assert!(message.contains("spawn_blocking") && message.contains("thread_stack_size"));
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).unwrap();
    let kind = cause.kind();
    assert_eq!(io::Error::from(error).kind(), kind);
}

#[test]
fn a_runtime_whose_workers_cannot_be_started_is_not_built() {
    Builder::new_multi_thread().worker_threads(2).thread_stack_size(1 << 60).build().unwrap_err();
}

/// A thread cannot be started if its name has a 0 in it.
fn names(bad: impl Fn(usize) -> bool + Send + Sync + 'static) -> Runtime {
    let calls = AtomicUsize::new(0);
    let name = move || if bad(calls.fetch_add(1, SeqCst)) { "bad\0".into() } else { "ok".into() };
    Builder::new_current_thread().thread_name_fn(name).thread_keep_alive(HOUR).build().unwrap()
}

#[test]
fn a_closure_waits_for_the_threads_there_are_if_no_more_can_be_started() {
    let rt = names(|call| call > 0);
    let stuck = Stuck::begin(&rt);
    let waiting: Vec<_> = (0..10).map(|_| rt.spawn_blocking(|| thread::current().id())).collect();
    assert!(waiting.iter().all(|handle| !handle.is_finished()));
    let id = stuck.end();
    waiting.into_iter().for_each(|handle| assert_eq!(rt.block_on(handle).unwrap(), id));
}

#[test]
fn a_failed_start_is_tried_again_with_the_next_closure() {
    let rt = names(|call| call == 0);
    assert!(rt.block_on(rt.spawn_blocking(|| {})).unwrap_err().is_cancelled());
    rt.block_on(rt.spawn_blocking(|| {})).unwrap();
}

#[test]
fn no_threads_at_all_is_refused() {
    let refused = catch_unwind(AssertUnwindSafe(|| {
        Builder::new_multi_thread().max_blocking_threads(0);
    }));
    let message = *refused.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.contains("Builder::max_blocking_threads") && message.contains("512"));
}
