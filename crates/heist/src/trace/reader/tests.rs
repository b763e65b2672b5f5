use super::super::event::{Event, EventKind, Outcome, PollSource, StallKind};
use super::super::word::Word;
use super::super::writer::Writer;
use super::*;

const LANE: Lane = Lane::Worker(0);
const WAKE: EventKind = EventKind::Wake { task: TaskId(1) };

fn trace_of(words: impl IntoIterator<Item = Word>) -> Trace {
    let header = Header {
        started: SystemTime::UNIX_EPOCH,
        program: "test".to_owned(),
        pid: 1,
        workers: 1,
        seats: 1,
    };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    writer.words(LANE, words).unwrap();
    Trace::from_bytes(writer.finish().unwrap()).unwrap()
}

fn read(words: impl IntoIterator<Item = Word>) -> Vec<Event> {
    trace_of(words).events().unwrap().collect::<Result<_, _>>().unwrap()
}

fn times(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.at.as_nanos() as u64).collect()
}

fn word(kind: EventKind) -> Word {
    Word::of(kind).0
}

fn polled(task: u64) -> Word {
    Word::polled(TaskId(task), PollSource::Ring, Outcome::Again)
}

#[test]
fn an_event_behind_a_time_is_exact_and_others_lie_between() {
    let wake = word(WAKE);
    let events = read([Word::time(100), wake, wake, wake, Word::time(400), wake, Word::mark(500)]);
    assert_eq!(times(&events), [100, 200, 300, 400]);
    let exact: Vec<bool> = events.iter().map(|event| event.is_exact).collect();
    assert_eq!(exact, [true, false, false, true]);
}

#[test]
fn a_mark_says_how_late_it_was_and_nothing_about_the_next_event() {
    let events = read([Word::mark(100), word(WAKE), Word::mark(200)]);
    assert_eq!(times(&events), [150]);
    assert!(!events[0].is_exact);
}

#[test]
fn untimed_polls_share_the_time_between_timed_ones() {
    let events =
        read([Word::mark(0)].into_iter().chain((0..10).map(polled)).chain([Word::mark(16_000)]));
    assert_eq!(events.len(), 20);
    let busy: u64 = times(&events).chunks(2).map(|poll| poll[1] - poll[0]).sum();
    assert!(busy > 14_000, "busy for {busy} of 16000 ns");
    for pair in events.chunks(2) {
        let EventKind::PollStart { task, .. } = pair[0].kind else { panic!("{pair:?}") };
        assert_eq!(pair[1].kind, EventKind::PollEnd { task, outcome: Outcome::Again });
    }
}

#[test]
fn what_comes_before_the_first_time_or_after_the_last_gets_it() {
    let wake = word(WAKE);
    let events = read([wake, wake, Word::time(50), wake, wake]);
    assert_eq!(times(&events), [50; 4]);
    assert!(!events[1].is_exact && events[2].is_exact && !events[3].is_exact);
    assert_eq!(times(&read([wake])), [0]);
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let wake = word(WAKE);
    let events = read([Word::time(900), wake, Word::time(100), wake, Word::time(950), wake]);
    assert_eq!(times(&events), [900, 900, 950]);
}

/// What comes behind rounds without work is no earlier than their end, exact or not.
#[test]
fn rounds_without_work_take_their_time() {
    let (rounds, searches, seat) = (3, 2, Some(1));
    let kind = EventKind::IdleRounds { rounds, searches, seat, nanos: 400, awake_nanos: 50 };
    let (first, second) = Word::of(kind);
    let wake = word(WAKE);
    let events = read([
        Word::time(100),
        first,
        second.unwrap(),
        wake,
        Word::time(900),
        wake,
        Word::mark(950),
    ]);
    assert_eq!(events[0].kind, kind);
    assert_eq!(times(&events), [100, 700, 900]);
    let events = read([Word::time(100), first, second.unwrap(), Word::time(300), wake]);
    assert_eq!(times(&events), [100, 500]);
    // Where they have no time of their own, what comes behind them has one between those around it.
    let events = read([Word::time(100), wake, first, second.unwrap(), wake, Word::mark(400)]);
    assert_eq!(times(&events), [100, 200, 300]);
}

#[test]
fn halves_of_events_are_left_out() {
    let (spawned, location) =
        Word::of(EventKind::SpawnedAt { task: TaskId(3), location: StringId(0) });
    let stall = EventKind::Stall { worker: 0, task: TaskId(4), kind: StallKind::Burning };
    let (stuck, in_task) = Word::of(stall);
    let (location, in_task) = (location.unwrap(), in_task.unwrap());
    // Overwritten from the left, and mixed up.
    let events = read([location, in_task, spawned, in_task, stuck, location, spawned, word(WAKE)]);
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), [WAKE]);
    let rounds =
        EventKind::IdleRounds { rounds: 3, searches: 2, seat: None, nanos: 400, awake_nanos: 50 };
    let (counts, round_times) = Word::of(rounds);
    let events = read([round_times.unwrap(), counts, word(WAKE), counts]);
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), [WAKE]);
    let events = read([stuck, in_task, spawned]);
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), [stall]);
}

#[test]
fn a_location_that_is_no_number_of_a_text_is_not_known() {
    let trace = trace_of([Word::spawned_at(TaskId(3)), Word::location(1 << 40)]);
    let event = trace.events().unwrap().next().unwrap().unwrap();
    let EventKind::SpawnedAt { location, .. } = event.kind else { panic!("{event:?}") };
    assert_eq!(trace.text(location), "(unknown)");
}

#[test]
fn no_time_for_long_is_not_waited_for() {
    let count = 100_000;
    let wakes = std::iter::repeat_n(word(WAKE), count);
    let trace = trace_of([Word::time(7)].into_iter().chain(wakes).chain([Word::mark(9)]));
    let mut lane = trace.lane(LANE);
    let mut seen = 0;
    while let Some(event) = lane.next().unwrap() {
        assert!((7..=9).contains(&(event.at.as_nanos() as u64)));
        assert!(lane.buffered() <= 2 * 4096, "{} events in memory", lane.buffered());
        seen += 1;
    }
    assert_eq!(seen, count);
}
#[test]
fn a_word_that_is_no_event_is_an_error_behind_what_comes_before_it() {
    let trace = trace_of([Word::time(1), word(WAKE), Word::mark(2), Word(0), word(WAKE)]);
    let mut events = trace.events().unwrap();
    assert_eq!(events.next().unwrap().unwrap().kind, WAKE);
    let error = events.next().unwrap().unwrap_err();
    assert!(matches!(error, ReadError::Corrupt { .. }), "{error:?}");
    assert!(events.next().is_none());
}
