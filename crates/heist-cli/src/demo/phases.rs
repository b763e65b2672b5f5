//! What is shown.

use super::interrupt::Interrupt;
use crate::doctor::time;
use heist::task::{JoinHandle, yield_now};
use heist::time::{interval, sleep};
use heist::{par, spawn};
use rustix::time::{ClockId, clock_gettime};
use std::future::Future;
use std::hint;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// One of the sights.
pub(super) struct Phase {
    pub(super) title: &'static str,
    pub(super) story: &'static str,
    pub(super) length: Duration,
    /// Gives back what there is to say about it.
    pub(super) play: fn(Plan) -> Playing,
}

type Playing = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

const LENGTH: Duration = Duration::from_millis(900);

pub(super) const PHASES: [Phase; 4] = [
    Phase {
        title: "Balanced work",
        story: "One task spawns a few dozen others, which compute and yield by turns. Idle workers \
                steal half of what another has queued.",
        length: LENGTH,
        play: |plan| Box::pin(balanced(plan)),
    },
    Phase {
        title: "All from one task",
        story: "One task prepares each piece of work and spawns a task for it, and the preparation \
                takes longer than the work: the others are there to help, and have nothing to do.",
        length: LENGTH,
        play: |plan| Box::pin(one_spawner(plan)),
    },
    Phase {
        title: "A blocked worker",
        story: "Tasks call thread::sleep, as if by mistake, while others tick every millisecond. The \
                blocked workers lose their seats to spare ones, and the ticks go on.",
        length: LENGTH,
        play: |plan| Box::pin(blocked(plan)),
    },
    Phase {
        title: "Fork-join beside async",
        story: "A task sums up numbers on all workers with par::map_reduce while others tick every \
                millisecond, on the same threads.",
        length: LENGTH,
        play: |plan| Box::pin(fork_join(plan)),
    },
];

/// The purpose and the end of a phase.
#[derive(Clone)]
pub(super) struct Plan {
    seats: usize,
    end: Instant,
    interrupt: Interrupt,
}

impl Plan {
    pub(super) fn new(seats: usize, length: Duration, interrupt: Interrupt) -> Self {
        Plan { seats, end: Instant::now() + length, interrupt }
    }

    pub(super) fn end(&self) -> Instant {
        self.end
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end || self.interrupt.is_there()
    }
}

/// Awaits all tasks. A panic of a task would be a bug of the demo, and is passed on.
async fn all(tasks: impl IntoIterator<Item = JoinHandle<()>>) {
    // All of them are spawned before the first is waited for.
    let tasks: Vec<_> = tasks.into_iter().collect();
    for task in tasks {
        task.await.expect("a task of the demo neither panics nor is aborted");
    }
}

async fn balanced(plan: Plan) -> Option<String> {
    let root = spawn(async move {
        let work = |plan: Plan| async move {
            while !plan.is_over() {
                burn(Duration::from_micros(200));
                yield_now().await;
            }
        };
        all((0..plan.seats * 8).map(|_| spawn(work(plan.clone())))).await;
    });
    all([root]).await;
    None
}

async fn one_spawner(plan: Plan) -> Option<String> {
    let spawner = spawn(async move {
        let mut tasks = Vec::new();
        while !plan.is_over() {
            burn(Duration::from_micros(400));
            tasks.push(spawn(async { burn(Duration::from_micros(20)) }));
            yield_now().await;
        }
        all(tasks).await;
    });
    all([spawner]).await;
    None
}

async fn blocked(plan: Plan) -> Option<String> {
    let block = |plan: Plan| async move {
        while !plan.is_over() {
            thread::sleep(Duration::from_millis(120));
            sleep(Duration::from_millis(20)).await;
        }
    };
    let ticks = Ticks::start(&plan);
    all((0..plan.seats).map(|_| spawn(block(plan.clone())))).await;
    Some(ticks.remark().await)
}

async fn fork_join(plan: Plan) -> Option<String> {
    let numbers: Arc<[u64]> = (0..200_000).collect();
    let ticks = Ticks::start(&plan);
    let sums = spawn(async move {
        let mut sums = 0;
        while !plan.is_over() {
            let square = |n: &u64| hint::black_box(n.wrapping_mul(*n));
            hint::black_box(par::map_reduce(&numbers[..], square, |a, b| a.wrapping_add(b)));
            sums += 1;
            yield_now().await;
        }
        sums
    });
    let sums: u64 = sums.await.expect("a task of the demo neither panics nor is aborted");
    Some(format!("{sums} sums of 200 000 squares; {}", ticks.remark().await))
}

/// Tasks that tick, and see how late they are.
struct Ticks {
    tasks: Vec<JoinHandle<(u64, Duration)>>,
}

impl Ticks {
    fn start(plan: &Plan) -> Ticks {
        let tick = |plan: Plan| async move {
            let mut ticks = interval(Duration::from_millis(1));
            let (mut count, mut latest) = (0, Duration::ZERO);
            while !plan.is_over() {
                let due = ticks.tick().await;
                latest = latest.max(due.elapsed());
                count += 1;
                burn(Duration::from_micros(20));
            }
            (count, latest)
        };
        Ticks { tasks: (0..plan.seats * 2).map(|_| spawn(tick(plan.clone()))).collect() }
    }

    async fn remark(self) -> String {
        let (mut count, mut latest) = (0, Duration::ZERO);
        for task in self.tasks {
            let ticked = task.await.expect("a task of the demo neither panics nor is aborted");
            (count, latest) = (count + ticked.0, latest.max(ticked.1));
        }
        format!("{count} ticks meanwhile, the latest {} after its time.", time(latest))
    }
}

/// Computes for this much CPU time, so that the load of the machine does not shorten the work.
fn burn(length: Duration) {
    let on_cpu = || {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
    };
    let begun = on_cpu();
    while on_cpu().saturating_sub(begun) < length {
        hint::spin_loop();
    }
}
