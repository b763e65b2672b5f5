//! Waiting for time: `sleep`, on workers, beside them, and where there is no runtime at all.
//!
//! No test here asks for a wait to be short: only for it to end, and not before its time.

use crate::support::futures::count_polls;
use crate::support::runtime;
use heist::runtime::{Builder, Handle};
use heist::task::yield_now;
use heist::time::{self, Duration, Instant, Sleep, sleep, sleep_until};
use heist_testing::{Rng, scaled, seed};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

/// Waits for a future on a thread that is in no runtime.
fn wait_outside<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it must panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}

/// Wakes nobody, and knows how many have it.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn poll_once(sleep: Pin<&mut time::Sleep>, bell: &Arc<Bell>) -> Poll<()> {
    sleep.poll(&mut Context::from_waker(&Waker::from(bell.clone())))
}

/// One that waits already. Its time is set later: until then no time passes that could end it.
async fn begun_sleep() -> Pin<Box<Sleep>> {
    let mut begun = Box::pin(sleep(HOUR));
    poll_fn(|cx| Poll::Ready(assert!(begun.as_mut().poll(cx).is_pending()))).await;
    begun
}

async fn not_before(duration: Duration) {
    let before = Instant::now();
    sleep(duration).await;
    assert!(before.elapsed() >= duration, "early");
}

#[test]
fn nobody_wakes_early_and_nobody_sleeps_on() {
    for rt in [runtime(1), runtime(3), Builder::new_current_thread().enable_all().build().unwrap()]
    {
        let tasks: Vec<_> = (0..500u64)
            .map(|number| rt.spawn(not_before(Duration::from_micros(number * 97 % 30_000))))
            .collect();
        rt.block_on(async {
            not_before(3 * MS).await;
            for task in tasks {
                task.await.unwrap();
            }
        });
    }
}

#[test]
fn a_sleep_goes_wherever_its_future_goes() {
    let (here, there) = (runtime(1), runtime(1));
    // On a thread in no runtime: made beside the workers it keeps its runtime.
    let made_beside = here.block_on(async { sleep(2 * MS) });
    wait_outside(made_beside);
    let made_inside = {
        let _entered = here.enter();
        sleep(2 * MS)
    };
    wait_outside(made_inside);
    // Made on a worker, polled on one of another runtime.
    let made_on_worker = here.block_on(here.spawn(async { Box::pin(sleep(2 * MS)) })).unwrap();
    there.block_on(there.spawn(made_on_worker)).unwrap();
    // Made and begun on a worker, then awaited on a thread in no runtime.
    let begun = here.spawn(async {
        let mut begun = begun_sleep().await;
        begun.as_mut().reset(Instant::now() + 5 * MS);
        begun
    });
    wait_outside(here.block_on(begun).unwrap());
}

#[test]
fn a_sleep_of_a_runtime_that_is_gone_goes_on_in_another() {
    let (gone, alive) = (runtime(1), runtime(1));
    let begun = gone.spawn(begun_sleep());
    let mut begun = gone.block_on(begun).unwrap();
    drop(gone);
    begun.as_mut().reset(Instant::now() + MS);
    alive.block_on(alive.spawn(begun)).unwrap();
}

/// A task that waits in another runtime already, when the one that has the timer goes down, is
/// woken by its own.
#[test]
fn a_waiter_elsewhere_continues_to_wait_during_a_shutdown() {
    let (gone, alive) = (runtime(1), runtime(1));
    let begun = gone.spawn(async {
        let mut begun = begun_sleep().await;
        begun.as_mut().reset(Instant::now() + 50 * MS);
        begun
    });
    let begun = gone.block_on(begun).unwrap();
    let (deadline, (waits, has_waited)) = (begun.deadline(), mpsc::channel());
    let task = alive.spawn(async move {
        let mut begun = begun;
        poll_fn(|cx| {
            let polled = begun.as_mut().poll(cx);
            let _ = waits.send(());
            polled
        })
        .await;
    });
    has_waited.recv().unwrap();
    drop(gone);
    alive.block_on(task).unwrap();
    assert!(Instant::now() >= deadline, "early");
}

