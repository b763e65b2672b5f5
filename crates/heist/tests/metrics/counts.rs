//! What a runtime counts (M1). Every number here is forced by the program that is counted, and
//! none by the clock. Where a worker has to come to rest first, a wrong count shows as a hang.

use super::{block_worker, current_thread, runtime, wait_until};
use heist::runtime::{Builder, RuntimeMetrics, WorkerState};
use heist::task::{consume_budget, yield_now};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

fn sum(metrics: &RuntimeMetrics, count: impl Fn(&RuntimeMetrics, usize) -> u64) -> u64 {
    (0..metrics.num_workers()).map(|worker| count(metrics, worker)).sum()
}

/// M1: each poll of a task counts once, on the worker that made it; that of a `block_on` does not.
#[test]
fn m1_polls_and_schedules() {
    for rt in [runtime(1), runtime(2), current_thread()] {
        let metrics = rt.metrics();
        let task = || async {
            for _ in 0..3 {
                yield_now().await;
            }
        };
        let joins: Vec<_> = (0..20).map(|_| rt.spawn(task())).collect();
        joins.into_iter().for_each(|join| rt.block_on(join).unwrap());
        drop(rt);
        assert_eq!(sum(&metrics, RuntimeMetrics::worker_poll_count), 80);
        assert_eq!(sum(&metrics, RuntimeMetrics::worker_local_schedule_count), 60);
        assert_eq!(sum(&metrics, RuntimeMetrics::worker_overflow_count), 0);
        assert_eq!(metrics.remote_schedule_count(), 20);
    }
}

/// M1: a task that is spawned from a task, and one that wakes the other, run from the LIFO slot.
#[test]
fn m1_lifo_hits() {
    let rt = runtime(1);
    let metrics = rt.metrics();
    rt.block_on(rt.spawn(async { heist::spawn(async {}).await.unwrap() })).unwrap();
    drop(rt);
    assert_eq!(metrics.worker_injected_count(0), 1);
    assert_eq!(metrics.worker_lifo_hit_count(0), 2);
    assert_eq!(metrics.worker_local_schedule_count(0), 2);
    assert_eq!(metrics.remote_schedule_count(), 1);
    assert_eq!(metrics.worker_poll_count(0), 3);
    assert_eq!(metrics.worker_steal_operations(0), 0);

    let rt = current_thread();
    rt.block_on(async { heist::spawn(async {}).await.unwrap() });
    let metrics = rt.metrics();
    assert_eq!(metrics.worker_local_schedule_count(0), 1);
    assert_eq!(metrics.remote_schedule_count(), 0);
}

/// M1: the slot takes one of 1000 tasks, the ring 256 of the others; the 257th sends half of the
/// ring and itself to the inject queue, and so does each 129th after it.
#[test]
fn m1_overflows() {
    let rt = runtime(1);
    let metrics = rt.metrics();
    let inside = metrics.clone();
    let depths = rt.spawn(async move {
        (0..1000).for_each(|_| drop(heist::spawn(async {})));
        (inside.worker_local_queue_depth(0), inside.global_queue_depth())
    });
    assert_eq!(rt.block_on(depths).unwrap(), (1000 - 6 * 129, 6 * 129));
    wait_until(|| metrics.num_alive_tasks() == 0);
    assert_eq!(metrics.worker_overflow_count(0), 6);
    assert_eq!(metrics.worker_injected_count(0), 1 + 6 * 129);
    assert_eq!(metrics.worker_lifo_hit_count(0), 1);
    assert_eq!(metrics.worker_poll_count(0), 1001);
    assert_eq!(metrics.spawned_tasks_count(), 1001);
    assert_eq!(metrics.remote_schedule_count(), 1);
}

/// M1: a worker that spawns and does not return loses all its tasks to thieves, that in its slot
/// included.
#[test]
fn m1_steals() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    // The thief comes when all tasks are there: no push wakes it for one that comes into an empty
    // slot.
    let thief = block_worker(&rt);
    let (send, ran) = mpsc::channel();
    let busy = rt.spawn(async move {
        for _ in 0..50 {
            let send = send.clone();
            heist::spawn(async move { send.send(()).unwrap() });
        }
        drop(thief);
        (0..50).for_each(|_| ran.recv().unwrap());
        thread::current().id()
    });
    let victim = rt.block_on(busy).unwrap();
    drop(rt);
    let victim = (0..2).find(|n| metrics.worker_thread_id(*n) == Some(victim)).unwrap();
    let thief = 1 - victim;
    assert_eq!(metrics.worker_steal_count(thief), 50);
    assert!((2..=50).contains(&metrics.worker_steal_operations(thief)));
    assert_eq!(metrics.worker_poll_count(thief), 1 + 50);
    assert_eq!(metrics.worker_steal_count(victim), 0);
    assert_eq!(metrics.worker_steal_operations(victim), 0);
    assert_eq!(metrics.worker_poll_count(victim), 1);
}

