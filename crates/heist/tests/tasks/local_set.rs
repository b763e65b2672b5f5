//! Tasks that stay on their thread.

use crate::support::futures::{Gate, count_polls, until};
use crate::support::{Counted, runtime};
use heist::task::{self, Builder, JoinSet, LocalSet, spawn_local};
use heist_testing::scaled;
use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

struct CountWakes(AtomicUsize);

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// T6: panics if it is dropped on another thread than its own; a panic in a drop would be lost in
/// the task, so it is counted.
struct OwnThread {
    thread: ThreadId,
    dropped: Arc<AtomicUsize>,
    strayed: Arc<AtomicUsize>,
    _not_send: Rc<()>,
}

impl Drop for OwnThread {
    fn drop(&mut self) {
        let count =
            if thread::current().id() == self.thread { &self.dropped } else { &self.strayed };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct Drops {
    dropped: Arc<AtomicUsize>,
    strayed: Arc<AtomicUsize>,
}

impl Drops {
    fn guard(&self) -> OwnThread {
        OwnThread {
            thread: thread::current().id(),
            dropped: Arc::clone(&self.dropped),
            strayed: Arc::clone(&self.strayed),
            _not_send: Rc::new(()),
        }
    }

    #[track_caller]
    fn check(&self, dropped: usize) {
        assert_eq!(self.strayed.load(Ordering::SeqCst), 0, "T6: dropped on a foreign thread");
        assert_eq!(self.dropped.load(Ordering::SeqCst), dropped);
    }
}

#[test]
fn local_tasks_share_what_is_not_send() {
    let rt = runtime(2);
    let sum = Rc::new(Cell::new(0));
    let own = thread::current().id();
    LocalSet::new().block_on(&rt, async {
        let tasks: Vec<_> = (0..200u32)
            .map(|i| {
                let sum = Rc::clone(&sum);
                spawn_local(async move {
                    for _ in 0..i % 7 {
                        task::yield_now().await;
                        assert_eq!(thread::current().id(), own);
                    }
                    sum.set(sum.get() + i);
                    Rc::new(i)
                })
            })
            .collect();
        for (i, task) in tasks.into_iter().enumerate() {
            assert_eq!(*task.await.unwrap() as usize, i);
        }
    });
    assert_eq!(sum.get(), 199 * 200 / 2);
}

#[test]
fn they_are_woken_from_other_threads() {
    let rt = runtime(2);
    let set = LocalSet::new();
    let done = Rc::new(Cell::new(0));
    for _ in 0..200 {
        let (there, back) = (Gate::default(), Gate::default());
        let (reached, answered) = (there.pass(), back.clone());
        rt.spawn(async move {
            reached.await;
            answered.open();
        });
        let done = Rc::clone(&done);
        set.spawn_local(async move {
            there.open();
            back.pass().await;
            done.set(done.get() + 1);
        });
    }
    rt.block_on(set);
    assert_eq!(done.get(), 200);
}

#[test]
fn a_set_is_done_when_all_its_tasks_are() {
    let rt = runtime(1);
    let set = LocalSet::new();
    let log = Rc::new(RefCell::new(vec![]));
    let outer = Rc::clone(&log);
    set.spawn_local(async move {
        let inner = Rc::clone(&outer);
        spawn_local(async move {
            task::yield_now().await;
            inner.borrow_mut().push("inner");
        });
        outer.borrow_mut().push("outer");
    });
    assert!(log.borrow().is_empty(), "nothing runs before the set does");
    rt.block_on(set);
    assert_eq!(*log.borrow(), ["outer", "inner"]);
    rt.block_on(LocalSet::new());
}

#[test]
fn what_is_not_done_goes_on_with_the_next_run() {
    let rt = runtime(1);
    let set = LocalSet::new();
    let gate = Gate::default();
    let pass = gate.pass();
    let task = set.spawn_local(async move {
        pass.await;
        5
    });
    set.block_on(&rt, task::yield_now());
    assert!(!task.is_finished());
    gate.open();
    assert!(!task.is_finished(), "it runs while the set does, and only then");
    assert_eq!(set.block_on(&rt, task).unwrap(), 5);
}

#[test]
fn many_busy_tasks_leave_the_thread_to_others() {
    let rt = runtime(1);
    let set = LocalSet::new();
    for _ in 0..1000 {
        set.spawn_local(async { task::yield_now().await });
    }
    // 2000 polls cannot be done in one turn of the set.
    let ((), polls) = rt.block_on(count_polls(set));
    assert!(polls > 10, "{polls}");
}

#[test]
fn a_set_that_waits_is_not_polled() {
    let wakes = Arc::new(CountWakes(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let mut set = pin!(LocalSet::new());
    let gate = Gate::default();
    set.spawn_local(gate.pass());
    assert!(set.as_mut().poll(&mut cx).is_pending());
    assert_eq!(wakes.0.load(Ordering::SeqCst), 0);
    // From this thread and from another; each has to wake the set once.
    let second = set.spawn_local(pending::<()>());
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
    assert!(set.as_mut().poll(&mut cx).is_pending());
    thread::spawn(move || gate.open()).join().unwrap();
    assert_eq!(wakes.0.load(Ordering::SeqCst), 2);
    assert!(set.as_mut().poll(&mut cx).is_pending());
    second.abort();
    assert_eq!(wakes.0.load(Ordering::SeqCst), 3);
    assert!(set.as_mut().poll(&mut cx).is_ready());
}

#[test]
fn what_is_left_when_the_future_is_ready_wakes_the_set() {
    let wakes = Arc::new(CountWakes(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&wakes));
    let mut cx = Context::from_waker(&waker);
    let set = LocalSet::new();
    assert!(pin!(set.run_until(async { drop(spawn_local(async {})) })).poll(&mut cx).is_ready());
    assert_eq!(wakes.0.load(Ordering::SeqCst), 1);
}

#[test]
fn a_run_inside_of_a_task_of_the_same_set_works() {
    let rt = runtime(2);
    let set = Rc::new(LocalSet::new());
    let (inner, gate) = (Rc::clone(&set), Gate::default());
    let (opener, is_waiting) = (gate.clone(), Gate::default());
    let waits = is_waiting.pass();
    rt.spawn(async move {
        waits.await;
        opener.open();
    });
    let output = set.block_on(&rt, async move {
        spawn_local(async move {
            let pass = gate.pass();
            let task = spawn_local(async move {
                is_waiting.open();
                pass.await;
                7
            });
            inner.run_until(async { task.await.unwrap() }).await
        })
        .await
        .unwrap()
    });
    assert_eq!(output, 7);
}

#[test]
fn t6_futures_are_dropped_on_their_thread_whatever_their_state() {
    let rt = runtime(2);
    let drops = Drops::default();
    let set = LocalSet::new();
    let spawn = |future: std::pin::Pin<Box<dyn Future<Output = ()>>>| {
        let guard = drops.guard();
        set.spawn_local(async move {
            let _guard = guard;
            future.await;
        })
    };
    let gate = Gate::default();
    let waits = spawn(Box::pin(pending()));
    let woken = spawn(Box::pin(gate.pass()));
    let aborted = spawn(Box::pin(pending()));
    set.block_on(&rt, task::yield_now());
    let queued = spawn(Box::pin(pending()));
    let handle = aborted.abort_handle();
    thread::spawn(move || {
        handle.abort();
        gate.open();
    })
    .join()
    .unwrap();
    drops.check(0);
    drop(set);
    drops.check(4);
    for task in [waits, woken, aborted, queued] {
        assert!(rt.block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn t6_futures_are_dropped_on_their_thread_when_wake_ups_race_with_the_end() {
    let rounds = scaled(300) as usize;
    let tasks = 20;
    let drops = Drops::default();
    for round in 0..rounds {
        let wakers = Arc::new(Mutex::new(Vec::<Waker>::new()));
        let go = Arc::new(AtomicBool::new(false));
        let mut set = Box::pin(LocalSet::new());
        let handles: Vec<_> = (0..tasks)
            .map(|_| {
                let (guard, wakers) = (drops.guard(), Arc::clone(&wakers));
                set.spawn_local(poll_fn(move |cx| -> Poll<()> {
                    let _ = &guard;
                    wakers.lock().unwrap().push(cx.waker().clone());
                    Poll::Pending
                }))
            })
            .collect();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(set.as_mut().poll(&mut cx).is_pending());
        let aborts: Vec<_> = handles.iter().map(|handle| handle.abort_handle()).collect();
        let threads = [false, true].map(|by_abort| {
            let wakers = wakers.lock().unwrap().clone();
            let (go, aborts) = (Arc::clone(&go), aborts.clone());
            thread::spawn(move || {
                while !go.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                if by_abort {
                    aborts.iter().rev().for_each(|abort| abort.abort());
                } else {
                    wakers.into_iter().for_each(Waker::wake);
                }
            })
        });
        go.store(true, Ordering::Relaxed);
        for _ in 0..round {
            std::hint::spin_loop();
        }
        drop(set);
        drops.check((round + 1) * tasks);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(handles.iter().all(|handle| handle.is_finished()), "T5");
    }
    drops.check(rounds * tasks);
}

#[test]
fn wakers_outlive_the_set() {
    let rt = runtime(1);
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let set = LocalSet::new();
    let task = set.spawn_local(poll_fn(move |cx| -> Poll<()> {
        *keep.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    }));
    set.block_on(&rt, task::yield_now());
    drop(set);
    let waker = kept.lock().unwrap().take().unwrap();
    // T8: on another thread, after the end.
    thread::spawn(move || waker.wake()).join().unwrap();
    assert!(rt.block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn a_future_may_spawn_and_wake_when_it_is_dropped_with_the_set() {
    struct SpawnWhenDropped(Gate, Rc<Cell<u32>>);
    impl Drop for SpawnWhenDropped {
        fn drop(&mut self) {
            self.0.open();
            let task = spawn_local(async { unreachable!("the set has ended") });
            assert!(task.is_finished());
            self.1.set(self.1.get() + 1);
        }
    }
    let rt = runtime(1);
    let drops = Drops::default();
    let dropped = Rc::new(Cell::new(0));
    let set = LocalSet::new();
    let gate = Gate::default();
    for _ in 0..10 {
        let (guard, pass) = (drops.guard(), gate.pass());
        let spawner = SpawnWhenDropped(gate.clone(), Rc::clone(&dropped));
        set.spawn_local(async move {
            let _guards = (guard, spawner);
            pass.await;
            pending::<()>().await;
        });
    }
    set.block_on(&rt, task::yield_now());
    drop(set);
    drops.check(10);
    assert_eq!(dropped.get(), 10);
}

#[test]
fn an_aborted_task_is_cancelled_by_its_own_thread() {
    let rt = runtime(2);
    let drops = Drops::default();
    let guard = drops.guard();
    let set = LocalSet::new();
    let is_waiting = Gate::default();
    let waits = is_waiting.pass();
    let task = set.spawn_local(async move {
        let _guard = guard;
        is_waiting.open();
        pending::<()>().await;
    });
    let abort = task.abort_handle();
    rt.spawn(async move {
        waits.await;
        abort.abort();
    });
    assert!(set.block_on(&rt, task).unwrap_err().is_cancelled());
    drops.check(1);
}

#[test]
fn a_panic_reaches_the_join_handle_and_nothing_else() {
    let rt = runtime(1);
    LocalSet::new().block_on(&rt, async {
        let panics: task::JoinHandle<()> = spawn_local(async { panic!("on purpose") });
        let other = spawn_local(async { 1 });
        assert!(panics.await.unwrap_err().is_panic(), "T7");
        assert_eq!(other.await.unwrap(), 1);
    });
}

#[test]
fn spawn_local_needs_a_set_and_enter_gives_one() {
    let panic = catch_unwind(|| spawn_local(async {})).map(drop).unwrap_err();
    assert!(panic.downcast_ref::<&str>().unwrap().contains("LocalSet"));
    let rt = runtime(1);
    let set = LocalSet::new();
    let (task, other) = {
        let _entered = set.enter();
        let task = spawn_local(async { 1 });
        let inner = LocalSet::new();
        let other = {
            let _inner = inner.enter();
            spawn_local(async { 2 })
        };
        // The inner set is gone, and its task with it; the outer is current again.
        drop(inner);
        assert!(other.is_finished());
        (task, spawn_local(async { 3 }))
    };
    assert!(catch_unwind(AssertUnwindSafe(|| spawn_local(async {}))).is_err());
    assert_eq!(set.block_on(&rt, async { task.await.unwrap() + other.await.unwrap() }), 4);

    // A guard that outlives its set: what is spawned is cancelled.
    let set = LocalSet::new();
    let _entered = set.enter();
    drop(set);
    assert!(spawn_local(pending::<()>()).is_finished());
}

#[test]
fn spawn_inside_of_a_set_goes_to_the_runtime() {
    let rt = runtime(1);
    let own = thread::current().id();
    LocalSet::new().block_on(&rt, async move {
        let elsewhere = heist::spawn(async { thread::current().id() }).await.unwrap();
        assert_ne!(elsewhere, own);
    });
}

#[test]
fn local_tasks_have_ids_names_and_a_budget() {
    let rt = runtime(1);
    let set = LocalSet::new();
    let task = Builder::new().name("local").spawn_local_on(async { task::id() }, &set).unwrap();
    assert!(format!("{task:?}").contains("local"));
    let id = task.id();
    assert_eq!(set.block_on(&rt, task).unwrap(), id);
    // W9
    let polls = set.block_on(&rt, async {
        let busy = count_polls(async {
            for _ in 0..256 {
                task::consume_budget().await;
            }
        });
        Builder::new().spawn_local(busy).unwrap().await.unwrap().1
    });
    assert_eq!(polls, 2);
}

#[test]
fn a_join_set_takes_local_tasks_and_closures() {
    let rt = runtime(2);
    let set = LocalSet::new();
    let mut tasks = JoinSet::new();
    tasks.spawn_local_on(async { Rc::new(1) }, &set);
    let sum = set.block_on(&rt, async {
        tasks.spawn_local(async {
            task::yield_now().await;
            Rc::new(2)
        });
        tasks.build_task().name("three").spawn_local(async { Rc::new(3) }).unwrap();
        tasks.join_all().await.into_iter().map(|rc| *rc).sum::<i32>()
    });
    assert_eq!(sum, 6);

    let dropped = Arc::new(AtomicUsize::new(0));
    let (first, second) = (Counted(Arc::clone(&dropped)), Counted(Arc::clone(&dropped)));
    let mut closures = JoinSet::new();
    closures.spawn_blocking_on(move || drop(first), rt.handle());
    rt.block_on(async {
        closures.spawn_blocking(move || drop(second));
        closures.join_all().await;
    });
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
}

#[test]
fn a_set_may_be_dropped_when_its_thread_ends() {
    thread_local! {
        static KEPT: RefCell<Option<LocalSet>> = const { RefCell::new(None) };
    }
    let drops = Drops::default();
    let dropped = Arc::clone(&drops.dropped);
    let strayed = Arc::clone(&drops.strayed);
    thread::spawn(move || {
        let drops = Drops { dropped, strayed };
        let set = LocalSet::new();
        let guard = drops.guard();
        set.spawn_local(async move {
            let _guard = guard;
            pending::<()>().await;
        });
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pin!(set.run_until(pending::<()>())).poll(&mut cx).is_pending());
        KEPT.with(|kept| *kept.borrow_mut() = Some(set));
    })
    .join()
    .unwrap();
    drops.check(1);
}

#[test]
fn outputs_come_to_other_threads_too() {
    let rt = runtime(2);
    let set = LocalSet::new();
    let task = set.spawn_local(async { String::from("local") });
    let joined = rt.spawn(async move { task.await.unwrap() });
    set.block_on(&rt, until(|| joined.is_finished()));
    assert_eq!(rt.block_on(joined).unwrap(), "local");
}
