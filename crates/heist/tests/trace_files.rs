//! Trace files: what was written is read, cut files as far as they go, damaged ones end in an
//! error, and none of them in a panic or in more memory than they are worth.

use heist::trace::{
    Event, EventKind, Header, Lane, Outcome, PollSource, ReadError, Resource, StallKind, StringId,
    TaskId, Trace, Writer,
};
use heist_testing::{Rng, scaled};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

/// Counts what each thread has allocated, and the most there was at a time.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    let live = LIVE.get() + bytes;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

// SAFETY: (type) everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is that of the function below.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is that of the function below.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MAX_TASK: u64 = (1 << 52) - 1;

fn header() -> Header {
    Header {
        started: SystemTime::UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789),
        program: "a program".to_owned(),
        pid: 4242,
        workers: 3,
        seats: 2,
    }
}

fn kind(choice: u64, task: u64, number: u32) -> EventKind {
    let task = TaskId(task & MAX_TASK);
    let text = StringId(number % 4);
    let small = number as u16;
    let sources = [
        PollSource::LifoSlot,
        PollSource::Ring,
        PollSource::Inject,
        PollSource::Stolen,
        PollSource::Pinned,
    ];
    let outcomes = [Outcome::Done, Outcome::Waits, Outcome::Again];
    match choice % 24 {
        0 => EventKind::Spawn { task },
        1 => EventKind::SpawnedAt { task, location: text },
        2 | 22 => EventKind::PollStart { task, source: sources[number as usize % 5] },
        3 => EventKind::PollEnd { task, outcome: outcomes[number as usize % 3] },
        4 => EventKind::Wake { task },
        5 => EventKind::Steal { victim: small, tasks: number },
        6 => EventKind::InjectBatch { tasks: number },
        7 => EventKind::Overflow { tasks: number },
        8 => EventKind::SearchFailed,
        9 => EventKind::Park,
        10 => EventKind::Unpark { by_itself: number % 2 == 0 },
        11 => EventKind::WakeWorker { worker: small },
        12 => EventKind::SeatRobbed { seat: small, from: small ^ 1 },
        13 => EventKind::SeatTaken { seat: small },
        14 => EventKind::SeatLeft { seat: small },
        15 => EventKind::Stall { worker: small, task, kind: StallKind::Blocked(text) },
        16 => EventKind::Stall { worker: small, task, kind: StallKind::Burning },
        17 => EventKind::SpareShortage,
        18 => EventKind::BudgetExhausted { task, resource: Resource::Io },
        19 => EventKind::JobStart { is_stolen: number % 2 == 0 },
        20 => EventKind::JobEnd,
        23 => EventKind::IdleRounds {
            rounds: number >> 11,
            searches: number >> 12,
            seat: (number % 2 == 0).then_some(1),
            // Events follow at any distance.
            nanos: 0,
            awake_nanos: u64::from(number >> 3),
        },
        _ => EventKind::TimersFired { timers: number },
    }
}

fn lane(choice: u64) -> Lane {
    if choice % 4 == 3 { Lane::Outside } else { Lane::Worker((choice % 4) as u16) }
}

/// A file like those that programs write, of `count` events in four lanes.
fn sample(seed: u64, count: usize) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for text in ["src/main.rs:3:9", "src/lib.rs:40:5", "read", "futex"] {
        writer.string(text).unwrap();
    }
    for task in 0..20 {
        writer.name(TaskId(task), &format!("task {task}")).unwrap();
    }
    writer.lost(Lane::Worker(1), 77).unwrap();
    let mut now = 0;
    for _ in 0..count {
        now += rng.below(2000);
        let (at, task) = (Duration::from_nanos(now), rng.below(40));
        let lane = lane(rng.next_u64());
        let is_exact = rng.below(4) == 0;
        let event = Event { at, is_exact, lane, kind: kind(rng.next_u64(), task, 7) };
        writer.event(&event).unwrap();
        if let EventKind::PollStart { task, .. } = event.kind {
            let kind = EventKind::PollEnd { task, outcome: Outcome::Waits };
            writer.event(&Event { is_exact: false, kind, ..event }).unwrap();
        }
    }
    writer.finish().unwrap()
}

fn all_events(trace: &Trace) -> Result<Vec<Event>, ReadError> {
    trace.events()?.collect()
}

