//! What a lane is in the middle of.

use super::{Poll, Ready, Rounds, Sink, Span, SpanKind, Steal};
use heist::trace::{Lane, Outcome, PollSource, TaskId};
use std::io;

/// Spans within spans beyond this are not followed: no program has them.
const MAX_DEPTH: usize = 64;

#[derive(Debug)]
pub(super) struct LaneState {
    lane: Lane,
    /// The innermost last.
    open: Vec<Open>,
    /// Spans that began beyond the depth.
    skipped: u64,
    steal: Option<Steal>,
}

/// What has begun and not ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    start: u64,
    is_exact: bool,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Poll { task: TaskId, source: PollSource, ready: Option<Ready> },
    Span(SpanKind),
}

impl Open {
    pub(super) fn poll(
        start: u64,
        is_exact: bool,
        task: TaskId,
        source: PollSource,
        ready: Option<Ready>,
    ) -> Self {
        Open { start, is_exact, what: What::Poll { task, source, ready } }
    }

    pub(super) fn span(start: u64, kind: SpanKind) -> Self {
        Open { start, is_exact: true, what: What::Span(kind) }
    }

    pub(super) fn is_parked(&self) -> bool {
        matches!(self.what, What::Span(SpanKind::Parked))
    }

    pub(super) fn is_job(&self) -> bool {
        matches!(self.what, What::Span(SpanKind::Job { .. }))
    }

    fn is_poll_of(&self, wanted: TaskId) -> bool {
        matches!(self.what, What::Poll { task, .. } if task == wanted)
    }
}

impl LaneState {
    pub(super) fn new(lane: Lane) -> Self {
        LaneState { lane, open: Vec::new(), skipped: 0, steal: None }
    }

    pub(super) fn begin(&mut self, span: Open) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(span);
        } else {
            self.skipped += 1;
        }
    }

    pub(super) fn end_poll(
        &mut self,
        at: u64,
        is_exact: bool,
        task: TaskId,
        outcome: Outcome,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        let end = Some((outcome, is_exact));
        self.end_last(at, |open| open.is_poll_of(task), end, sink)
    }

    pub(super) fn end_span(
        &mut self,
        at: u64,
        is_meant: fn(&Open) -> bool,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        self.end_last(at, is_meant, None, sink)
    }

    /// The worker was woken again and again for nothing. It sleeps before and after that, unless it
    /// is a spare one, which is nowhere.
    pub(super) fn rounds(
        &mut self,
        start: u64,
        end: u64,
        rounds: Rounds,
        sleeps: bool,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        if sleeps {
            self.end_span(start, Open::is_parked, sink)?;
        }
        let (lane, what) = (self.lane, SpanKind::Rounds(rounds));
        sink.span(&Span { lane, what, start, end, depth: self.open.len() })?;
        if sleeps {
            self.begin(Open::span(end, SpanKind::Parked));
        }
        Ok(())
    }

    /// Ends the innermost span that is meant, and with it those within, whose ends were lost. If
    /// there is none its beginning was lost.
    fn end_last(
        &mut self,
        at: u64,
        is_meant: impl Fn(&Open) -> bool,
        end: Option<(Outcome, bool)>,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        let Some(index) = self.open.iter().rposition(is_meant) else { return Ok(()) };
        while self.open.len() > index + 1 {
            self.pop(at, None, sink)?;
        }
        self.pop(at, end, sink)
    }

    pub(super) fn end_all(&mut self, at: u64, sink: &mut impl Sink) -> io::Result<()> {
        while !self.open.is_empty() {
            self.pop(at, None, sink)?;
        }
        Ok(())
    }

    fn pop(
        &mut self,
        end: u64,
        ended: Option<(Outcome, bool)>,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        let Some(Open { start, is_exact, what }) = self.open.pop() else { return Ok(()) };
        let (lane, depth) = (self.lane, self.open.len());
        match what {
            What::Poll { task, source, ready } => sink.poll(&Poll {
                lane,
                task,
                source,
                start,
                end,
                outcome: ended.map(|(outcome, _)| outcome),
                is_exact: is_exact && ended.is_some_and(|(_, is_exact)| is_exact),
                depth,
                ready,
            }),
            What::Span(what) => sink.span(&Span { lane, what, start, end, depth }),
        }
    }

    pub(super) fn begin_steal(&mut self, steal: Steal) {
        self.steal = Some(steal);
    }

    /// The thief goes on with something else.
    pub(super) fn end_steal(&mut self, at: u64, sink: &mut impl Sink) -> io::Result<()> {
        match self.steal.take() {
            Some(steal) => sink.steal(&Steal { end: at, ..steal }),
            None => Ok(()),
        }
    }
}
