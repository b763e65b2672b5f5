use super::super::super::event::{Outcome, PollSource};
use super::super::super::word::Item;
use super::*;
use crate::env::{Clock, StoppedClock};
use std::panic::Location;
use std::time::Duration;

const UNPARK: Item = Item::Event(EventKind::Unpark { by_itself: false });
const SEARCH_FAILED: Item = Item::Event(EventKind::SearchFailed);
const PARK: Item = Item::Event(EventKind::Park);

fn scribe(is_exact: bool) -> Scribe {
    Scribe::new(1 << 12, Clock::now(), is_exact)
}

fn items(scribe: &Scribe) -> Vec<Item> {
    scribe.copy().words.into_iter().map(|word| Word(word).item().unwrap()).collect()
}

fn poll(scribe: &Scribe) {
    let begun = scribe.begin_poll(7, PollSource::Ring, Location::caller());
    scribe.end_poll(begun, Outcome::Waits);
}

/// 100 µs asleep, 10 awake.
fn round(scribe: &Scribe, clock: &StoppedClock) {
    clock.advance(Duration::from_micros(100));
    scribe.unpark(false);
    clock.advance(Duration::from_micros(10));
    scribe.search_failed();
    scribe.park();
}

fn merged(rounds: u32, seat: Option<u16>, nanos: u64) -> [Item; 2] {
    let awake_nanos = u64::from(rounds) * 10_000;
    [Item::IdleRounds { rounds, searches: rounds, seat }, Item::RoundTimes { nanos, awake_nanos }]
}

/// A copy has them before they are written, and a poll finds them written.
#[test]
fn rounds_without_work_are_one_event() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.park();
    (0..3).for_each(|_| round(&scribe, &clock));
    let expected =
        [&[Item::Time(0), PARK, Item::Time(100_000)][..], &merged(3, None, 2 * 110_000 + 10_000)]
            .concat();
    assert_eq!(items(&scribe), expected);
    assert_eq!(scribe.buffer.position(), 2, "only the first park is written");
    poll(&scribe);
    assert_eq!(items(&scribe)[..5], expected);
    assert_eq!(scribe.buffer.copy().words.len(), items(&scribe).len(), "nothing is kept");
}

/// The buffer of a worker that finds nothing holds what it did before.
#[test]
fn rounds_without_work_do_not_fill_the_buffer() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    poll(&scribe);
    scribe.park();
    // A spare worker's buffer would be full of them after a third.
    (0..3000).for_each(|_| round(&scribe, &clock));
    assert!(scribe.buffer.position() < 200, "{} words", scribe.buffer.position());
    let rounds = items(&scribe).into_iter().map(|item| match item {
        Item::IdleRounds { rounds, .. } => rounds,
        _ => 0,
    });
    assert_eq!(rounds.sum::<u32>(), 3000);
}

#[test]
fn a_single_round_is_written_as_it_was() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.park();
    round(&scribe, &clock);
    let expected = [
        [Item::Time(0), PARK].as_slice(),
        &[Item::Time(100_000), UNPARK, SEARCH_FAILED],
        &[Item::Time(110_000), PARK],
    ];
    assert_eq!(items(&scribe), expected.concat());
}

/// As is the round that goes on, whatever comes of it.
#[test]
fn a_round_that_finds_something_is_written_in_full() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.park();
    (0..2).for_each(|_| round(&scribe, &clock));
    clock.advance(Duration::from_micros(100));
    scribe.unpark(true);
    scribe.search_failed();
    let mut expected = [
        [Item::Time(0), PARK, Item::Time(100_000)].as_slice(),
        &merged(2, None, 120_000),
        &[Item::Time(320_000), Item::Event(EventKind::Unpark { by_itself: true }), SEARCH_FAILED],
    ]
    .concat();
    assert_eq!(items(&scribe), expected);
    let steal = EventKind::Steal { victim: 1, tasks: 2 };
    scribe.record(steal);
    expected.extend([Item::Time(320_000), Item::Event(steal)]);
    assert_eq!(items(&scribe), expected);
}

/// Two searches in a row are more than a round.
#[test]
fn a_second_search_is_written_in_full() {
    let _clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.park();
    scribe.unpark(false);
    (0..2).for_each(|_| scribe.search_failed());
    scribe.park();
    let searches = items(&scribe).into_iter().filter(|item| *item == SEARCH_FAILED);
    assert_eq!(searches.count(), 2);
}

/// The worker may have had no core.
#[test]
fn a_round_that_takes_long_is_written_in_full() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    scribe.park();
    round(&scribe, &clock);
    scribe.unpark(false);
    clock.advance(Duration::from_millis(3));
    scribe.park();
    round(&scribe, &clock);
    let parks = items(&scribe).into_iter().filter(|item| *item == PARK).count();
    assert_eq!(parks, 4);
}

/// A spare worker takes a seat and leaves it again; that it has lost it as well is not told.
#[test]
fn a_spare_that_comes_for_nothing_is_one_event() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    for _ in 0..5 {
        scribe.sit_down(1);
        clock.advance(Duration::from_micros(10));
        scribe.search_failed();
        (0..2).for_each(|_| scribe.leave_seat(1));
        clock.advance(Duration::from_micros(100));
    }
    let [taken, left] =
        [EventKind::SeatTaken { seat: 1 }, EventKind::SeatLeft { seat: 1 }].map(Item::Event);
    let first = [Item::Time(0), taken, SEARCH_FAILED, Item::Time(10_000), left];
    let expected =
        [first.as_slice(), &[Item::Time(110_000)], &merged(4, Some(1), 3 * 110_000 + 10_000)]
            .concat();
    assert_eq!(items(&scribe), expected);
    scribe.sit_down(2);
    assert_eq!(scribe.buffer.copy().words.len(), expected.len() + 2, "another seat is another run");
}

#[test]
fn with_exact_times_nothing_is_merged() {
    let clock = StoppedClock::stop();
    let scribe = scribe(true);
    scribe.park();
    (0..3).for_each(|_| round(&scribe, &clock));
    assert_eq!(scribe.buffer.copy().words.len(), items(&scribe).len());
    assert_eq!(items(&scribe).len(), 2 + 3 * 6);
}

/// What is kept says that polls are timed. Once it is written they are what they were before.
#[test]
fn polls_behind_rounds_are_timed_if_they_were_before() {
    let clock = StoppedClock::stop();
    let scribe = scribe(false);
    poll(&scribe);
    assert!(!scribe.is_precise(), "there is no allowance yet");
    scribe.park();
    (0..2).for_each(|_| round(&scribe, &clock));
    assert!(scribe.is_precise());
    let before = scribe.buffer.position();
    poll(&scribe);
    assert_eq!(scribe.buffer.position() - before, 3 + 1, "rounds, and a poll in one word");
    assert!(!scribe.is_precise());
}