fn by_lane(events: &[Event]) -> BTreeMap<Lane, Vec<Event>> {
    let mut lanes: BTreeMap<_, Vec<Event>> = BTreeMap::new();
    events.iter().for_each(|event| lanes.entry(event.lane).or_default().push(*event));
    lanes
}

/// What the format promises: all kinds in order, exact times as they were, others between.
fn assert_same(written: &[Event], read: &[Event]) {
    assert!(read.is_sorted_by_key(|event| event.at), "events are given out in the order of time");
    let (written, read) = (by_lane(written), by_lane(read));
    assert_eq!(written.keys().collect::<Vec<_>>(), read.keys().collect::<Vec<_>>());
    for (written, read) in written.values().zip(read.values()) {
        assert_eq!(written.len(), read.len());
        let (first, last) = (written[0].at, written[written.len() - 1].at);
        for (written, read) in written.iter().zip(read) {
            assert_eq!((written.kind, written.is_exact), (read.kind, read.is_exact));
            if written.is_exact {
                assert_eq!(written.at, read.at);
            }
            // As times are sorted, those that are not exact lie between those that are.
            assert!(first <= read.at && read.at <= last);
        }
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        choices in prop::collection::vec(any::<(u64, bool, u64, u64, u32)>(), 0..3000),
    ) {
        let mut writer = Writer::new(Vec::new(), &header()).unwrap();
        let mut now = 0;
        let mut written = Vec::new();
        for (step, is_exact, lane_choice, task, number) in choices {
            now += step % 100_000;
            let kind = kind(step >> 32, task, number);
            let (at, lane) = (Duration::from_nanos(now), lane(lane_choice));
            let event = Event { at, is_exact, lane, kind };
            writer.event(&event).unwrap();
            written.push(event);
        }
        let trace = Trace::from_bytes(writer.finish().unwrap()).unwrap();
        prop_assert!(!trace.is_truncated());
        assert_same(&written, &all_events(&trace).unwrap());
        let lanes: Vec<Lane> = trace.lanes().collect();
        for lane in lanes {
            let events: Vec<Event> = trace.lane_events(lane).unwrap().map(Result::unwrap).collect();
            let of_lane: Vec<Event> = written.iter().filter(|e| e.lane == lane).copied().collect();
            assert_same(&of_lane, &events);
        }
    }
}

#[test]
fn a_file_says_what_it_is_of() {
    let trace = Trace::from_bytes(sample(1, 10)).unwrap();
    assert_eq!((trace.program(), trace.pid()), ("a program", 4242));
    assert_eq!((trace.workers(), trace.seats()), (3, 2));
    assert_eq!(trace.started(), header().started);
    assert_eq!(trace.name(TaskId(19)), Some("task 19"));
    assert_eq!(trace.name(TaskId(20)), None);
    assert_eq!(trace.text(StringId(1)), "src/lib.rs:40:5");
    assert_eq!(trace.text(StringId(1000)), "(unknown)");
    assert_eq!((trace.lost(Lane::Worker(1)), trace.lost(Lane::Outside)), (77, 0));
}

#[test]
fn a_file_on_disk_is_read_as_bytes_are() {
    let bytes = sample(2, 50_000);
    assert!(bytes.len() > 4 * 65_536, "several chunks a lane");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    let on_disk = Trace::open(file.path()).unwrap();
    let in_memory = Trace::from_bytes(bytes).unwrap();
    assert_eq!(all_events(&on_disk).unwrap(), all_events(&in_memory).unwrap());
}

