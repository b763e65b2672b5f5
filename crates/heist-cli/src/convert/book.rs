//! A first reading of a trace: from when to when it goes, how much of what there is, and where
//! tasks were spawned. Where a task was spawned may be told long after its first poll.

use super::Window;
use heist::trace::{EventKind, Lane, ReadError, StringId, TaskId, Trace};
use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

/// The number of tasks whose spawn location is remembered. A full table takes about 50 MB.
const MAX_PLACES: usize = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct Book {
    /// The first and the last event, in nanoseconds.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) polls: u64,
    pub(super) wakes: u64,
    pub(super) steals: u64,
    /// The number of closures and local tasks that ran at the same time.
    pub(super) asides: usize,
    pub(super) events: u64,
    /// The first and the last event of the whole trace.
    pub(super) whole: (Duration, Duration),
    /// Those that have events in the window.
    pub(super) lanes: Vec<Lane>,
    places: HashMap<TaskId, StringId>,
}

impl Book {
    pub(super) fn read(trace: &Trace, window: Window) -> Result<Self, ReadError> {
        let mut book =
            Book { start: u64::MAX, whole: (Duration::MAX, Duration::ZERO), ..Book::default() };
        let mut workers = vec![false; 1 << 16];
        let mut has_outside = false;
        let mut asides = 0_usize;
        for event in trace.events()? {
            let event = event?;
            if let EventKind::SpawnedAt { task, location } = event.kind {
                if book.places.len() < MAX_PLACES {
                    book.places.insert(task, location);
                }
            }
            let (first, last) = book.whole;
            book.whole = (first.min(event.at), last.max(event.at));
            let at = super::nanos(event.at);
            if !window.contains(at) {
                continue;
            }
            book.start = book.start.min(at);
            book.end = book.end.max(at);
            book.events += 1;
            match event.lane {
                Lane::Worker(number) => workers[usize::from(number)] = true,
                Lane::Outside => has_outside = true,
            }
            match event.kind {
                EventKind::PollStart { .. } => book.polls += 1,
                EventKind::Wake { .. } | EventKind::Spawn { .. } => book.wakes += 1,
                EventKind::Steal { .. } => book.steals += 1,
                EventKind::OffWorkerStart { .. } => {
                    asides += 1;
                    book.asides = book.asides.max(asides);
                }
                EventKind::OffWorkerEnd { .. } => asides = asides.saturating_sub(1),
                _ => {}
            }
        }
        let lanes = (0..=u16::MAX).filter(|number| workers[usize::from(*number)]);
        book.lanes = lanes.map(Lane::Worker).chain(has_outside.then_some(Lane::Outside)).collect();
        book.start = book.start.min(book.end);
        book.whole.0 = book.whole.0.min(book.whole.1);
        Ok(book)
    }

    /// Returns where a task was spawned.
    pub(super) fn place<'t>(&self, trace: &'t Trace, task: TaskId) -> Option<&'t str> {
        self.places.get(&task).map(|location| trace.text(*location))
    }

    /// What to call a task: by its name, or where it was spawned, or by its number.
    pub(super) fn title<'t>(&self, trace: &'t Trace, task: TaskId) -> Cow<'t, str> {
        match trace.name(task).or_else(|| self.place(trace, task)) {
            Some(title) => title.into(),
            None => format!("task {task}").into(),
        }
    }
}

impl Window {
    pub(super) fn contains(self, at: u64) -> bool {
        self.from <= at && at <= self.until
    }
}
