//! What a runtime tells about itself, and what its callbacks may do.

use crate::support;
use heist::runtime::{self, Builder, Handle, Id, Runtime};
use heist::task::{JoinHandle, yield_now};
use std::collections::HashSet;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// A runtime of each flavour.
fn both(set: impl Fn(&mut Builder) -> &mut Builder) -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| set(builder.worker_threads(2)).build().unwrap())
}

#[test]
fn every_runtime_has_an_id_of_its_own() {
    let mut ids = HashSet::new();
    for _ in 0..10 {
        for rt in both(|builder| builder) {
            let id = rt.handle().id();
            assert!(ids.insert(id), "{id} twice");
            assert_eq!(rt.block_on(async { Handle::current().id() }), id);
            assert_eq!(rt.block_on(rt.spawn(async { Handle::current().id() })).unwrap(), id);
            let blocking = rt.spawn_blocking(|| Handle::current().id());
            assert_eq!(rt.block_on(blocking).unwrap(), id);
            assert_eq!(format!("{id:?}"), format!("Id({id})"));
        }
    }
}

#[test]
fn a_runtime_has_the_name_it_was_given() {
    for rt in both(|builder| builder.name("orders")) {
        assert_eq!(rt.handle().name(), Some("orders"));
        assert!(format!("{:?}", rt.handle()).contains("orders"));
    }
    for rt in both(|builder| builder) {
        assert_eq!(rt.handle().name(), None);
    }
}

#[heist::test(name = "from the attribute")]
async fn a_runtime_has_the_name_of_its_attribute() {
    assert_eq!(Handle::current().name(), Some("from the attribute"));
}

#[test]
fn workers_know_their_number() {
    // A worker that waits for the others keeps its seat, however long that takes.
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(3).stall_threshold(None).build().unwrap();
    let meeting = Arc::new(Barrier::new(3));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let meeting = Arc::clone(&meeting);
            rt.spawn(async move {
                meeting.wait();
                runtime::worker_index()
            })
        })
        .collect();
    let mut indices: Vec<_> =
        tasks.into_iter().map(|task| rt.block_on(task).unwrap().unwrap()).collect();
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2]);
}

/// W10: a thread has a worker only while it runs that worker.
#[test]
fn other_threads_have_no_number() {
    assert_eq!(runtime::worker_index(), None);
    let [alone, many] = both(|builder| builder);
    assert_eq!(alone.block_on(async { runtime::worker_index() }), Some(0));
    assert_eq!(alone.handle().block_on(async { runtime::worker_index() }), None);
    assert_eq!(many.block_on(async { runtime::worker_index() }), None);
    let blocking = many.spawn_blocking(runtime::worker_index);
    assert_eq!(many.block_on(blocking).unwrap(), None);
    assert_eq!(runtime::worker_index(), None);
}

/// Tells in which runtime it is dropped.
struct TellsWhere(mpsc::Sender<Option<Id>>);

impl Drop for TellsWhere {
    fn drop(&mut self) {
        let id = Handle::try_current().ok().map(|handle| handle.id());
        self.0.send(id).unwrap();
    }
}

/// What a handle is given, now or soon: a future that was dropped elsewhere may be about to end its
/// task.
fn ready<T>(mut handle: JoinHandle<T>) -> Option<T> {
    loop {
        match Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => return output.ok(),
            Poll::Pending => thread::yield_now(),
        }
    }
}