#[test]
fn texts_are_shared_and_cut_between_characters() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    let long = "é".repeat(3000);
    let id = writer.string(&format!("x{long}")).unwrap();
    let known: Vec<StringId> = (0..20_000)
        .map(|number: u32| writer.string(&format!("text {}", number % 10_000)).unwrap())
        .collect();
    assert_eq!(known[..10_000], known[10_000..]);
    let trace = Trace::from_bytes(writer.finish().unwrap()).unwrap();
    assert_eq!(trace.text(id), format!("x{}", "é".repeat(2047)));
    assert_eq!(trace.text(known[9_999]), "text 9999");
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    let good = Event {
        at: Duration::from_secs(1),
        is_exact: true,
        lane: Lane::Outside,
        kind: EventKind::Wake { task: TaskId(MAX_TASK) },
    };
    writer.event(&good).unwrap();
    let mut refused = |event: Event| {
        let error = writer.event(&event).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{event:?}");
        assert!(error.to_string().starts_with("trace::Writer"), "{error}");
    };
    refused(Event { at: Duration::from_millis(999), ..good });
    refused(Event { at: Duration::MAX, ..good });
    refused(Event { lane: Lane::Worker(u16::MAX), ..good });
    refused(Event { kind: EventKind::Spawn { task: TaskId(MAX_TASK + 1) }, ..good });
    let rounds = |rounds, nanos| {
        let (searches, seat, awake_nanos) = (0, None, 0);
        let kind = EventKind::IdleRounds { rounds, searches, seat, nanos, awake_nanos };
        Event { kind, ..good }
    };
    refused(rounds(1 << 21, 0));
    refused(rounds(1, 1 << 29));
    let trace = Trace::from_bytes(writer.finish().unwrap()).unwrap();
    assert_eq!(all_events(&trace).unwrap(), [good]);
}

#[test]
fn a_file_cut_anywhere_has_all_its_whole_chunks() {
    let bytes = sample(3, 50_000);
    let whole = by_lane(&all_events(&Trace::from_bytes(bytes.clone()).unwrap()).unwrap());
    let header = 28 + "a program".len() + 4;
    let mut rng = Rng::new(4);
    let cuts = (0..600).chain((0..200).map(|_| rng.below(bytes.len() as u64) as usize));
    let mut longest = 0;
    for cut in cuts.chain(bytes.len() - 20..bytes.len()) {
        let trace = Trace::from_bytes(bytes[..cut].to_vec());
        if cut < header {
            let error = trace.unwrap_err();
            let is_right = matches!(error, ReadError::NotATrace | ReadError::Corrupt { .. });
            assert!(is_right, "{cut}: {error:?}");
            continue;
        }
        let trace = trace.unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        assert!(trace.is_truncated(), "cut at {cut}");
        for (lane, events) in by_lane(&all_events(&trace).unwrap()) {
            assert!(events.len() <= whole[&lane].len());
            let pairs = events.iter().zip(&whole[&lane]);
            for (cut, whole) in pairs {
                assert_eq!(cut.kind, whole.kind);
                if let EventKind::SpawnedAt { location, .. } = cut.kind {
                    assert_ne!(trace.text(location), "(unknown)", "its text comes before it");
                }
            }
            longest = longest.max(events.len());
        }
    }
    assert_eq!(longest, whole.values().map(Vec::len).max().unwrap());
}

#[test]
fn a_file_that_is_no_trace_is_reported() {
    let open = |bytes: &[u8]| Trace::from_bytes(bytes.to_vec()).unwrap_err();
    assert!(matches!(open(b""), ReadError::NotATrace));
    assert!(matches!(open(b"HEISTTRC"), ReadError::NotATrace));
    assert!(matches!(open(&[b'x'; 4096]), ReadError::NotATrace));
    let mut later = sample(1, 10);
    for version in [0, 4] {
        later[8] = version;
        let error = open(&later);
        assert!(
            matches!(error, ReadError::Version { found } if found == u16::from(version)),
            "{error:?}"
        );
        assert!(error.to_string().contains(&format!("version {version}")), "{error}");
    }
    let error = Trace::open("/nonexistent/trace").unwrap_err();
    assert!(matches!(error, ReadError::Io(_)), "{error:?}");
    let error = Trace::open("/").unwrap_err();
    assert!(error.to_string().contains("is a directory"), "{error}");
    let error = Trace::open("/dev/zero").unwrap_err();
    assert!(error.to_string().contains("not a regular file"), "{error}");
}

#[test]
fn each_flipped_bit_of_a_file_is_noticed() {
    let bytes = sample(5, 30);
    for position in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[position] ^= 1 << (position % 8);
        let result = Trace::from_bytes(bytes).and_then(|trace| all_events(&trace));
        assert!(result.is_err(), "byte {position}");
    }
}

/// CRC-32 bit by bit, as FORMAT.md names it.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 }
        })
    })
}

