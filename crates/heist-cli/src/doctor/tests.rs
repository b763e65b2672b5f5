//! Detectors on events made by hand: what takes hours to come about, or needs a broken scheduler or
//! an overloaded machine. What real programs do is in `tests/doctor/`.

use super::*;
use heist::trace::{Event, EventKind, Header, OffWorker, Outcome, PollSource, StallKind, Writer};
use std::time::Duration;

mod verdicts;

/// Lines of the made-up program, by number, and system calls.
const LINES: [&str; 5] = ["a.rs:1:1", "b.rs:2:2", "c.rs:3:3", "futex", "clock_nanosleep"];

struct Book;

impl Texts for Book {
    fn text(&self, id: StringId) -> &str {
        LINES[id.0 as usize]
    }

    fn name(&self, task: TaskId) -> Option<&str> {
        (task.0 == 7).then_some("seven")
    }
}

/// Events in any order, each at its microsecond.
#[derive(Default)]
struct Script {
    events: Vec<Event>,
}

impl Script {
    fn add(&mut self, micros: u64, lane: Lane, kind: EventKind) {
        let at = Duration::from_micros(micros);
        self.events.push(Event { at, is_exact: true, lane, kind });
    }

    fn on(&mut self, worker: u16, micros: u64, kind: EventKind) {
        self.add(micros, Lane::Worker(worker), kind);
    }

    /// The task that runs on the lane spawns a task.
    fn spawn(&mut self, micros: u64, lane: Lane, task: u64, line: u32) {
        let (task, location) = (TaskId(task), StringId(line));
        self.add(micros, lane, EventKind::Spawn { task });
        self.add(micros, lane, EventKind::SpawnedAt { task, location });
    }

    fn poll(&mut self, worker: u16, (from, to): (u64, u64), task: u64, outcome: Outcome) {
        self.poll_from(PollSource::Ring, worker, (from, to), task, outcome);
    }

    fn poll_from(
        &mut self,
        source: PollSource,
        worker: u16,
        (from, to): (u64, u64),
        task: u64,
        outcome: Outcome,
    ) {
        let task = TaskId(task);
        self.on(worker, from, EventKind::PollStart { task, source });
        self.on(worker, to, EventKind::PollEnd { task, outcome });
    }

    fn wake(&mut self, worker: u16, micros: u64, task: u64) {
        self.on(worker, micros, EventKind::Wake { task: TaskId(task) });
    }

    fn stall(&mut self, micros: u64, worker: u16, task: u64, kind: StallKind) {
        self.add(micros, Lane::Outside, EventKind::Stall { worker, task: TaskId(task), kind });
    }

    fn examine(self) -> Diagnosis {
        self.examine_from(Duration::ZERO)
    }

    fn examine_from(self, from: Duration) -> Diagnosis {
        self.examine_with(2, from)
    }

    /// As if the record of one lane began then.
    fn examine_with(self, seats: usize, from: Duration) -> Diagnosis {
        self.examine_late(seats, [Start { lane: Lane::Outside, at: from, in_poll: None }])
    }

    fn examine_late(mut self, seats: usize, late: impl IntoIterator<Item = Start>) -> Diagnosis {
        self.events.sort_by_key(|event| event.at);
        let mut exam = Exam::new(seats, late);
        self.events.iter().for_each(|event| exam.see(event));
        exam.conclude(&Book)
    }
}

impl Script {
    /// As a file, in which events of one lane were overwritten.
    fn trace(mut self, lost: Lane) -> Trace {
        let header = Header {
            started: std::time::SystemTime::UNIX_EPOCH,
            program: "script".to_owned(),
            pid: 1,
            workers: 2,
            seats: 2,
        };
        let mut writer = Writer::new(Vec::new(), &header).unwrap();
        LINES.iter().for_each(|line| _ = writer.string(line).unwrap());
        writer.lost(lost, 1000).unwrap();
        self.events.sort_by_key(|event| event.at);
        self.events.iter().for_each(|event| writer.event(event).unwrap());
        Trace::from_bytes(writer.finish().unwrap()).unwrap()
    }
}

