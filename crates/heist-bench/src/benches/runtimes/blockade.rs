//! Tasks that hold all workers of a runtime at once, and do not let go for a while.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futures_lite::future::block_on;

use super::AsyncRuntime;
use crate::bench::Fault;

/// What a task does to its worker.
#[derive(Debug, Clone, Copy)]
pub enum Hold {
    /// A plain blocking call.
    Block,
    /// A loop that needs the CPU.
    Burn,
}

impl Hold {
    fn keep(self, time: Duration) {
        match self {
            Hold::Block => thread::sleep(time),
            Hold::Burn => {
                let start = Instant::now();
                while start.elapsed() < time {
                    spin_loop();
                }
            }
        }
    }
}

/// Tasks, as many as there are workers, each of which holds one.
pub struct Blockade<R: AsyncRuntime> {
    tasks: Vec<R::Task<()>>,
    ended: Arc<AtomicUsize>,
}

/// How long the tasks of the first attempt wait for each other. Shorter than it takes any
/// runtime to find that a worker is held and to have another thread run the rest in its place:
/// tasks that meet by then are on a worker each.
const PATIENCE: Duration = Duration::from_millis(5);

/// The number of attempts. Each waits longer than the one before, by `PATIENCE`, for machines with
/// other load.
const ATTEMPTS: u32 = 20;

impl<R: AsyncRuntime> Blockade<R> {
    /// Returns when all workers are held. Each is from then on for `time`.
    ///
    /// To be called from outside of the runtime, which should have nothing to do.
    pub fn lay(runtime: &R, workers: usize, hold: Hold, time: Duration) -> Result<Self, Fault> {
        let mut found = 0;
        for attempt in 1..=ATTEMPTS {
            let meeting = Arc::new(Meeting::new(workers));
            let blockade = Self::spawn(runtime, workers, hold, time, &meeting, PATIENCE * attempt);
            found = match meeting.outcome() {
                Ok(()) => return Ok(blockade),
                Err(came) => came,
            };
            blockade.join();
        }
        let what = "workers that could be held at once";
        Err(Fault::Wrong { what, expected: workers as u64, found: found as u64 })
    }

    fn spawn(
        runtime: &R,
        workers: usize,
        hold: Hold,
        time: Duration,
        meeting: &Arc<Meeting>,
        patience: Duration,
    ) -> Self {
        let handle = runtime.handle();
        let ended = Arc::new(AtomicUsize::new(0));
        let spawn = || {
            let (meeting, ended) = (Arc::clone(meeting), Arc::clone(&ended));
            R::spawn_from_outside(&handle, async move {
                if meeting.attend(patience) {
                    hold.keep(time);
                }
                ended.fetch_add(1, Ordering::Relaxed);
            })
        };
        let tasks = std::iter::repeat_with(spawn).take(workers).collect();
        Blockade { tasks, ended }
    }

    /// Whether all tasks have let go of their workers.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) == self.tasks.len()
    }

    /// Waits until they have.
    pub fn join(self) {
        self.tasks.into_iter().for_each(|task| block_on(R::join(task)));
    }
}

/// A meeting of a number of threads. It takes place if all of them come, and is called off
/// otherwise.
struct Meeting {
    expected: usize,
    arrivals: Mutex<Arrivals>,
    changed: Condvar,
}

struct Arrivals {
    came: usize,
    /// Whether it takes place; None while that is open.
    outcome: Option<bool>,
}

impl Meeting {
    fn new(expected: usize) -> Self {
        let arrivals = Mutex::new(Arrivals { came: 0, outcome: None });
        Meeting { expected, arrivals, changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until all are there, and returns whether they are. The first thread that loses
    /// patience calls it off.
    fn attend(&self, patience: Duration) -> bool {
        let mut arrivals = self.lock();
        if arrivals.outcome.is_none() {
            arrivals.came += 1;
            if arrivals.came == self.expected {
                self.decide(&mut arrivals, true);
            }
        }
        let (mut arrivals, _) = self
            .changed
            .wait_timeout_while(arrivals, patience, |arrivals| arrivals.outcome.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        arrivals.outcome.unwrap_or_else(|| self.decide(&mut arrivals, false))
    }

    fn decide(&self, arrivals: &mut Arrivals, outcome: bool) -> bool {
        arrivals.outcome = Some(outcome);
        self.changed.notify_all();
        outcome
    }

    /// Waits until all are there, or says how many came if it was called off.
    fn outcome(&self) -> Result<(), usize> {
        let arrivals = self
            .changed
            .wait_while(self.lock(), |arrivals| arrivals.outcome.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        if arrivals.outcome == Some(true) { Ok(()) } else { Err(arrivals.came) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::{Heist, Tokio};
    use super::*;

    /// A task that is spawned when all workers are held runs when one is not any more, unless
    /// the runtime does something about it.
    #[test]
    fn all_workers_are_held_for_as_long_as_it_says() {
        let runtime = Tokio::start(3).unwrap();
        for hold in [Hold::Block, Hold::Burn] {
            let time = Duration::from_millis(30);
            let start = Instant::now();
            let blockade = Blockade::lay(&runtime, 3, hold, time).unwrap();
            let waits = Tokio::spawn_from_outside(&runtime.handle(), async { Instant::now() });
            let ran = block_on(Tokio::join(waits));
            assert!(ran - start >= time, "{hold:?}: {:?}", ran - start);
            blockade.join();
        }
    }

    #[test]
    fn it_is_over_when_all_have_let_go() {
        let runtime = Heist::start(2).unwrap();
        let blockade = Blockade::lay(&runtime, 2, Hold::Block, Duration::from_millis(30)).unwrap();
        while !blockade.is_over() {
            thread::yield_now();
        }
        blockade.join();
    }

    #[test]
    fn more_tasks_than_workers_do_not_meet() {
        let runtime = Tokio::start(1).unwrap();
        let blockade = Blockade::lay(&runtime, 2, Hold::Block, Duration::ZERO);
        let message = blockade.err().expect("one worker cannot do it").to_string();
        assert_eq!(message, "workers that could be held at once: expected 2, found 1");
    }

    #[test]
    fn a_late_thread_finds_the_meeting_called_off() {
        let meeting = Meeting::new(2);
        assert!(!meeting.attend(Duration::from_millis(1)));
        assert!(!meeting.attend(Duration::from_secs(60)));
        assert_eq!(meeting.outcome(), Err(1));
    }
}
