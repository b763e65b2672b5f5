//! Tasks: T1–T8, with real workers. What loom covers in small, these cover in number.

use crate::support::{Counted, runtime};
use heist::runtime::{Builder, Runtime};
use heist::task::{JoinHandle, yield_now};
use heist_testing::scaled;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

/// What a task does in its first poll.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Ready,
    Panic,
    Yield,
    Wait,
}

/// What becomes of its handle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Awaited,
    Dropped,
    Aborted,
    AbortedAndDropped,
}

/// What happens to it from outside while it waits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outside {
    Nothing,
    WakeThrice,
    DropWaker,
    Shutdown,
}

/// A future that does as told, and counts its drop.
async fn perform(act: Act, wakers: mpsc::Sender<Waker>, held: Counted) -> u32 {
    let _held = held;
    match act {
        Act::Ready => {}
        Act::Panic => panic!("as told"),
        Act::Yield => yield_now().await,
        Act::Wait => {
            let mut polls = 0;
            poll_fn(|cx| {
                polls += 1;
                let _ = wakers.send(cx.waker().clone());
                if polls > 1 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    }
    7
}

fn live(act: Act, fate: Fate, outside: Outside) {
    let runtime = runtime(2);
    let drops = Arc::new(AtomicUsize::new(0));
    let (send, wakers) = mpsc::channel();
    let join = runtime.spawn(perform(act, send, Counted(drops.clone())));
    if fate == Fate::Aborted || fate == Fate::AbortedAndDropped {
        join.abort();
    }
    // Ends when the task has waited once, or is gone.
    let waker = wakers.recv().ok();
    let join = match fate {
        Fate::Awaited | Fate::Aborted => Some(join),
        Fate::Dropped | Fate::AbortedAndDropped => None,
    };
    match outside {
        Outside::WakeThrice => waker.iter().for_each(|waker| {
            (0..3).for_each(|_| waker.wake_by_ref());
        }),
        Outside::DropWaker => drop(waker.clone()),
        Outside::Nothing | Outside::Shutdown => {}
    }
    let ends_by_itself = act != Act::Wait || outside == Outside::WakeThrice;
    if outside == Outside::Shutdown || !ends_by_itself {
        drop(runtime);
        check(join, act, fate);
    } else {
        if let Some(join) = join {
            check_output(runtime.block_on(join), act, fate);
        }
        drop(runtime);
    }
    assert_eq!(drops.load(Ordering::SeqCst), 1, "{act:?} {fate:?} {outside:?}");
    // Wakers outlive everything (T8).
    waker.into_iter().for_each(Waker::wake);
}

/// After a shutdown every handle is ready.
fn check(join: Option<JoinHandle<u32>>, act: Act, fate: Fate) {
    let Some(mut join) = join else { return };
    let polled = Pin::new(&mut join).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(output) = polled else { panic!("a handle left waiting: {act:?} {fate:?}") };
    if let Err(error) = &output {
        assert!(error.is_cancelled() || act == Act::Panic);
    }
}

fn check_output(output: Result<u32, heist::task::JoinError>, act: Act, fate: Fate) {
    match output {
        Ok(output) => assert!(output == 7 && act != Act::Panic),
        Err(error) if error.is_panic() => {
            assert_eq!(act, Act::Panic);
            assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "as told");
        }
        Err(error) => {
            assert!(error.is_cancelled());
            assert_eq!(fate, Fate::Aborted, "only an abort cancels a task of a living runtime");
        }
    }
}

/// T4–T8: every act with every fate under every influence from outside.
#[test]
fn every_life_ends_once() {
    for act in [Act::Ready, Act::Panic, Act::Yield, Act::Wait] {
        for fate in [Fate::Awaited, Fate::Dropped, Fate::Aborted, Fate::AbortedAndDropped] {
            let outside =
                [Outside::Nothing, Outside::WakeThrice, Outside::DropWaker, Outside::Shutdown];
            for outside in outside {
                live(act, fate, outside);
            }
        }
    }
}

/// T2: a task that is woken from many threads at once is polled by one thread at a time.
#[test]
fn t2_a_task_runs_on_one_thread_at_a_time() {
    let (runtime, rounds) = (runtime(4), scaled(2000) as usize);
    let place: Arc<Mutex<Option<Waker>>> = Arc::default();
    let (inside, polls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let join = {
        let (place, inside, polls) = (place.clone(), inside.clone(), polls.clone());
        runtime.spawn(poll_fn(move |cx| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "polled by two threads");
            *place.lock().unwrap() = Some(cx.waker().clone());
            thread::yield_now();
            assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1, "polled by two threads");
            let is_over = polls.fetch_add(1, Ordering::SeqCst) >= rounds;
            if is_over { Poll::Ready(()) } else { Poll::Pending }
        }))
    };
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while polls.load(Ordering::SeqCst) <= rounds {
                    let waker = place.lock().unwrap().clone();
                    waker.into_iter().for_each(Waker::wake);
                }
            });
        }
    });
    runtime.block_on(join).unwrap();
}

