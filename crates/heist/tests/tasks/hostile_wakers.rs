//! Hostile wakers: what a join handle was polled with panics when it is cloned or dropped (T7).

use heist::runtime::{Builder, Handle};
use heist::task::{JoinHandle, LocalSet};
use heist::time::sleep;
use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::time::Duration;

/// Panics where it is dropped.
struct Grenade;

impl Wake for Grenade {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Grenade {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("a waker that panics when it is dropped");
        }
    }
}

/// A waker that cannot be cloned.
fn sterile() -> Waker {
    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| panic!("a waker that panics when it is cloned"),
        |_| (),
        |_| (),
        |_| (),
    );
    // SAFETY: (T8) the functions ignore the pointer.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

/// Tells when its thread ends.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

thread_local! {
    static ENDS: Cell<Option<Ends>> = const { Cell::new(None) };
}

/// Leaves a waker that panics when it is dropped behind in a task that goes on.
fn leave_a_grenade(mut handle: JoinHandle<()>) {
    {
        let grenade = Waker::from(Arc::new(Grenade));
        let mut cx = Context::from_waker(&grenade);
        assert!(Pin::new(&mut handle).poll(&mut cx).is_pending());
        // From here on the handle's copy is the last one.
    }
    let sterile = sterile();
    let mut cx = Context::from_waker(&sterile);
    let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut handle).poll(&mut cx)));
    assert!(polled.is_err(), "the waker was cloned");
    let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

/// T7: a waker that was left behind by a handle is dropped with the task, on the worker: its panic
/// is nobody's, and the worker goes on.
#[test]
fn t7_a_waker_left_behind_does_not_end_the_worker() {
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&has_ended);
    let rt = Builder::new_multi_thread()
        .worker_threads(1)
        .on_thread_start(move || ENDS.set(Some(Ends(Arc::clone(&ended)))))
        .build()
        .unwrap();
    let (wakers, its_waker) = mpsc::channel();
    let go_on = Arc::new(Mutex::new(false));
    let may_go_on = Arc::clone(&go_on);
    let handle = rt.spawn(poll_fn(move |cx| {
        if *may_go_on.lock().unwrap() {
            return Poll::Ready(());
        }
        wakers.send(cx.waker().clone()).unwrap();
        Poll::Pending
    }));
    let its_waker = its_waker.recv().unwrap();
    leave_a_grenade(handle);
    *go_on.lock().unwrap() = true;
    its_waker.wake();
    // Two turns of the worker; if it is gone the queue drops them, or nobody takes them.
    for _ in 0..1000 {
        let (alive, is_alive) = mpsc::channel();
        rt.spawn(async move { alive.send(()).unwrap() });
        while is_alive.try_recv().is_err() {
            assert!(!has_ended.load(Ordering::SeqCst), "the worker has died of a waker's panic");
            std::thread::yield_now();
        }
    }
}

/// T7: a set whose runner's waker cannot be cloned is not left as one that is being polled.
#[test]
fn a_local_set_survives_a_waker_that_cannot_be_cloned() {
    let set = LocalSet::new();
    let sterile = sterile();
    let polled = catch_unwind(AssertUnwindSafe(|| {
        let mut cx = Context::from_waker(&sterile);
        pin!(set.run_until(pending::<()>())).poll(&mut cx)
    }));
    assert!(polled.is_err(), "the waker was cloned");
    let mut cx = Context::from_waker(Waker::noop());
    let handle = set.spawn_local(async {});
    assert!(pin!(set.run_until(pending::<()>())).poll(&mut cx).is_pending());
    assert!(handle.is_finished());
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(set)));
    assert!(dropped.is_ok(), "a set that is polled by nobody can be dropped");
}

/// L2: nor does the set hold a lock while it clones one: that may wait for a thread that wakes one
/// of its tasks.
#[test]
fn l2_a_local_set_holds_no_lock_while_it_clones_a_waker() {
    static OF_A_TASK: Mutex<Option<Waker>> = Mutex::new(None);
    unsafe fn clone(_: *const ()) -> RawWaker {
        let waker = OF_A_TASK.lock().unwrap().take().unwrap();
        std::thread::spawn(|| waker.wake()).join().unwrap();
        RawWaker::new(ptr::null(), Waker::noop().vtable())
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, |_| (), |_| (), |_| ());
    let set = LocalSet::new();
    let polls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&polls);
    set.spawn_local(poll_fn(move |cx| {
        counted.set(counted.get() + 1);
        *OF_A_TASK.lock().unwrap() = Some(cx.waker().clone());
        Poll::<()>::Pending
    }));
    let mut set = pin!(set);
    assert!(set.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    // SAFETY: (type) its functions do not use the pointer.
    let waits = unsafe { Waker::from_raw(RawWaker::new(ptr::null(), &VTABLE)) };
    assert!(set.as_mut().poll(&mut Context::from_waker(&waits)).is_pending());
    assert_eq!(polls.get(), 2);
}

