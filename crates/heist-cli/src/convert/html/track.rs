//! The spans of a lane, few enough to be drawn.
//!
//! With a resolution r above 0, what is shorter than r is put together with its neighbours into a
//! block, which ends when it has reached 2r, before a pause of r, and before a span of r. So of
//! each of the three there is at most one per r.

use super::super::follow::{Poll, Span, SpanKind};
use super::aside::Run;
use heist::trace::{Outcome, PollSource};

const POLL: i64 = 0;
const JOB: i64 = 1;
const BLOCK: i64 = 2;
const PARKED: i64 = 3;

/// Replaces the source of a poll that came from no worker's queue.
const NO_QUEUE: i64 = 5;

/// Spans within spans are drawn up to here.
const MAX_DEPTH: usize = 3;

#[derive(Debug)]
pub(super) struct Track {
    resolution: u64,
    /// The time from which the next span's start is counted.
    last: u64,
    block: Option<Block>,
    /// Six numbers a span: kind + 4 * depth, start since the start of the span before, length, and
    /// for a poll title, task and flags; for a block how many, and how much of it they took; for a
    /// sleep how often the worker was woken for nothing, and how long it was awake.
    numbers: Vec<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    start: u64,
    end: u64,
    count: u64,
    busy: u64,
}

impl Track {
    pub(super) fn new(start: u64, resolution: u64) -> Self {
        Track { resolution, last: start, block: None, numbers: Vec::new() }
    }

    /// Whether a span is drawn by itself. If not, it is for [`Track::merge`].
    pub(super) fn is_drawn(&self, length: u64, depth: usize) -> bool {
        let is_long = length >= self.resolution;
        is_long && depth <= MAX_DEPTH && (self.resolution == 0 || depth == 0)
    }

    pub(super) fn poll(&mut self, poll: &Poll, title: usize) {
        let source = match poll.source {
            PollSource::LifoSlot => 0,
            PollSource::Ring => 1,
            PollSource::Inject => 2,
            PollSource::Stolen => 3,
            PollSource::Pinned => 4,
            _ => 7,
        };
        let flags = source | outcome(poll.outcome) << 3 | i64::from(!poll.is_exact) << 6;
        let rest = [title as i64, poll.task.0 as i64, flags];
        self.push(POLL, poll.depth, poll.start, poll.end, rest);
    }

    /// Drawn as a poll is.
    pub(super) fn run(&mut self, run: &Run, title: usize) {
        let flags = NO_QUEUE | outcome(run.outcome) << 3;
        self.push(POLL, 0, run.start, run.end, [title as i64, run.task.0 as i64, flags]);
    }

    pub(super) fn span(&mut self, span: &Span) {
        let length = span.end - span.start;
        let is_drawn = self.is_drawn(length, span.depth);
        match span.what {
            SpanKind::Job { is_stolen } if is_drawn => {
                let rest = [i64::from(is_stolen), 0, 0];
                self.push(JOB, span.depth, span.start, span.end, rest);
            }
            SpanKind::Job { .. } => self.merge(span.start, span.end, span.depth),
            SpanKind::Parked if is_drawn => {
                self.push(PARKED, span.depth, span.start, span.end, [0; 3]);
            }
            SpanKind::Rounds(rounds) if is_drawn => {
                let rest = [rounds.count.into(), rounds.awake as i64, 0];
                self.push(PARKED, span.depth, span.start, span.end, rest);
            }
            SpanKind::Parked | SpanKind::Rounds(_) => {}
        }
    }

    /// Puts a short span together with those beside it.
    pub(super) fn merge(&mut self, start: u64, end: u64, depth: usize) {
        if depth > 0 {
            return;
        }
        let is_apart = |block: &Block| {
            let is_pause = start.saturating_sub(block.end) >= self.resolution;
            is_pause || block.end - block.start >= 2 * self.resolution
        };
        if self.block.as_ref().is_some_and(is_apart) {
            self.end_block();
        }
        let block = self.block.get_or_insert(Block { start, end, count: 0, busy: 0 });
        block.end = block.end.max(end);
        block.count += 1;
        block.busy += end - start;
    }

    fn end_block(&mut self) {
        if let Some(Block { start, end, count, busy }) = self.block.take() {
            self.append(BLOCK, start, end, [count as i64, busy as i64, 0]);
        }
    }

    fn push(&mut self, kind: i64, depth: usize, start: u64, end: u64, rest: [i64; 3]) {
        self.end_block();
        self.append(kind + 4 * depth as i64, start, end, rest);
    }

    fn append(&mut self, kind: i64, start: u64, end: u64, rest: [i64; 3]) {
        let step = start as i64 - self.last as i64;
        self.last = start;
        self.numbers.extend([kind, step, (end - start) as i64]);
        self.numbers.extend(rest);
    }

    pub(super) fn finish(mut self) -> Vec<i64> {
        self.end_block();
        self.numbers
    }
}

fn outcome(outcome: Option<Outcome>) -> i64 {
    match outcome {
        Some(Outcome::Done) => 0,
        Some(Outcome::Waits) => 1,
        Some(Outcome::Again) => 2,
        Some(_) => 7,
        None => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_spans_are_put_together() {
        let mut track = Track::new(1000, 100);
        assert!(!track.is_drawn(99, 0) && track.is_drawn(100, 0));
        track.merge(1010, 1020, 0);
        track.merge(1030, 1050, 0);
        // A pause.
        track.merge(1150, 1160, 0);
        assert_eq!(track.finish(), [2, 10, 40, 2, 30, 0, 2, 140, 10, 1, 10, 0]);
    }

    #[test]
    fn their_number_is_limited() {
        for (length, pause) in [(1, 0), (1, 99), (99, 1), (50, 100), (99, 0)] {
            let mut track = Track::new(0, 100);
            let mut now = 0;
            while now < 1_000_000 {
                track.merge(now, now + length, 0);
                now += length + pause;
            }
            let spans = track.finish().len() / 6;
            assert!(spans <= 3 * 10_000, "{spans} spans of {length} with pauses of {pause}");
        }
    }
}
