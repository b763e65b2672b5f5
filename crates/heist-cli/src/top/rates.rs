//! Rates between two snapshots.

use std::collections::{HashMap, VecDeque};
use std::fmt;

use super::units::time;
use crate::live::{Bucket, Snapshot, Stall, Task, Worker};

/// Two snapshots closer together than this give no rate: a second one is requested at once when the
/// order of the tasks changes. Guessed.
const MIN_WINDOW_NS: u64 = 100_000_000;

/// The number of past busy shares that are kept for each worker: more than fit on a screen.
const HISTORY: usize = 160;

/// What the view shows: the last snapshot, and rates since the one before it.
#[derive(Debug)]
pub struct Picture {
    pub now: Snapshot,
    before: Option<Snapshot>,
    history: Vec<VecDeque<f64>>,
}

/// What a worker did per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WorkerRates {
    /// Share of the time, 0 to 1.
    pub busy: f64,
    pub polls: f64,
    pub steals: f64,
    pub stolen_tasks: f64,
    pub lifo_hits: f64,
    pub parks: f64,
    pub jobs: f64,
}

/// What a task did per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TaskRates {
    /// Share of a worker's time.
    pub busy: f64,
    pub polls: f64,
}

/// What the whole runtime did per second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    pub spawned: f64,
    pub polls: f64,
    pub steals: f64,
    /// Of all seats, 0 to 1.
    pub busy: f64,
}

impl Picture {
    /// The first snapshot: there are no rates yet.
    pub fn first(now: Snapshot) -> Picture {
        Picture { now, before: None, history: Vec::new() }
    }

    /// Moves on to the next snapshot. Of another program, or of another runtime, it is the first.
    pub fn advance(&mut self, next: Snapshot) {
        let is_same = next.pid == self.now.pid
            && next.runtime.id == self.now.runtime.id
            && next.uptime_ns >= self.now.uptime_ns;
        if !is_same {
            *self = Picture::first(next);
            return;
        }
        let is_soon = next.uptime_ns - self.now.uptime_ns < MIN_WINDOW_NS;
        let last = std::mem::replace(&mut self.now, next);
        if is_soon && self.before.is_some() {
            return;
        }
        self.before = (!is_soon).then_some(last);
        self.remember();
    }

    fn remember(&mut self) {
        self.history.resize_with(self.now.workers.len().max(self.history.len()), VecDeque::new);
        for index in 0..self.now.workers.len() {
            let Some(rates) = self.worker(&self.now.workers[index]) else { continue };
            let past = &mut self.history[index];
            if past.len() == HISTORY {
                past.pop_front();
            }
            past.push_back(rates.busy);
        }
    }

    /// Busy shares of the worker at `index`, the newest last.
    pub fn history(&self, index: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        static NONE: VecDeque<f64> = VecDeque::new();
        self.history.get(index).unwrap_or(&NONE).iter().copied()
    }

    /// How long the window is.
    fn window_ns(&self) -> Option<f64> {
        let before = self.before.as_ref()?;
        Some(self.now.uptime_ns.saturating_sub(before.uptime_ns).max(1) as f64)
    }

    /// `None` if the worker was not in the previous snapshot.
    pub fn worker(&self, worker: &Worker) -> Option<WorkerRates> {
        let window = self.window_ns()?;
        let before = self.before.as_ref()?;
        // A spare worker that was not there before may have done all of it long ago.
        let before = before.workers.iter().find(|it| it.worker == worker.worker)?;
        let rate = |count: fn(&Worker) -> u64| {
            count(worker).saturating_sub(count(before)) as f64 * 1e9 / window
        };
        Some(WorkerRates {
            busy: (rate(|it| it.busy_ns) / 1e9).min(1.0),
            polls: rate(|it| it.polls),
            steals: rate(|it| it.steals),
            stolen_tasks: rate(|it| it.stolen_tasks),
            lifo_hits: rate(|it| it.lifo_hits),
            parks: rate(|it| it.parks),
            jobs: rate(|it| it.jobs),
        })
    }