/// T7: a panic in a poll, in a drop, or in the drop of an output reaches nobody else.
#[test]
fn t7_the_worker_goes_on_after_panics() {
    struct PanicsInDrop;
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            panic!("in a drop");
        }
    }
    let runtime = runtime(1);
    for _ in 0..10 {
        assert!(
            runtime.block_on(runtime.spawn(async { panic!("in a poll") })).unwrap_err().is_panic()
        );
        let held = PanicsInDrop;
        let join = runtime.spawn(async move {
            let _held = held;
            pending::<()>().await;
        });
        join.abort();
        assert!(runtime.block_on(join).unwrap_err().is_panic());
        drop(runtime.spawn(async { PanicsInDrop }));
    }
    assert_eq!(runtime.block_on(runtime.spawn(async { 5 })).unwrap(), 5);
}

/// T7: a future that panics is dropped while the panic unwinds, and a panic in that drop is not
/// the one that counts.
#[test]
fn t7_a_future_that_panics_is_dropped_by_its_panic() {
    struct Boom {
        is_in_panic: mpsc::Sender<bool>,
        panics_again: bool,
    }
    impl Future for Boom {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            panic!("in the poll");
        }
    }
    impl Drop for Boom {
        fn drop(&mut self) {
            self.is_in_panic.send(thread::panicking()).unwrap();
            assert!(!self.panics_again, "in the drop");
        }
    }
    let runtime = runtime(1);
    let (is_in_panic, told) = mpsc::channel();
    for panics_again in [false, true, false] {
        let join = runtime.spawn(Boom { is_in_panic: is_in_panic.clone(), panics_again });
        let panic = runtime.block_on(join).unwrap_err().into_panic();
        assert_eq!(*panic.downcast::<&str>().unwrap(), "in the poll");
        assert_eq!(told.try_recv(), Ok(true));
    }
    drop(is_in_panic);
    assert_eq!(told.iter().count(), 0, "dropped once");
}

/// T5: a handle that moves between wakers gets the output once.
#[test]
fn t5_a_handle_may_change_its_waker() {
    let runtime = runtime(2);
    let (go, gate) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (at, open) = (go.clone(), gate.clone());
    let mut join = runtime.spawn(async move {
        at.wait();
        open.wait();
        9
    });
    go.wait();
    for _ in 0..3 {
        let mut cx = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut join).poll(&mut cx).is_pending());
    }
    gate.wait();
    assert_eq!(runtime.block_on(&mut join).unwrap(), 9);
    assert!(join.is_finished());
}

/// T6: what a future does in its drop, at shutdown, finds a runtime that is down, and no deadlock.
#[test]
fn t6_drops_may_do_anything_at_shutdown() {
    struct SpawnsInDrop(heist::runtime::Handle, Arc<AtomicUsize>);
    impl Drop for SpawnsInDrop {
        fn drop(&mut self) {
            let join = self.0.spawn(async { panic!("must not run") });
            join.abort();
            drop(join);
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    for workers in [1, 3] {
        let (runtime, drops) = (runtime(workers), Arc::new(AtomicUsize::new(0)));
        for _ in 0..50 {
            let held = SpawnsInDrop(runtime.handle().clone(), drops.clone());
            runtime.spawn(async move {
                let _held = held;
                yield_now().await;
                pending::<()>().await;
            });
        }
        drop(runtime);
        assert_eq!(drops.load(Ordering::SeqCst), 50);
    }
}

/// The errors say which task it was, and what to do.
#[test]
fn join_errors_tell() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let join = runtime.spawn(pending::<()>());
    let id = join.id();
    join.abort();
    let error = runtime.block_on(join).unwrap_err();
    assert_eq!((error.id(), error.to_string()), (id, format!("task {id} was cancelled")));
    assert!(error.try_into_panic().is_err());
    let error = runtime.block_on(runtime.spawn(async { panic!("{}", "oh") })).unwrap_err();
    assert!(error.to_string().ends_with("panicked with message \"oh\""));
}

/// Handles are where they should be: Send, Sync, Unpin.
#[test]
fn handles_are_send_and_sync() {
    fn check<T: Send + Sync + Unpin>() {}
    check::<JoinHandle<u32>>();
    check::<heist::task::AbortHandle>();
    check::<heist::runtime::Handle>();
    check::<Runtime>();
}