/// M1: what waits in the queues, seen while the only worker is held up.
#[test]
fn m1_queue_depths() {
    for rt in [runtime(1), current_thread()] {
        let metrics = rt.metrics();
        let inside = metrics.clone();
        let task = async move {
            (0..100).for_each(|_| drop(heist::spawn(async {})));
            inside.worker_local_queue_depth(0)
        };
        assert_eq!(rt.block_on(rt.spawn(task)).unwrap(), 100);
    }
    let rt = runtime(2);
    let metrics = rt.metrics();
    let _held = [block_worker(&rt), block_worker(&rt)];
    for depth in 0..10 {
        assert_eq!(metrics.global_queue_depth(), depth);
        rt.spawn(async {});
    }
    assert_eq!(metrics.worker_local_queue_depth(0) + metrics.worker_local_queue_depth(1), 0);
}

/// M1: a worker with nothing to do sleeps, and is woken once for each task that comes then.
#[test]
fn m1_parks_and_wake_ups() {
    let rt = runtime(1);
    let metrics = rt.metrics();
    wait_until(|| metrics.worker_park_unpark_count(0) == 1);
    for round in 1..=100 {
        rt.spawn(async {});
        wait_until(|| metrics.worker_park_unpark_count(0) == 2 * round + 1);
    }
    assert_eq!(metrics.worker_park_count(0), 101);
    // The last one is for the end of the runtime.
    drop(rt);
    assert_eq!(metrics.worker_park_count(0), 101);
    assert_eq!(metrics.worker_park_unpark_count(0), 202);
    assert_eq!(metrics.worker_wakeup_count(0), 101);
    assert_eq!(metrics.worker_noop_count(0), 0);
    assert_eq!(metrics.worker_poll_count(0), 100);
}

/// M1: woken for a future that is no task, the worker of a thread in `block_on` runs nothing.
#[test]
fn m1_wake_ups_for_nothing() {
    let rt = current_thread();
    let metrics = rt.metrics();
    let (send, wakers) = mpsc::channel::<Waker>();
    thread::scope(|scope| {
        let metrics = &metrics;
        scope.spawn(move || {
            for waker in wakers {
                wait_until(|| metrics.worker_park_unpark_count(0) % 2 == 1);
                waker.wake();
            }
        });
        let mut polls = 0;
        rt.block_on(poll_fn(move |cx| {
            polls += 1;
            if polls > 3 {
                return Poll::Ready(());
            }
            send.send(cx.waker().clone()).unwrap();
            Poll::Pending
        }));
    });
    assert_eq!(metrics.worker_park_count(0), 3);
    assert_eq!(metrics.worker_park_unpark_count(0), 6);
    assert_eq!(metrics.worker_wakeup_count(0), 3);
    assert_eq!(metrics.worker_noop_count(0), 2);
    assert_eq!(metrics.worker_failed_search_count(0), 3);
    assert_eq!(metrics.worker_poll_count(0), 0);
}

/// M1: workers that find nothing to steal have looked.
#[test]
fn m1_searches_that_found_nothing() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    wait_until(|| (0..2).all(|n| metrics.worker_park_unpark_count(n) % 2 == 1));
    assert!(sum(&metrics, RuntimeMetrics::worker_failed_search_count) >= 1);
    assert_eq!(sum(&metrics, RuntimeMetrics::worker_steal_operations), 0);
}

/// M1: a poll that is out of budget counts once, where it ran.
#[test]
fn m1_budget_forced_yields() {
    async fn spend(units: usize) {
        for _ in 0..units {
            consume_budget().await;
        }
    }
    let rt = runtime(1);
    let metrics = rt.metrics();
    rt.block_on(rt.spawn(spend(128))).unwrap();
    assert_eq!(metrics.budget_forced_yield_count(), 0);
    rt.block_on(rt.spawn(spend(129))).unwrap();
    rt.block_on(rt.spawn(spend(3 * 128))).unwrap();
    assert_eq!(metrics.worker_budget_forced_yield_count(0), 1 + 2);
    // Both halves are cut short by the same yield: 400 units are three budgets and a bit.
    let halves = async { heist::join!(spend(200), spend(200)) };
    rt.block_on(rt.spawn(halves)).unwrap();
    assert_eq!(metrics.worker_budget_forced_yield_count(0), 6);
    rt.block_on(spend(129));
    assert_eq!(metrics.worker_budget_forced_yield_count(0), 6);
    assert_eq!(metrics.budget_forced_yield_count(), 7);

    let rt = current_thread();
    rt.block_on(spend(129));
    assert_eq!(rt.metrics().worker_budget_forced_yield_count(0), 1);
    assert_eq!(rt.metrics().budget_forced_yield_count(), 1);
}

