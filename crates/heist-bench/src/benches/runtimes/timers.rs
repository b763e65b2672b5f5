//! Timers: what they cost if they never fire, which is what most of them do, and how late they
//! are if they do.

use std::future::{poll_fn, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use heist_testing::Rng;
use tokio::sync::Barrier;

use super::roll::RollCall;
use super::{AsyncRuntime, Story, on_worker, sides, subject};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::unit::Unit;
use heist_testing::stats;

/// A runtime with timers.
pub trait KeepsTime: AsyncRuntime {
    type Sleep: Future<Output: Send> + Send + 'static;

    /// Sleeps until `deadline`. Must be called by a task of the runtime, like the others.
    fn sleep_until(deadline: Instant) -> Self::Sleep;

    fn reset(sleep: Pin<&mut Self::Sleep>, deadline: Instant);

    /// Limits the time of `future`; `None` if the time is over first.
    fn timeout<F: Future + Send>(
        time: Duration,
        future: F,
    ) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send;
}

pub fn benches() -> Vec<Bench> {
    let timeout = |name, about, inner| {
        let bench = Bench::new(name, about, Unit::Ns, Pace::Calibrated);
        with_timers(bench, move |setup| Timeouts::new(setup, inner))
    };
    vec![
        timeout(
            "timeout_ready",
            "200 tasks with 1000 timeouts of 1 s each on what is ready at once; per timeout",
            Inner::Ready,
        ),
        timeout(
            "timeout_pending",
            "200 tasks with 1000 timeouts of 1 s each on a yield; per timeout",
            Inner::Pending,
        ),
        with_timers(
            Bench::new(
                "sleep_churn",
                "1 000 000 timers at a time: made, polled, reset, polled, dropped; per timer",
                Unit::Ns,
                Pace::Once,
            ),
            Churn::new,
        ),
        with_timers(
            Bench::new(
                "timer_fire",
                "1000 sleeps that end at random times within 500 ms; median of how late",
                Unit::Us,
                Pace::Once,
            )
            .row("timer_fire_p99", "as timer_fire; p99 of how late", Unit::Us)
            .row("timer_fire_max", "as timer_fire; the latest", Unit::Us),
            Punctuality::new,
        ),
    ]
}

fn with_timers<W, M>(bench: Bench, make: M) -> Bench
where
    W: Work,
    M: Fn(&Setup) -> W + Copy + Send + 'static,
{
    bench
        .side(Runtime::Heist, move |setup| side::<sides::Heist, W, M>(setup, make))
        .side(Runtime::Tokio, move |setup| side::<sides::Tokio, W, M>(setup, make))
        .side(Runtime::Smol, move |setup| side::<sides::SmolWithReactor, W, M>(setup, make))
        .side(Runtime::HeistUnwatched, move |setup| {
            side::<sides::HeistUnwatched, W, M>(setup, make)
        })
}

fn side<K, W, M>(
    setup: &Setup,
    make: M,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<K, W, M>, Fault>
where
    K: KeepsTime,
    W: Work,
    M: Fn(&Setup) -> W + Send + 'static,
{
    let make = move |setup: &Setup| Timed { work: make(setup), runtime: PhantomData::<K> };
    subject::<K, Timed<K, W>, _>(setup, make)
}

/// What a task does for a sample.
trait Work: 'static {
    fn work<K: KeepsTime>(&self) -> impl Future<Output = Result<Sample, Fault>> + Send + 'static;
}

/// `K` is the runtime of the side; a story knows it by a narrower interface.
struct Timed<K, W> {
    work: W,
    runtime: PhantomData<K>,
}

impl<K: KeepsTime, W: Work> Story for Timed<K, W> {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        on_worker(runtime, self.work.work::<K>())
    }
}

/// What a timeout is put on.
#[derive(Debug, Clone, Copy)]
enum Inner {
    /// Nobody needs the timer.
    Ready,
    /// The timer is set, and not needed in the end.
    Pending,
}

#[derive(Clone, Copy)]
struct Timeouts {
    tasks: u64,
    timeouts: u64,
    inner: Inner,
    roll: &'static RollCall,
}

impl Timeouts {
    fn new(setup: &Setup, inner: Inner) -> Self {
        Timeouts { tasks: 200, timeouts: setup.scaled(1000), inner, roll: RollCall::leak() }
    }

    /// A task that runs out of time does not report.
    async fn one_task<K: KeepsTime>(self, number: u64) {
        const LONG: Duration = Duration::from_secs(1);
        for _ in 0..self.timeouts {
            let in_time = match self.inner {
                Inner::Ready => K::timeout(LONG, ready(())).await,
                Inner::Pending => K::timeout(LONG, K::yield_now()).await,
            };
            if in_time.is_none() {
                return;
            }
        }
        self.roll.here(number);
    }
}

impl Work for Timeouts {
    fn work<K: KeepsTime>(&self) -> impl Future<Output = Result<Sample, Fault>> + Send + 'static {
        let this = *self;
        async move {
            let Timeouts { tasks, timeouts, roll, .. } = this;
            // Ends when all have reported; `join` also ends if one has not.
            drop(roll.begin(tasks)?);
            let start = Instant::now();
            let spawn = |number| K::spawn(this.one_task::<K>(number));
            let tasks_of: Vec<_> = (0..tasks).map(spawn).collect();
            for task in tasks_of {
                K::join(task).await;
            }
            let elapsed = start.elapsed();
            roll.check()?;
            Ok(Sample::Timed { elapsed, operations: tasks * timeouts })
        }
    }
}

