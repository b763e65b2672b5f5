//! Programs whose findings named the wrong cause, or none.

use super::*;
use heist::trace::Resource;

impl Script {
    fn cut_short(&mut self, worker: u16, micros: u64, task: u64, resource: Resource) {
        let task = TaskId(task);
        self.on(worker, micros, EventKind::BudgetExhausted { task, resource });
    }
}

/// A task joins tasks that have ended, and is cut short in each poll. It works for `poll` µs a
/// time; another worker runs `each` tasks of 1 µs meanwhile.
fn joins(poll: u64, each: u64) -> Script {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 1, 0);
    for round in 0..100 {
        let start = 10 + round * (poll + 10);
        script.cut_short(0, start + 1, 1, Resource::Task);
        script.poll(0, (start, start + poll), 1, Outcome::Again);
        for number in 0..each {
            let task = 10 + round * each + number;
            let now = start + 1 + number;
            script.spawn(now, Lane::Worker(0), task, 1);
            script.poll(1, (now, now + 1), task, Outcome::Done);
        }
    }
    script
}

#[test]
fn tasks_that_do_next_to_nothing_are_the_cause_and_not_their_joiner() {
    let diagnosis = joins(100, 90).examine();
    assert_eq!(ids(&diagnosis), ["tiny-tasks"]);
    let finding = &diagnosis.findings[0];
    assert_eq!(finding.lines, [LINES[1]]);
    assert_eq!(evidence(finding, "tasks"), 9000.0);
    assert!(finding.advice.contains("Batch"), "{}", finding.advice);
    assert_eq!(diagnosis.verdict, Verdict::Sick);
    // Few of them, or beside other work, are none.
    assert_eq!(ids(&joins(100, 40).examine()), ["budget-exhausted"]);
    assert!(!ids(&joins(300, 90).examine()).contains(&"tiny-tasks"));
}

/// A task that is runnable again after each poll, which takes `micros`.
fn goes_on(polls: u64, micros: u64, is_cut: bool) -> Script {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 7, 1);
    for round in 0..polls {
        let start = 1 + round * (micros + 1);
        if is_cut {
            script.cut_short(0, start, 7, Resource::Other);
        }
        script.poll(0, (start, start + micros), 7, Outcome::Again);
    }
    script
}

#[test]
fn a_task_that_only_wakes_itself_is_named() {
    for polls in [6000, 20_000] {
        let diagnosis = goes_on(polls, 1, false).examine();
        assert_eq!(ids(&diagnosis), ["self-wake"]);
        let finding = &diagnosis.findings[0];
        assert_eq!(
            (finding.lines.as_slice(), finding.tasks[0].id),
            (&[LINES[1].to_owned()][..], 7)
        );
        assert_eq!(finding.tasks[0].name.as_deref(), Some("seven"));
    }
    // Work in parts is none, and neither is what has a budget.
    for script in [goes_on(6000, 30, false), goes_on(6000, 1, true), goes_on(1000, 1, false)] {
        assert!(!ids(&script.examine()).contains(&"self-wake"));
    }
}

/// Tasks 7 and 9 are blocked in a system call until 60 ms.
fn waits_for_lock(call: u32) -> Script {
    let mut script = Script::default();
    script.spawn(0, Lane::Outside, 7, 1);
    script.spawn(0, Lane::Outside, 9, 0);
    script.poll(0, (5_000, 60_000), 7, Outcome::Waits);
    script.poll(2, (2_000, 62_000), 9, Outcome::Waits);
    for (worker, task) in [(0, 7), (2, 9)] {
        script.stall(20_000, worker, task, StallKind::Blocked(StringId(call)));
    }
    script.on(3, 63_000, EventKind::SearchFailed);
    script.poll(3, (10_000, 14_000), 10, Outcome::Waits);
    script.poll(3, (110_000, 111_000), 10, Outcome::Waits);
    script
}

fn of_line<'d>(diagnosis: &'d Diagnosis, line: &str) -> &'d Finding {
    let mut blocked = diagnosis.findings.iter().filter(|found| found.id == "blocking-call");
    blocked.find(|found| found.lines[0] == line).unwrap_or_else(|| panic!("{diagnosis:#?}"))
}

fn twice(script: impl Fn() -> Script, add: impl Fn(&mut Script)) -> Diagnosis {
    let mut all = script();
    add(&mut all);
    // Once more, with nothing that is known to run beside: one blocked poll may be bad luck.
    let mut later = script();
    for event in &mut later.events {
        event.at += Duration::from_millis(200);
    }
    later.events.retain(|event| {
        !matches!(event.kind, EventKind::Spawn { .. } | EventKind::SpawnedAt { .. })
    });
    all.events.extend(later.events);
    all.examine_with(4, Duration::ZERO)
}

/// The holder may be asleep itself, and its task may be over before the others'.
#[test]
fn the_task_beside_a_wait_for_a_lock_is_named_as_its_holder() {
    for outcome in [Outcome::Waits, Outcome::Done] {
        let diagnosis = twice(
            || waits_for_lock(3),
            |script| {
                script.spawn(0, Lane::Outside, 8, 2);
                script.poll(1, (1_000, 59_000), 8, outcome);
                script.stall(15_000, 1, 8, StallKind::Blocked(StringId(4)));
            },
        );
        let finding = of_line(&diagnosis, LINES[1]);
        assert_eq!(finding.lines, [LINES[1], LINES[2]]);
        assert_eq!(finding.tasks.iter().map(|task| task.id).collect::<Vec<_>>(), [7, 8]);
        let said = ["lock held across slow work", "task 8 (spawned at c.rs:3:3)"];
        assert!(said.iter().all(|part| finding.sentence.contains(part)), "{}", finding.sentence);
        assert_eq!(evidence(finding, "longest run of the likely holder beside one"), 54_000_000.0);
    }
}

