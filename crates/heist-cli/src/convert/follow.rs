//! What began and ended, and what came of which wake.

mod lane;
mod tasks;

use super::{Window, WriteError, nanos};
use heist::trace::{Event, EventKind, Lane, Outcome, PollSource, StallKind, TaskId, Trace};
use lane::{LaneState, Open};
use std::collections::BTreeMap;
use std::io;
use tasks::Tasks;

/// The receiver of what was found. Spans arrive when they end; those of one lane are nested.
pub(super) trait Sink {
    fn poll(&mut self, poll: &Poll) -> io::Result<()>;
    fn span(&mut self, span: &Span) -> io::Result<()>;
    fn steal(&mut self, steal: &Steal) -> io::Result<()>;
    fn seat(&mut self, sitting: &Sitting) -> io::Result<()>;
    fn stall(&mut self, stall: &Stall) -> io::Result<()>;
    /// Anything else, as it stands in the trace.
    fn other(&mut self, at: u64, lane: Lane, kind: EventKind) -> io::Result<()>;
}

/// A poll, from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Poll {
    pub(super) lane: Lane,
    pub(super) task: TaskId,
    pub(super) source: PollSource,
    pub(super) start: u64,
    pub(super) end: u64,
    /// None: it had not ended when the trace did.
    pub(super) outcome: Option<Outcome>,
    /// Whether both times were read from the clock.
    pub(super) is_exact: bool,
    /// How many spans it lies within.
    pub(super) depth: usize,
    /// Since when the task was ready to be polled.
    pub(super) ready: Option<Ready>,
}

/// When a task became ready, and by which cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) at: u64,
    pub(super) cause: Cause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Woken(Deed),
    Spawned(Deed),
    /// It asked to be polled again.
    Again,
}

/// What has woken or spawned a task, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) by: Lane,
    pub(super) at: u64,
}

/// A job, or a sleep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) lane: Lane,
    pub(super) what: SpanKind,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpanKind {
    Job {
        is_stolen: bool,
    },
    Parked,
    /// Asleep, or away from its seat, and woken again and again for nothing.
    Rounds(Rounds),
}

/// How often, in how many of them a search has failed, and how long the worker was awake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rounds {
    pub(super) count: u32,
    pub(super) searches: u32,
    pub(super) awake: u64,
}

/// A theft, and until when the thief was at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steal {
    pub(super) thief: Lane,
    pub(super) victim: Lane,
    pub(super) tasks: u32,
    pub(super) at: u64,
    pub(super) end: u64,
}

/// A worker on a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sitting {
    pub(super) seat: u16,
    pub(super) worker: u16,
    pub(super) start: u64,
    pub(super) end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stall {
    pub(super) at: u64,
    pub(super) worker: u16,
    pub(super) task: TaskId,
    pub(super) kind: StallKind,
}

/// Reads the trace and tells `sink`. `range` is where the window's events begin and end.
pub(super) fn follow(
    trace: &Trace,
    window: Window,
    range: (u64, u64),
    sink: &mut impl Sink,
) -> Result<(), WriteError> {
    let mut follower = Follower {
        sink,
        tasks: Tasks::default(),
        lanes: BTreeMap::new(),
        seats: BTreeMap::new(),
        start: range.0,
        end: range.1,
    };
    for event in trace.events()? {
        let event = event?;
        let at = nanos(event.at);
        if at > window.until {
            break;
        }
        if at >= window.from {
            follower.event(at, &event)?;
        }
    }
    follower.finish(trace.seats(), range.1)?;
    Ok(())
}

struct Follower<'s, S> {
    sink: &'s mut S,
    tasks: Tasks,
    lanes: BTreeMap<Lane, LaneState>,
    /// The worker that has the seat and since when, or `None`. Seats without an event are not
    /// included.
    seats: BTreeMap<u16, Option<(u16, u64)>>,
    /// When the trace begins and ends.
    start: u64,
    end: u64,
}