    pub fn totals(&self) -> Option<Totals> {
        let window = self.window_ns()?;
        let before = self.before.as_ref()?;
        let sum = |part: fn(&WorkerRates) -> f64| -> f64 {
            self.now.workers.iter().filter_map(|it| self.worker(it)).map(|it| part(&it)).sum()
        };
        let spawned = self.now.runtime.spawned.saturating_sub(before.runtime.spawned);
        Some(Totals {
            spawned: spawned as f64 * 1e9 / window,
            polls: sum(|it| it.polls),
            steals: sum(|it| it.steals),
            busy: (sum(|it| it.busy) / self.now.runtime.num_workers.max(1) as f64).min(1.0),
        })
    }

    /// The tasks, each with its rates; none if it is not known what the task had done before.
    pub fn tasks(&self) -> Vec<(&Task, Option<TaskRates>)> {
        let before = self.before.iter().flat_map(|it| &it.tasks).map(|task| (task.id, task));
        let before: HashMap<u64, &Task> = before.collect();
        let window = self.window_ns();
        let rates = |task: &Task| {
            let window = window?;
            let (polls, busy_ns) = match before.get(&task.id) {
                Some(known) => (known.polls, known.busy_ns),
                None if (task.age_ns as f64) < window => (0, 0),
                None => return None,
            };
            Some(TaskRates {
                busy: (task.busy_ns.saturating_sub(busy_ns) as f64 / window).min(1.0),
                polls: task.polls.saturating_sub(polls) as f64 * 1e9 / window,
            })
        };
        self.now.tasks.iter().map(|task| (task, rates(task))).collect()
    }

    /// A histogram: since the beginning, or of the time between the snapshots.
    pub fn histogram(&self, which: Which, window: Window) -> Vec<Bucket> {
        let of = |snapshot: &Snapshot| match which {
            Which::PollTime => snapshot.histograms.poll_time.clone(),
            Which::Delay => snapshot.histograms.scheduling_delay.clone(),
        };
        let mut buckets = of(&self.now);
        if let (Window::Last, Some(before)) = (window, &self.before) {
            for (bucket, base) in buckets.iter_mut().zip(of(before)) {
                bucket.count = bucket.count.saturating_sub(base.count);
            }
        }
        buckets
    }

    /// The stalls, the newest first. One that was reported when it was found and again when it had
    /// ended is there once.
    pub fn stalls(&self) -> Vec<&Stall> {
        let stalls = &self.now.recent_stalls;
        let has_ended = |index: usize, stall: &Stall| {
            stalls[index + 1..].iter().any(|later| {
                (later.task, later.worker) == (stall.task, stall.worker)
                    && later.duration_ns >= stall.duration_ns
            })
        };
        let is_last = |(index, stall): &(usize, &Stall)| stall.is_over || !has_ended(*index, stall);
        stalls.iter().enumerate().filter(is_last).map(|(_, stall)| stall).rev().collect()
    }
}

/// Which histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    PollTime,
    Delay,
}

/// Over which time a histogram is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Since the runtime began.
    All,
    /// Between the last two snapshots.
    Last,
}

/// Below which bound a share of the values lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantile {
    AtMost(u64),
    /// In the last bucket, above its bound.
    Above(u64),
}

impl Quantile {
    /// The quantile; `None` if there are no values.
    pub fn of(buckets: &[Bucket], share: f64) -> Option<Quantile> {
        let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
        let wanted = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let mut last = 0;
        for bucket in buckets {
            seen += bucket.count;
            match bucket.le_ns {
                Some(bound) if seen >= wanted => return Some(Quantile::AtMost(bound)),
                None if seen >= wanted => return Some(Quantile::Above(last)),
                bound => last = bound.unwrap_or(last),
            }
        }
        None
    }

    pub fn bound(self) -> u64 {
        match self {
            Quantile::AtMost(bound) | Quantile::Above(bound) => bound,
        }
    }
}

impl fmt::Display for Quantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantile::AtMost(bound) => write!(f, "≤{}", time(*bound)),
            Quantile::Above(bound) => write!(f, ">{}", time(*bound)),
        }
    }
}
