//! What one worker does, and has done.

use super::{Common, PlaceId, Poll, Wait};
use heist::trace::{Event, EventKind, PollSource, StallKind, TaskId};
use std::time::Duration;

/// A worker that was woken or searches, and records nothing for this long, waits for a core. That
/// is the system's doing, not the program's. Guessed: a hundred times as long as a wake-up.
const NO_CORE: Duration = Duration::from_millis(2);

/// What a worker did in some time.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::doctor) struct Deeds {
    pub(in crate::doctor) polls: u64,
    /// The time in polls and jobs, without polls that were blocked in a system call.
    pub(in crate::doctor) busy: Duration,
}

#[derive(Debug, Default)]
pub(in crate::doctor) struct LaneState {
    pub(in crate::doctor) has_seat: bool,
    /// When its record begins, if older events were overwritten.
    pub(in crate::doctor) since: Option<Duration>,
    /// Since then.
    pub(in crate::doctor) own: Deeds,
    /// Since the records of all workers are complete, as all that follows.
    pub(in crate::doctor) common: Deeds,
    pub(in crate::doctor) in_pinned: Duration,
    /// Ready to run without a core, as far as that shows.
    pub(in crate::doctor) without_core: Duration,
    pub(in crate::doctor) harvested: u64,
    pub(in crate::doctor) harvests: u64,
    /// Woken by its reactor rather than by a task.
    pub(in crate::doctor) reactor_wakes: u64,
    /// When the records of all workers begin.
    common_since: Duration,
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
    /// It runs a poll or a job.
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
    Asleep,
    /// Woken, and not up yet.
    Woken(Duration),
    /// Asleep, and until then up again and again for nothing. `is_mostly_up`: for most of that
    /// time.
    Rounds {
        until: Duration,
        is_mostly_up: bool,
    },
}

#[derive(Debug)]
struct OpenPoll {
    task: TaskId,
    source: PollSource,
    start: Duration,
    is_exact: bool,
    /// The thread's CPU time, told before it began, and told last while it went on.
    cpu_time: (Option<u64>, Option<u64>),
    wait: Option<Wait>,
    was_woken: bool,
    wakes: u32,
    spawns: u32,
    /// The number of these spawns since the records of all workers are complete.
    common_spawns: u32,
    jobs: u32,
    stall: Option<StallKind>,
}

impl OpenPoll {
    /// Whose it is, and what became of it, others know; and which part of it is in all records.
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
            common: Common { spawns: self.common_spawns, ..Common::default() },
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
    /// `common_since`: when the records of all workers begin.
    pub(super) fn new(has_seat: bool, common_since: Duration) -> Self {
        LaneState { has_seat, common_since, ..LaneState::default() }
    }

    /// It is heard of. A lane that `is_told_of` in all it does is silent only at what the runtime
    /// does by itself.
    pub(super) fn touch(&mut self, at: Duration, is_told_of: bool) {
        let ready_since = match self.sleep {
            Sleep::Asleep | Sleep::Rounds { .. } => None,
            Sleep::Woken(since) => self.last.map(|last| since.max(last)),
            Sleep::Awake => self.last.filter(|_| is_told_of && self.is_between_polls()),
        };
        let silent = ready_since.map_or(Duration::ZERO, |since| self.common(since, at));
        if silent >= NO_CORE {
            self.without_core += silent;
        }
        self.last = self.last.max(Some(at));
    }

    /// On its seat, and at nothing that can be long: in a poll, also one that is blocked, its
    /// thread does what the program wants, and without a seat it has nothing to do.
    fn is_between_polls(&self) -> bool {
        self.has_seat && self.poll.is_none() && self.jobs == 0
    }

    pub(super) fn doing(&self) -> Doing {
        match self.sleep {
            _ if self.is_busy() => Doing::Work,
            _ if self.poll.is_some() => Doing::Other,
            Sleep::Rounds { is_mostly_up: true, .. } => Doing::Search,
            _ if !self.has_seat => Doing::Away,
            Sleep::Asleep | Sleep::Rounds { .. } => Doing::Nothing,
            Sleep::Awake | Sleep::Woken(_) => Doing::Search,
        }
    }

    fn is_busy(&self) -> bool {
        self.jobs > 0 || self.poll.as_ref().is_some_and(|poll| !poll.is_blocked())
    }

    pub(super) fn wake(&mut self, now: Duration) {
        // Among rounds it is a wake-up for one of them.
        self.end_rounds(now);
        if let Sleep::Asleep = self.sleep {
            self.sleep = Sleep::Woken(now);
        }
    }

    /// Starts a run of rounds in which the worker repeatedly wakes up and finds nothing, or adds a
    /// run that has ended.
    fn begin_rounds(&mut self, at: Duration, took: Duration, awake: Duration) {
        let (until, is_mostly_up) = (at + took, awake * 2 > took);
        self.sleep = Sleep::Rounds { until, is_mostly_up };
        self.last = self.last.max(Some(until));
    }

