//! Tasks that somebody waits for, and jobs that keep all workers busy meanwhile.
//!
//! As many threads as there are workers have computations done, one after another, each divided by
//! joins. At the same time requests come at a fixed rate. A request is a task, which has another
//! one do a part of it and waits for that. Heist does both with one set of workers; its rival has
//! two, and the system to share out the cores.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::shared::Shared;
use super::sides::{Heist, Sequential, TokioRayon};
use super::{Pool, driven, expect};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::benches::runtimes::AsyncRuntime;
use crate::benches::spin::Spin;
use crate::received::{Mismatch, Received};
use crate::unit::Unit;
use heist_testing::stats;

const REQUESTS: u64 = 500;
const EVERY: Duration = Duration::from_micros(500);

/// The CPU time of a task; a request has two tasks.
const TASK: Duration = Duration::from_micros(5);

/// The length of a leaf: of work that jobs do not divide further.
const LEAF: Duration = Duration::from_micros(10);

/// What runs tasks, and jobs beside them.
pub trait Mixes: Sized + 'static {
    type Tasks: AsyncRuntime;
    type Jobs: Pool;

    /// The workers of each.
    fn build(workers: usize) -> io::Result<Self>;

    fn tasks(&self) -> &Self::Tasks;

    fn jobs(&self) -> &Self::Jobs;
}

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            ["mixed", "mixed_p50", "mixed_p99", "mixed_max"],
            "all workers busy with computations of 1 ms, 2000 requests/s beside them; leaves of 10 us",
            100,
        ),
        bench(
            ["mixed_long", "mixed_long_p50", "mixed_long_p99", "mixed_long_max"],
            "as mixed, with computations of 20 ms",
            2000,
        ),
    ]
}

fn bench(names: [&'static str; 4], about: &'static str, leaves: u64) -> Bench {
    let [name, p50, p99, max] = names;
    let shared = Shared::new();
    let (heist, rival) = (shared.clone(), shared);
    Bench::new(name, about, Unit::Rate("leaves/s"), Pace::Once)
        .row(p50, "the same; how long a request takes, median", Unit::Us)
        .row(p99, "the same; how long a request takes, p99", Unit::Us)
        .row(max, "the same; the longest that a request takes", Unit::Us)
        .side(Runtime::Heist, move |setup| side::<Heist>(setup, &heist, leaves))
        .side(Runtime::TokioRayon, move |setup| side::<TokioRayon>(setup, &rival, leaves))
}

fn side<M: Mixes>(
    setup: &Setup,
    shared: &Shared<Mixed>,
    leaves: u64,
) -> Result<impl FnMut(u64) -> Result<Sample, Fault> + use<M>, Fault> {
    let mixed = shared.get(|| Mixed::new(setup, leaves));
    driven(setup, move |setup| {
        let runtime = M::build(setup.workers).map_err(Fault::Setup)?;
        Ok(move |_| mixed.sample(&runtime))
    })
}

struct Mixed {
    requests: u64,
    /// Threads with computations.
    feeders: usize,
    task: Spin,
    leaf: Spin,
    /// The number of leaves in a computation.
    leaves: u64,
    /// The result of a computation.
    sum: u64,
}

impl Mixed {
    fn new(setup: &Setup, leaves: u64) -> Self {
        let leaf = Spin::of(LEAF);
        Mixed {
            requests: setup.scaled(REQUESTS),
            feeders: setup.workers,
            task: Spin::of(TASK),
            leaf,
            leaves,
            sum: leaf.spin_all::<Sequential>(&mut (), 0, leaves),
        }
    }

    fn sample<M: Mixes>(&self, runtime: &M) -> Result<Sample, Fault> {
        let is_over = AtomicBool::new(false);
        let (jobs, start) = (runtime.jobs(), Instant::now());
        let (times, computations) = thread::scope(|threads| {
            let feed = || self.feed(jobs, &is_over);
            let feeders: Vec<_> = (0..self.feeders).map(|_| threads.spawn(feed)).collect();
            let times = self.ask(runtime.tasks());
            // Relaxed: nothing else is told by it.
            is_over.store(true, Ordering::Relaxed);
            let join = |feeder: thread::ScopedJoinHandle<'_, _>| {
                feeder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            let computations: Result<Vec<u64>, Fault> = feeders.into_iter().map(join).collect();
            (times, computations)
        });
        let leaves = computations?.iter().sum::<u64>() * self.leaves;
        let rate = leaves as f64 / start.elapsed().as_secs_f64();
        let times = times?;
        let [p50, p99, max] = [50.0, 99.0, 100.0].map(|percent| stats::percentile(&times, percent));
        Ok(Sample::Values(vec![rate, p50, p99, max]))
    }

    /// One computation after another; returns how many.
    fn feed<P: Pool>(&self, jobs: &P, is_over: &AtomicBool) -> Result<u64, Fault> {
        let mut computations = 0;
        // Relaxed: nothing else is told by it.
        while !is_over.load(Ordering::Relaxed) {
            let sum = jobs.run(|context| self.leaf.spin_all::<P>(context, 0, self.leaves));
            expect("sum of a computation", self.sum, sum)?;
            computations += 1;
        }
        Ok(computations)
    }

    /// Sends all requests; returns how long they took, in microseconds, sorted.
    fn ask<R: AsyncRuntime>(&self, tasks: &R) -> Result<Vec<f64>, Fault> {
        let (sender, answers) = mpsc::channel();
        let (handle, task) = (tasks.handle(), self.task);
        let mut next = Instant::now();
        for number in 0..self.requests {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let (sender, sent) = (sender.clone(), Instant::now());
            let request = async move {
                let answer = answer::<R>(task, number).await;
                // Nobody listens if there was a fault.
                let _ = sender.send((number, answer, sent.elapsed()));
            };
            R::detach(R::spawn_from_outside(&handle, request));
            next += EVERY;
        }
        drop(sender);
        let (mut received, mut times) =
            (Received::default(), Vec::with_capacity(self.requests as usize));
        for (number, answer, time) in answers {
            received.add(number);
            expect("answer to a request", task.spin(task.spin(number)), answer.unwrap_or(0))?;
            times.push(time.as_secs_f64() * 1e6);
        }
        Mismatch::check(Received::of_all(self.requests), received)?;
        times.sort_unstable_by(f64::total_cmp);
        Ok(times)
    }
}

/// The result of a request; `None` if the second task was lost.
async fn answer<R: AsyncRuntime>(task: Spin, number: u64) -> Option<u64> {
    let half = task.spin(number);
    let (sender, other_half) = oneshot::channel();
    R::detach(R::spawn(async move {
        // Nobody listens if the first was lost.
        let _ = sender.send(task.spin(half));
    }));
    other_half.await.ok()
}
