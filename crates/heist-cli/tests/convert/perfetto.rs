//! Chrome's JSON.

use super::sample::{HOSTILE, ROUNDS, SEATS};
use super::{MILLISECOND, Sample};
use heist::trace::{Event, EventKind, Header, Lane, Outcome, PollSource, TaskId, Trace, Writer};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The events, as far as they are what the format asks for.
fn events(sample: &Sample, arguments: &[&str]) -> Vec<Value> {
    let json: Value = serde_json::from_str(&sample.converted("perfetto", arguments)).unwrap();
    let events = json["traceEvents"].as_array().unwrap().clone();
    for event in &events {
        let phase = event["ph"].as_str().unwrap();
        assert!(["M", "X", "i", "C", "s", "f", "b", "e"].contains(&phase), "{event}");
        assert!(event["name"].is_string() && event["pid"].is_u64() && event["tid"].is_u64());
        assert!(phase == "M" || event["ts"].is_f64(), "{event}");
    }
    events
}

fn of_phase<'e>(events: &'e [Value], phase: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["ph"] == phase).collect()
}

fn nanos(event: &Value, field: &str) -> u64 {
    let micros = event[field].as_f64().unwrap_or_else(|| panic!("no {field} in {event}"));
    assert!(micros >= 0.0, "{event}");
    (micros * 1000.0).round() as u64
}

fn track(event: &Value) -> (u64, u64) {
    (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap())
}

/// The slices of each track, as start and end, in the order of time, outer ones first.
fn slices(events: &[Value]) -> BTreeMap<(u64, u64), Vec<(u64, u64)>> {
    let mut tracks: BTreeMap<_, Vec<(u64, u64)>> = BTreeMap::new();
    for slice in of_phase(events, "X") {
        let start = nanos(slice, "ts");
        tracks.entry(track(slice)).or_default().push((start, start + nanos(slice, "dur")));
    }
    tracks
        .values_mut()
        .for_each(|track| track.sort_by_key(|(start, end)| (*start, u64::MAX - end)));
    tracks
}

#[test]
fn there_is_a_track_for_each_worker_and_each_seat() {
    let sample = Sample::new(20 * MILLISECOND);
    let events = events(&sample, &[]);
    let mut names: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    for meta in of_phase(&events, "M").iter().filter(|meta| meta["name"] == "thread_name") {
        let name = meta["args"]["name"].as_str().unwrap();
        assert!(names.insert(track(meta), name).is_none(), "two names for one track");
    }
    let named: BTreeSet<&str> = names.values().copied().collect();
    let workers = (0..=SEATS).map(|number| format!("worker {number}"));
    let seats = (0..SEATS).map(|number| format!("seat {number}"));
    let expected: BTreeSet<String> = workers.chain(seats).chain(["outside".to_owned()]).collect();
    assert_eq!(named, expected.iter().map(String::as_str).collect());
    for event in of_phase(&events, "X").into_iter().chain(of_phase(&events, "i")) {
        assert!(names.contains_key(&track(event)), "{event} is on no track");
    }
}

#[test]
fn each_poll_is_a_slice() {
    let sample = Sample::new(20 * MILLISECOND);
    let trace = Trace::open(sample.path("a.trace")).unwrap();
    let is_start = |kind: EventKind| matches!(kind, EventKind::PollStart { .. });
    let polls = trace.events().unwrap().filter(|event| is_start(event.as_ref().unwrap().kind));
    let events = events(&sample, &[]);
    let slices = of_phase(&events, "X");
    let of_polls: Vec<_> = slices.iter().filter(|slice| slice["cat"] == "poll").collect();
    assert_eq!(of_polls.len(), polls.count());
    let hostile = of_polls.iter().find(|slice| slice["name"] == HOSTILE);
    assert_eq!(hostile.unwrap()["args"]["task"], 7);
    let placed = of_polls.iter().find(|slice| slice["name"] == "src/connection.rs:41:14").unwrap();
    assert!(placed["args"]["from"].is_string() && placed["args"]["outcome"].is_string());
    for category in ["job", "parked", "steal", "seat"] {
        assert!(slices.iter().any(|slice| slice["cat"] == category), "no slice of a {category}");
    }
}

/// Rounds without work are a slice between two sleeps.
#[test]
fn rounds_without_work_are_a_slice() {
    let sample = Sample::new(20 * MILLISECOND);
    let trace = Trace::open(sample.path("a.trace")).unwrap();
    let rounds = trace.events().unwrap().filter(|event| event.as_ref().unwrap().kind == ROUNDS);
    let events = events(&sample, &[]);
    let slices = of_phase(&events, "X");
    let is_rounds = |slice: &&&Value| slice["name"] == "woken for nothing";
    let drawn: Vec<&&Value> = slices.iter().filter(is_rounds).collect();
    assert_eq!(drawn.len(), rounds.count());
    let slice = drawn.first().expect("there are some");
    assert_eq!(nanos(slice, "dur"), 30_000);
    assert_eq!(
        (&slice["args"]["times"], &slice["args"]["failed searches"]),
        (&3.into(), &2.into())
    );
    assert_eq!(slice["args"]["awake µs"], 5.0);
    let sleeps = |at: &str, end: u64| {
        slices.iter().any(|other| {
            let edge = nanos(other, "ts") + if at == "end" { nanos(other, "dur") } else { 0 };
            other["name"] == "parked" && track(other) == track(slice) && edge == end
        })
    };
    let start = nanos(slice, "ts");
    assert!(sleeps("end", start) && sleeps("start", start + 30_000));
}