/// Makes all checksums right that can be found, so that what lies behind them is tried.
fn sign(bytes: &mut [u8]) {
    let Some(length) = bytes.get(10..12) else { return };
    let mut at = 12 + usize::from(u16::from_le_bytes([length[0], length[1]]));
    if bytes.len() < at + 4 {
        return;
    }
    let sum = crc32(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    at += 4;
    while let Some(head) = bytes.get(at..at + 16) {
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let end = at.saturating_add(16).saturating_add(length);
        if let Some(payload) = bytes.get(at + 16..end) {
            let sum = crc32(payload);
            bytes[at + 8..at + 12].copy_from_slice(&sum.to_le_bytes());
        }
        let sum = crc32(&bytes[at..at + 12]);
        bytes[at + 12..at + 16].copy_from_slice(&sum.to_le_bytes());
        at = end;
    }
}

/// The positions of the chunks, and the end of the file.
fn chunk_starts(bytes: &[u8]) -> Vec<usize> {
    let mut at = 28 + "a program".len() + 4;
    let mut starts = vec![at];
    while let Some(head) = bytes.get(at..at + 16) {
        at += 16 + u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        starts.push(at);
    }
    starts
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let length = bytes.len() as u64;
    let at = rng.below(length) as usize;
    match rng.below(7) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next_u64() as u8,
        2 => bytes.truncate(at + 1),
        3 => {
            let end = (at + rng.below(64) as usize).min(bytes.len());
            let value = [0, 0xFF, 0x7F][rng.below(3) as usize];
            bytes[at..end].fill(value);
        }
        4 => {
            bytes.splice(at..at, (0..rng.below(40)).map(|n| n as u8).collect::<Vec<_>>());
        }
        5 => {
            let starts = chunk_starts(bytes);
            let from = rng.below(starts.len() as u64) as usize;
            let end = starts[(from + 1).min(starts.len() - 1)].min(bytes.len());
            let copy = bytes[starts[from].min(end)..end].to_vec();
            let to = starts[rng.below(starts.len() as u64) as usize].min(bytes.len());
            bytes.splice(to..to, copy);
        }
        _ => {
            // A head's kind, lane or length.
            let starts = chunk_starts(bytes);
            let field = starts[rng.below(starts.len() as u64) as usize] + rng.below(8) as usize;
            if let Some(byte) = bytes.get_mut(field) {
                *byte = rng.next_u64() as u8;
            }
        }
    }
    if bytes.is_empty() {
        bytes.push(0);
    }
}

/// Reads all there is. Returns the number of events, and whether it ended in an error.
fn read_all(bytes: Vec<u8>) -> (usize, bool) {
    let Ok(trace) = Trace::from_bytes(bytes) else { return (0, true) };
    let Ok(events) = trace.events() else { return (0, true) };
    let (mut count, mut failed, mut latest) = (0, false, Duration::ZERO);
    for event in events {
        let Ok(event) = event else {
            failed = true;
            continue;
        };
        assert!(event.at >= latest, "time went back");
        latest = event.at;
        count += 1;
        match event.kind {
            EventKind::SpawnedAt { task, location } => {
                assert!(!trace.text(location).contains('\0'));
                let _ = trace.name(task);
            }
            EventKind::PollStart { task, .. } => _ = trace.name(task),
            _ => {}
        }
    }
    (count, failed)
}

#[test]
fn mutated_files_end_in_events_or_in_an_error() {
    let samples: Vec<Vec<u8>> = (0..6).map(|seed| sample(seed, 40 << seed)).collect();
    let (mut whole, mut failed, mut events) = (0, 0, 0);
    for round in 0..scaled(4000) {
        let mut rng = Rng::for_thread(round);
        let mut bytes = samples[rng.below(samples.len() as u64) as usize].clone();
        (0..=rng.below(4)).for_each(|_| mutate(&mut bytes, &mut rng));
        if rng.below(4) != 0 {
            sign(&mut bytes);
        }
        let length = bytes.len();
        let before = LIVE.get();
        PEAK.set(before);
        let (count, has_failed) = read_all(bytes);
        let peak = (PEAK.get() - before) as usize;
        assert!(count * 4 <= length, "round {round}: {count} events of {length} bytes");
        // Its index, a chunk for each of its lanes, and what lies between two times.
        let bound = 64 * length + 1024 * 1024;
        assert!(peak <= bound, "round {round}: {peak} bytes for a file of {length}");
        whole += u64::from(!has_failed);
        failed += u64::from(has_failed);
        events += count;
    }
    // Both ways are tried, or this test tries nothing.
    let tenth = scaled(4000) / 10;
    assert!(whole > tenth && failed > tenth, "{whole} whole, {failed} not");
    assert!(events > 0);
}
