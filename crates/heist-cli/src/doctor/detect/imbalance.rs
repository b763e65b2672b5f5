//! One worker has all the work, and why.
//!
//! That is so if at nearly any time somebody is at work, and hardly ever a second one. On a machine
//! without cores to spare the others may have been woken in time and run late: where that shows,
//! only those causes are told that would hold on any machine.
//!
//! Shares compare workers with each other, and are taken since the records of all workers are
//! complete. That may be a short time: a buffer that is overwritten often goes back no further. If
//! it is too short to tell who is at work at the same time, each worker is judged by its own
//! record: one of them is at work nearly all the time, and the others together hardly ever.

use super::super::finding::{Finding, Severity, Texts, grouped, time};
use super::super::picture::{LaneState, Picture, PlaceId, Poll};
use super::top::Top;
use super::{Detector, share, share_of_time};
use heist::trace::{Event, EventKind, Lane, PollSource, TaskId};
use std::time::Duration;

pub(super) const TOO_SHORT: &str = "imbalance-too-short";
pub(super) const ONE_TASK: &str = "imbalance-one-task";
pub(super) const ONE_SPAWNER: &str = "imbalance-one-spawner";
const PINNED: &str = "imbalance-pinned";
const IO_AFFINITY: &str = "imbalance-io-affinity";

/// The smallest fraction of the time in which some worker is at work. Guessed.
const SATURATED: f64 = 0.75;
/// The largest mean number of workers at work at the same time. Guessed: one, and some help.
const PARALLEL: f64 = 1.35;
/// If workers had a core for less than this fraction of their working time, they waited in calls
/// that sysmon did not examine, and there is no work to share. Guessed: the share of a core that a
/// thread has beside four others.
const AT_WORK: f64 = 0.2;
/// The fraction of the time without a core above which workers say little about the program.
/// Guessed.
const NO_CORES: f64 = 0.2;
/// The smallest number of polls, and the shortest time, by which to judge. Guessed.
const POLLS: u64 = 200;
const TIME: Duration = Duration::from_millis(20);
/// This many polls are enough, however short the time: with short polls, a trace holds no more.
/// Guessed.
const MANY_POLLS: u64 = 10_000;

/// One task spawns nearly all others, at least this many, and takes most of the time. Guessed.
const SPAWNS: u64 = 50;
const SPAWNER: f64 = 0.9;
const SPAWNER_BUSY: f64 = 0.5;
/// Pinned tasks take most of the time. Guessed.
const MOST: f64 = 0.6;
/// One worker has nearly all of the work: others that take more of it than this are no bystanders.
/// Guessed.
const ONE_WORKER: f64 = 0.75;
/// One reactor has nearly all events. Guessed.
const HARVESTED: f64 = 0.9;
const EVENTS: u64 = 500;
/// The number of events per poll above which other workers could have handled some. Guessed.
const AT_ONCE: f64 = 2.0;
/// One task has nearly all of the time. Guessed.
const ALL: f64 = 0.9;
/// The fraction of the work in polls that could have been stolen. Guessed.
const LONG: f64 = 0.5;
/// A thief needs longer than this to wake up, on any machine. Guessed.
const SHORT_POLL: Duration = Duration::from_micros(2);

#[derive(Default)]
pub(super) struct Imbalance {
    spawns: Top<(TaskId, PlaceId)>,
    busy: Top<(TaskId, PlaceId)>,
    pinned: Top<(TaskId, PlaceId)>,
    making: Making,
}

/// Of tasks that spawn, as far as the record of each worker goes back: how many others they
/// spawned, and in how many polls and how much time.
#[derive(Default)]
struct Making {
    spawns: Top<(TaskId, PlaceId)>,
    polls: Top<(TaskId, PlaceId)>,
    busy: Top<(TaskId, PlaceId)>,
}

impl Detector for Imbalance {
    fn poll(&mut self, poll: &Poll, _: &Picture) {
        let key = (poll.task, poll.place);
        let took = poll.common.work.as_nanos() as u64;
        self.busy.add(key, took);
        if poll.spawns > 0 {
            self.spawns.add(key, u64::from(poll.common.spawns));
            self.making.spawns.add(key, u64::from(poll.spawns));
        }
        if self.making.spawns.of(key) > 0 {
            self.making.polls.add(key, 1);
            self.making.busy.add(key, poll.work().as_nanos() as u64);
        }
        if poll.source == PollSource::Pinned {
            self.pinned.add(key, took);
        }
    }

