//! Chrome's JSON, which Perfetto opens.
//!
//! Process 1 has a track for each worker and one for the threads that are none, process 2 one for
//! each seat. Polls, jobs, sleeps and thefts are slices, and arrows go from a wake or a spawn to
//! the poll that came of it, and from the victim of a theft to the thief.
//!
//! What no worker runs, closures and tasks of a `LocalSet`, has tracks of its own: those may run at
//! the same time.
//!
//! Perfetto sorts by time. Of what has the same time slices come first, the longest before the
//! others, and all that has no length keeps its order. An arrow's end belongs to the slice that is
//! open at that time, so a slice stands before its arrows. It shows the number of a track behind
//! its name, and calls the one that has its process's number, or 0, the main thread: none has. The
//! numbers of tracks are different in all processes, for viewers that know them by nothing else.

mod json;

use super::book::Book;
use super::follow::{self, Cause, Deed, Poll, Sink, Sitting, Span, SpanKind, Stall, Steal};
use super::{Window, WriteError};
use heist::trace::{EventKind, Lane, Outcome, PollSource, StallKind, TaskId, Trace};
use json::{Array, Object};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

const WORKERS: u64 = 1;
const SEATS: u64 = 2;
/// The numbers of tracks: those of workers begin here. "worker 1 1001" is not taken for worker 11,
/// as "worker 1 1" would be.
const FIRST_WORKER: u64 = 1000;
/// Those of seats are above.
const OUTSIDE: u64 = 1 << 17;

