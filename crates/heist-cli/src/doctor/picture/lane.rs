//! What one worker does, and has done.

use super::{PlaceId, Poll, Wait};
use heist::trace::{Event, EventKind, PollSource, StallKind, TaskId};
use std::time::Duration;

/// A worker that was woken, or that searches, and gives no sign of itself for so long, waits for a
/// core: the system's doing, not the program's. Guessed: hundred times what a wake-up takes.
const NO_CORE: Duration = Duration::from_millis(2);

#[derive(Debug, Default)]
pub(in crate::doctor) struct LaneState {
    pub(in crate::doctor) has_seat: bool,
    pub(in crate::doctor) polls: u64,
    /// In polls and jobs; polls that were blocked in a system call left out.
    pub(in crate::doctor) busy: Duration,
    pub(in crate::doctor) in_pinned: Duration,
    /// Asleep on its seat, and woken by nobody.
    pub(in crate::doctor) idle: Duration,
    /// Ready to run without a core, as far as that shows.
    pub(in crate::doctor) without_core: Duration,
    pub(in crate::doctor) harvested: u64,
    pub(in crate::doctor) harvests: u64,
    /// Woken by its reactor rather than by a task.
    pub(in crate::doctor) reactor_wakes: u64,
    poll: Option<OpenPoll>,
    /// The thread's CPU time, as it was told last.
    cpu_time: Option<u64>,
    jobs: u32,
    jobs_since: Duration,
    sleep: Sleep,
    /// When it was heard of last; not before counting began. `None`: its thread may not have begun.
    last: Option<Duration>,
}

/// In the eyes of the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// In a poll or a job.
    Work,
    /// Asleep on its seat, and woken by nobody.
    Nothing,
    /// Looking for something to do, or on the way to it.
    Search,
    /// Blocked, or in a poll without a seat.
    Other,
    /// Nowhere: it has neither a seat nor a poll.
    Away,
}

#[derive(Debug, Default, Clone, Copy)]
enum Sleep {
    #[default]
    Awake,
    Asleep(Duration),
    /// Woken, and not up yet.
    Woken(Duration),
}

#[derive(Debug)]
struct OpenPoll {
    task: TaskId,
    source: PollSource,
    start: Duration,
    /// Where its share of the sums begins: not before counting began.
    counted_from: Duration,
    is_exact: bool,
    /// The thread's CPU time, told before it began, and told last while it went on.
    cpu_time: (Option<u64>, Option<u64>),
    wait: Option<Wait>,
    was_woken: bool,
    wakes: u32,
    spawns: u32,
    jobs: u32,
    stall: Option<StallKind>,
}

impl OpenPoll {
    /// Whose it is, and what became of it, others know.
    fn until(&self, now: Duration) -> Poll {
        Poll {
            task: self.task,
            place: PlaceId::UNKNOWN,
            worker: 0,
            outcome: None,
            source: self.source,
            took: now.saturating_sub(self.start),
            on_cpu: self.on_cpu(),
            is_exact: self.is_exact,
            wait: self.wait,
            wakes: self.wakes,
            spawns: self.spawns,
            jobs: self.jobs,
            stall: self.stall,
            was_woken: self.was_woken,
        }
    }

    /// A worker that has changed its thread may have gone back.
    fn on_cpu(&self) -> Option<Duration> {
        let (before, after) = (self.cpu_time.0?, self.cpu_time.1?);
        after.checked_sub(before).map(Duration::from_nanos)
    }

    fn is_blocked(&self) -> bool {
        matches!(self.stall, Some(StallKind::Blocked(_) | StallKind::Waiting))
    }
}

impl LaneState {
    pub(super) fn on_a_seat() -> Self {
        LaneState { has_seat: true, ..LaneState::default() }
    }

    /// Begins to count, in the middle of whatever it does.
    pub(super) fn reset(&mut self, now: Duration) {
        let old = std::mem::take(self);
        *self = LaneState {
            has_seat: old.has_seat,
            poll: old.poll.map(|poll| OpenPoll { counted_from: now, ..poll }),
            cpu_time: old.cpu_time,
            jobs: old.jobs,
            jobs_since: now,
            sleep: match old.sleep {
                Sleep::Asleep(_) => Sleep::Asleep(now),
                other => other,
            },
            last: old.last.map(|_| now),
            ..LaneState::default()
        };
    }

    /// It is heard of. A lane that `is_told_of` in all it does is silent only at what the runtime does by itself.
    pub(super) fn touch(&mut self, at: Duration, is_told_of: bool) {
        let ready_since = match self.sleep {
            Sleep::Asleep(_) => None,
            Sleep::Woken(since) => self.last.map(|last| since.max(last)),
            Sleep::Awake => self.last.filter(|_| is_told_of && self.is_between_polls()),
        };
        let silent = ready_since.map_or(Duration::ZERO, |since| at.saturating_sub(since));
        if silent >= NO_CORE {
            self.without_core += silent;
        }
        self.last = self.last.max(Some(at));
    }

    /// On its seat, and at nothing that can be long: in a poll, also one that is blocked, its thread does what the program
    /// wants, and without a seat it has nothing to do.
    fn is_between_polls(&self) -> bool {
        self.has_seat && self.poll.is_none() && self.jobs == 0
    }