fn ids(diagnosis: &Diagnosis) -> Vec<&str> {
    diagnosis.findings.iter().map(|finding| finding.id).collect()
}

fn evidence(finding: &Finding, what: &str) -> f64 {
    let found = finding.evidence.iter().find(|evidence| evidence.what == what);
    found.unwrap_or_else(|| panic!("no {what} in {:?}", finding.evidence)).value
}

#[test]
fn of_nothing_nothing_is_said() {
    assert_eq!(ids(&Script::default().examine()), [""; 0]);
}

#[test]
fn blocked_polls_are_told_by_system_call_and_line() {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 7, 1);
    for round in 0..3 {
        let start = round * 50_000;
        script.poll(0, (start, start + 20_000 + round), 7, Outcome::Waits);
        script.stall(start + 11_000, 0, 7, StallKind::Blocked(StringId(3)));
    }
    let diagnosis = script.examine();
    assert_eq!(ids(&diagnosis), ["blocking-call"]);
    let finding = &diagnosis.findings[0];
    assert!(finding.sentence.contains("futex"), "{}", finding.sentence);
    assert_eq!(finding.lines, [LINES[1]]);
    assert_eq!(finding.tasks[0].name.as_deref(), Some("seven"));
    assert_eq!(evidence(finding, "blocked polls"), 3.0);
    assert_eq!(evidence(finding, "longest"), 20_002_000.0);
}

/// A dump on a stall is written while it goes on.
#[test]
fn a_poll_that_has_not_ended_is_seen() {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 7, 1);
    let (task, source) = (TaskId(7), PollSource::Ring);
    script.on(0, 10, EventKind::PollStart { task, source });
    script.stall(20_000, 0, 7, StallKind::Waiting);
    script.on(1, 200_000, EventKind::SearchFailed);
    assert_eq!(ids(&script.examine()), ["blocking-call"]);
}

#[test]
fn one_short_block_is_nothing() {
    let mut script = Script::default();
    script.poll(0, (0, 20_000), 7, Outcome::Waits);
    script.stall(11_000, 0, 7, StallKind::Blocked(StringId(3)));
    assert_eq!(ids(&script.examine()), [""; 0]);
}

/// Polls of one line: `long` of `all` take 15 ms.
fn polls(long: u64, all: u64) -> Script {
    let mut script = Script::default();
    let mut now = 0;
    for number in 1..=all {
        script.spawn(now, Lane::Outside, number, 0);
        script.spawn(now, Lane::Outside, number + 10_000, 0);
        let took = if number <= long { 15_000 } else { 100 };
        script.poll((number % 2) as u16, (now, now + took), number, Outcome::Done);
        script.poll((number % 2 + 1) as u16 % 2, (now, now + took), number + 10_000, Outcome::Done);
        now += took + 1;
    }
    script
}

/// A worker that loses its core looks as if its poll were long. That happens to few.
#[test]
fn polls_are_long_if_many_are() {
    assert_eq!(ids(&polls(2, 20).examine()), ["long-poll"]);
    assert_eq!(ids(&polls(2, 100).examine()), [""; 0]);
    assert_eq!(ids(&polls(1, 4).examine()), [""; 0]);
}

#[test]
fn fork_join_inside_of_a_poll_makes_it_no_long_one() {
    let mut script = polls(0, 4);
    for round in 0..4 {
        let start = 100_000 + round * 40_000;
        script.spawn(start, Lane::Outside, 50 + round, 1);
        script.on(0, start + 1, EventKind::JobStart { is_stolen: false });
        script.on(0, start + 2, EventKind::JobEnd);
        script.poll(0, (start, start + 30_000), 50 + round, Outcome::Done);
        script.poll(1, (start, start + 30_000), 60 + round, Outcome::Done);
        script.on(1, start + 3, EventKind::JobStart { is_stolen: true });
        script.on(1, start + 4, EventKind::JobEnd);
    }
    assert_eq!(ids(&script.examine()), [""; 0]);
}