/// All timers are there at the same time, and are cancelled long before they would fire.
#[derive(Clone, Copy)]
struct Churn {
    tasks: u64,
    timers: u64,
}

impl Churn {
    fn new(setup: &Setup) -> Self {
        Churn { tasks: 100, timers: setup.scaled(10_000) }
    }

    /// Returns how many fired, which is none.
    async fn one_task<K: KeepsTime>(self, number: u64, barrier: Arc<Barrier>) -> u64 {
        let mut rng = Rng::new(number);
        let now = Instant::now();
        let mut deadline = || now + Duration::from_millis(60_000 + rng.below(3_600_000));
        let mut fired = 0;
        let mut sleeps = Vec::with_capacity(self.timers as usize);
        poll_fn(|context| {
            for _ in 0..self.timers {
                let mut sleep = Box::pin(K::sleep_until(deadline()));
                fired += has_fired(sleep.as_mut(), context);
                sleeps.push(sleep);
            }
            Poll::Ready(())
        })
        .await;
        barrier.wait().await;
        poll_fn(|context| {
            for sleep in &mut sleeps {
                K::reset(sleep.as_mut(), deadline());
                fired += has_fired(sleep.as_mut(), context);
            }
            Poll::Ready(())
        })
        .await;
        barrier.wait().await;
        fired
    }
}

fn has_fired<F: Future>(sleep: Pin<&mut F>, context: &mut Context<'_>) -> u64 {
    u64::from(sleep.poll(context).is_ready())
}

impl Work for Churn {
    fn work<K: KeepsTime>(&self) -> impl Future<Output = Result<Sample, Fault>> + Send + 'static {
        let this = *self;
        async move {
            let Churn { tasks, timers } = this;
            let barrier = Arc::new(Barrier::new(tasks as usize));
            let start = Instant::now();
            let spawn = |number| K::spawn(this.one_task::<K>(number, Arc::clone(&barrier)));
            let tasks_of: Vec<_> = (0..tasks).map(spawn).collect();
            let mut fired = 0;
            for task in tasks_of {
                fired += K::join(task).await;
            }
            let elapsed = start.elapsed();
            if fired > 0 {
                return Err(Fault::Wrong { what: EARLY, expected: 0, found: fired });
            }
            Ok(Sample::Timed { elapsed, operations: tasks * timers })
        }
    }
}

const EARLY: &str = "timers that fired before their time";

/// A task a timer, on a runtime that has nothing else to do.
#[derive(Clone, Copy)]
struct Punctuality {
    timers: u64,
    within: Duration,
}

/// Before the first timer is due: all tasks wait by then.
const LEAD: Duration = Duration::from_millis(20);

impl Punctuality {
    fn new(setup: &Setup) -> Self {
        Punctuality { timers: setup.scaled(1000), within: Duration::from_millis(setup.scaled(500)) }
    }
}

impl Work for Punctuality {
    fn work<K: KeepsTime>(&self) -> impl Future<Output = Result<Sample, Fault>> + Send + 'static {
        let Punctuality { timers, within } = *self;
        async move {
            let mut rng = Rng::new(timers);
            let start = Instant::now() + LEAD;
            let mut spawn = |_| {
                let deadline = start + Duration::from_nanos(rng.below(within.as_nanos() as u64));
                K::spawn(async move {
                    K::sleep_until(deadline).await;
                    (deadline, Instant::now())
                })
            };
            let tasks: Vec<_> = (0..timers).map(&mut spawn).collect();
            let mut fired = Vec::with_capacity(tasks.len());
            for task in tasks {
                fired.push(K::join(task).await);
            }
            lateness(&fired)
        }
    }
}

/// Median, p99 and most of how late timers were, of which we have when they should have fired
/// and when they did.
fn lateness(fired: &[(Instant, Instant)]) -> Result<Sample, Fault> {
    let early = fired.iter().filter(|(deadline, now)| now < deadline).count() as u64;
    if early > 0 {
        return Err(Fault::Wrong { what: EARLY, expected: 0, found: early });
    }
    let microseconds =
        |(deadline, now): &(Instant, Instant)| (*now - *deadline).as_secs_f64() * 1e6;
    let mut late: Vec<f64> = fired.iter().map(microseconds).collect();
    late.sort_unstable_by(f64::total_cmp);
    let percents = [50.0, 99.0, 100.0];
    Ok(Sample::Values(percents.map(|percent| stats::percentile(&late, percent)).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_fires_early_is_a_fault() {
        let now = Instant::now();
        let ms = Duration::from_millis;
        let punctual = [(now, now), (now, now + ms(2)), (now, now + ms(1))];
        let Ok(Sample::Values(late)) = lateness(&punctual) else { panic!("none is early") };
        assert_eq!((late[0].round(), late[2].round()), (1000.0, 2000.0));
        let message = lateness(&[(now, now), (now + ms(1), now)]).unwrap_err().to_string();
        assert_eq!(message, "timers that fired before their time: expected 0, found 1");
    }
}