#[test]
fn slices_of_a_track_are_nested() {
    let sample = Sample::new(20 * MILLISECOND);
    for ((process, track), slices) in slices(&events(&sample, &[])) {
        let mut open: Vec<u64> = Vec::new();
        for (start, end) in slices {
            open.retain(|outer| *outer > start);
            if let Some(outer) = open.last() {
                assert!(end <= *outer, "{process}/{track}: {start}..{end} beyond {outer}");
            }
            open.push(end);
        }
    }
}

#[test]
fn arrows_have_two_ends_and_both_are_in_slices() {
    let sample = Sample::new(20 * MILLISECOND);
    let events = events(&sample, &[]);
    let tracks = slices(&events);
    let by_id = |phase| -> BTreeMap<u64, &Value> {
        let ends = of_phase(&events, phase);
        let count = ends.len();
        let by_id: BTreeMap<u64, &Value> =
            ends.into_iter().map(|end| (end["id"].as_u64().unwrap(), end)).collect();
        assert_eq!(by_id.len(), count, "an id is used twice");
        by_id
    };
    let (starts, ends) = (by_id("s"), by_id("f"));
    assert_eq!(starts.keys().collect::<Vec<_>>(), ends.keys().collect::<Vec<_>>());
    let mut names = BTreeSet::new();
    for (start, end) in starts.values().zip(ends.values()) {
        assert_eq!((&start["name"], &start["cat"]), (&end["name"], &end["cat"]));
        assert!(nanos(start, "ts") <= nanos(end, "ts"), "{start} is behind {end}");
        assert_eq!(end["bp"], "e");
        names.insert(start["name"].as_str().unwrap());
        for event in [start, end] {
            let at = nanos(event, "ts");
            let around = |(from, until): &(u64, u64)| *from <= at && at <= *until;
            assert!(tracks[&track(event)].iter().any(around), "{event} is in no slice");
        }
    }
    assert_eq!(names, BTreeSet::from(["spawn", "steal", "wake"]));
}

#[test]
fn stalls_are_marked_and_queues_counted() {
    let sample = Sample::new(20 * MILLISECOND);
    let events = events(&sample, &[]);
    let instants = of_phase(&events, "i");
    let stall = instants.iter().find(|event| event["cat"] == "stall").unwrap();
    assert_eq!(stall["name"], "stall: blocked in pread64");
    assert_eq!((&stall["args"]["task"], track(stall)), (&Value::from(7), (1, 1002)));
    for name in ["timers fired", "I/O events", "wakes worker", "no spare worker", "out of budget"] {
        assert!(instants.iter().any(|event| event["name"] == name), "no {name}");
    }
    for name in ["stolen", "injected", "overflowed"] {
        let counter = of_phase(&events, "C").into_iter().filter(|event| event["name"] == name);
        let values: Vec<u64> =
            counter.map(|event| event["args"]["tasks"].as_u64().unwrap()).collect();
        assert!(values.len() > 1 && values.is_sorted(), "{name}: {values:?}");
    }
}

/// A slice without a length would be no slice on the screen.
#[test]
fn a_theft_is_seen_however_short_it_was() {
    let (started, program) = (std::time::SystemTime::UNIX_EPOCH, String::new());
    let header = Header { started, program, pid: 0, workers: 2, seats: 2 };
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    let (task, source) = (TaskId(1), PollSource::Stolen);
    let kinds = [
        EventKind::Steal { victim: 1, tasks: 1 },
        EventKind::PollStart { task, source },
        EventKind::PollEnd { task, outcome: Outcome::Done },
    ];
    for (kind, at) in kinds.into_iter().zip([100, 100, 900].map(Duration::from_nanos)) {
        writer.event(&Event { at, is_exact: true, lane: Lane::Worker(0), kind }).unwrap();
    }
    let events = events(&Sample::of(&writer.finish().unwrap()), &[]);
    let slices = of_phase(&events, "X");
    let theft = slices.iter().find(|slice| slice["name"] == "steal from worker 1").unwrap();
    assert_eq!((nanos(theft, "ts"), nanos(theft, "dur")), (100, 1));
}

#[test]
fn a_seat_that_was_taken_away_has_its_workers_one_after_the_other() {
    let sample = Sample::new(20 * MILLISECOND);
    let events = events(&sample, &[]);
    let mut sitting: Vec<(u64, &str)> = of_phase(&events, "X")
        .into_iter()
        .filter(|slice| track(slice) == (2, (1 << 17) + 3))
        .map(|slice| (nanos(slice, "ts"), slice["name"].as_str().unwrap()))
        .collect();
    sitting.sort();
    let names: Vec<&str> = sitting.into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["worker 2", "worker 4", "worker 2"]);
}

#[test]
fn a_part_is_converted_if_that_is_asked_for() {
    let sample = Sample::new(20 * MILLISECOND);
    let part = events(&sample, &["--from", "5ms", "--until", "6000us"]);
    let slices = of_phase(&part, "X");
    assert!(!slices.is_empty() && slices.len() < of_phase(&events(&sample, &[]), "X").len() / 10);
    for slice in slices {
        let (start, length) = (nanos(slice, "ts"), nanos(slice, "dur"));
        assert!(start >= 5 * MILLISECOND && start + length <= 6 * MILLISECOND + 1, "{slice}");
    }
}