#[test]
fn a_shortage_of_spares_is_told() {
    let mut script = Script::default();
    script.add(5, Lane::Outside, EventKind::SpareShortage);
    assert_eq!(ids(&script.examine()), ["spare-shortage"]);
}

/// A poll wakes a task and goes on for 3 ms, while worker 1 sleeps.
fn waits(is_woken: bool) -> Script {
    let mut script = Script::default();
    script.on(1, 0, EventKind::Park);
    for round in 0..40 {
        let start = round * 5000;
        if is_woken {
            script.on(0, start, EventKind::WakeWorker { worker: 1 });
            script.on(1, start + 3000, EventKind::Unpark { by_itself: false });
            script.on(1, start + 3001, EventKind::Park);
        }
        script.poll(0, (start, start + 3050), 9, Outcome::Waits);
        script.wake(0, start + 1, 5);
        let polled = (start + 3100, start + 3110);
        script.poll_from(PollSource::LifoSlot, 0, polled, 5, Outcome::Waits);
    }
    script
}

/// A worker that was woken and gets no core is not idle.
#[test]
fn work_that_waits_beside_a_sleeper_is_told() {
    let diagnosis = waits(false).examine();
    assert_eq!(ids(&diagnosis), ["idle-beside-work"]);
    assert_eq!(evidence(&diagnosis.findings[0], "of these in a LIFO slot"), 40.0);
    let diagnosis = waits(true).examine();
    assert_eq!(ids(&diagnosis), [""; 0]);
    assert!(diagnosis.basis.without_core > 0.2, "{:?}", diagnosis.basis);
}

/// The share of their time that the workers waited for a core.
fn without_core(seats: usize, script: Script) -> f64 {
    script.examine_with(seats, Duration::ZERO).basis.without_core
}

/// A blocked worker needs no core. Its seat is taken and given back, and in between the trace says
/// that it has used no CPU time.
#[test]
fn a_blocked_poll_does_not_wait_for_a_core() {
    let mut script = Script::default();
    for round in 0..10 {
        let start = 1 + round * 50_000;
        script.add(start + 10_000, Lane::Outside, EventKind::SeatRobbed { seat: 0, from: 0 });
        script.stall(start + 10_001, 0, 7, StallKind::Blocked(StringId(3)));
        script.on(0, start + 25_000, EventKind::CpuTime { nanos: 1000 });
        script.poll(0, (start, start + 49_000), 7, Outcome::Waits);
        script.on(0, start + 49_001, EventKind::SeatTaken { seat: 0 });
    }
    assert_eq!(without_core(2, script), 0.0);
}

/// The same for a poll whose worker keeps its seat, because no task waits.
#[test]
fn a_blocked_poll_that_keeps_its_seat_does_not_wait_for_a_core_either() {
    let mut script = Script::default();
    script.poll(0, (1, 49_000), 7, Outcome::Waits);
    script.stall(10_001, 0, 7, StallKind::Waiting);
    assert_eq!(without_core(2, script), 0.0);
}

#[test]
fn a_spare_that_is_not_needed_does_not_wait_for_a_core() {
    let mut script = Script::default();
    for round in 0..10 {
        let start = 1 + round * 50_000;
        script.on(2, start, EventKind::SeatTaken { seat: 0 });
        script.on(2, start + 100, EventKind::SearchFailed);
        script.on(2, start + 101, EventKind::SeatLeft { seat: 0 });
    }
    assert_eq!(without_core(2, script), 0.0);
}