    pub(super) fn doing(&self) -> Doing {
        match self.sleep {
            _ if self.is_busy() => Doing::Work,
            _ if self.poll.is_some() => Doing::Other,
            _ if !self.has_seat => Doing::Away,
            Sleep::Asleep(_) => Doing::Nothing,
            Sleep::Awake | Sleep::Woken(_) => Doing::Search,
        }
    }

    fn is_busy(&self) -> bool {
        self.jobs > 0 || self.poll.as_ref().is_some_and(|poll| !poll.is_blocked())
    }

    pub(super) fn wake(&mut self, now: Duration) {
        if let Sleep::Asleep(since) = self.sleep {
            self.add_idle(since, now);
            self.sleep = Sleep::Woken(now);
        }
    }

    pub(super) fn stall(&mut self, task: TaskId, kind: StallKind) {
        let poll = self.poll.as_mut().filter(|poll| poll.task == task);
        if let Some(poll) = poll {
            poll.stall = Some(kind);
        }
    }

    pub(super) fn start_poll(
        &mut self,
        event: &Event,
        task: TaskId,
        source: PollSource,
        wait: Option<Wait>,
        was_woken: bool,
    ) {
        self.get_up(event.at);
        let (start, is_exact) = (event.at, event.is_exact);
        self.poll = Some(OpenPoll {
            task,
            source,
            start,
            counted_from: start,
            is_exact,
            cpu_time: (self.cpu_time, None),
            wait,
            was_woken,
            wakes: 0,
            spawns: 0,
            jobs: 0,
            stall: None,
        });
    }

    pub(super) fn end_poll(&mut self, event: &Event, task: TaskId) -> Option<Poll> {
        // One that began before the trace did is not known well enough to be counted.
        let poll = self.poll.take().filter(|poll| poll.task == task)?;
        self.polls += 1;
        self.add_poll(&poll, event.at);
        let is_exact = poll.is_exact && event.is_exact;
        Some(Poll { is_exact, ..poll.until(event.at) })
    }

    /// Anything but polls.
    pub(super) fn see(&mut self, at: Duration, kind: EventKind) {
        match kind {
            EventKind::Park => self.sleep = Sleep::Asleep(at),
            EventKind::Unpark { .. } => self.get_up(at),
            EventKind::SeatTaken { .. } => self.has_seat = true,
            EventKind::SeatLeft { .. } => self.has_seat = false,
            EventKind::JobStart { .. } => self.start_job(at),
            EventKind::JobEnd => self.end_job(at),
            EventKind::CpuTime { nanos } => self.cpu_time = Some(nanos),
            EventKind::IoHarvest { events } => {
                self.harvests += 1;
                self.harvested += u64::from(events);
            }
            EventKind::Wake { .. } if self.poll.is_none() => self.reactor_wakes += 1,
            _ => {}
        }
        let Some(poll) = self.poll.as_mut() else { return };
        match kind {
            EventKind::Wake { .. } => poll.wakes += 1,
            EventKind::Spawn { .. } => poll.spawns += 1,
            EventKind::JobStart { .. } => poll.jobs += 1,
            EventKind::CpuTime { nanos } => poll.cpu_time.1 = Some(nanos),
            _ => {}
        }
    }

    /// Gives back the poll that is going on.
    pub(super) fn end(
        &mut self,
        worker: u16,
        now: Duration,
        place: impl Fn(TaskId) -> PlaceId,
    ) -> Option<Poll> {
        // Who was woken and is not up has waited for no core, as far as that shows: its lane may have been copied before those
        // of others, or be cut off.
        if let Sleep::Asleep(since) = self.sleep {
            self.add_idle(since, now);
        }
        let Some(poll) = self.poll.take() else {
            if self.jobs > 0 {
                self.busy += now.saturating_sub(self.jobs_since);
            }
            return None;
        };
        self.add_poll(&poll, now);
        Some(Poll { worker, place: place(poll.task), ..poll.until(now) })
    }

    fn get_up(&mut self, at: Duration) {
        if let Sleep::Asleep(since) = self.sleep {
            self.add_idle(since, at);
        }
        self.sleep = Sleep::Awake;
    }

    fn add_idle(&mut self, since: Duration, until: Duration) {
        if self.has_seat {
            self.idle += until.saturating_sub(since);
        }
    }

    fn add_poll(&mut self, poll: &OpenPoll, until: Duration) {
        let took = until.saturating_sub(poll.counted_from);
        if !poll.is_blocked() {
            self.busy += took.min(poll.until(until).work());
        }
        if poll.source == PollSource::Pinned {
            self.in_pinned += took;
        }
    }

    /// Jobs of a poll are in its time already.
    fn start_job(&mut self, at: Duration) {
        self.get_up(at);
        if self.jobs == 0 {
            self.jobs_since = at;
        }
        self.jobs += 1;
    }

    fn end_job(&mut self, at: Duration) {
        let was_running = self.jobs > 0;
        self.jobs = self.jobs.saturating_sub(1);
        if was_running && self.jobs == 0 && self.poll.is_none() {
            self.busy += at.saturating_sub(self.jobs_since);
        }
    }
}