/// T6, T7: a runtime that is shut down beside such a waker still drops every future.
#[test]
fn t6_a_waker_left_behind_does_not_end_the_shutdown() {
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (sender, waits) = mpsc::channel();
    let wait = |held: Arc<()>| {
        let sender = sender.clone();
        poll_fn(move |_| {
            let _ = &held;
            sender.send(()).unwrap();
            Poll::<()>::Pending
        })
    };
    let held = Arc::new(());
    let first = rt.spawn(wait(Arc::clone(&held)));
    let others: Vec<_> = (0..3).map(|_| rt.spawn(wait(Arc::clone(&held)))).collect();
    (0..4).for_each(|_| waits.recv().unwrap());
    // The worker has kept them all, one after the other: it has run something else since.
    rt.block_on(rt.spawn(async {})).unwrap();
    leave_a_grenade(first);
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(rt)));
    assert_eq!(Arc::strong_count(&held), 1, "futures that nobody will drop");
    assert!(others.iter().all(JoinHandle::is_finished));
    assert!(dropped.is_ok(), "the panic is nobody's");
}

/// A waker that waits for a task of the runtime that calls it.
struct Waits {
    runtime: Handle,
    /// Whether the runtime knows that it waits.
    in_block_on: bool,
    answers: mpsc::Sender<u32>,
}

impl Wake for Waits {
    fn wake(self: Arc<Self>) {
        let (answer, task) = mpsc::channel();
        let join = self.runtime.spawn(async move { answer.send(7).unwrap() });
        if self.in_block_on {
            self.runtime.block_on(join).unwrap();
        }
        self.answers.send(task.recv().unwrap()).unwrap();
    }
}

/// L2, I1: the runtime holds no lock while it calls a waker, and a worker that waits in one is
/// replaced: at the end of a task, and of sleeps. Those that end together may wait in the same
/// thread's wakers; those that end one after the other are brought by whichever thread polls the
/// reactor while a waker waits.
#[test]
fn l2_a_waker_may_wait_for_its_runtime() {
    for (workers, in_block_on) in [(1, true), (1, false), (2, true), (2, false)] {
        let rt = Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap();
        let (answers, answer) = mpsc::channel();
        let waits = Waits { runtime: rt.handle().clone(), in_block_on, answers };
        let waker = Waker::from(Arc::new(waits));
        let mut cx = Context::from_waker(&waker);
        let (go_on, wait) = heist::sync::oneshot::channel::<()>();
        let mut task = pin!(rt.spawn(async { wait.await.unwrap() }));
        assert!(task.as_mut().poll(&mut cx).is_pending());
        go_on.send(()).unwrap();
        assert_eq!(answer.recv().unwrap(), 7);
        rt.block_on(task).unwrap();

        let _entered = rt.enter();
        for millis in [[2, 2, 2], [2, 5, 8]] {
            let mut sleeps = millis.map(|it| Box::pin(sleep(Duration::from_millis(it))));
            // One that is over already calls no waker.
            let polls = sleeps.iter_mut().map(|sleep| sleep.as_mut().poll(&mut cx));
            let calls = polls.filter(Poll::is_pending).count();
            (0..calls).for_each(|_| assert_eq!(answer.recv().unwrap(), 7));
            sleeps.into_iter().for_each(|sleep| rt.block_on(sleep));
        }
    }
}

/// A waker that waits for the next one to be called.
struct InTurn {
    before: Mutex<mpsc::Receiver<()>>,
    after: mpsc::Sender<()>,
}

impl Wake for InTurn {
    fn wake(self: Arc<Self>) {
        self.before.lock().unwrap().recv().unwrap();
        self.after.send(()).unwrap();
    }
}

/// L2: wakers of one harvest may wait for each other, in either order.
#[test]
fn l2_wakers_may_wait_for_each_other() {
    const COUNT: usize = 4;
    for is_reversed in [false, true] {
        let rt = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let _entered = rt.enter();
        let (first, mut before) = mpsc::channel();
        let mut wakers = Vec::new();
        for _ in 0..COUNT {
            let (after, next) = mpsc::channel();
            let before = Mutex::new(std::mem::replace(&mut before, next));
            wakers.push(Waker::from(Arc::new(InTurn { before, after })));
        }
        if is_reversed {
            wakers.reverse();
        }
        // The worker is in a poll while they end, so that one harvest brings them all.
        let (hold, held) = mpsc::channel::<()>();
        let worker = rt.spawn(async move { held.recv().unwrap() });
        let mut sleeps: Vec<_> =
            (0..COUNT).map(|_| Box::pin(sleep(Duration::from_millis(2)))).collect();
        for (sleep, waker) in sleeps.iter_mut().zip(&wakers) {
            if sleep.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
                // Over already, so it calls no waker.
                std::thread::spawn({
                    let waker = waker.clone();
                    || waker.wake()
                });
            }
        }
        hold.send(()).unwrap();
        first.send(()).unwrap();
        before.recv().unwrap();
        rt.block_on(worker).unwrap();
    }
}