#[test]
fn a_worker_whose_thread_begins_late_does_not_wait_for_a_core() {
    let mut script = Script::default();
    script.on(1, 1, EventKind::Park);
    script.on(0, 50_000, EventKind::SearchFailed);
    assert_eq!(without_core(2, script), 0.0);
}

/// Where there is one seat, a future of `block_on` may be polled there, and nothing tells of it.
#[test]
fn a_silent_worker_waits_for_a_core_unless_it_may_be_at_a_future_of_block_on() {
    let silent = || {
        let mut script = Script::default();
        for round in 0..10 {
            let start = 1 + round * 50_000;
            script.on(0, start, EventKind::TimersFired { timers: 1 });
            script.poll(0, (start + 30_000, start + 30_010), 7, Outcome::Waits);
            script.on(0, start + 30_020, EventKind::Park);
            script.on(0, start + 49_999, EventKind::Unpark { by_itself: true });
        }
        script
    };
    assert_eq!(without_core(1, silent()), 0.0);
    assert!(without_core(2, silent()) > 0.25);
}

/// In each round it is woken, gets a core 20 ms later, and parks; it may be told of itself before
/// it is up.
fn late(rounds: u64) -> Script {
    let mut script = Script::default();
    script.on(0, 1, EventKind::Park);
    for round in 0..rounds {
        let start = 1000 + round * 50_000;
        script.add(start, Lane::Outside, EventKind::WakeWorker { worker: 0 });
        script.on(0, start + 10_000, EventKind::CpuTime { nanos: 1000 });
        script.on(0, start + 20_000, EventKind::Unpark { by_itself: false });
        script.on(0, start + 20_001, EventKind::Park);
    }
    script.add(rounds * 50_000, Lane::Outside, EventKind::Dumped);
    script
}

#[test]
fn a_worker_that_wakes_late_waits_for_a_core_once() {
    for seats in [1, 2] {
        let share = without_core(seats, late(10)) * seats as f64;
        assert!((0.39..0.41).contains(&share), "{share} of {seats}");
    }
}

/// Lanes are copied one after another, and a file may be cut off: how it went on is not known.
#[test]
fn a_woken_worker_without_further_events_is_not_late() {
    let mut script = late(0);
    script.add(1000, Lane::Outside, EventKind::WakeWorker { worker: 0 });
    script.on(1, 500_000, EventKind::SearchFailed);
    assert_eq!(without_core(2, script), 0.0);
}

/// What was before the beginning is no part of the wait.
#[test]
fn a_wait_for_a_core_counts_from_the_beginning_on() {
    let mut script = late(1);
    script.on(1, 16_000, EventKind::SearchFailed);
    let basis = script.examine_with(2, Duration::from_micros(16_000)).basis;
    let waited = basis.without_core * 2.0 * basis.common_seconds;
    assert!((0.0049..0.0051).contains(&waited), "{basis:?}");
}

/// Worker 0 is busy with tasks that its reactor wakes, four at a time; worker 1 gets a few events.
fn io(others_get: u64) -> Script {
    let mut script = Script::default();
    script.on(1, 0, EventKind::Park);
    for round in 0..300 {
        let start = 1 + round * 100;
        script.on(0, start, EventKind::IoHarvest { events: 4 });
        if round % 10 < others_get {
            script.on(1, start, EventKind::IoHarvest { events: 4 });
        }
        for task in 0..4 {
            script.wake(0, start, task);
            script.poll(0, (start + task * 24, start + task * 24 + 23), task, Outcome::Waits);
        }
    }
    script
}

#[test]
fn all_io_at_one_reactor_is_told() {
    let diagnosis = io(0).examine();
    assert_eq!(ids(&diagnosis), ["imbalance-io-affinity"]);
    assert_eq!(evidence(&diagnosis.findings[0], "I/O events"), 1200.0);
    assert_eq!(ids(&io(9).examine()), [""; 0]);
}