/// Whose workers do not wait for time, where a sleep was brought whose own runtime is gone.
#[test]
fn a_worker_without_timers_is_told_that_a_runtime_is_gone() {
    let gone = runtime(1);
    let sleep = Box::pin(gone.block_on(async { sleep(HOUR) }));
    drop(gone);
    let alive = Builder::new_multi_thread().worker_threads(1).enable_io().build().unwrap();
    let error = alive.block_on(alive.spawn(sleep)).unwrap_err();
    let payload = error.into_panic();
    let text = payload.downcast_ref::<&str>().unwrap();
    assert!(text.contains("time::Sleep") && text.contains("keep the Runtime"), "{text}");
}

#[test]
fn a_waiter_is_told_that_the_runtime_shuts_down() {
    let rt = runtime(1);
    let handle = rt.handle().clone();
    let (begun, has_begun) = mpsc::channel();
    let waits = thread::spawn(move || {
        handle.block_on(async {
            let mut sleep = pin!(sleep(HOUR));
            poll_fn(|cx| {
                let polled = sleep.as_mut().poll(cx);
                let _ = begun.send(());
                polled
            })
            .await;
        });
    });
    has_begun.recv().unwrap();
    rt.shutdown_background();
    let payload = waits.join().unwrap_err();
    let text = payload.downcast_ref::<&str>().unwrap();
    assert!(text.contains("time::Sleep") && text.contains("keep the Runtime"), "{text}");
}

#[test]
fn a_task_that_sleeps_is_dropped_with_its_runtime() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let rt = runtime(2);
    for _ in 0..100 {
        let counted = crate::support::Counted(dropped.clone());
        rt.spawn(async move {
            sleep(HOUR).await;
            drop(counted);
        });
    }
    rt.block_on(not_before(2 * MS));
    drop(rt);
    assert_eq!(dropped.load(Ordering::SeqCst), 100);
}

#[test]
fn a_sleep_can_be_moved_both_ways() {
    let rt = runtime(1);
    let task = rt.spawn(async {
        let before = Instant::now();
        let mut sleep = pin!(sleep(HOUR));
        let polled = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx))).await;
        assert!(polled.is_pending());
        sleep.as_mut().reset(before + 5 * MS);
        // The deadline moves to a later time during the wait; the wheel finds the old entry in
        // vain.
        sleep.as_mut().reset(before + 20 * MS);
        sleep.as_mut().await;
        assert!(before.elapsed() >= 20 * MS, "early");
        assert!(sleep.is_elapsed());
        // Anew, after it has ended.
        sleep.as_mut().reset(Instant::now() + HOUR);
        assert!(!sleep.is_elapsed());
        sleep.as_mut().reset(Instant::now() + 2 * MS);
        sleep.as_mut().await;
        // The deadline moves to an earlier time during the wait: the hour is not waited for.
        sleep.as_mut().reset(Instant::now() + HOUR);
        let polled = poll_fn(|cx| Poll::Ready(sleep.as_mut().poll(cx))).await;
        assert!(polled.is_pending());
        sleep.as_mut().reset(Instant::now() + 2 * MS);
        sleep.await;
    });
    rt.block_on(task).unwrap();
}

/// A task that has left a waker is woken at the new time, though it does not poll again.
#[test]
fn a_reset_needs_no_poll() {
    let rt = runtime(1);
    for to in [Some(2 * MS), None] {
        let _entered = rt.enter();
        let bell = Arc::new(Bell::default());
        let mut sleep = Box::pin(sleep(HOUR));
        assert!(poll_once(sleep.as_mut(), &bell).is_pending());
        // To soon, or into the past.
        let deadline = to.map_or_else(|| Instant::now() - HOUR, |to| Instant::now() + to);
        sleep.as_mut().reset(deadline);
        while bell.0.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        assert!(poll_once(sleep.as_mut(), &bell).is_ready());
    }
}