    fn event(&mut self, event: &Event, picture: &Picture) {
        // Spawned by no task: somebody else's share.
        let is_spawn = matches!(event.kind, EventKind::Spawn { .. });
        if is_spawn && event.lane == Lane::Outside && picture.is_common() {
            self.spawns.add((TaskId(0), PlaceId::UNKNOWN), 1);
        }
    }

    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding> {
        let Some(at_once) = lopsided(picture).filter(|_| picture.seats > 1) else {
            return Vec::new();
        };
        let without_core: Duration = picture.lanes.iter().map(|lane| lane.without_core).sum();
        let has_cores = share_of_time(without_core, picture.work_time()) < NO_CORES;
        // First what tells most. Where all tasks are pinned, as in thread-per-core mode, I/O may be
        // the reason why to one.
        let cause = io_affinity(picture)
            .filter(|_| has_cores)
            .or_else(|| self.pinned(picture, texts))
            .filter(|_| is_one_workers(picture))
            .or_else(|| too_short(picture))
            .or_else(|| self.one_spawner(picture, texts))
            .or_else(|| self.one_task(picture, texts));
        cause.map(|finding| with_workers(finding, picture, at_once)).into_iter().collect()
    }
}

/// If one worker has all the work, or several by turns: how many are at work at once, on average.
fn lopsided(picture: &Picture) -> Option<f64> {
    let (common, somebody) = (picture.common(), picture.clocks.somebody_busy());
    let is_enough = common.polls >= POLLS && somebody >= TIME || common.polls >= MANY_POLLS;
    if !is_enough {
        return lopsided_by_own_records(picture);
    }
    // A worker without a core keeps its task, and the others wait for both.
    let lost = picture.lanes.iter().map(|lane| lane.without_core).max().unwrap_or_default();
    let at_once = share_of_time(common.busy, somebody);
    let saturated = share_of_time(somebody, picture.work_time().saturating_sub(lost));
    (saturated >= SATURATED && (AT_WORK..=PARALLEL).contains(&at_once)).then_some(at_once)
}

/// The same where the time for which all records are there is too short. Workers that take turns
/// are not told from those that work at the same time, so one of them has to have the work all the
/// time.
fn lopsided_by_own_records(picture: &Picture) -> Option<f64> {
    let shares = || picture.lanes.iter().map(|lane| picture.busy_share(lane));
    let is_judged = |lane: &&LaneState| picture.length_of(lane) >= TIME;
    let most = picture.lanes.iter().filter(is_judged).map(|lane| picture.busy_share(lane));
    let most = most.fold(0.0, f64::max);
    let at_once = shares().sum::<f64>() / most.max(SATURATED);
    let is_lopsided = picture.polls() >= POLLS && most >= SATURATED && at_once <= PARALLEL;
    is_lopsided.then_some(at_once)
}

impl Imbalance {
    fn pinned(&self, picture: &Picture, texts: &dyn Texts) -> Option<Finding> {
        let in_pinned: Duration = picture.lanes.iter().map(|lane| lane.in_pinned).sum();
        let of_busy = share_of_time(in_pinned, picture.common().busy);
        let ((task, place), most) = self.pinned.first()?;
        let is_one_task = share(most, self.pinned.total()) >= ALL;
        if of_busy < MOST || is_one_task {
            return None;
        }
        let sentence =
            "One worker has nearly all the work, because tasks are pinned to it: nobody \
                        else may run them."
                .to_owned();
        let advice = "Spread them with spawn_pinned (which picks a worker) or spawn_pinned_on each \
                      in turn, or use spawn if the future is Send.";
        let finding = Finding::new(PINNED, Severity::Problem, sentence, advice)
            .share("of busy time in pinned tasks", of_busy)
            .line(picture.line(place, texts))
            .tasks([picture.task_ref(task, place, texts)]);
        Some(finding)
    }