impl<S: Sink> Follower<'_, S> {
    fn event(&mut self, at: u64, event: &Event) -> io::Result<()> {
        let (lane, kind) = (event.lane, event.kind);
        let state = self.lanes.entry(lane).or_insert_with(|| LaneState::new(lane));
        let deed = Deed { by: lane, at };
        match kind {
            EventKind::Spawn { task } => {
                self.tasks.became_ready(task, Cause::Spawned(deed), at);
                self.sink.other(at, lane, kind)
            }
            EventKind::Wake { task } => {
                self.tasks.became_ready(task, Cause::Woken(deed), at);
                self.sink.other(at, lane, kind)
            }
            EventKind::PollStart { task, source } => {
                let ready = self.tasks.started(task, at);
                state.end_steal(at, self.sink)?;
                state.begin(Open::poll(at, event.is_exact, task, source, ready));
                Ok(())
            }
            EventKind::PollEnd { task, outcome } => {
                self.tasks.ended(task, outcome, at);
                state.end_poll(at, event.is_exact, task, outcome, self.sink)
            }
            EventKind::Steal { victim, tasks } => self.steal(at, lane, Lane::Worker(victim), tasks),
            EventKind::Park => {
                state.end_steal(at, self.sink)?;
                state.begin(Open::span(at, SpanKind::Parked));
                Ok(())
            }
            EventKind::Unpark { .. } => state.end_span(at, Open::is_parked, self.sink),
            EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos } => {
                let rounds = Rounds { count: rounds, searches, awake: awake_nanos };
                let end = at.saturating_add(nanos).min(self.end);
                state.end_steal(at, self.sink)?;
                state.rounds(at, end, rounds, seat.is_none(), self.sink)
            }
            EventKind::JobStart { is_stolen } => {
                state.end_steal(at, self.sink)?;
                state.begin(Open::span(at, SpanKind::Job { is_stolen }));
                Ok(())
            }
            EventKind::JobEnd => state.end_span(at, Open::is_job, self.sink),
            EventKind::SeatTaken { seat } => self.seat_taken(at, lane, seat),
            EventKind::SeatLeft { seat } => match lane {
                Lane::Worker(worker) => self.seat_left(at, worker, seat),
                Lane::Outside => Ok(()),
            },
            EventKind::SeatRobbed { seat, from } => self.seat_left(at, from, seat),
            EventKind::Stall { worker, task, kind } => {
                self.sink.stall(&Stall { at, worker, task, kind })
            }
            // The book has read these.
            EventKind::SpawnedAt { .. } => Ok(()),
            _ => self.sink.other(at, lane, kind),
        }
    }

    fn steal(&mut self, at: u64, thief: Lane, victim: Lane, tasks: u32) -> io::Result<()> {
        let state = self.lanes.entry(thief).or_insert_with(|| LaneState::new(thief));
        state.end_steal(at, self.sink)?;
        state.begin_steal(Steal { thief, victim, tasks, at, end: at });
        Ok(())
    }

    fn seat_taken(&mut self, at: u64, lane: Lane, seat: u16) -> io::Result<()> {
        let Lane::Worker(worker) = lane else { return Ok(()) };
        if let Some(Some((before, start))) = self.seats.insert(seat, Some((worker, at))) {
            self.sink.seat(&Sitting { seat, worker: before, start, end: at })?;
        }
        Ok(())
    }

    fn seat_left(&mut self, at: u64, worker: u16, seat: u16) -> io::Result<()> {
        let (worker, start) = match self.seats.insert(seat, None) {
            Some(Some(sitting)) => sitting,
            // It was taken already.
            Some(None) => return Ok(()),
            // It sat there from the beginning, as far as the trace knows.
            None => (worker, self.start),
        };
        self.sink.seat(&Sitting { seat, worker, start, end: at })
    }

    /// Ends all that has not ended. Seats of which nothing was heard have the workers that they
    /// have at home.
    fn finish(mut self, seats: usize, end: u64) -> io::Result<()> {
        for state in self.lanes.values_mut() {
            state.end_steal(end, self.sink)?;
            state.end_all(end, self.sink)?;
        }
        let homes = (0..seats).filter_map(|seat| u16::try_from(seat).ok());
        for seat in homes.filter(|seat| self.lanes.contains_key(&Lane::Worker(*seat))) {
            self.seats.entry(seat).or_insert(Some((seat, self.start)));
        }
        for (seat, sitting) in self.seats {
            if let Some((worker, start)) = sitting {
                self.sink.seat(&Sitting { seat, worker, start, end })?;
            }
        }
        Ok(())
    }
}