/// All events arrive at one reactor, and another worker takes half of the tasks, most of them after
/// the first is done.
#[test]
fn io_at_one_reactor_whose_tasks_are_stolen_is_healthy() {
    let mut script = Script::default();
    for round in 0..300 {
        let start = 1 + round * 100;
        script.on(0, start, EventKind::IoHarvest { events: 4 });
        (0..4).for_each(|task| script.wake(0, start, task));
        for (worker, from, task) in [(0, 0, 0), (0, 24, 1), (1, 30, 2), (1, 54, 3)] {
            let polled = (start + from, start + from + 23);
            script.poll(worker, polled, task, Outcome::Waits);
        }
    }
    assert_eq!(ids(&script.examine()), [""; 0]);
}

/// A trace of polls that are short may hold many of them, and little time.
#[test]
fn many_polls_are_judged_however_little_time_they_took() {
    let polls = |count| {
        let mut script = Script::default();
        script.on(1, 0, EventKind::Park);
        for poll in 0..count {
            script.poll(0, (1 + poll, 2 + poll), poll % 2, Outcome::Waits);
        }
        script.examine()
    };
    assert_eq!(ids(&polls(12_000)), ["imbalance-too-short"]);
    assert_eq!(ids(&polls(8_000)), [""; 0]);
}

/// A worker that is woken and comes late is the machine's fault.
#[test]
fn imbalance_is_not_judged_without_cores() {
    let mut script = io(0);
    script.on(0, 10, EventKind::WakeWorker { worker: 1 });
    script.on(1, 20_000, EventKind::Unpark { by_itself: false });
    script.on(1, 20_001, EventKind::Park);
    assert_eq!(ids(&script.examine()), [""; 0]);
}

/// A task that blocks while nobody waits is in a poll nearly all the time, and uses no CPU time.
#[test]
fn a_blocked_worker_is_not_taken_for_one_busy_worker() {
    let blocks_with_cpu_time = |nanos| {
        let mut script = Script::default();
        script.spawn(0, Lane::Outside, 7, 1);
        for round in 0..300 {
            let start = round * 10_000;
            script.on(0, start, EventKind::CpuTime { nanos: round * nanos });
            script.poll(0, (start + 1, start + 9_000), 7, Outcome::Again);
            script.on(0, start + 8_999, EventKind::CpuTime { nanos: (round + 1) * nanos });
        }
        script.examine()
    };
    assert_eq!(ids(&blocks_with_cpu_time(10_000)), [""; 0]);
    assert_eq!(ids(&blocks_with_cpu_time(8_000_000)), ["imbalance-one-task"]);
}