    fn one_spawner(&self, picture: &Picture, texts: &dyn Texts) -> Option<Finding> {
        let (key, common_spawns) = self.spawns.first()?;
        let ((task, place), making) = (key, &self.making);
        let of_busy = share_of_time(Duration::from_nanos(self.busy.of(key)), picture.common().busy);
        let of_spawns = share(common_spawns, self.spawns.total());
        let (spawns, polls) = (making.spawns.of(key), making.polls.of(key));
        if spawns < SPAWNS || of_spawns < SPAWNER || of_busy < SPAWNER_BUSY {
            return None;
        }
        let busy = Duration::from_nanos(making.busy.of(key));
        let children = picture.polls().saturating_sub(polls).max(1);
        let sentence = format!(
            "One task spawns all others, and takes longer to make them ({} each) than they take to \
             run ({}): the other workers wait for it.",
            time(busy / u32::try_from(spawns).unwrap_or(u32::MAX)),
            time(picture.busy().saturating_sub(busy) / u32::try_from(children).unwrap_or(u32::MAX)),
        );
        let advice = "Let several tasks do what the spawner does (split its input, or let each \
                      task spawn two more), or move the preparation into the tasks.";
        let finding = Finding::new(ONE_SPAWNER, Severity::Problem, sentence, advice)
            .count("tasks spawned by it", spawns)
            .share("of all spawns", of_spawns)
            .share("of busy time in the spawner", of_busy)
            .line(picture.line(place, texts))
            .tasks([picture.task_ref(task, place, texts)]);
        Some(finding)
    }

    fn one_task(&self, picture: &Picture, texts: &dyn Texts) -> Option<Finding> {
        let ((task, place), busy) = self.busy.first()?;
        let of_busy = share_of_time(Duration::from_nanos(busy), picture.common().busy);
        if of_busy < ALL {
            return None;
        }
        let sentence =
            "One task has nearly all the work; a task runs on one worker at a time.".to_owned();
        let advice = "Break it up: spawn a task for each part, or use join, scope or par inside of \
                      it.";
        let finding = Finding::new(ONE_TASK, Severity::Warning, sentence, advice)
            .share("of busy time in it", of_busy)
            .line(picture.line(place, texts))
            .tasks([picture.task_ref(task, place, texts)]);
        Some(finding)
    }
}

/// Workers that take turns may each be alone at work too. The problem is then not what ties the
/// work to one worker.
fn is_one_workers(picture: &Picture) -> bool {
    let most = picture.lanes.iter().map(|lane| lane.common.busy).max().unwrap_or_default();
    share_of_time(most, picture.common().busy) >= ONE_WORKER
}

fn io_affinity(picture: &Picture) -> Option<Finding> {
    let events: u64 = picture.lanes.iter().map(|lane| lane.harvested).sum();
    let first = picture.lanes.iter().max_by_key(|lane| lane.harvested)?;
    let at_once = first.harvested as f64 / first.harvests.max(1) as f64;
    let of_events = share(first.harvested, events);
    if events < EVENTS || of_events < HARVESTED || at_once < AT_ONCE {
        return None;
    }
    let sentence =
        "One worker has nearly all the work, because all I/O arrives at its reactor.".to_owned();
    let advice = "A socket belongs to the worker that first awaits it: spawn a task for each \
                  connection before the first read, and read in that task rather than in the one \
                  that accepts.";
    let finding = Finding::new(IO_AFFINITY, Severity::Problem, sentence, advice)
        .count("I/O events", events)
        .share("of them at one reactor", of_events)
        .count("woken by it", first.reactor_wakes);
    Some(finding)
}

fn too_short(picture: &Picture) -> Option<Finding> {
    let (place, typical) = picture.busiest();
    let place = picture.place(place);
    // Among many short polls there may be a few that have all the work.
    if typical > SHORT_POLL || share_of_time(place.in_long, place.busy) >= LONG {
        return None;
    }
    let sentence = format!(
        "Tasks are too short to be shared: {} polls of {} each. Until another worker has \
         woken up, the first has run them.",
        grouped(picture.polls()),
        time(typical)
    );
    let advice = "Make fewer tasks that do more each: chunks of the input instead of its items, or \
                  par, which finds the size by itself.";
    Some(Finding::new(TOO_SHORT, Severity::Warning, sentence, advice).time("typical poll", typical))
}

fn with_workers(mut finding: Finding, picture: &Picture, at_once: f64) -> Finding {
    finding = finding.mean("workers at work at once", at_once);
    for (number, lane) in picture.lanes.iter().enumerate().take(picture.seats) {
        finding = finding.share(format!("worker {number} busy"), picture.busy_share(lane));
    }
    finding
}
