//! How long until a task runs that a task on another worker has woken.
//!
//! The waker keeps its worker: it spins until the sleeper has answered. So the sleeper has to
//! be run by another worker, which was idle and has to be told. That takes some care:
//!
//! - Runtimes with a slot for the task that was woken last run it next on the same worker and
//!   let nobody steal it, so the sleeper would wait for the waker to end. A decoy is woken
//!   right after the sleeper and takes the slot.
//! - Between two rounds the waker lets the decoy run, then spins for a while, so that the
//!   other worker is asleep again and the sleeper waits. That is not timed.
//! - A waker that gets no answer gives way after [`KEEP`], and the sleeper may run in its
//!   place: the wait is in the result. With one worker it always is.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::{AsyncRuntime, Story, on_worker};
use crate::bench::{Bench, Fault, Runtime, Sample};
use crate::unit::Unit;

/// How long the waker keeps its worker at most: far beyond any wake-up.
const KEEP: Duration = Duration::from_millis(1);

/// Guessed: a worker without work sleeps by then.
const UNTIL_IDLE: Duration = Duration::from_micros(100);

pub fn bench() -> Bench {
    let mut bench = super::bench(
        "wake_latency",
        "a task wakes another, to be run by another worker that was idle; until it answers",
        Unit::Ns,
        |setup| WakeUps { rounds: setup.scaled(201) },
    );
    // nio puts the sleeper behind the waker, though a worker is idle: the first worker with at
    // most one task is good enough for it. Its result would be KEEP.
    bench.sides.retain(|side| side.runtime != Runtime::Nio);
    bench
}

struct WakeUps {
    rounds: u64,
}

impl Story for WakeUps {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let rounds = self.rounds;
        let (mut waits, answers) = on_worker(runtime, async move {
            let (sleeper, decoy) = (Sleeper::<R>::start(), Sleeper::<R>::start());
            sleeper.let_answer(0).await;
            let mut waits = Vec::with_capacity(rounds as usize);
            for round in 1..=rounds {
                decoy.let_answer(round - 1).await;
                spin(UNTIL_IDLE, || false);
                let start = Instant::now();
                sleeper.wake();
                decoy.wake();
                sleeper.insist_on_answer(round).await;
                waits.push(start.elapsed());
            }
            decoy.stop().await;
            (waits, sleeper.stop().await)
        });
        if answers != rounds {
            return Err(Fault::Wrong { what: "answers", expected: rounds, found: answers });
        }
        // The median: a round in which the system took the core away says nothing.
        waits.sort_unstable();
        Ok(Sample::Timed { elapsed: waits[waits.len() / 2], operations: 1 })
    }
}

/// A task that sleeps until woken, answers and sleeps again.
struct Sleeper<R: AsyncRuntime> {
    bed: Arc<Bed>,
    task: R::Task<()>,
}

#[derive(Default)]
struct Bed {
    alarm: Notify,
    /// How often the task was about to sleep: once when it began, and once per answer.
    answers: AtomicU64,
    stop: AtomicBool,
}

impl<R: AsyncRuntime> Sleeper<R> {
    fn start() -> Self {
        let bed = Arc::new(Bed::default());
        let task = R::spawn(sleep(Arc::clone(&bed)));
        Sleeper { bed, task }
    }

    fn wake(&self) {
        self.bed.alarm.notify_one();
    }

    fn has_answered(&self, times: u64) -> bool {
        self.bed.answers.load(Ordering::Relaxed) > times
    }

    /// Yields until the task has answered `times` times.
    async fn let_answer(&self, times: u64) {
        while !self.has_answered(times) {
            R::yield_now().await;
        }
    }

    /// Keeps the worker, so that the task has to answer `times` times on another one.
    async fn insist_on_answer(&self, times: u64) {
        if !spin(KEEP, || self.has_answered(times)) {
            self.let_answer(times).await;
        }
    }

    /// Returns how often it answered.
    async fn stop(self) -> u64 {
        self.bed.stop.store(true, Ordering::Relaxed);
        self.wake();
        R::join(self.task).await;
        self.bed.answers.load(Ordering::Relaxed) - 1
    }
}

async fn sleep(bed: Arc<Bed>) {
    while !bed.stop.load(Ordering::Relaxed) {
        bed.answers.fetch_add(1, Ordering::Relaxed);
        bed.alarm.notified().await;
    }
}

/// Spins until `over`, for at most `longest`. Returns whether it was `over`.
fn spin(longest: Duration, over: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !over() {
        if start.elapsed() >= longest {
            return false;
        }
        spin_loop();
    }
    true
}
