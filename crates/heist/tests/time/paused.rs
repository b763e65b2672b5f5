//! Clocks that stand still: what happens when is exact.

use heist::runtime::{Builder, Runtime};
use heist::time::{self, Duration, Instant, MissedTickBehavior, interval_at, sleep, timeout};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc;
use std::task::Poll;

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

fn paused() -> Runtime {
    Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
}

fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it must panic");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}

/// Timers of all magnitudes, in other tasks: each fires at its time, and they fire in order.
#[test]
fn time_jumps_from_timer_to_timer() {
    let rt = paused();
    let order = rt.block_on(async {
        let (done, mut has_done) = heist::sync::mpsc::unbounded_channel();
        let start = Instant::now();
        for exponent in (0..30).rev() {
            let (done, duration) = (done.clone(), 2 * MS * 2u32.pow(exponent));
            heist::spawn(async move {
                sleep(duration).await;
                assert_eq!(start.elapsed(), duration);
                done.send(exponent).unwrap();
            });
        }
        drop(done);
        let mut order = vec![];
        while let Some(exponent) = has_done.recv().await {
            order.push(exponent);
        }
        order
    });
    assert_eq!(order, (0..30).collect::<Vec<_>>());
}

#[test]
fn the_clock_stands_still_and_goes_on() {
    let rt = Builder::new_current_thread().enable_time().build().unwrap();
    rt.block_on(async {
        let start = Instant::now();
        time::pause();
        let stopped = Instant::now();
        assert!(stopped >= start);
        std::thread::sleep(3 * MS);
        assert_eq!(stopped, Instant::now());
        time::advance(Duration::from_nanos(1)).await;
        assert_eq!(stopped.elapsed(), Duration::from_nanos(1));
        time::advance(HOUR).await;
        time::resume();
        let resumed = Instant::now();
        assert!(resumed >= stopped + HOUR);
        std::thread::sleep(3 * MS);
        assert!(resumed.elapsed() >= 3 * MS);
        time::pause();
        assert!(Instant::now() >= resumed + 3 * MS);
        // A timer that was registered before goes by the same clock.
        let mut nap = pin!(sleep(HOUR));
        poll_fn(|cx| Poll::Ready(assert!(nap.as_mut().poll(cx).is_pending()))).await;
        time::resume();
        time::pause();
        nap.await;
        assert!(Instant::now() >= resumed + HOUR);
    });
}

/// What is due after a step has been woken when it is over, with its turn taken.
#[test]
fn a_step_fires_what_is_due() {
    let rt = paused();
    rt.block_on(async {
        let naps: Vec<_> = (1..=300).map(|n| heist::spawn(sleep(n * MS))).collect();
        heist::task::yield_now().await;
        for (index, nap) in naps.iter().enumerate() {
            assert!(!nap.is_finished(), "{index} is early");
            time::advance(MS).await;
            heist::task::yield_now().await;
            assert!(nap.is_finished(), "{index} is late");
        }
        // All at once.
        let naps: Vec<_> = (1..=1000).map(|n| heist::spawn(sleep(n * MS))).collect();
        heist::task::yield_now().await;
        let before = Instant::now();
        time::advance(1000 * MS).await;
        for nap in naps {
            nap.await.unwrap();
        }
        assert_eq!(before.elapsed(), 1000 * MS);
    });
}

/// A closure takes its time, which is not that of the clock.
#[test]
fn no_jump_while_a_closure_runs() {
    let rt = paused();
    rt.block_on(async {
        let start = Instant::now();
        let (go, goes) = mpsc::channel::<()>();
        let closure = heist::task::spawn_blocking(move || goes.recv().unwrap());
        let opener = std::thread::spawn(move || {
            std::thread::sleep(20 * MS);
            go.send(()).unwrap();
        });
        timeout(HOUR, closure).await.expect("the clock jumped").unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
        opener.join().unwrap();
        sleep(HOUR).await;
        assert_eq!(start.elapsed(), HOUR);
    });
}

/// What comes from outside comes before the next timer, if it is there.
#[test]
fn no_jump_past_what_has_come() {
    use heist::io::{AsyncReadExt, AsyncWriteExt};
    let rt = paused();
    rt.block_on(async {
        let (mut here, mut there) = heist::net::UnixStream::pair().unwrap();
        let start = Instant::now();
        let reader = heist::spawn(async move {
            let mut byte = [0];
            there.read_exact(&mut byte).await.unwrap();
            start.elapsed()
        });
        heist::task::yield_now().await;
        here.write_all(&[7]).await.unwrap();
        sleep(HOUR).await;
        assert_eq!(reader.await.unwrap(), Duration::ZERO);
        assert_eq!(start.elapsed(), HOUR);
    });
}

