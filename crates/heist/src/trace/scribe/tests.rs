use super::*;
use crate::env::StoppedClock;
use crate::trace::word::Item;
use std::time::Duration;

const WORDS: usize = 1 << 16;

fn scribe(is_exact: bool) -> Scribe {
    Scribe::new(WORDS, Clock::now(), is_exact)
}

fn poll(scribe: &Scribe, task: u64, in_poll: impl FnOnce()) {
    let begun = scribe.begin_poll(task, PollSource::Ring, Location::caller());
    in_poll();
    scribe.end_poll(begun, Outcome::Waits);
}

fn items(scribe: &Scribe) -> Vec<Item> {
    scribe.copy().words.into_iter().map(|word| Word(word).item().unwrap()).collect()
}

fn start(task: u64) -> Item {
    Item::Event(EventKind::PollStart { task: TaskId(task), source: PollSource::Ring })
}

fn end(task: u64) -> Item {
    Item::Event(EventKind::PollEnd { task: TaskId(task), outcome: Outcome::Waits })
}

fn polled(task: u64) -> Item {
    Item::Polled { task: TaskId(task), source: PollSource::Ring, outcome: Outcome::Waits }
}

fn wake(task: u64) -> EventKind {
    EventKind::Wake { task: TaskId(task) }
}

/// How many words say a time.
fn readings(scribe: &Scribe) -> usize {
    let is_time = |item: &Item| matches!(item, Item::Time(_) | Item::Mark(_));
    items(scribe).iter().filter(|item| is_time(item)).count()
}

/// A poll is one word, and its parts if something happens in it. What happens between polls is in
/// none.
#[test]
fn a_poll_is_one_word_or_what_happens_in_it() {
    let _clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.note(wake(9));
    poll(&scribe, 1, || ());
    poll(&scribe, 2, || scribe.note(wake(7)));
    scribe.note(wake(8));
    poll(&scribe, 3, || ());
    let [seven, eight, nine] = [7, 8, 9].map(|task| Item::Event(wake(task)));
    // The first event is timed, whatever it is.
    let expected = [Item::Time(0), nine, polled(1), start(2), seven, end(2), eight, polled(3)];
    assert_eq!(items(&scribe), expected);
}

/// What is rare has its time, within a poll and elsewhere.
#[test]
fn what_is_rare_has_its_time() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    clock.advance(Duration::from_nanos(5));
    scribe.park();
    clock.advance(Duration::from_nanos(7));
    scribe.unpark(true);
    poll(&scribe, 1, || scribe.record(EventKind::SpareShortage));
    let unpark = EventKind::Unpark { by_itself: true };
    let [park, unpark, shortage] =
        [EventKind::Park, unpark, EventKind::SpareShortage].map(Item::Event);
    let expected =
        [Item::Time(5), park, Item::Time(12), unpark, start(1), Item::Time(12), shortage, end(1)];
    assert_eq!(items(&scribe), expected);
}

/// The number of words between two times is limited.
#[test]
fn there_is_a_time_every_now_and_then() {
    let _clock = StoppedClock::stop();
    let scribe = scribe(false);
    (0..10 * BATCH).for_each(|task| poll(&scribe, task + 1, || ()));
    assert!((10..=11).contains(&readings(&scribe)), "{}", readings(&scribe));
}

/// Long polls are timed, each from its start to its end; where they were spawned is told, not each
/// time.
#[test]
fn long_polls_are_timed_one_by_one() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    let long = Duration::from_micros(20);
    for _ in 0..2 * BATCH {
        poll(&scribe, 1, || clock.advance(long));
    }
    let before = scribe.copy().words.len();
    for _ in 0..50 {
        poll(&scribe, 1, || clock.advance(long));
    }
    let words = &items(&scribe)[before..];
    let [Item::Time(from), first, Item::Time(until), last] = words[..4] else {
        panic!("{words:?}")
    };
    assert_eq!((first, last, until - from), (start(1), end(1), 20_000));
    assert_eq!(words.len(), 200);
    let is_told = |item: &&Item| matches!(item, Item::SpawnedAt { .. });
    assert_eq!(items(&scribe).iter().filter(is_told).count(), 1);
    poll(&scribe, 2, || ());
    assert_eq!(items(&scribe).iter().filter(is_told).count(), 2);
}