#[test]
fn a_closure_may_hold_the_lock() {
    let diagnosis = twice(
        || waits_for_lock(3),
        |script| {
            let (task, location, outcome) = (TaskId(50), StringId(2), Outcome::Done);
            script.on(1, 1, EventKind::OffWorkerSpawn { task, by: OffWorker::Closure });
            script.on(1, 1, EventKind::SpawnedAt { task, location });
            script.add(30, Lane::Outside, EventKind::OffWorkerStart { task });
            script.add(59_000, Lane::Outside, EventKind::OffWorkerEnd { task, outcome });
        },
    );
    assert_eq!(of_line(&diagnosis, LINES[1]).tasks[1].id, 50);
}

#[test]
fn nobody_is_blamed_for_a_lock_without_a_reason() {
    // Nothing but short polls runs beside, or it is not a lock.
    let alone = twice(|| waits_for_lock(3), |_| ());
    let sleeps =
        twice(|| waits_for_lock(4), |script| script.poll(1, (1_000, 59_000), 8, Outcome::Waits));
    for diagnosis in [alone, sleeps] {
        let finding = of_line(&diagnosis, LINES[1]);
        assert_eq!((finding.tasks.len(), finding.sentence.contains("lock held")), (1, false));
    }
}

#[test]
fn an_interval_that_catches_up_is_told_from_other_timers() {
    let cut_at = |resource| {
        let mut script = Script::default();
        script.spawn(0, Lane::Outside, 7, 1);
        for round in 0..60 {
            script.cut_short(0, round * 20 + 9, 7, resource);
            script.poll(0, (round * 20, round * 20 + 10), 7, Outcome::Again);
        }
        let diagnosis = script.examine();
        assert_eq!(ids(&diagnosis), ["budget-exhausted"]);
        diagnosis.findings[0].clone()
    };
    let late = cut_at(Resource::LateInterval);
    assert!(late.sentence.contains("MissedTickBehavior"), "{}", late.sentence);
    assert!(late.advice.contains("MissedTickBehavior::Delay or Skip"), "{}", late.advice);
    for resource in [Resource::Timer, Resource::Io, Resource::Task, Resource::Other] {
        let finding = cut_at(resource);
        assert!(!finding.sentence.contains("MissedTick"), "{}", finding.sentence);
    }
}

/// Two tasks wait forever from 20 ms on. Something else happens with the period `every`, in ms.
fn stuck(every: Option<u64>) -> Script {
    let mut script = Script::default();
    for task in [7, 8] {
        script.spawn(0, Lane::Outside, task, 2);
        script.poll(0, (task, task + 1), task, Outcome::Waits);
        script.wake(0, 20_000 + task, task);
        script.poll(1, (20_010 + task, 20_011 + task), task, Outcome::Waits);
    }
    script.spawn(0, Lane::Outside, 9, 0);
    for round in (0..1000).step_by(every.unwrap_or(1000) as usize) {
        script.wake(0, round * 1000, 9);
        script.poll(0, (round * 1000 + 30, round * 1000 + 530), 9, Outcome::Waits);
    }
    script.add(1_000_000, Lane::Outside, EventKind::Dumped);
    script
}

#[test]
fn a_program_that_only_waits_is_not_called_healthy() {
    let diagnosis = stuck(None).examine();
    assert_eq!((ids(&diagnosis).len(), diagnosis.verdict), (0, Verdict::Idle));
    let [first, second] = &diagnosis.waiting[..] else { panic!("{:?}", diagnosis.waiting) };
    assert_eq!(first.spawned_at.as_deref(), Some(LINES[0]));
    assert_eq!((second.spawned_at.as_deref(), second.tasks), (Some(LINES[2]), 2));
    assert_eq!(second.examples.iter().map(|task| task.id).collect::<Vec<_>>(), [7, 8]);
    assert_eq!(second.longest_nanoseconds, 979_982_000);
    assert!(diagnosis.basis.quiet_seconds > 0.97);
    // The ticks of another task are no progress.
    assert_eq!(stuck(Some(100)).examine().verdict, Verdict::Idle);
}

#[test]
fn tasks_that_wait_are_told_beside_work_too() {
    let diagnosis = stuck(Some(2)).examine();
    assert_eq!((ids(&diagnosis).len(), diagnosis.verdict), (0, Verdict::Healthy));
    assert_eq!(diagnosis.waiting.len(), 1);
    assert_eq!(diagnosis.waiting[0].tasks, 2);
}

/// A task whose wake-up is seen does not wait, and neither does one that has ended.
#[test]
fn tasks_that_were_woken_do_not_wait() {
    let mut script = stuck(None);
    script.wake(0, 900_000, 7);
    script.wake(0, 900_000, 8);
    script.poll(0, (900_001, 900_002), 8, Outcome::Done);
    script.wake(0, 950_000, 9);
    script.poll(0, (950_001, 950_002), 9, Outcome::Waits);
    assert_eq!(script.examine().waiting, []);
}

/// Records that were overwritten may have had the wake-up of a task that seems to wait.
#[test]
fn waits_from_before_the_beginning_are_not_told() {
    let diagnosis = stuck(None).examine_from(Duration::from_millis(500));
    assert_eq!(diagnosis.waiting, []);
}
