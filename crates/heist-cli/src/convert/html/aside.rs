//! What no worker runs: closures, and tasks of a `LocalSet`. Those that run at the same time have
//! rows of their own.

use super::over_time::OverTime;
use super::track::Track;
use heist::trace::{Outcome, TaskId};
use std::collections::BTreeMap;

/// The number of closures that are followed at the same time: there are fewer threads than that.
const MOST: usize = 1 << 16;

/// A run from its start to its end, or to the end of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) task: TaskId,
    pub(super) start: u64,
    pub(super) end: u64,
    /// None: it had not ended when the trace did.
    pub(super) outcome: Option<Outcome>,
    /// Which row it has; none: there was no room.
    pub(super) row: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Asides {
    pub(super) rows: Vec<(Track, OverTime)>,
    /// Whether each row is in use now.
    taken: Vec<bool>,
    open: BTreeMap<TaskId, (Option<usize>, u64)>,
    /// Those that had no row.
    pub(super) hidden: u64,
}

impl Asides {
    pub(super) fn new(rows: Vec<(Track, OverTime)>) -> Self {
        let taken = vec![false; rows.len()];
        Asides { rows, taken, open: BTreeMap::new(), hidden: 0 }
    }

    pub(super) fn start(&mut self, at: u64, task: TaskId) {
        if self.open.len() >= MOST || self.open.contains_key(&task) {
            return;
        }
        let row = self.taken.iter().position(|is_taken| !is_taken);
        match row {
            Some(row) => self.taken[row] = true,
            None => self.hidden += 1,
        }
        self.open.insert(task, (row, at));
    }

    /// None: it began before the trace did.
    pub(super) fn end(&mut self, at: u64, task: TaskId, outcome: Outcome) -> Option<Run> {
        let (row, start) = self.open.remove(&task)?;
        row.into_iter().for_each(|row| self.taken[row] = false);
        Some(Run { task, start, end: at.max(start), outcome: Some(outcome), row })
    }

    /// Those that run when the trace ends.
    pub(super) fn end_all(&mut self, at: u64) -> Vec<Run> {
        let open = std::mem::take(&mut self.open).into_iter();
        open.map(|(task, (row, start))| Run { task, start, end: at, outcome: None, row }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asides(rows: usize) -> Asides {
        let row = |_| (Track::new(0, 0), OverTime::new(0, 100));
        Asides::new((0..rows).map(row).collect())
    }

    #[test]
    fn each_has_the_first_row_that_is_free() {
        let mut asides = asides(2);
        for (at, task) in [(1, 1), (2, 2), (3, 3), (4, 1)] {
            asides.start(at, TaskId(task));
        }
        assert_eq!(asides.hidden, 1);
        let first = asides.end(10, TaskId(1), Outcome::Done).unwrap();
        assert_eq!((first.row, first.start, first.end), (Some(0), 1, 10));
        assert!(asides.end(11, TaskId(1), Outcome::Done).is_none());
        asides.start(12, TaskId(4));
        let rows: Vec<_> = asides.end_all(20).iter().map(|run| (run.task.0, run.row)).collect();
        assert_eq!(rows, [(2, Some(1)), (3, None), (4, Some(0))]);
    }
}