/// Names may be any text, and the reader may be a terminal.
#[test]
fn control_characters_of_names_are_not_printed() {
    let task = TaskRef { id: 7, name: Some("a\n\x1b[2J\"".into()), spawned_at: None };
    assert_eq!(task.to_string(), r#"7 "a\n\u{1b}[2J\"""#);
}

#[test]
fn tasks_that_pile_up_are_told_and_those_of_one_burst_are_not() {
    let pile = |every: u64| {
        let mut script = Script::default();
        for task in 1..=600 {
            script.spawn(task * every, Lane::Outside, task, 2);
            script.poll(0, (task * every + 1, task * every + 2), task, Outcome::Waits);
        }
        script.on(0, 600_000, EventKind::Park);
        script.examine()
    };
    let diagnosis = pile(1000);
    assert_eq!(ids(&diagnosis), ["task-leak"]);
    assert_eq!(diagnosis.findings[0].lines, [LINES[2]]);
    assert_eq!(ids(&pile(10)), [""; 0]);
}

/// A record that begins late says nothing about what others did before.
#[test]
fn each_worker_is_judged_by_its_own_record() {
    let mut script = polls(10, 20);
    script.add(1_000_000, Lane::Outside, EventKind::Dumped);
    let diagnosis = script.examine_from(Duration::from_secs(1));
    assert_eq!(ids(&diagnosis), ["long-poll"]);
    assert_eq!(diagnosis.basis.polls, 40);
    let basis = &diagnosis.basis;
    assert_eq!((basis.seconds, basis.common_seconds), (1.0, 0.0));
    assert!(basis.busy.iter().all(|busy| (0.14..0.16).contains(busy)), "{basis:?}");
}

/// What was not woken, or ended, may have been woken in a record that is overwritten.
#[test]
fn nothing_is_said_of_events_that_may_be_overwritten() {
    let mut script = Script::default();
    for task in 1..=600 {
        script.spawn(task * 1000, Lane::Outside, task, 2);
        script.poll(0, (task * 1000 + 1, task * 1000 + 2), task, Outcome::Waits);
    }
    script.spawn(600_500, Lane::Outside, 700, 2);
    script.on(0, 600_600, EventKind::Park);
    script.add(900_000, Lane::Outside, EventKind::Dumped);
    let late = Start { lane: Lane::Worker(1), at: Duration::from_micros(700_000), in_poll: None };
    script.on(1, 700_000, EventKind::Park);
    assert_eq!(ids(&script.examine_late(2, [late])), [""; 0]);
    assert_eq!(ids(&waits(false).examine_from(Duration::from_micros(199_000))), [""; 0]);
}

/// What piled up since then is told, though more of it did before.
#[test]
fn tasks_that_pile_up_behind_a_late_record_are_told() {
    let mut script = Script::default();
    for task in 1..=1800 {
        script.spawn(task * 1000, Lane::Outside, task, 2);
        script.poll(0, (task * 1000 + 1, task * 1000 + 2), task, Outcome::Waits);
    }
    let diagnosis = script.examine_from(Duration::from_millis(1200));
    assert_eq!(ids(&diagnosis), ["task-leak"]);
    assert!((599.0..=601.0).contains(&evidence(&diagnosis.findings[0], "spawned")));
}

/// A task burns 400 µs, spawns another of 10 and goes on, all in one poll. Worker 1 runs the
/// others. Then the task awaits them one by one.
fn one_spawner(rounds: u64) -> Script {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 7, 0);
    let end = rounds * 400 + 1;
    script.on(0, 0, EventKind::CpuTime { nanos: 0 });
    script.poll(0, (1, end), 7, Outcome::Again);
    for round in 1..=rounds {
        script.on(0, round * 400, EventKind::CpuTime { nanos: round * 400_000 });
        script.spawn(round * 400, Lane::Worker(0), 1000 + round, 1);
        script.poll(1, (round * 400 + 10, round * 400 + 20), 1000 + round, Outcome::Done);
    }
    for round in 1..=40 {
        script.poll(0, (end + round * 10, end + round * 10 + 1), 7, Outcome::Again);
    }
    script
}

fn found<'a>(diagnosis: &'a Diagnosis, id: &str) -> &'a Finding {
    let found = diagnosis.findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", ids(diagnosis)))
}

/// The poll is long, and all others wait for it: these are two things to say.
#[test]
fn a_spawner_that_does_not_await_is_told_with_its_poll() {
    let diagnosis = one_spawner(1000).examine();
    assert_eq!(ids(&diagnosis), ["imbalance-one-spawner", "long-poll"]);
    let spawner = found(&diagnosis, "imbalance-one-spawner");
    assert_eq!(spawner.lines, [LINES[0]]);
    assert!(spawner.sentence.contains("(400 µs each)"), "{}", spawner.sentence);
    assert!(spawner.sentence.contains("(10.0 µs)"), "{}", spawner.sentence);
    assert_eq!(found(&diagnosis, "long-poll").lines, [LINES[0]]);
}