/// M1: time goes by for a worker that is in a poll, and not for one that sleeps.
#[test]
fn m1_busy_time() {
    let rt = runtime(1);
    let metrics = rt.metrics();
    let busy = || metrics.worker_total_busy_duration(0);
    wait_until(|| metrics.worker_park_unpark_count(0) % 2 == 1);
    let asleep = busy();
    assert!(asleep > Duration::ZERO);
    assert_eq!(asleep, busy());
    let release = block_worker(&rt);
    let begun = busy();
    assert!(begun > asleep);
    wait_until(|| busy() > begun);
    drop(release);
    drop(rt);
    assert_eq!(busy(), busy());

    let rt = current_thread();
    let metrics = rt.metrics();
    assert_eq!(metrics.worker_total_busy_duration(0), Duration::ZERO);
    rt.block_on(async {});
    let busy = metrics.worker_total_busy_duration(0);
    assert!(busy > Duration::ZERO);
    assert_eq!(busy, metrics.worker_total_busy_duration(0));
}

/// M1: the mean poll time is known from the first poll on.
#[test]
fn m1_mean_poll_time() {
    for rt in [runtime(1), current_thread()] {
        let metrics = rt.metrics();
        assert_eq!(metrics.worker_mean_poll_time(0), Duration::ZERO);
        rt.block_on(rt.spawn(async {})).unwrap();
        wait_until(|| metrics.worker_poll_count(0) == 1);
        assert!(metrics.worker_mean_poll_time(0) > Duration::ZERO);
        let many = rt.spawn(async {
            for _ in 0..1000 {
                yield_now().await;
            }
        });
        rt.block_on(many).unwrap();
        let mean = metrics.worker_mean_poll_time(0);
        assert!(mean > Duration::ZERO && mean <= metrics.worker_total_busy_duration(0));
    }
}

/// M1: a worker's thread is the one that its tasks run on; without worker threads, that which
/// waits in `block_on`.
#[test]
fn m1_worker_threads() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    assert_eq!(metrics.num_workers(), 2);
    wait_until(|| (0..2).all(|worker| metrics.worker_thread_id(worker).is_some()));
    let ids = [metrics.worker_thread_id(0), metrics.worker_thread_id(1)];
    assert_ne!(ids[0], ids[1]);
    let here = rt.block_on(rt.spawn(async { thread::current().id() })).unwrap();
    assert!(ids.contains(&Some(here)));

    let rt = current_thread();
    let metrics = rt.metrics();
    assert_eq!((metrics.num_workers(), metrics.worker_thread_id(0)), (1, None));
    rt.block_on(async {});
    assert_eq!(metrics.worker_thread_id(0), Some(thread::current().id()));
    let other = thread::scope(|scope| {
        let thread = scope.spawn(|| rt.block_on(async { metrics.worker_thread_id(0) }));
        let id = thread.thread().id();
        assert_eq!(thread.join().unwrap(), Some(id));
        id
    });
    assert_eq!(metrics.worker_thread_id(0), Some(other));
}

/// M1: blocking threads, those of them that sleep, and what waits for one.
#[test]
fn m1_blocking_threads() {
    let mut builder = Builder::new_multi_thread();
    let rt = builder.worker_threads(1).max_blocking_threads(1).build().unwrap();
    let metrics = rt.metrics();
    let all = || {
        let (threads, idle) = (metrics.num_blocking_threads(), metrics.num_idle_blocking_threads());
        (threads, idle, metrics.blocking_queue_depth())
    };
    assert_eq!(all(), (0, 0, 0));
    let gate = Arc::new(Barrier::new(2));
    let at = gate.clone();
    let first = rt.spawn_blocking(move || {
        at.wait();
        at.wait();
    });
    gate.wait();
    let second = rt.spawn_blocking(|| ());
    assert_eq!(all(), (1, 0, 1));
    gate.wait();
    rt.block_on(async { (first.await.unwrap(), second.await.unwrap()) });
    wait_until(|| all() == (1, 1, 0));
    drop(rt);
    assert_eq!(all(), (0, 0, 0));
}

