//! What is known of the program at one moment of its trace: what each worker does, where each task
//! is. Events go in one by one, in the order of time; memory does not grow with their number.
//!
//! Buffers are overwritten, each at its own pace, so the record of each worker begins at another
//! time. What is counted of a worker, a poll or a line is counted since its worker's record begins.
//! What compares workers with each other, or misses an event (nobody was busy, nobody woke this
//! task), is counted since the last of the records begins: since then they are all complete, and
//! what they have is called *common*.
//!
//! | module | what |
//! |---|---|
//! | `lane` | one worker |
//! | `tasks` | the tasks seen last |
//! | `places` | sums over all tasks that were spawned at the same line |
//! | `clocks` | how long nobody, somebody, anybody was at work |
//! | `closures` | what runs on threads that are no workers |
//! | `lengths` | how long polls are |

mod clocks;
mod closures;
mod lane;
mod lengths;
mod places;
mod tasks;

pub(super) use closures::Ran;
pub(super) use lane::{Deeds, LaneState};
pub(super) use places::{Place, PlaceId};
pub(super) use tasks::TaskState;

use super::finding::{TaskRef, Texts};
use clocks::Clocks;
use closures::Closures;
use heist::trace::{Event, EventKind, Lane, OffWorker, Outcome, PollSource, StallKind, TaskId};
use places::Places;
use std::time::Duration;
use tasks::Tasks;

/// A poll, and what it brought.
#[derive(Debug, Clone, Copy)]
pub(super) struct Poll {
    pub(super) task: TaskId,
    pub(super) place: PlaceId,
    pub(super) worker: u16,
    pub(super) source: PollSource,
    /// `None`: the trace ends before it does.
    pub(super) outcome: Option<Outcome>,
    pub(super) took: Duration,
    /// How long of it the thread was on a core, or a millisecond more; if that is known.
    pub(super) on_cpu: Option<Duration>,
    /// The clock was read at its start and at its end.
    pub(super) is_exact: bool,
    /// The wait before the poll, if its start is known.
    pub(super) wait: Option<Wait>,
    /// How many tasks it woke, spawned, and how many jobs ran inside of it.
    pub(super) wakes: u32,
    pub(super) spawns: u32,
    pub(super) jobs: u32,
    /// The part of it since the records of all workers are complete.
    pub(super) common: Common,
    /// What sysmon found the worker at, while it was in this poll.
    pub(super) stall: Option<StallKind>,
    /// The task was woken, and did not just go on.
    pub(super) was_woken: bool,
}

/// A part of a poll.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Common {
    pub(super) work: Duration,
    pub(super) spawns: u32,
}

/// What a shorter poll used of its time is not known well enough. From how often workers tell.
const TOLD: Duration = Duration::from_millis(2);

impl Poll {
    /// How long it was at work, as far as that is known: on a core, if it was long.
    pub(super) fn work(&self) -> Duration {
        if self.is_blocked() {
            return self.on_cpu.unwrap_or_default();
        }
        let on_cpu = self.on_cpu.filter(|_| self.took >= TOLD);
        on_cpu.map_or(self.took, |on_cpu| on_cpu.min(self.took))
    }

    /// Sysmon saw it wait.
    pub(super) fn is_blocked(&self) -> bool {
        matches!(self.stall, Some(StallKind::Blocked(_) | StallKind::Waiting))
    }
}

/// How long a task waited for a worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) took: Duration,
    /// The part of the delay in which a worker slept on its seat, and no worker was on its way to
    /// the task.
    pub(super) beside_idle: Duration,
}

/// All of it.
pub(super) struct Picture {
    pub(super) now: Duration,
    /// When the first event was.
    pub(super) start: Option<Duration>,
    /// The time from which the records of all workers are complete.
    pub(super) since: Duration,
    /// The announced time, which is not after any common event.
    common_since: Duration,
    /// When the next worker has come to the end of its rounds.
    next_end: Duration,
    pub(super) events: u64,
    pub(super) seats: usize,
    pub(super) lanes: Vec<LaneState>,
    pub(super) clocks: Clocks,
    places: Places,
    tasks: Tasks,
    closures: Closures,
}