/// The record of a spare worker, which was there for a moment, goes back 2 ms.
#[test]
fn a_spawner_is_told_however_late_the_record_of_another_begins() {
    let mut script = one_spawner(1000);
    let last = 398_000;
    script.on(2, last, EventKind::SeatLeft { seat: 1 });
    let late = Start { lane: Lane::Worker(2), at: Duration::from_micros(last), in_poll: None };
    let diagnosis = script.examine_late(2, [late]);
    assert_eq!(ids(&diagnosis), ["imbalance-one-spawner", "long-poll"]);
    let spawner = found(&diagnosis, "imbalance-one-spawner");
    assert_eq!(evidence(spawner, "tasks spawned by it"), 1000.0);
    assert!(evidence(spawner, "of busy time in the spawner") <= 100.0);
    assert!(evidence(spawner, "worker 0 busy") > 99.0);
    assert!(diagnosis.basis.common_seconds < 0.01 && diagnosis.basis.seconds > 0.39);
}

/// Its buffer has been overwritten since the poll began.
#[test]
fn a_poll_that_goes_on_when_the_record_begins_is_counted_from_there() {
    let mut script = one_spawner(2000);
    let from = Duration::from_micros(100_001);
    script.events.retain(|event| event.lane != Lane::Worker(0) || event.at >= from);
    script.on(0, 100_001, EventKind::WakeWorker { worker: 1 });
    let diagnosis = examine(&script.trace(Lane::Worker(0))).unwrap();
    assert_eq!(ids(&diagnosis), ["imbalance-one-spawner", "long-poll"]);
    let busy = evidence(found(&diagnosis, "imbalance-one-spawner"), "worker 0 busy");
    assert!(busy > 99.0, "{busy}");
}

/// Worker 1 is woken every 400 µs for 10 µs, and finds nothing.
fn rounds(is_merged: bool) -> Script {
    let mut script = Script::default();
    script.on(1, 0, EventKind::Park);
    for run in 0..10 {
        let start = 390 + run * 20_000;
        if is_merged {
            let (nanos, awake_nanos) = (49 * 400_000 + 10_000, 50 * 10_000);
            let (rounds, searches, seat) = (50, 50, None);
            script.on(
                1,
                start,
                EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos },
            );
            continue;
        }
        for round in 0..50 {
            let start = start + round * 400;
            script.on(1, start, EventKind::Unpark { by_itself: false });
            script.on(1, start + 10, EventKind::SearchFailed);
            script.on(1, start + 10, EventKind::Park);
        }
    }
    script
}

/// What is merged says of a worker what its parts would: that it sleeps, and needs no core.
#[test]
fn merged_rounds_are_time_asleep() {
    for is_merged in [false, true] {
        let mut script = rounds(is_merged);
        for round in 0..30 {
            let start = round * 6000;
            script.poll(0, (start, start + 5050), 9, Outcome::Waits);
            script.wake(0, start + 1, 5);
            let polled = (start + 5100, start + 5110);
            script.poll_from(PollSource::LifoSlot, 0, polled, 5, Outcome::Waits);
            script.on(0, start + 200, EventKind::WakeWorker { worker: 1 });
        }
        let diagnosis = script.examine();
        assert_eq!(ids(&diagnosis), ["idle-beside-work"], "{is_merged}");
        let basis = &diagnosis.basis;
        assert_eq!((basis.without_core, basis.busy[1]), (0.0, 0.0), "{is_merged}");
    }
}

/// A worker that searches for work most of the time is about to find some.
#[test]
fn merged_rounds_that_are_mostly_awake_are_a_search() {
    let mut script = waits(false);
    let kind = |awake_nanos| EventKind::IdleRounds {
        rounds: 1000,
        searches: 1000,
        seat: None,
        nanos: 199_000_000,
        awake_nanos,
    };
    script.on(1, 1, kind(150_000_000));
    assert_eq!(ids(&script.examine()), [""; 0]);
    let mut script = waits(false);
    script.on(1, 1, kind(10_000_000));
    assert_eq!(ids(&script.examine()), ["idle-beside-work"]);
}

