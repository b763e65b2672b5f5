//! Tasks that talk through channels, which are `tokio::sync` on all sides: what differs is how
//! fast the task at the other end gets to run.

use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};

use super::{AsyncRuntime, Story, bench, on_worker};
use crate::bench::{Bench, Fault, Sample};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;

pub fn benches() -> Vec<Bench> {
    vec![
        bench(
            "mpsc",
            "4 tasks send 10 000 items to one, through a channel of 100 slots; per item",
            Unit::Ns,
            |setup| Mpsc { items: setup.scaled(10_000) },
        ),
        bench(
            "oneshot",
            "a task asks another 1000 times, each answer is a new oneshot; per question",
            Unit::Ns,
            |setup| Questions { number: setup.scaled(1000) },
        ),
    ]
}

const SENDERS: u64 = 4;
const SLOTS: usize = 100;

struct Mpsc {
    items: u64,
}

impl Story for Mpsc {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let items = self.items;
        let (elapsed, found) = on_worker(runtime, async move {
            let start = Instant::now();
            let (sender, mut receiver) = mpsc::channel(SLOTS);
            for first in 0..SENDERS {
                let sender = sender.clone();
                R::detach(R::spawn(async move {
                    for item in (first..items).step_by(SENDERS as usize) {
                        // A receiver that is gone is missing items, and that is found.
                        let _ = sender.send(item).await;
                    }
                }));
            }
            drop(sender);
            let mut found = Received::default();
            while let Some(item) = receiver.recv().await {
                found.add(item);
            }
            (start.elapsed(), found)
        });
        Mismatch::check(Received::of_all(items), found)?;
        Ok(Sample::Timed { elapsed, operations: items })
    }
}

struct Questions {
    number: u64,
}

/// What it wants to know, and where the answer goes.
type Question = (u64, oneshot::Sender<u64>);

impl Story for Questions {
    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let (elapsed, found) = on_worker(runtime, ask::<R>(self.number));
        Mismatch::check(Received::of_all(self.number), found)?;
        Ok(Sample::Timed { elapsed, operations: self.number })
    }
}

/// Asks another task `number` questions; returns the duration and the answers.
pub async fn ask<R: AsyncRuntime>(number: u64) -> (Duration, Received) {
    let (ask, questions) = mpsc::unbounded_channel::<Question>();
    let oracle = R::spawn(answer(questions));
    let start = Instant::now();
    let mut found = Received::default();
    for item in 0..number {
        let (sender, receiver) = oneshot::channel();
        let _ = ask.send((item, sender));
        if let Ok(item) = receiver.await {
            found.add(item);
        }
    }
    let elapsed = start.elapsed();
    drop(ask);
    R::join(oracle).await;
    (elapsed, found)
}

async fn answer(mut questions: mpsc::UnboundedReceiver<Question>) {
    while let Some((item, sender)) = questions.recv().await {
        let _ = sender.send(item);
    }
}
