use super::*;

/// One of each, with fields as large as they get.
fn all_kinds() -> Vec<EventKind> {
    let task = TaskId(MAX_TASK);
    let (small, large) = (u16::MAX, u32::MAX);
    let mut kinds = vec![
        EventKind::Spawn { task },
        EventKind::SpawnedAt { task, location: StringId(large) },
        EventKind::Wake { task },
        EventKind::Steal { victim: small, tasks: large },
        EventKind::InjectBatch { tasks: large },
        EventKind::Overflow { tasks: large },
        EventKind::SearchFailed,
        EventKind::Park,
        EventKind::Unpark { by_itself: true },
        EventKind::Unpark { by_itself: false },
        EventKind::WakeWorker { worker: small },
        EventKind::SeatRobbed { seat: 1, from: small },
        EventKind::SeatTaken { seat: small },
        EventKind::SeatLeft { seat: small },
        EventKind::SpareShortage,
        EventKind::JobStart { is_stolen: true },
        EventKind::JobStart { is_stolen: false },
        EventKind::JobEnd,
        EventKind::TimersFired { timers: large },
        EventKind::IoHarvest { events: large },
        EventKind::CpuTime { nanos: MAX_NANOS },
        EventKind::OffWorkerSpawn { task, by: OffWorker::Closure },
        EventKind::OffWorkerSpawn { task, by: OffWorker::LocalSet },
        EventKind::OffWorkerStart { task },
        EventKind::Dumped,
    ];
    for seat in [None, Some(0), Some(small - 1)] {
        let (nanos, awake_nanos) = (MAX_ROUND_NANOS, MAX_ROUND_NANOS - 5);
        let (rounds, searches) = (MAX_ROUNDS, MAX_ROUNDS - 2);
        kinds.push(EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos });
    }
    kinds.extend(resources().map(|resource| EventKind::BudgetExhausted { task, resource }));
    kinds.extend(sources().map(|source| EventKind::PollStart { task, source }));
    kinds.extend(outcomes().map(|outcome| EventKind::PollEnd { task, outcome }));
    kinds.extend(outcomes().map(|outcome| EventKind::OffWorkerEnd { task, outcome }));
    let stalls = [
        StallKind::Burning,
        StallKind::Blocked(StringId(large)),
        StallKind::Waiting,
        StallKind::Unknown,
    ];
    kinds.extend(stalls.map(|kind| EventKind::Stall { worker: small, task, kind }));
    kinds
}

fn sources() -> [PollSource; 5] {
    use PollSource::*;
    [LifoSlot, Ring, Inject, Stolen, Pinned]
}

fn resources() -> [Resource; 5] {
    use Resource::*;
    [Other, Timer, LateInterval, Io, Task]
}

fn outcomes() -> [Outcome; 3] {
    [Outcome::Done, Outcome::Waits, Outcome::Again]
}

fn tag_of(word: Word) -> u64 {
    word.0 & ((1 << TAG_BITS) - 1)
}

/// What two words say together.
fn joined((first, second): Words) -> Option<EventKind> {
    match (first.item()?, second.map(|word| word.item())) {
        (Item::Event(kind), None) => Some(kind),
        (Item::SpawnedAt { task }, Some(Some(Item::Location(location)))) => {
            Some(EventKind::SpawnedAt { task, location: StringId(location as u32) })
        }
        (Item::Stall { worker, kind }, Some(Some(Item::StallTask(task)))) => {
            Some(EventKind::Stall { worker, task, kind })
        }
        (
            Item::IdleRounds { rounds, searches, seat },
            Some(Some(Item::RoundTimes { nanos, awake_nanos })),
        ) => Some(EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos }),
        _ => None,
    }
}

#[test]
fn each_event_is_the_same_after_it_was_a_word() {
    for kind in all_kinds() {
        assert_eq!(joined(Word::of(kind)), Some(kind));
    }
}

#[test]
fn a_poll_in_one_word_keeps_task_source_and_outcome() {
    for source in sources() {
        for outcome in outcomes() {
            let task = TaskId(MAX_TASK - 5);
            let expected = Item::Polled { task, source, outcome };
            assert_eq!(Word::polled(task, source, outcome).item(), Some(expected));
        }
    }
}

#[test]
fn times_are_kept_to_the_nanosecond() {
    for nanos in [0, 1, MAX_NANOS] {
        assert_eq!(Word::time(nanos).item(), Some(Item::Time(nanos)));
        assert_eq!(Word::mark(nanos).item(), Some(Item::Mark(nanos)));
    }
}

#[test]
fn a_task_too_large_spoils_no_other_field() {
    let task = TaskId(u64::MAX);
    let word = Word::polled(task, PollSource::LifoSlot, Outcome::Done);
    let (source, outcome) = (PollSource::LifoSlot, Outcome::Done);
    assert_eq!(word.item(), Some(Item::Polled { task: TaskId(MAX_TASK), source, outcome }));
}

#[test]
fn memory_that_was_never_written_is_no_event() {
    assert_eq!(Word(0).item(), None);
}

/// The rows of FORMAT.md's table of words: tag, and the name of the event if it is one.
fn documented() -> Vec<(u64, String)> {
    let text = include_str!("../FORMAT.md");
    let table = text.split("## Words").nth(1).and_then(|rest| rest.split("| field |").next());
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        Some((cells.next()?.parse().ok()?, cells.next()?.trim_matches('`').to_owned()))
    };
    table.expect("FORMAT.md has its table").lines().filter_map(row).collect()
}

#[test]
fn the_format_is_documented_tag_by_tag() {
    let documented = documented();
    for tag in 0..1 << TAG_BITS {
        let rows = documented.iter().filter(|(number, _)| *number == tag).count();
        assert_eq!(rows, usize::from(Word(tag).item().is_some()), "tag {tag}");
    }
    for kind in all_kinds() {
        let name = format!("{kind:?}").split([' ', '{']).next().unwrap_or_default().to_owned();
        let tag = tag_of(Word::of(kind).0);
        assert!(documented.contains(&(tag, name)), "{kind:?} has tag {tag}");
    }
}