    /// When its rounds are over, if it is at them.
    pub(super) fn rounds_until(&self) -> Option<Duration> {
        match self.sleep {
            Sleep::Rounds { until, .. } => Some(until),
            _ => None,
        }
    }

    /// It sleeps again if its rounds are over.
    pub(super) fn end_rounds(&mut self, now: Duration) {
        if self.rounds_until().is_some_and(|until| until <= now) {
            self.sleep = if self.has_seat { Sleep::Asleep } else { Sleep::Awake };
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
        self.get_up();
        let (start, is_exact) = (event.at, event.is_exact);
        self.poll = Some(OpenPoll {
            task,
            source,
            start,
            is_exact,
            cpu_time: (self.cpu_time, None),
            wait,
            was_woken,
            wakes: 0,
            spawns: 0,
            common_spawns: 0,
            jobs: 0,
            stall: None,
        });
    }

    pub(super) fn end_poll(&mut self, event: &Event, task: TaskId) -> Option<Poll> {
        // One that began before the trace did is not known well enough to be counted.
        let poll = self.poll.take().filter(|poll| poll.task == task)?;
        self.own.polls += 1;
        self.common.polls += u64::from(event.at >= self.common_since);
        let is_exact = poll.is_exact && event.is_exact;
        Some(Poll { is_exact, ..self.add_poll(&poll, event.at) })
    }

    /// Anything but polls.
    pub(super) fn see(&mut self, at: Duration, kind: EventKind) {
        match kind {
            EventKind::Park => self.sleep = Sleep::Asleep,
            EventKind::IdleRounds { nanos, awake_nanos, .. } => {
                let [took, awake] = [nanos, awake_nanos].map(Duration::from_nanos);
                self.begin_rounds(at, took, awake);
            }
            EventKind::Unpark { .. } => self.get_up(),
            EventKind::SeatTaken { .. } => self.has_seat = true,
            EventKind::SeatLeft { .. } => self.has_seat = false,
            EventKind::JobStart { .. } => self.start_job(at),
            EventKind::JobEnd => self.end_job(at),
            EventKind::CpuTime { nanos } => self.cpu_time = Some(nanos),
            EventKind::IoHarvest { events } if at >= self.common_since => {
                self.harvests += 1;
                self.harvested += u64::from(events);
            }
            EventKind::Wake { .. } if self.poll.is_none() && at >= self.common_since => {
                self.reactor_wakes += 1;
            }
            _ => {}
        }
        let is_common = at >= self.common_since;
        let Some(poll) = self.poll.as_mut() else { return };
        match kind {
            EventKind::Wake { .. } => poll.wakes += 1,
            EventKind::Spawn { .. } => {
                poll.spawns += 1;
                poll.common_spawns += u32::from(is_common);
            }
            EventKind::JobStart { .. } => poll.jobs += 1,
            // In a record that begins in the middle of the poll, the first one is where it is
            // counted from.
            EventKind::CpuTime { nanos } if poll.cpu_time.0.is_none() => {
                poll.cpu_time.0 = Some(nanos);
            }
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
        // A worker that was woken and has not woken up has not necessarily waited for a core: its
        // lane may have been copied before the others, or be cut off.
        let Some(poll) = self.poll.take() else {
            if self.jobs > 0 {
                self.add_busy(self.jobs_since, now, Duration::MAX);
            }
            return None;
        };
        Some(Poll { worker, place: place(poll.task), ..self.add_poll(&poll, now) })
    }

    fn get_up(&mut self) {
        self.sleep = Sleep::Awake;
    }

    /// How much of this time is in the records of all workers.
    fn common(&self, since: Duration, until: Duration) -> Duration {
        until.saturating_sub(since.max(self.common_since))
    }

    /// It was busy since then; no longer than `most` of it on a core.
    fn add_busy(&mut self, since: Duration, until: Duration, most: Duration) {
        self.own.busy += until.saturating_sub(since).min(most);
        self.common.busy += self.common(since, until).min(most);
    }

    /// Adds a poll that has ended, and returns it.
    fn add_poll(&mut self, poll: &OpenPoll, until: Duration) -> Poll {
        let mut whole = poll.until(until);
        let took = self.common(poll.start, until);
        whole.common.work = took.min(whole.work());
        if !poll.is_blocked() {
            self.add_busy(poll.start, until, whole.work());
        }
        if poll.source == PollSource::Pinned {
            self.in_pinned += took;
        }
        whole
    }

    /// Jobs of a poll are in its time already.
    fn start_job(&mut self, at: Duration) {
        self.get_up();
        if self.jobs == 0 {
            self.jobs_since = at;
        }
        self.jobs += 1;
    }

    fn end_job(&mut self, at: Duration) {
        let was_running = self.jobs > 0;
        self.jobs = self.jobs.saturating_sub(1);
        if was_running && self.jobs == 0 && self.poll.is_none() {
            self.add_busy(self.jobs_since, at, Duration::MAX);
        }
    }
}