/// What an event brings to its end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Over {
    /// A poll.
    Poll(Poll),
    /// The wait of a closure for its thread.
    Wait(Ran),
}

impl Picture {
    /// `since` then the records of all workers are complete.
    pub(super) fn new(seats: usize, since: Duration) -> Self {
        Picture {
            now: Duration::ZERO,
            start: None,
            since,
            common_since: since,
            next_end: Duration::MAX,
            events: 0,
            seats,
            lanes: (0..seats).map(|_| LaneState::new(true, since)).collect(),
            clocks: Clocks::new(seats),
            places: Places::default(),
            tasks: Tasks::default(),
            closures: Closures::default(),
        }
    }

    /// Notes that all records are complete from now on.
    pub(super) fn start_at(&mut self, now: Duration) {
        self.advance(now);
        self.since = self.now;
        self.clocks.reset();
        self.closures = Closures::default();
    }

    /// Whether all records are complete by now.
    pub(super) fn is_common(&self) -> bool {
        self.now >= self.common_since
    }

    /// The record of this worker begins now: what it did before was overwritten.
    pub(super) fn start_lane(&mut self, worker: u16, now: Duration) {
        self.lane(worker).since = Some(now);
    }

    /// The length of this worker's record.
    pub(super) fn length_of(&self, lane: &LaneState) -> Duration {
        self.now.saturating_sub(lane.since.or(self.start).unwrap_or(self.now))
    }

    /// The share of its own time that a worker was in polls and jobs. Pauses in which no worker had
    /// anything to do are left out.
    pub(super) fn busy_share(&self, lane: &LaneState) -> f64 {
        let judged = self.length_of(lane).saturating_sub(self.clocks.pauses());
        if judged.is_zero() { 0.0 } else { lane.own.busy.as_secs_f64() / judged.as_secs_f64() }
    }

    /// Interpolated times of different lanes may be out of order by a little.
    fn advance(&mut self, now: Duration) {
        let now = self.now.max(now);
        while self.next_end <= now {
            self.end_rounds(self.next_end);
        }
        self.now = now;
        self.clocks.advance(now);
    }

    /// Some workers have come to the end of their rounds.
    fn end_rounds(&mut self, at: Duration) {
        self.clocks.advance(at);
        for lane in &mut self.lanes {
            let before = lane.doing();
            lane.end_rounds(at);
            self.clocks.change(before, lane.doing());
        }
        let ends = self.lanes.iter().filter_map(LaneState::rounds_until);
        self.next_end = ends.min().unwrap_or(Duration::MAX);
    }

    /// Takes the next event. What it ends comes back.
    pub(super) fn see(&mut self, event: &Event) -> Option<Over> {
        self.start.get_or_insert(event.at);
        self.advance(event.at);
        self.events += 1;
        match event.lane {
            Lane::Worker(worker) => self.see_worker(worker, event).map(Over::Poll),
            Lane::Outside => {
                self.see_task(event);
                self.see_others(event.kind);
                None
            }
        }
        .or_else(|| self.see_aside(event.kind).map(Over::Wait))
    }

    /// The trace has ended: what is going on is counted as far as it went. Gives back the polls
    /// that nobody has seen the end of.
    pub(super) fn end(&mut self) -> Vec<Poll> {
        let (now, tasks) = (self.now, &self.tasks);
        let place = |task| tasks.get(task).map_or(PlaceId::UNKNOWN, |task| task.place);
        let lanes = self.lanes.iter_mut().zip(0..=u16::MAX);
        let open: Vec<_> =
            lanes.filter_map(|(lane, worker)| lane.end(worker, now, place)).collect();
        let is_common = self.is_common();
        open.iter().for_each(|poll| self.places.count(poll, is_common));
        open
    }

    /// Closures that had no thread when the trace ended.
    pub(super) fn waiting_closures(&self) -> impl Iterator<Item = Ran> {
        let place = |task| self.tasks.get(task).map_or(PlaceId::UNKNOWN, |task| task.place);
        let left = self.closures.left(self.now);
        left.map(move |(task, waited, level)| Ran { task, place: place(task), waited, level })
    }

    /// The number of closures that ran at the same time, on threads that are not workers.
    pub(super) fn most_closures(&self) -> u32 {
        self.closures.most()
    }