/// Each runtime has a clock of its own; the clock of a thread in none is the system's.
#[test]
fn clocks_are_their_runtimes() {
    let (stopped, goes) = (paused(), Builder::new_current_thread().enable_time().build().unwrap());
    let before = stopped.block_on(async { Instant::now() });
    stopped.block_on(async { sleep(HOUR).await });
    let now = std::time::Instant::now();
    assert_eq!(stopped.block_on(async { before.elapsed() }), HOUR);
    assert!(goes.block_on(async { Instant::now() }) < before + HOUR);
    assert!(Instant::now().into_std() >= now);
    assert!(Instant::now() < before + HOUR);
}

#[test]
fn panics_say_what_to_do() {
    let rt = || Builder::new_current_thread().enable_time().build().unwrap();
    let within = |f: fn()| panic_of(|| rt().block_on(async { f() }));
    let twice = within(|| (time::pause(), time::pause()).1);
    assert!(twice.starts_with("time::pause:") && twice.contains("time::resume"), "{twice}");
    let text = within(time::resume);
    assert!(text.starts_with("time::resume:") && text.contains("time::pause"), "{text}");
    let text = panic_of(|| rt().block_on(time::advance(MS)));
    assert!(text.starts_with("time::advance:") && text.contains("time::pause"), "{text}");
    let text = panic_of(time::pause);
    assert!(text.starts_with("time::pause:") && text.contains("Runtime::enter"), "{text}");
    let without = Builder::new_current_thread().build().unwrap();
    let text = panic_of(|| without.block_on(async { time::pause() }));
    assert!(text.starts_with("time::pause:") && text.contains("`enable_time`"), "{text}");
    let workers = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let text = panic_of(|| workers.block_on(async { time::pause() }));
    assert!(text.contains("Builder::new_current_thread"), "{text}");
    let text = panic_of(|| _ = Builder::new_multi_thread().start_paused(true));
    assert!(text.contains("Builder::new_current_thread"), "{text}");
}

/// Ticks until the clock has gone on by more than `until`, one of which takes 210 ms.
async fn ticks(behavior: MissedTickBehavior, until: u64) -> Vec<(u64, u64)> {
    let start = Instant::now();
    let since = |instant: Instant| (instant - start).as_millis() as u64;
    let mut interval = interval_at(start, 100 * MS);
    assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Burst);
    interval.set_missed_tick_behavior(behavior);
    assert_eq!((interval.missed_tick_behavior(), interval.period()), (behavior, 100 * MS));
    let mut ticks = vec![];
    while since(Instant::now()) < until {
        let due = interval.tick().await;
        ticks.push((since(due), since(Instant::now())));
        if ticks.len() == 2 {
            time::advance(220 * MS).await;
        }
    }
    ticks
}

#[test]
fn ticks_that_were_missed() {
    for (behavior, wanted) in [
        (
            MissedTickBehavior::Burst,
            vec![(0, 0), (100, 100), (200, 320), (300, 320), (400, 400), (500, 500)],
        ),
        (MissedTickBehavior::Delay, vec![(0, 0), (100, 100), (200, 320), (420, 420), (520, 520)]),
        (MissedTickBehavior::Skip, vec![(0, 0), (100, 100), (200, 320), (400, 400), (500, 500)]),
    ] {
        assert_eq!(paused().block_on(ticks(behavior, 500)), wanted, "{behavior:?}");
    }
}

#[test]
fn an_interval_can_be_moved() {
    paused().block_on(async {
        let start = Instant::now();
        let mut interval = time::interval(100 * MS);
        assert_eq!(interval.tick().await, start);
        time::advance(30 * MS).await;
        interval.reset();
        assert_eq!(interval.tick().await, start + 130 * MS);
        interval.reset_immediately();
        assert_eq!(interval.tick().await, start + 130 * MS);
        interval.reset_after(7 * MS);
        assert_eq!(interval.tick().await, start + 137 * MS);
        interval.reset_at(start + 500 * MS);
        assert_eq!(interval.tick().await, start + 500 * MS);
        assert_eq!(interval.tick().await, start + 600 * MS);
        interval.reset_after(Duration::MAX);
        assert!(timeout(HOUR, interval.tick()).await.is_err());
        assert_eq!(time::interval(Duration::MAX).tick().await, Instant::now());
    });
}

/// Nobody is due: there is nothing to jump to, and what comes wakes.
#[test]
fn without_timers_it_waits() {
    paused().block_on(async {
        let (send, receive) = heist::sync::oneshot::channel();
        let other = std::thread::spawn(move || {
            std::thread::sleep(10 * MS);
            send.send(1).unwrap();
        });
        assert_eq!(receive.await, Ok(1));
        other.join().unwrap();
        let before = Instant::now();
        assert!(timeout(HOUR, pending::<()>()).await.is_err());
        assert_eq!(before.elapsed(), HOUR);
    });
}

#[heist::test(start_paused = true)]
async fn the_attribute_stops_the_clock() {
    let before = Instant::now();
    sleep(HOUR).await;
    assert_eq!(before.elapsed(), HOUR);
}