pub(super) fn write(
    trace: &Trace,
    book: &Book,
    window: Window,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    write!(out, r#"{{"displayTimeUnit":"ns","otherData":"#)?;
    let mut other = Object::new(out)?;
    other.text("program", trace.program())?;
    other.number("pid", trace.pid().into())?;
    other.number("started_unix_ns", unix_nanos(trace.started()))?;
    other.text("truncated", if trace.is_truncated() { "yes" } else { "no" })?;
    other.end()?;
    write!(out, r#","traceEvents":"#)?;
    let mut sink = Perfetto {
        trace,
        book,
        events: Array::new(out)?,
        arrows: 0,
        counts: Counts::default(),
        aside: BTreeSet::new(),
    };
    sink.tracks()?;
    follow::follow(trace, window, (book.start, book.end), &mut sink)?;
    sink.end_aside()?;
    sink.events.end()?;
    writeln!(out, "}}")?;
    Ok(())
}

struct Perfetto<'a, W> {
    trace: &'a Trace,
    book: &'a Book,
    events: Array<'a, W>,
    /// The number of arrows so far; each arrow has a number.
    arrows: u64,
    counts: Counts,
    /// What runs and is no worker's.
    aside: BTreeSet<TaskId>,
}

/// The number that are followed at the same time: there are fewer threads than that.
const MOST_ASIDE: usize = 1 << 16;

/// Tasks that went this way so far.
#[derive(Debug, Default)]
struct Counts {
    stolen: u64,
    injected: u64,
    overflowed: u64,
}

/// What is said of a track.
enum About<'a> {
    Name(&'a str),
    /// Where it is put: by their names 10 would come before 2.
    Place(u64),
}

impl<W: Write> Perfetto<'_, W> {
    fn tracks(&mut self) -> io::Result<()> {
        let program = self.trace.program();
        self.meta("process_name", WORKERS, OUTSIDE, About::Name(&format!("{program}: workers")))?;
        self.meta("process_sort_index", WORKERS, OUTSIDE, About::Place(0))?;
        for (index, lane) in self.book.lanes.iter().enumerate() {
            self.meta("thread_name", WORKERS, track(*lane), About::Name(&lane.to_string()))?;
            self.meta("thread_sort_index", WORKERS, track(*lane), About::Place(index as u64))?;
        }
        self.meta("process_name", SEATS, seat_track(0), About::Name(&format!("{program}: seats")))?;
        self.meta("process_sort_index", SEATS, seat_track(0), About::Place(1))?;
        for seat in 0..self.trace.seats() as u64 {
            self.meta(
                "thread_name",
                SEATS,
                seat_track(seat),
                About::Name(&format!("seat {seat}")),
            )?;
            self.meta("thread_sort_index", SEATS, seat_track(seat), About::Place(seat))?;
        }
        Ok(())
    }

    fn meta(&mut self, what: &str, process: u64, track: u64, about: About<'_>) -> io::Result<()> {
        let mut event = self.events.object()?;
        event.text("name", what)?;
        event.text("ph", "M")?;
        event.number("pid", process)?;
        event.number("tid", track)?;
        let mut arguments = event.object("args")?;
        match about {
            About::Name(name) => arguments.text("name", name)?,
            About::Place(index) => arguments.number("sort_index", index)?,
        }
        arguments.end()?;
        event.end()
    }

    /// An event up to its arguments.
    fn event(
        &mut self,
        phase: &str,
        (process, track): (u64, u64),
        at: u64,
        name: &str,
    ) -> io::Result<Object<'_, W>> {
        let mut event = self.events.object()?;
        event.text("name", name)?;
        event.text("ph", phase)?;
        event.number("pid", process)?;
        event.number("tid", track)?;
        event.micros("ts", at)?;
        Ok(event)
    }

    fn slice(
        &mut self,
        track: (u64, u64),
        (start, end): (u64, u64),
        category: &str,
        name: &str,
    ) -> io::Result<Object<'_, W>> {
        let mut event = self.event("X", track, start, name)?;
        event.micros("dur", end - start)?;
        event.text("cat", category)?;
        Ok(event)
    }

    fn instant(&mut self, at: u64, lane: Lane, name: &str) -> io::Result<Object<'_, W>> {
        let mut event = self.event("i", (WORKERS, track(lane)), at, name)?;
        event.text("s", "t")?;
        Ok(event)
    }

    /// Perfetto makes one name of the event's and the argument's: "stolen tasks".
    fn counter(&mut self, at: u64, name: &str, value: u64) -> io::Result<()> {
        let mut event = self.event("C", (WORKERS, OUTSIDE), at, name)?;
        let mut arguments = event.object("args")?;
        arguments.number("tasks", value)?;
        arguments.end()?;
        event.end()
    }

    fn arrow(&mut self, name: &str, from: (Lane, u64), to: (Lane, u64)) -> io::Result<()> {
        self.arrows += 1;
        let id = self.arrows;
        for (phase, (lane, at)) in [("s", from), ("f", to)] {
            let mut event = self.event(phase, (WORKERS, track(lane)), at, name)?;
            event.text("cat", name)?;
            event.number("id", id)?;
            if phase == "f" {
                event.text("bp", "e")?;
            }
            event.end()?;
        }
        Ok(())
    }

    fn begin_aside(&mut self, at: u64, task: TaskId) -> io::Result<()> {
        match self.aside.len() < MOST_ASIDE && self.aside.insert(task) {
            true => self.aside_event("b", at, task),
            false => Ok(()),
        }
    }

    /// If it began before the trace does, there is nothing to be ended.
    fn aside_ended(&mut self, at: u64, task: TaskId) -> io::Result<()> {
        match self.aside.remove(&task) {
            true => self.aside_event("e", at, task),
            false => Ok(()),
        }
    }

    /// What runs when the trace ends.
    fn end_aside(&mut self) -> io::Result<()> {
        let (at, left) = (self.book.end, std::mem::take(&mut self.aside));
        left.into_iter().try_for_each(|task| self.aside_event("e", at, task))
    }

    fn aside_event(&mut self, phase: &str, at: u64, task: TaskId) -> io::Result<()> {
        let (trace, book) = (self.trace, self.book);
        let title = book.title(trace, task);
        let mut event = self.event(phase, (WORKERS, OUTSIDE), at, &title)?;
        event.text("cat", "closure or local task")?;
        // One that is not local would be put beside the processes.
        let mut id = event.object("id2")?;
        id.number("local", task.0)?;
        id.end()?;
        event.end()
    }

    /// A slice without a length, for an arrow to begin at: else it would begin at whatever came
    /// last on its track, which may be over.
    fn start(&mut self, lane: Lane, at: u64, category: &str, name: &str) -> io::Result<()> {
        self.slice((WORKERS, track(lane)), (at, at), category, name)?.end()
    }

    /// Draws an arrow from a wake or a spawn to its poll.
    fn deed_arrow(&mut self, name: &str, deed: Deed, poll: &Poll) -> io::Result<()> {
        self.start(deed.by, deed.at, "wake", name)?;
        self.arrow(name, (deed.by, deed.at), (poll.lane, poll.start))
    }
}

