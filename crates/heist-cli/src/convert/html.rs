//! One page with a timeline and charts, which needs nothing but a browser.
//!
//! | module | what |
//! |---|---|
//! | `page` | what is embedded, as the script reads it |
//! | `track` | the spans of a lane, few enough to be drawn |
//! | `aside` | what no worker runs |
//! | `ranking` | tasks and where they were spawned, by the time they took |
//! | `over_time` | polls and busy time, along the trace |
//! | `histogram` | how long things took |
//!
//! The page has a bounded size whatever the trace's: spans too short to be seen are drawn together,
//! and the number of arrows and tasks is limited. The page says so. All text comes from the trace
//! and may be hostile: it goes into the page as JSON without `<`, and the script puts it nowhere
//! but into text.

mod aside;
mod histogram;
mod over_time;
mod page;
mod ranking;
mod track;

use super::book::Book;
use super::follow::{self, Cause, Deed, Poll, Sink, Sitting, Span, SpanKind, Stall, Steal};
use super::{Window, WriteError};
use aside::{Asides, Run};
use heist::trace::{EventKind, Lane, StallKind, TaskId, Trace};
use histogram::Histogram;
use over_time::OverTime;
use page::{Arrow, LaneData, Page, SeatData, StallData};
use ranking::{Ranking, Titles};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::UNIX_EPOCH;
use track::Track;

/// About this many spans are drawn. A page with that many has about 1.5 megabytes.
const SPANS: u64 = 60_000;
const LANES: usize = 128;
const ASIDES: usize = 16;
const SITTINGS: usize = 4000;
const WAKES: u64 = 8000;
const STEALS: u64 = 4000;
const STALLS: usize = 500;
const TASKS: usize = 200;

const HEAD: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

pub(super) fn write(
    trace: &Trace,
    book: &Book,
    window: Window,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let mut html = Html::new(trace, book);
    follow::follow(trace, window, (book.start, book.end), &mut html)?;
    html.end_asides();
    let page = html.into_page();
    let mut parts = HEAD.split("<!--HERE-->");
    let mut part = || parts.next().unwrap_or_default();
    write!(out, "{}<style>\n{STYLE}</style>{}", part(), part())?;
    write!(out, r#"<script type="application/json" id="data">"#)?;
    serde_json::to_writer(page::WithoutTags(&mut *out), &page).map_err(io::Error::from)?;
    write!(out, "</script>\n<script>\n{SCRIPT}</script>{}", part())?;
    Ok(())
}

struct Html<'a> {
    trace: &'a Trace,
    book: &'a Book,
    /// Spans shorter than this are drawn together; 0: none is.
    resolution: u64,
    titles: Titles,
    lanes: BTreeMap<Lane, (Track, OverTime)>,
    asides: Asides,
    polls: OverTime,
    sittings: Vec<Sitting>,
    stalls: Vec<StallData>,
    stall_count: u64,
    arrows: Vec<Arrow>,
    wakes: Sample,
    steals: Sample,
    poll_times: Histogram,
    delays: Histogram,
    tasks: Ranking<TaskId>,
    places: Ranking<String>,
    estimated: u64,
}

/// Keeps every n-th item, so that a bounded number remains.
#[derive(Debug)]
struct Sample {
    stride: u64,
    seen: u64,
}

impl Sample {
    fn of(count: u64, wanted: u64) -> Self {
        Sample { stride: count.div_ceil(wanted).max(1), seen: 0 }
    }

    fn takes_next(&mut self) -> bool {
        self.seen += 1;
        self.seen % self.stride == 0
    }
}