/// Whatever the polls are like, reading the clock takes no more than its share; and after one that
/// took long those that follow are timed.
#[test]
fn the_clock_has_its_share() {
    for nanos in [10, 50, 200, 1_000, 5_000] {
        let clock = StoppedClock::stop();
        let scribe = scribe(false);
        let polls = 8000;
        (0..polls).for_each(|_| poll(&scribe, 1, || clock.advance(Duration::from_nanos(nanos))));
        let words = scribe.buffer.position();
        let share = (polls * nanos / SHARE).saturating_sub(words * COST_OF_WORD) / COST_OF_READING;
        let least = polls / BATCH;
        let most = share.max(least) as usize + 2;
        assert!(readings(&scribe) <= most, "{} of {most} with {nanos} ns", readings(&scribe));
        let is_timed = |nanos| nanos >= SHARE * (2 * COST_OF_READING + 4 * COST_OF_WORD);
        assert!(!is_timed(nanos) || readings(&scribe) as u64 > polls, "{nanos}");
        let before = readings(&scribe);
        poll(&scribe, 1, || clock.advance(Duration::from_millis(50)));
        (0..BATCH + 100).for_each(|_| poll(&scribe, 1, || ()));
        assert!(readings(&scribe) - before >= 200, "{}", readings(&scribe) - before);
    }
}

/// A task whose polls are too short to be timed is known by its line all the same, also when the
/// event of its spawn has been overwritten.
#[test]
fn polls_that_are_not_timed_tell_where_their_task_was_spawned() {
    let _clock = StoppedClock::stop();
    let scribe = scribe(false);
    for _ in 0..WORDS {
        poll(&scribe, 1, || ());
    }
    let words = items(&scribe);
    assert!(words.iter().any(|item| matches!(item, Item::SpawnedAt { .. })));
    // Polls are not timed for it.
    let is_timed = |item: &&Item| matches!(item, Item::Time(_));
    let times = words.iter().filter(is_timed).count();
    assert!(times <= WORDS / (BATCH * SAMPLE) as usize + 1, "{times}");
}

#[test]
fn a_sleep_earns_nothing() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    for _ in 0..100 {
        scribe.park();
        clock.advance(Duration::from_secs(1));
        scribe.unpark(false);
        scribe.note(wake(1));
    }
    assert!(!scribe.is_precise());
}

/// A dump has the beginning of a poll that goes on, once, and not before the polls that have ended.
#[test]
fn a_copy_has_the_poll_that_goes_on() {
    let clock = StoppedClock::stop();
    for is_exact in [false, true] {
        let scribe = scribe(is_exact);
        let ten = Duration::from_nanos(10);
        (0..BATCH + 3).for_each(|_| poll(&scribe, 1, || clock.advance(ten)));
        let begun = scribe.begin_poll(2, PollSource::Ring, Location::caller());
        clock.advance(Duration::from_secs(1));
        let words = items(&scribe);
        let (last, before) = words.split_last().unwrap();
        assert_eq!(*last, start(2));
        let Some(Item::Mark(at) | Item::Time(at)) = before.last() else { panic!("{before:?}") };
        let ended = (BATCH + 3) * 10;
        assert!((ended - 20..ended + 20).contains(at), "{at} and not {ended}");
        scribe.note(wake(3));
        assert_eq!(items(&scribe).iter().filter(|item| **item == start(2)).count(), 1);
        scribe.end_poll(begun, Outcome::Waits);
    }
}

/// With exact times a poll ends when its task has returned, before others may have it.
#[test]
fn an_exact_poll_ends_when_its_task_returns() {
    let clock = StoppedClock::stop();
    let scribe = scribe(true);
    poll(&scribe, 1, || {
        clock.advance(Duration::from_nanos(30));
        scribe.returned();
        clock.advance(Duration::from_nanos(5));
    });
    let words = items(&scribe);
    assert_eq!(words[words.len() - 4..], [Item::Time(0), start(1), Item::Time(30), end(1)]);
}

/// CPU time is told where the clock is read, and not each time.
#[test]
fn cpu_times_are_told_every_now_and_then() {
    let clock = StoppedClock::stop();
    let told = |scribe: Scribe| {
        for _ in 0..100 {
            clock.advance(Duration::from_micros(100));
            scribe.park();
        }
        let is_cpu_time = |item: &Item| matches!(item, Item::Event(EventKind::CpuTime { .. }));
        items(&scribe).iter().filter(|item| is_cpu_time(item)).count()
    };
    assert_eq!(told(scribe(false)), 0);
    assert_eq!(told(scribe(false).with_cpu_times()), 10);
}