/// A task waits, and a thread that can register no timer has it wait for less.
#[test]
fn a_reset_outside_of_runtimes_reaches_the_waiter() {
    let timeless = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for entered in [None, Some(&timeless)] {
        let rt = runtime(1);
        let (sender, receiver) = mpsc::channel();
        let task = rt.spawn(async move {
            let shared = Arc::new(Mutex::new(begun_sleep().await));
            let mut sender = Some(sender);
            poll_fn(|cx| {
                let polled = shared.lock().unwrap().as_mut().poll(cx);
                if let Some(sender) = sender.take() {
                    sender.send(shared.clone()).unwrap();
                }
                polled
            })
            .await;
        });
        let shared = receiver.recv().unwrap();
        {
            let _entered = entered.map(|rt| rt.enter());
            shared.lock().unwrap().as_mut().reset(Instant::now() + MS);
        }
        rt.block_on(task).unwrap();
    }
}

#[test]
fn a_sleep_that_is_dropped_keeps_nobody_alive() {
    let rt = runtime(1);
    let _entered = rt.enter();
    let bell = Arc::new(Bell::default());
    let mut sleep = Box::pin(sleep(HOUR));
    assert!(poll_once(sleep.as_mut(), &bell).is_pending());
    assert_eq!(Arc::strong_count(&bell), 2);
    drop(sleep);
    assert_eq!(Arc::strong_count(&bell), 1);
}

/// The last waker counts, and the one before is dropped.
#[test]
fn another_task_may_take_over() {
    let rt = runtime(1);
    let _entered = rt.enter();
    let (first, second) = (Arc::new(Bell::default()), Arc::new(Bell::default()));
    let mut sleep = Box::pin(sleep(HOUR));
    assert!(poll_once(sleep.as_mut(), &first).is_pending());
    assert!(poll_once(sleep.as_mut(), &second).is_pending());
    assert_eq!(Arc::strong_count(&first), 1);
    sleep.as_mut().reset(Instant::now() + 10 * MS);
    while second.0.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
    assert_eq!(first.0.load(Ordering::SeqCst), 0);
    assert!(sleep.is_elapsed());
}

#[test]
fn for_ever_is_no_overflow() {
    let rt = runtime(1);
    let task = rt.spawn(async {
        let now = Instant::now();
        for duration in [Duration::MAX, Duration::MAX - MS, Duration::from_secs(u64::MAX / 2)] {
            let mut forever = pin!(sleep(duration));
            assert!(forever.deadline() > now + 20 * 365 * 24 * HOUR);
            let polled = poll_fn(|cx| Poll::Ready(forever.as_mut().poll(cx))).await;
            assert!(polled.is_pending());
        }
        // Before everything.
        sleep_until(now.checked_sub(Duration::from_secs(1)).unwrap()).await;
        sleep(Duration::ZERO).await;
        not_before(2 * MS).await;
    });
    rt.block_on(task).unwrap();
}

/// W9: a sleep that is ready takes a unit, one that waits does not.
#[test]
fn each_end_takes_budget() {
    let rt = runtime(1);
    let task = rt.spawn(async {
        let mut over = pin!(sleep(Duration::ZERO));
        over.as_mut().await;
        // From here on with a whole budget.
        yield_now().await;
        let mut waits = pin!(sleep(HOUR));
        let (mut ready, mut is_new) = (0, true);
        count_polls(poll_fn(|cx| {
            if !std::mem::take(&mut is_new) {
                return Poll::Ready(());
            }
            assert!(waits.as_mut().poll(cx).is_pending());
            while over.as_mut().poll(cx).is_ready() {
                ready += 1;
                assert!(ready <= 128, "the budget never ends");
                assert!(waits.as_mut().poll(cx).is_pending());
            }
            Poll::Pending
        }))
        .await;
        ready
    });
    assert_eq!(rt.block_on(task).unwrap(), 128);
}