impl<W: Write> Sink for Perfetto<'_, W> {
    fn poll(&mut self, poll: &Poll) -> io::Result<()> {
        let (trace, book) = (self.trace, self.book);
        let title = book.title(trace, poll.task);
        let place = (WORKERS, track(poll.lane));
        let mut event = self.slice(place, (poll.start, poll.end), "poll", &title)?;
        let mut arguments = event.object("args")?;
        arguments.number("task", poll.task.0)?;
        if let Some(location) = book.place(trace, poll.task) {
            arguments.text("spawned at", location)?;
        }
        arguments.text("from", source(poll.source))?;
        arguments.text("outcome", outcome(poll.outcome))?;
        if let Some(ready) = poll.ready {
            arguments.micros("delay µs", poll.start.saturating_sub(ready.at))?;
        }
        if !poll.is_exact {
            arguments.text("times", "estimated")?;
        }
        arguments.end()?;
        event.end()?;
        match poll.ready.map(|ready| ready.cause) {
            Some(Cause::Woken(deed)) => self.deed_arrow("wake", deed, poll),
            Some(Cause::Spawned(deed)) => self.deed_arrow("spawn", deed, poll),
            Some(Cause::Again) | None => Ok(()),
        }
    }

    fn span(&mut self, span: &Span) -> io::Result<()> {
        let place = (WORKERS, track(span.lane));
        let (category, name) = match span.what {
            SpanKind::Rounds(rounds) => {
                let name = "woken for nothing";
                let mut event = self.slice(place, (span.start, span.end), "parked", name)?;
                let mut arguments = event.object("args")?;
                arguments.number("times", rounds.count.into())?;
                arguments.number("failed searches", rounds.searches.into())?;
                arguments.micros("awake µs", rounds.awake)?;
                arguments.end()?;
                return event.end();
            }
            SpanKind::Job { is_stolen: true } => ("job", "job (stolen)"),
            SpanKind::Job { is_stolen: false } => ("job", "job"),
            SpanKind::Parked => ("parked", "parked"),
        };
        self.slice(place, (span.start, span.end), category, name)?.end()
    }

    fn steal(&mut self, steal: &Steal) -> io::Result<()> {
        let place = (WORKERS, track(steal.thief));
        let name = format!("steal from {}", steal.victim);
        let end = steal.end.max(steal.at + 1);
        let mut event = self.slice(place, (steal.at, end), "steal", &name)?;
        let mut arguments = event.object("args")?;
        arguments.number("tasks", steal.tasks.into())?;
        arguments.end()?;
        event.end()?;
        self.start(steal.victim, steal.at, "steal", "stolen from")?;
        self.arrow("steal", (steal.victim, steal.at), (steal.thief, steal.at))?;
        self.counts.stolen += u64::from(steal.tasks);
        self.counter(steal.at, "stolen", self.counts.stolen)
    }

    fn seat(&mut self, sitting: &Sitting) -> io::Result<()> {
        let place = (SEATS, seat_track(sitting.seat.into()));
        let name = format!("worker {}", sitting.worker);
        self.slice(place, (sitting.start, sitting.end), "seat", &name)?.end()
    }

    fn stall(&mut self, stall: &Stall) -> io::Result<()> {
        let (trace, book) = (self.trace, self.book);
        let name = match stall.kind {
            StallKind::Burning => "stall: uses CPU time".to_owned(),
            StallKind::Blocked(call) => format!("stall: blocked in {}", trace.text(call)),
            StallKind::Waiting => "stall: waits".to_owned(),
            _ => "stall".to_owned(),
        };
        let mut event = self.instant(stall.at, Lane::Worker(stall.worker), &name)?;
        event.text("cat", "stall")?;
        if stall.task.0 != 0 {
            let mut arguments = event.object("args")?;
            arguments.number("task", stall.task.0)?;
            arguments.text("title", &book.title(trace, stall.task))?;
            arguments.end()?;
        }
        event.end()
    }

    fn other(&mut self, at: u64, lane: Lane, kind: EventKind) -> io::Result<()> {
        let (name, count) = match kind {
            EventKind::InjectBatch { tasks } => {
                self.counts.injected += u64::from(tasks);
                return self.counter(at, "injected", self.counts.injected);
            }
            EventKind::Overflow { tasks } => {
                self.counts.overflowed += u64::from(tasks);
                return self.counter(at, "overflowed", self.counts.overflowed);
            }
            EventKind::OffWorkerStart { task } => return self.begin_aside(at, task),
            EventKind::OffWorkerEnd { task, .. } => return self.aside_ended(at, task),
            EventKind::SpareShortage => ("no spare worker", None),
            EventKind::BudgetExhausted { .. } => ("out of budget", None),
            EventKind::TimersFired { timers } => ("timers fired", Some(timers)),
            EventKind::IoHarvest { events } => ("I/O events", Some(events)),
            EventKind::WakeWorker { worker } => ("wakes worker", Some(u32::from(worker))),
            EventKind::SearchFailed => ("found nothing", None),
            // These are arrows.
            _ => return Ok(()),
        };
        let mut event = self.instant(at, lane, name)?;
        if let Some(count) = count {
            let mut arguments = event.object("args")?;
            arguments.number("number", count.into())?;
            arguments.end()?;
        }
        event.end()
    }
}

fn seat_track(seat: u64) -> u64 {
    OUTSIDE + 1 + seat
}

fn track(lane: Lane) -> u64 {
    match lane {
        Lane::Worker(number) => FIRST_WORKER + u64::from(number),
        Lane::Outside => OUTSIDE,
    }
}

pub(super) fn source(source: PollSource) -> &'static str {
    match source {
        PollSource::LifoSlot => "LIFO slot",
        PollSource::Ring => "ring",
        PollSource::Inject => "inject queue",
        PollSource::Stolen => "another worker",
        PollSource::Pinned => "pinned tasks",
        _ => "elsewhere",
    }
}

fn outcome(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Done) => "done",
        Some(Outcome::Waits) => "waits",
        Some(Outcome::Again) => "again",
        Some(_) => "other",
        None => "had not ended",
    }
}

fn unix_nanos(time: SystemTime) -> u64 {
    super::nanos(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}