    /// The length of the time in which all records are complete, without pauses in which no worker
    /// had work.
    pub(super) fn work_time(&self) -> Duration {
        self.now.saturating_sub(self.since).saturating_sub(self.clocks.pauses())
    }

    /// The workers' time in polls and jobs.
    pub(super) fn busy(&self) -> Duration {
        self.lanes.iter().map(|lane| lane.own.busy).sum()
    }

    pub(super) fn polls(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.own.polls).sum()
    }

    /// The same, from the time at which all records are complete.
    pub(super) fn common(&self) -> Deeds {
        let polls = self.lanes.iter().map(|lane| lane.common.polls).sum();
        Deeds { polls, busy: self.lanes.iter().map(|lane| lane.common.busy).sum() }
    }

    /// The line whose tasks have most of the work, and how long a poll of them takes, leaving out
    /// those that may have lost their core.
    pub(super) fn busiest(&self) -> (PlaceId, Duration) {
        let busiest = self.places().max_by_key(|(_, place)| place.busy);
        let (id, place) = busiest.expect("there is at least the one that is not known");
        (id, place.lengths.typical())
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (PlaceId, &Place)> {
        self.places.iter()
    }

    pub(super) fn place(&self, id: PlaceId) -> &Place {
        self.places.get(id)
    }

    /// The tasks seen last that are alive.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        self.tasks.iter()
    }

    /// The line of a task that was seen lately.
    pub(super) fn place_of(&self, task: TaskId) -> PlaceId {
        self.tasks.get(task).map_or(PlaceId::UNKNOWN, |task| task.place)
    }

    /// How long some worker has been idle while the task waited for one.
    pub(super) fn idle_since(&self, task: &TaskState) -> Duration {
        let idle = self.clocks.somebody_idle();
        task.runnable.map_or(Duration::ZERO, |since| idle.saturating_sub(since.idle))
    }

    /// How long no thread has driven the runtime while the task waited.
    pub(super) fn abandoned_since(&self, task: &TaskState) -> Duration {
        let abandoned = self.clocks.abandoned();
        task.runnable.map_or(Duration::ZERO, |since| abandoned.saturating_sub(since.abandoned))
    }

    pub(super) fn line<'t>(&self, place: PlaceId, texts: &'t dyn Texts) -> Option<&'t str> {
        self.place(place).text.map(|text| texts.text(text))
    }

    pub(super) fn task_ref(&self, task: TaskId, place: PlaceId, texts: &dyn Texts) -> TaskRef {
        TaskRef {
            id: task.0,
            name: texts.name(task).map(str::to_owned),
            spawned_at: self.line(place, texts).map(str::to_owned),
        }
    }

    fn see_worker(&mut self, worker: u16, event: &Event) -> Option<Poll> {
        // With a single seat it may be that of a thread in `block_on`, which polls its own future
        // in between: no event tells.
        let is_told_of = self.seats > 1;
        let before = self.lane(worker).doing();
        self.lane(worker).touch(event.at, is_told_of);
        let mut poll = None;
        match event.kind {
            EventKind::PollStart { task, source } => self.start_poll(worker, event, task, source),
            EventKind::PollEnd { task, outcome } => {
                poll = self.end_poll(worker, event, task, outcome);
            }
            kind => {
                self.lane(worker).see(event.at, kind);
                self.see_task(event);
            }
        }
        let lane = self.lane(worker);
        let (after, until) = (lane.doing(), lane.rounds_until());
        self.next_end = self.next_end.min(until.unwrap_or(Duration::MAX));
        self.clocks.change(before, after);
        self.see_others(event.kind);
        poll
    }

    fn start_poll(&mut self, worker: u16, event: &Event, task: TaskId, source: PollSource) {
        let (idle, common_since) = (self.clocks.somebody_idle(), self.since);
        let state = self.tasks.touch(task);
        (state.was_polled, state.waits) = (true, None);
        let was_woken = std::mem::take(&mut state.was_woken);
        // Before all records are complete it is not known whether anybody was idle.
        let beside_idle = |since: tasks::Since| match since.at >= common_since {
            true => idle.saturating_sub(since.idle),
            false => Duration::ZERO,
        };
        let wait = state.runnable.take().map(|since| Wait {
            took: event.at.saturating_sub(since.at),
            beside_idle: beside_idle(since),
        });
        let lane = self.lane(worker);
        lane.start_poll(event, task, source, wait, was_woken);
    }

    fn end_poll(
        &mut self,
        worker: u16,
        event: &Event,
        task: TaskId,
        outcome: Outcome,
    ) -> Option<Poll> {
        let place = self.tasks.touch(task).place;
        let poll = self.lane(worker).end_poll(event, task)?;
        let poll = Poll { place, worker, outcome: Some(outcome), ..poll };
        self.places.count(&poll, self.is_common());
        match outcome {
            Outcome::Done => self.tasks.remove(task),
            Outcome::Again => self.make_runnable(task),
            Outcome::Waits => self.tasks.touch(task).waits = Some(self.now),
            _ => {}
        }
        Some(poll)
    }

    fn make_runnable(&mut self, task: TaskId) {
        let since = tasks::Since {
            at: self.now,
            idle: self.clocks.somebody_idle(),
            abandoned: self.clocks.abandoned(),
        };
        let state = self.tasks.touch(task);
        (state.runnable, state.waits) = (Some(since), None);
    }

    fn see_task(&mut self, event: &Event) {
        match event.kind {
            EventKind::Spawn { task } => {
                self.make_runnable(task);
                let state = self.tasks.touch(task);
                (state.spawned, state.is_counted, state.was_polled) =
                    (Some(self.now), false, false);
                state.is_spawn_exact = event.is_exact;
            }
            EventKind::SpawnedAt { task, location } => {
                let place = self.places.find(location);
                let state = self.tasks.touch(task);
                state.place = place;
                // Of what was spawned before, events may have been overwritten.
                let is_common = state.spawned.is_some_and(|spawned| spawned >= self.common_since);
                if is_common && !std::mem::replace(&mut state.is_counted, true) {
                    self.places.count_spawn(place, task, self.now);
                }
            }
            EventKind::Wake { task } => {
                self.make_runnable(task);
                let state = self.tasks.touch(task);
                state.was_woken = true;
                let place = state.place;
                if self.is_common() {
                    self.places.count_wake(place);
                }
            }
            EventKind::BudgetExhausted { task, resource } => {
                self.places.count_cut(self.tasks.touch(task).place, resource);
            }
            _ => {}
        }
    }

    /// What no worker runs. If a closure has got its thread, that comes back.
    fn see_aside(&mut self, kind: EventKind) -> Option<Ran> {
        match kind {
            EventKind::OffWorkerSpawn { task, by: OffWorker::Closure } => {
                self.closures.spawned(task, self.now);
            }
            EventKind::OffWorkerStart { task } => {
                let state = self.tasks.touch(task);
                (state.runnable, state.waits) = (None, None);
                let place = state.place;
                return self.closures.started(task, place, self.now);
            }
            EventKind::OffWorkerEnd { task, outcome } => {
                self.closures.ended(task);
                match outcome {
                    Outcome::Done => self.tasks.remove(task),
                    Outcome::Waits => self.tasks.touch(task).waits = Some(self.now),
                    _ => {}
                }
            }
            _ => {}
        }
        None
    }

    /// What concerns another worker than the one that tells of it.
    fn see_others(&mut self, kind: EventKind) {
        let (EventKind::WakeWorker { worker }
        | EventKind::SeatRobbed { from: worker, .. }
        | EventKind::Stall { worker, .. }) = kind
        else {
            return;
        };
        let now = self.now;
        let lane = self.lane(worker);
        let before = lane.doing();
        match kind {
            EventKind::WakeWorker { .. } => lane.wake(now),
            EventKind::Stall { task, kind, .. } => lane.stall(task, kind),
            _ => lane.has_seat = false,
        }
        let after = lane.doing();
        self.clocks.change(before, after);
    }

    fn lane(&mut self, worker: u16) -> &mut LaneState {
        let worker = usize::from(worker);
        if self.lanes.len() <= worker {
            let since = self.common_since;
            self.lanes.resize_with(worker + 1, || LaneState::new(false, since));
        }
        &mut self.lanes[worker]
    }
}
