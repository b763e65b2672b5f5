//! Proof that each of a number of tasks ran once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::bench::Fault;

/// Counts the tasks that have run; the last one wakes the waiter.
///
/// One word for all, so that a report is one atomic operation: the lower [`COUNT_BITS`] bits count
/// the reports, the others add up the numbers of the tasks that reported. A task that runs twice
/// while another is lost shows in the sum.
pub struct RollCall {
    word: AtomicU64,
    expected: AtomicU64,
    done: Mutex<Option<oneshot::Sender<()>>>,
}

const COUNT_BITS: u32 = 24;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// The sum of the numbers below it fits.
const MOST: u64 = 1 << 20;
const _: () = assert!(MOST <= COUNT_MASK && MOST * (MOST - 1) / 2 < 1 << (64 - COUNT_BITS));

impl RollCall {
    /// Leaked, one a story: with an `Arc`, each task would count two references besides, on
    /// a cache line that all of them share, and the runtimes would look more alike.
    pub fn leak() -> &'static Self {
        Box::leak(Box::new(RollCall {
            word: AtomicU64::new(0),
            expected: AtomicU64::new(0),
            done: Mutex::new(None),
        }))
    }

    /// Expects the numbers below `expected` from now on; returns what waits for all of them.
    ///
    /// Also finds tasks that reported since the last check.
    pub fn begin(&self, expected: u64) -> Result<impl Future<Output = ()> + Send + use<>, Fault> {
        assert!((1..=MOST).contains(&expected), "RollCall::begin: from 1 to {MOST} tasks");
        self.check()?;
        let (sender, receiver) = oneshot::channel();
        self.expected.store(expected, Ordering::Relaxed);
        self.word.store(0, Ordering::Relaxed);
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
        Ok(async {
            // There is no error: the roll keeps the sender until all are here.
            let _ = receiver.await;
        })
    }

    /// Task `number` has run.
    #[inline]
    pub fn here(&self, number: u64) {
        // AcqRel: pairs with itself; the last task to report sees what the others did.
        let before = self.word.fetch_add(number << COUNT_BITS | 1, Ordering::AcqRel);
        if (before & COUNT_MASK) + 1 == self.expected.load(Ordering::Relaxed) {
            self.all_are_here();
        }
    }

    #[cold]
    fn all_are_here(&self) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Nobody waits any more if the story has given up.
        let _ = done.map(|done| done.send(()));
    }

    /// Checks the roll. Must be called when all tasks have been waited for.
    pub fn check(&self) -> Result<(), Fault> {
        let expected = self.expected.load(Ordering::Relaxed);
        // Acquire: pairs with the AcqRel in here().
        let word = self.word.load(Ordering::Acquire);
        let count = word & COUNT_MASK;
        if count != expected {
            return Err(Fault::Wrong { what: "tasks that ran", expected, found: count });
        }
        let (sum, found) = (expected * expected.saturating_sub(1) / 2, word >> COUNT_BITS);
        if found != sum {
            let what = "sum of the numbers of the tasks that ran";
            return Err(Fault::Wrong { what, expected: sum, found });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_lite::future::{block_on, poll_once};

    fn says(roll: &RollCall) -> String {
        roll.check().unwrap_err().to_string()
    }

    #[test]
    fn all_once_is_right_and_ends_the_wait() {
        let roll = RollCall::leak();
        for tasks in [1, 5, 1000] {
            let mut all = Box::pin(roll.begin(tasks).unwrap());
            for number in 0..tasks {
                assert!(block_on(poll_once(&mut all)).is_none());
                roll.here(number);
            }
            block_on(all);
            roll.check().unwrap();
        }
    }

    #[test]
    fn a_lost_task_a_double_and_a_swap_are_told_apart() {
        let roll = |numbers: &[u64]| {
            let roll = RollCall::leak();
            drop(roll.begin(3).unwrap());
            numbers.iter().for_each(|number| roll.here(*number));
            says(roll)
        };
        assert_eq!(roll(&[0, 2]), "tasks that ran: expected 3, found 2");
        assert_eq!(roll(&[0, 1, 2, 2]), "tasks that ran: expected 3, found 4");
        let swapped = "sum of the numbers of the tasks that ran: expected 3, found 4";
        assert_eq!(roll(&[0, 2, 2]), swapped);
    }

    #[test]
    fn a_late_report_is_found_by_the_next_roll() {
        let roll = RollCall::leak();
        drop(roll.begin(2).unwrap());
        (0..2).for_each(|number| roll.here(number));
        roll.check().unwrap();
        roll.here(1);
        assert!(roll.begin(2).is_err());
    }

    #[test]
    fn the_largest_roll_does_not_overflow() {
        let roll = RollCall::leak();
        drop(roll.begin(MOST).unwrap());
        (0..MOST).for_each(|number| roll.here(number));
        roll.check().unwrap();
    }
}
