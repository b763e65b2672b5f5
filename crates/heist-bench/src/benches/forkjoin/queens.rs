//! Queens on a board: a search without much to do at each step.

use super::abroad::{self, Abroad, Problem};
use super::{Pool, Work, expect};
use crate::bench::{Bench, Fault, Setup};
use crate::unit::Unit;

pub fn bench() -> Bench {
    abroad::bench(
        "nqueens",
        "all ways to place 12 queens, a join for each further place in a row; per board",
        Unit::Ms,
        Queens::new,
    )
}

struct Queens {
    queens: u32,
    solutions: u64,
    found: u64,
}

impl Queens {
    fn new(setup: &Setup) -> Self {
        let (queens, solutions) = if setup.quick { (6, 4) } else { (12, 14_200) };
        Queens { queens, solutions, found: 0 }
    }
}

impl Work for Queens {
    fn compute<P: Pool>(&mut self, context: &mut P::Context<'_>) {
        let board = Board { all: (1 << self.queens) - 1, columns: 0, rising: 0, falling: 0 };
        self.found = place::<P>(context, board);
    }

    fn check(&mut self) -> Result<(), Fault> {
        expect("solutions", self.solutions, self.found)
    }
}

impl Abroad for Queens {
    fn problem(&self) -> Problem {
        Problem { words: format!("nqueens {}", self.queens), digest: self.solutions }
    }
}

/// What the queens so far attack in the next row, a bit a column.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    rising: u32,
    falling: u32,
}

/// The number of ways to place the remaining queens.
fn place<P: Pool>(context: &mut P::Context<'_>, board: Board) -> u64 {
    if board.columns == board.all {
        return 1;
    }
    let free = board.all & !(board.columns | board.rising | board.falling);
    if free == 0 { 0 } else { place_at::<P>(context, board, free) }
}

/// The number of ways with the next queen at one of the bits of `free`; at least one bit is set.
fn place_at<P: Pool>(context: &mut P::Context<'_>, board: Board, free: u32) -> u64 {
    let bit = free & free.wrapping_neg();
    let next = Board {
        all: board.all,
        columns: board.columns | bit,
        rising: (board.rising | bit) << 1,
        falling: (board.falling | bit) >> 1,
    };
    match free ^ bit {
        0 => place::<P>(context, next),
        others => {
            let (here, there) =
                P::join(context, |c| place::<P>(c, next), |c| place_at::<P>(c, board, others));
            here + there
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Rayon;
    use super::super::tests::outcome;
    use super::*;

    #[test]
    fn as_many_as_there_are() {
        for (queens, solutions) in [(1, 1), (3, 0), (8, 92)] {
            outcome::<Rayon, _>(Queens { queens, solutions, found: 0 }).unwrap();
        }
    }
}