/// Nobody but the reader of a damaged file comes across this: no panic.
#[test]
fn nonsense_is_examined_too() {
    let mut script = Script::default();
    for worker in [0, 9, u16::MAX] {
        script.on(worker, 5, EventKind::PollEnd { task: TaskId(3), outcome: Outcome::Again });
        script.on(worker, 6, EventKind::JobEnd);
        script.on(worker, 7, EventKind::Unpark { by_itself: true });
        script.stall(8, worker, 0, StallKind::Unknown);
        script.on(worker, 9, EventKind::WakeWorker { worker: u16::MAX });
        script.on(worker, 9, EventKind::SeatRobbed { seat: 99, from: 99 });
    }
    assert_eq!(ids(&script.examine()), [""; 0]);
}

/// Closures that are spawned at once. A thread has one for 20 ms; each of `threads` begins so late.
fn closures(script: &mut Script, count: u64, threads: impl IntoIterator<Item = u64>) {
    for task in 1..=count {
        let (task, location) = (TaskId(task), StringId(0));
        script.on(0, 1, EventKind::OffWorkerSpawn { task, by: OffWorker::Closure });
        script.on(0, 1, EventKind::SpawnedAt { task, location });
    }
    let mut threads: Vec<u64> = threads.into_iter().collect();
    for task in 1..=count {
        let first = threads.iter_mut().min().unwrap();
        let (task, outcome) = (TaskId(task), Outcome::Done);
        script.add(*first, Lane::Outside, EventKind::OffWorkerStart { task });
        *first += 20_000;
        script.add(*first - 1, Lane::Outside, EventKind::OffWorkerEnd { task, outcome });
    }
}

#[test]
fn closures_that_wait_for_others_to_end_are_told() {
    let mut script = Script::default();
    closures(&mut script, 12, [100, 150]);
    let diagnosis = script.examine();
    assert_eq!(ids(&diagnosis), ["blocking-pool-exhausted"]);
    let finding = &diagnosis.findings[0];
    assert!(finding.sentence.contains("2 threads were at closures"), "{}", finding.sentence);
    assert!(finding.sentence.contains("10 closures waited"), "{}", finding.sentence);
    assert_eq!(finding.lines, ["a.rs:1:1"]);
}

#[test]
fn threads_that_come_late_are_not_taken_for_too_few() {
    let mut script = Script::default();
    closures(&mut script, 12, (1..=12).map(|number| number * 15_000));
    assert_eq!(ids(&script.examine()), [""; 0]);
}

/// A wait that has not ended when the trace ends counts too.
#[test]
fn closures_that_never_get_a_thread_are_told() {
    let mut script = Script::default();
    for task in 1..=8 {
        let task = TaskId(task);
        script.on(0, 1, EventKind::OffWorkerSpawn { task, by: OffWorker::Closure });
    }
    script.add(50, Lane::Outside, EventKind::OffWorkerStart { task: TaskId(1) });
    script.add(90_000, Lane::Outside, EventKind::Dumped);
    assert_eq!(ids(&script.examine()), ["blocking-pool-exhausted"]);
}

#[test]
fn tasks_of_a_runtime_that_nobody_drives_are_told() {
    let abandoned = |is_left: bool| {
        let mut script = Script::default();
        for seat in 0..2 {
            script.on(seat, 10, EventKind::SeatTaken { seat });
            if is_left {
                script.on(seat, 20, EventKind::SeatLeft { seat });
            }
        }
        script.spawn(30, Lane::Outside, 9, 1);
        script.add(300_000, Lane::Outside, EventKind::Dumped);
        script.examine()
    };
    let diagnosis = abandoned(true);
    assert_eq!(ids(&diagnosis), ["never-polled"]);
    assert!(diagnosis.findings[0].sentence.contains("nobody drives the runtime"));
    // Workers that are on their way may just lack a core.
    assert_eq!(ids(&abandoned(false)), [""; 0]);
}