impl<'a> Html<'a> {
    fn new(trace: &'a Trace, book: &'a Book) -> Self {
        let asides = book.asides.min(ASIDES);
        let lanes = (book.lanes.len().min(LANES) + asides) as u64;
        let length = book.end - book.start;
        let resolution = if book.events < SPANS {
            0
        } else {
            // A lane has at most three spans in this time: see `track`.
            (3 * lanes).saturating_mul(length).div_ceil(SPANS).max(1)
        };
        let over_time = OverTime::new(book.start, book.end);
        let row = || (Track::new(book.start, resolution), over_time.clone());
        let lane = |lane: &Lane| (*lane, row());
        Html {
            trace,
            book,
            resolution,
            titles: Titles::default(),
            lanes: book.lanes.iter().take(LANES).map(lane).collect(),
            asides: Asides::new((0..asides).map(|_| row()).collect()),
            polls: over_time.clone(),
            sittings: Vec::new(),
            stalls: Vec::new(),
            stall_count: 0,
            arrows: Vec::new(),
            wakes: Sample::of(book.wakes, WAKES),
            steals: Sample::of(book.steals, STEALS),
            poll_times: Histogram::default(),
            delays: Histogram::default(),
            tasks: Ranking::new(1 << 18),
            places: Ranking::new(1 << 12),
            estimated: 0,
        }
    }

    /// The number of a lane on the page.
    fn number(&self, lane: Lane) -> Option<usize> {
        self.lanes.keys().position(|known| *known == lane)
    }

    fn since_start(&self, at: u64) -> u64 {
        at.saturating_sub(self.book.start)
    }

    fn arrow(&mut self, kind: u8, from: (Lane, u64), to: (Lane, u64)) {
        if let (Some(from_lane), Some(to_lane)) = (self.number(from.0), self.number(to.0)) {
            let (from, to) = (self.since_start(from.1), self.since_start(to.1));
            self.arrows.push(Arrow(kind, from_lane, from, to_lane, to));
        }
    }

    /// It is counted among the tasks, and not among the polls of workers.
    fn run_off_worker(&mut self, run: &Run) {
        let time = run.end - run.start;
        self.tasks.add(&run.task, time, None);
        self.places.add(self.origin(run.task), time, None);
        let Some((track, busy)) = run.row.map(|row| &mut self.asides.rows[row]) else { return };
        busy.add_span(run.start, run.end);
        if track.is_drawn(time, 0) {
            let title = self.titles.number(&self.book.title(self.trace, run.task));
            track.run(run, title);
        } else {
            track.merge(run.start, run.end, 0);
        }
    }

    fn end_asides(&mut self) {
        let left = self.asides.end_all(self.book.end);
        left.iter().for_each(|run| self.run_off_worker(run));
    }

    /// Where a task is from: its place, or its name if that is all there is.
    fn origin(&self, task: TaskId) -> &'a str {
        let place = self.book.place(self.trace, task);
        place.or_else(|| self.trace.name(task)).unwrap_or("(not known)")
    }

    fn into_page(self) -> Page<'a> {
        let (trace, book) = (self.trace, self.book);
        let lost = book.lanes.iter().map(|lane| trace.lost(*lane)).fold(0, u64::saturating_add);
        let started = trace.started().duration_since(UNIX_EPOCH).unwrap_or_default();
        let lane = |name, lost, (track, busy): (Track, OverTime)| LaneData {
            name,
            lost,
            busy: busy.permille(),
            busy_ns: busy.total(),
            spans: track.finish(),
        };
        let hidden_asides = self.asides.hidden;
        let asides = self.asides.rows.into_iter().zip(1..);
        let asides = asides.map(|(row, number)| lane(format!("off-worker {number}"), 0, row));
        let lanes = self.lanes.into_iter();
        let lanes = lanes.map(|(name, row)| lane(name.to_string(), trace.lost(name), row));
        Page {
            program: trace.program(),
            pid: trace.pid(),
            started_ms: started.as_millis() as u64,
            start_ns: book.start,
            length_ns: book.end - book.start,
            workers: trace.workers(),
            seat_count: trace.seats(),
            is_truncated: trace.is_truncated(),
            lost,
            events: book.events,
            polls: book.polls,
            estimated: self.estimated,
            wakes: book.wakes,
            steals: book.steals,
            stall_count: self.stall_count,
            hidden_lanes: book.lanes.len().saturating_sub(LANES),
            hidden_asides,
            resolution_ns: self.resolution,
            wake_stride: self.wakes.stride,
            steal_stride: self.steals.stride,
            bucket_ns: self.polls.width(),
            polls_over_time: self.polls.values(),
            poll_times: self.poll_times.bars(),
            delays: self.delays.bars(),
            lanes: lanes.chain(asides).collect(),
            seats: SeatData::of(&self.sittings, book.start),
            stalls: self.stalls,
            arrows: self.arrows,
            is_task_list_partial: self.tasks.is_partial(),
            tasks: self.tasks.top(TASKS, |task| {
                (book.title(trace, *task).into_owned(), book.place(trace, *task).map(str::to_owned))
            }),
            places: self.places.top(TASKS, |place| (place.clone(), None)),
            titles: self.titles.into_texts(),
        }
    }
}