/// T6: whatever is dropped with a runtime is dropped in it, by whichever thread.
#[test]
fn t6_what_is_dropped_with_a_runtime_is_dropped_in_it() {
    let [outer, _] = both(|builder| builder);
    let stealing = both(|builder| builder.max_blocking_threads(1));
    let pinned = both(|builder| builder.max_blocking_threads(1).thread_per_core(true));
    for rt in stealing.into_iter().chain(pinned) {
        let _elsewhere = outer.enter();
        let id = rt.handle().id();
        let (sender, told) = mpsc::channel();
        let tell = || TellsWhere(sender.clone());
        let waits = |tell: TellsWhere| async move {
            let _tell = tell;
            pending::<()>().await;
        };
        let mut handles: Vec<_> = (0..10).map(|_| rt.spawn(waits(tell()))).collect();
        rt.block_on(yield_now());
        // These are queued, or begin to wait, while the runtime goes down.
        handles.extend((0..10).map(|_| rt.spawn(waits(tell()))));
        let (begin, begun) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let running = rt.spawn_blocking(move || {
            begin.send(()).unwrap();
            let _: Result<(), _> = released.recv();
        });
        begun.recv().unwrap();
        let tells = tell();
        handles.push(rt.spawn_blocking(move || drop(tells)));
        let handle = rt.handle().clone();
        rt.shutdown_background();
        handles.push(handle.spawn(waits(tell())));
        let tells = tell();
        handles.push(handle.spawn_blocking(move || drop(tells)));
        drop(release);
        drop(running);
        drop(sender);
        let told: Vec<_> = told.iter().collect();
        assert_eq!(told, vec![Some(id); 23]);
        assert_eq!(handles.into_iter().filter_map(ready).count(), 0);
        assert_eq!(Handle::current().id(), outer.handle().id(), "the thread is where it was");
    }
}

/// A thread-local may hold a runtime, and then drops it when no thread-local is left to enter it.
#[test]
fn a_runtime_may_go_with_its_thread() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Runtime>> = const { std::cell::RefCell::new(None) };
    }
    for rt in both(|builder| builder) {
        let (sender, told) = mpsc::channel();
        let keeper = thread::spawn(move || {
            // Before the context's own thread-local is used, so that it is dropped after it.
            KEPT.with_borrow_mut(|kept| *kept = Some(rt));
            KEPT.with_borrow(|kept| {
                let rt = kept.as_ref().unwrap();
                let tell = TellsWhere(sender);
                rt.spawn(async move {
                    let _tell = tell;
                    pending::<()>().await;
                });
                rt.block_on(yield_now());
            });
        });
        keeper.join().unwrap();
        assert_eq!(told.iter().count(), 1, "dropped once, without a panic");
    }
}

/// I1: what is spawned before a worker sleeps keeps it awake.
#[test]
fn i1_a_park_callback_may_spawn() {
    for thread_per_core in [false, true] {
        let (sender, ran) = mpsc::channel();
        let once = AtomicBool::new(true);
        let rt = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_per_core(thread_per_core)
            .on_thread_park(move || {
                if once.swap(false, SeqCst) {
                    let sender = sender.clone();
                    heist::spawn(async move { sender.send(runtime::worker_index()).unwrap() });
                }
            })
            .build()
            .unwrap();
        assert_eq!(ran.recv().unwrap(), Some(0));
        drop(rt);
    }
}

/// I1: the same on the thread in `block_on`; and waking its future is enough.
#[test]
fn i1_a_park_callback_may_wake_the_future_of_block_on() {
    let waker: Arc<std::sync::Mutex<Option<Waker>>> = Arc::default();
    let (place, parks) = (Arc::clone(&waker), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&parks);
    let rt = Builder::new_current_thread()
        .on_thread_park(move || {
            count.fetch_add(1, SeqCst);
            let waker = place.lock().unwrap().take();
            heist::spawn(async move { waker.into_iter().for_each(Waker::wake) });
        })
        .build()
        .unwrap();
    for round in 1..=100 {
        let mut is_first = true;
        rt.block_on(poll_fn(|cx| {
            *waker.lock().unwrap() = Some(cx.waker().clone());
            if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
        }));
        assert_eq!(parks.load(SeqCst), round, "it was about to sleep once");
    }
    // The last one would keep the runtime that keeps it.
    waker.lock().unwrap().take();
}