#[test]
fn where_there_are_no_timers_a_panic_says_what_to_do() {
    type Make = (&'static str, fn());
    let makes: [Make; 6] = [
        ("time::sleep:", || drop(sleep(MS))),
        ("time::sleep_until:", || drop(sleep_until(Instant::now()))),
        ("time::timeout:", || drop(time::timeout(MS, async {}))),
        ("time::timeout_at:", || drop(time::timeout_at(Instant::now(), async {}))),
        ("time::interval:", || drop(time::interval(MS))),
        ("time::interval_at:", || drop(time::interval_at(Instant::now(), MS))),
    ];
    let none = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let only_io = Builder::new_multi_thread().worker_threads(1).enable_io().build().unwrap();
    for (api, make) in makes {
        let text = panic_of(make);
        assert!(text.starts_with(api) && text.contains("Runtime::enter"), "{text}");
        for rt in [&none, &only_io] {
            let text = panic_of(|| rt.block_on(async { make() }));
            assert!(text.starts_with(api) && text.contains("`enable_time`"), "{text}");
            let error = rt.block_on(rt.spawn(async move { make() })).unwrap_err();
            let text = *error.into_panic().downcast::<String>().unwrap();
            assert!(text.starts_with(api) && text.contains("`enable_time`"), "{text}");
        }
    }
    let text = panic_of(|| drop(time::interval(Duration::ZERO)));
    assert!(text.starts_with("time::interval:") && text.contains("must be non-zero"), "{text}");
}

/// A sleep that was made on a worker has nothing to go on where there is no runtime.
#[test]
fn begun_nowhere_it_panics() {
    let rt = runtime(1);
    let mut made_on_worker = rt.block_on(rt.spawn(async { Box::pin(sleep(MS)) })).unwrap();
    let text = panic_of(|| wait_outside(made_on_worker.as_mut()));
    assert!(text.starts_with("time::Sleep:") && text.contains("Runtime::enter"), "{text}");
    // Where there is one it begins after all.
    rt.block_on(made_on_worker);
}

/// L3: a timer still fires if its worker is stuck. Each of these waits for the other.
#[test]
fn l3_a_timer_of_a_worker_that_is_stuck() {
    let rt = runtime(1);
    let (ring, bell) = mpsc::channel();
    rt.spawn(async move {
        not_before(5 * MS).await;
        ring.send(()).unwrap();
    });
    let stuck = rt.spawn(async move { bell.recv().unwrap() });
    rt.block_on(stuck).unwrap();
}

/// Timers that are made, moved, polled and dropped on all workers and beside them, at random.
#[test]
fn timers_under_load() {
    let rt = runtime(3);
    let work = |number: u64| async move {
        let mut rng = Rng::new(seed().wrapping_add(number));
        for _ in 0..scaled(300) {
            let mut span = |bound| Duration::from_micros(rng.below(bound));
            let mut deadline = Instant::now() + span(4000);
            let mut nap = pin!(sleep_until(deadline));
            for moved in [span(3), span(3), span(3)] {
                poll_fn(|cx| Poll::Ready(_ = nap.as_mut().poll(cx))).await;
                if moved.as_micros() > 0 {
                    deadline = Instant::now() + span(4000);
                    nap.as_mut().reset(deadline);
                }
                yield_now().await;
            }
            if rng.below(3) > 0 {
                nap.await;
                assert!(Instant::now() >= deadline, "early");
            }
        }
    };
    let tasks: Vec<_> = (0..30).map(|number| rt.spawn(work(number))).collect();
    let beside = rt.handle().clone();
    let beside = thread::spawn(move || beside.block_on(work(30)));
    rt.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
    beside.join().unwrap();
    assert!(Handle::try_current().is_err());
}