impl Sink for Html<'_> {
    fn poll(&mut self, poll: &Poll) -> io::Result<()> {
        let (trace, book) = (self.trace, self.book);
        let time = poll.end - poll.start;
        let delay = poll.ready.map(|ready| poll.start.saturating_sub(ready.at));
        self.estimated += u64::from(!poll.is_exact);
        self.poll_times.add(time);
        delay.into_iter().for_each(|delay| self.delays.add(delay));
        self.polls.add_one(poll.start);
        self.tasks.add(&poll.task, time, delay);
        let origin = self.origin(poll.task);
        self.places.add(origin, time, delay);
        if let Some((track, busy)) = self.lanes.get_mut(&poll.lane) {
            if poll.depth == 0 {
                busy.add_span(poll.start, poll.end);
            }
            if track.is_drawn(poll.end - poll.start, poll.depth) {
                let title = self.titles.number(&book.title(trace, poll.task));
                track.poll(poll, title);
            } else {
                track.merge(poll.start, poll.end, poll.depth);
            }
        }
        let deed = |kind: u8, deed: Deed| Some((kind, deed));
        let deed = match poll.ready.map(|ready| ready.cause) {
            Some(Cause::Woken(woken)) => deed(Arrow::WAKE, woken),
            Some(Cause::Spawned(spawned)) => deed(Arrow::SPAWN, spawned),
            _ => None,
        };
        if let Some((kind, deed)) = deed {
            if self.wakes.takes_next() {
                self.arrow(kind, (deed.by, deed.at), (poll.lane, poll.start));
            }
        }
        Ok(())
    }

    fn span(&mut self, span: &Span) -> io::Result<()> {
        let Some((track, busy)) = self.lanes.get_mut(&span.lane) else { return Ok(()) };
        if matches!(span.what, SpanKind::Job { .. }) && span.depth == 0 {
            busy.add_span(span.start, span.end);
        }
        track.span(span);
        Ok(())
    }

    fn steal(&mut self, steal: &Steal) -> io::Result<()> {
        if self.steals.takes_next() {
            self.arrow(Arrow::STEAL, (steal.victim, steal.at), (steal.thief, steal.end));
        }
        Ok(())
    }

    fn seat(&mut self, sitting: &Sitting) -> io::Result<()> {
        if self.sittings.len() < SITTINGS {
            self.sittings.push(*sitting);
        }
        Ok(())
    }

    fn stall(&mut self, stall: &Stall) -> io::Result<()> {
        self.stall_count += 1;
        let lane = self.number(Lane::Worker(stall.worker));
        if self.stalls.len() == STALLS {
            return Ok(());
        }
        let what = match stall.kind {
            StallKind::Burning => "uses CPU time".to_owned(),
            StallKind::Blocked(call) => format!("blocked in {}", page::cut(self.trace.text(call))),
            StallKind::Waiting => "waits".to_owned(),
            _ => "stuck".to_owned(),
        };
        let title = (stall.task.0 != 0).then(|| self.book.title(self.trace, stall.task));
        self.stalls.push(StallData {
            at: self.since_start(stall.at),
            lane,
            worker: stall.worker,
            task: title.map(|title| page::cut(&title).to_owned()),
            what,
        });
        Ok(())
    }

    fn other(&mut self, at: u64, _lane: Lane, kind: EventKind) -> io::Result<()> {
        match kind {
            EventKind::OffWorkerStart { task } => self.asides.start(at, task),
            EventKind::OffWorkerEnd { task, outcome } => {
                let run = self.asides.end(at, task, outcome);
                run.iter().for_each(|run| self.run_off_worker(run));
            }
            _ => {}
        }
        Ok(())
    }
}