#[test]
fn callbacks_come_in_pairs_around_each_sleep() {
    for workers in [1, 3] {
        let (parks, unparks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (sleep, sleeps) = mpsc::channel();
        let (at_park, at_unpark) = (Arc::clone(&parks), Arc::clone(&unparks));
        let rt = Builder::new_multi_thread()
            .worker_threads(workers)
            .on_thread_park(move || {
                at_park.fetch_add(1, SeqCst);
                let _ = sleep.send(());
            })
            .on_thread_unpark(move || _ = at_unpark.fetch_add(1, SeqCst))
            .build()
            .unwrap();
        for _ in 0..20 {
            sleeps.recv().unwrap();
            assert!(unparks.load(SeqCst) <= parks.load(SeqCst));
            rt.block_on(rt.spawn(async {})).unwrap();
        }
        drop(rt);
        assert_eq!(parks.load(SeqCst), unparks.load(SeqCst));
    }
}

/// W5: the number of tasks that run between two polls of the future of `block_on`.
#[test]
fn w5_the_event_interval_is_that_of_block_on() {
    for (set, interval) in [(None, 61), (Some(7), 7), (Some(1), 1)] {
        let mut builder = Builder::new_current_thread();
        let builder =
            set.iter().fold(&mut builder, |builder, ticks| builder.event_interval(*ticks));
        let rt = builder.build().unwrap();
        let ticks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ticks);
        rt.spawn(async move {
            loop {
                count.fetch_add(1, SeqCst);
                yield_now().await;
            }
        });
        for _ in 0..10 {
            let before = ticks.load(SeqCst);
            rt.block_on(yield_now());
            assert_eq!(ticks.load(SeqCst) - before, interval);
        }
    }
}

/// W5, L4: a worker looks outside after the shorter of the two intervals.
#[test]
fn w5_the_shorter_interval_counts() {
    for (queue, events) in [(u32::MAX, 3), (3, u32::MAX)] {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).global_queue_interval(queue).event_interval(events);
        let rt = builder.build().unwrap();
        let handle = rt.handle().clone();
        let busy = rt.spawn(async move {
            for _ in 0..10 {
                let has_run = Arc::new(AtomicBool::new(false));
                let flag = Arc::clone(&has_run);
                let handle = handle.clone();
                let spawner = move || handle.spawn(async move { flag.store(true, SeqCst) });
                thread::spawn(spawner).join().unwrap();
                let mut ticks = 0;
                while !has_run.load(SeqCst) {
                    ticks += 1;
                    assert!(ticks <= 3, "not looked at in time");
                    yield_now().await;
                }
            }
        });
        rt.block_on(busy).unwrap();
    }
}

#[test]
fn what_tokio_can_enable_is_accepted() {
    for rt in both(|builder| builder.enable_io().enable_time().enable_all()) {
        rt.block_on(async {});
        rt.shutdown_timeout(Duration::MAX);
    }
}

/// As Tokio has it: a guard may be looked at from elsewhere, but stays on its thread.
#[test]
fn auto_traits() {
    fn is_sync<T: Sync + Unpin>() {}
    is_sync::<runtime::EnterGuard<'static>>();
    fn is_send_and_sync<T: Send + Sync + Unpin>() {}
    is_send_and_sync::<Id>();
    is_send_and_sync::<Builder>();
}

/// T6: each task's drop wakes the next: a shutdown drops them one after the other, not inside of
/// each other. (A stack would not be deep enough.)
#[test]
fn t6_a_long_chain_of_drops_is_no_recursion() {
    use heist::sync::oneshot;
    for rt in [support::runtime(2), Builder::new_current_thread().build().unwrap()] {
        let (first, mut previous) = oneshot::channel::<()>();
        let mut last = None;
        for _ in 0..50_000 {
            let (sender, receiver) = oneshot::channel();
            let waits_for = std::mem::replace(&mut previous, receiver);
            last = Some(rt.spawn(async move {
                let _ = waits_for.await;
                drop(sender);
            }));
        }
        // All of them wait.
        rt.block_on(async { (0..3).for_each(|_| drop(heist::spawn(async {}))) });
        drop(rt);
        drop(first);
        assert!(last.unwrap().is_finished());
    }
}