/// M1: a worker that does not exist is named, with the way to find out which do.
#[test]
fn m1_a_wrong_worker_is_named() {
    type Ask = fn(&RuntimeMetrics) -> u64;
    let metrics = runtime(2).metrics();
    let asks: [(&str, Ask); 5] = [
        ("worker_poll_count", |metrics| metrics.worker_poll_count(2)),
        ("worker_thread_id", |metrics| metrics.worker_thread_id(2).map_or(0, |_| 1)),
        ("worker_local_queue_depth", |metrics| metrics.worker_local_queue_depth(2) as u64),
        ("worker_seat_loss_count", |metrics| metrics.worker_seat_loss_count(2)),
        ("poll_time_histogram_bucket_count", |metrics| {
            metrics.poll_time_histogram_bucket_count(2, 0)
        }),
    ];
    for (api, ask) in asks {
        let panic = catch_unwind(AssertUnwindSafe(|| ask(&metrics))).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        let expected = format!("RuntimeMetrics::{api}: there is no worker 2; ");
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.contains("RuntimeMetrics::num_workers says that there are 2"), "{message}");
    }
}

/// M1: metrics may be asked from anywhere at any time, and what they say never goes back.
#[test]
fn m1_counts_only_grow() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    let stop = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (metrics, stop) = (metrics.clone(), stop.clone());
            thread::spawn(move || {
                let mut last = [0; 4];
                while !stop.load(Ordering::SeqCst) {
                    let now = [
                        sum(&metrics, RuntimeMetrics::worker_poll_count),
                        sum(&metrics, RuntimeMetrics::worker_local_schedule_count),
                        sum(&metrics, RuntimeMetrics::worker_park_unpark_count),
                        metrics.spawned_tasks_count(),
                    ];
                    assert!(last.iter().zip(&now).all(|(last, now)| last <= now));
                    last = now;
                }
            })
        })
        .collect();
    for _ in 0..200 {
        let joins: Vec<_> = (0..20).map(|_| rt.spawn(yield_now())).collect();
        joins.into_iter().for_each(|join| rt.block_on(join).unwrap());
    }
    stop.store(true, Ordering::SeqCst);
    readers.into_iter().for_each(|reader| reader.join().unwrap());
    drop(rt);
    assert_eq!(sum(&metrics, RuntimeMetrics::worker_poll_count), 8000);
    assert_eq!(metrics.num_alive_tasks(), 0);
    assert!(format!("{metrics:?}").contains("num_alive_tasks: 0"));
}

/// M1: jobs count where they are run, once, and so do those that were another's.
#[test]
fn m1_jobs_are_counted() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    // From here it is brought to a worker, as a job; and one of the two has to be stolen.
    let both = Barrier::new(2);
    rt.handle().join(|| both.wait(), || both.wait());
    assert_eq!(sum(&metrics, RuntimeMetrics::worker_job_count), 2);
    assert_eq!(sum(&metrics, RuntimeMetrics::worker_job_steal_count), 1);
    assert_eq!([0, 1].map(|worker| metrics.worker_job_queue_depth(worker)), [0, 0]);
}

/// M1: what a worker does is told while it does it.
#[test]
fn m1_a_worker_tells_its_state() {
    let rt = runtime(2);
    let metrics = rt.metrics();
    let states = || [0, 1].map(|worker| metrics.worker_state(worker));
    wait_until(|| states() == [WorkerState::Parked; 2]);
    assert_eq!([0, 1].map(|worker| metrics.worker_seat(worker)), [Some(0), Some(1)]);
    let (asked, (end, ends)) = (rt.metrics(), mpsc::channel::<()>());
    let task = rt.spawn(async move {
        let here = heist::runtime::worker_index().unwrap();
        let seen = asked.worker_state(here);
        (here, seen, heist::task::block_in_place(|| ends.recv().is_err()))
    });
    // It has stepped aside, and its seat with it.
    wait_until(|| states().contains(&WorkerState::Blocked));
    let blocked = states().iter().position(|state| *state == WorkerState::Blocked).unwrap();
    assert_eq!(metrics.worker_seat(blocked), None);
    drop(end);
    assert_eq!(rt.block_on(task).unwrap(), (blocked, WorkerState::Busy, true));
}
