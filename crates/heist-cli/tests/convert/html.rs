//! The page.

use super::sample::HOSTILE;
use super::{MILLISECOND, Sample};
use heist::trace::{Event, EventKind, Header, Lane, OffWorker, Outcome, TaskId, Writer};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// What is embedded in a page.
pub(crate) fn data(page: &str) -> Value {
    let start = r#"<script type="application/json" id="data">"#;
    let (_, rest) = page.split_once(start).expect("the page has its data");
    let (json, _) = rest.split_once("</script>").expect("which ends");
    serde_json::from_str(json).unwrap()
}

fn header() -> Header {
    Header { started: SystemTime::UNIX_EPOCH, program: String::new(), pid: 0, workers: 0, seats: 0 }
}

#[test]
fn a_page_needs_nothing_else() {
    let page = Sample::new(20 * MILLISECOND).converted("html", &[]);
    let without_namespace = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "//cdn", "src=", "@import", "url(", "<link"] {
        assert!(!without_namespace.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
}

#[test]
fn no_text_of_the_trace_is_markup() {
    let page = Sample::new(20 * MILLISECOND).converted("html", &[]);
    assert_eq!(page.matches("</script").count(), 2, "the data and the script end once each");
    assert!(!page.contains("<script>window") && !page.contains("window.stolen = 1</"));
    let data = data(&page);
    assert_eq!(data["program"], format!("image-server {HOSTILE}"));
    let titles = data["titles"].as_array().unwrap();
    assert!(titles.iter().any(|title| title == HOSTILE), "the name is there, as text");
}

#[test]
fn the_page_has_what_the_trace_has() {
    let data = data(&Sample::new(20 * MILLISECOND).converted("html", &[]));
    let lanes = data["lanes"].as_array().unwrap();
    let names: Vec<&str> = lanes.iter().map(|lane| lane["name"].as_str().unwrap()).collect();
    let workers = ["worker 0", "worker 1", "worker 2", "worker 3", "worker 4"];
    assert_eq!(names[..5], workers);
    assert_eq!(names[5], "outside");
    assert!(names.len() > 6 && names[6..].iter().all(|name| name.starts_with("off-worker ")));
    let is_worker = |lane: &&Value| workers.contains(&lane["name"].as_str().unwrap());
    assert_eq!(data["resolution_ns"], 0, "each poll is drawn");
    let sum = |bars: &Value| -> u64 {
        bars.as_array().unwrap().iter().map(|bar| bar[1].as_u64().unwrap()).sum()
    };
    let polls = data["polls"].as_u64().unwrap();
    assert!(polls > 1000);
    assert_eq!(sum(&data["poll_times"]), polls);
    let over_time = data["polls_over_time"].as_array().unwrap();
    assert_eq!(over_time.iter().map(|value| value.as_u64().unwrap()).sum::<u64>(), polls);
    let spans =
        lanes.iter().filter(is_worker).flat_map(|lane| lane["spans"].as_array().unwrap().chunks(6));
    let drawn = spans.filter(|span| span[0].as_i64().unwrap() % 4 == 0).count() as u64;
    assert_eq!(drawn, polls);
    assert_eq!(data["lost"], 123_456);
    assert_eq!(data["stalls"][0]["what"], "blocked in pread64");
    assert_eq!(data["stalls"][0]["task"], HOSTILE);
    assert_eq!(data["seats"][2]["sittings"].as_array().unwrap().len(), 3);
    let busiest: Vec<u64> =
        data["tasks"].as_array().unwrap().iter().map(|row| row["busy"].as_u64().unwrap()).collect();
    assert!(busiest.len() > 10 && busiest.is_sorted_by(|a, b| a >= b));
}

#[test]
fn a_long_trace_is_drawn_coarser_and_counted_whole() {
    let sample = Sample::new(400 * MILLISECOND);
    let page = sample.converted("html", &[]);
    let data = data(&page);
    assert!(data["resolution_ns"].as_u64().unwrap() > 0);
    let lanes = data["lanes"].as_array().unwrap();
    let spans: usize = lanes.iter().map(|lane| lane["spans"].as_array().unwrap().len() / 6).sum();
    assert!(spans < 80_000, "{spans} spans");
    assert!(data["arrows"].as_array().unwrap().len() <= 12_000);
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
    // What a worker was busy for is the same, drawn together or not.
    for lane in lanes {
        let busy: u64 = lane["spans"].as_array().unwrap().chunks(6).fold(0, |sum, span| {
            let field = |index: usize| span[index].as_i64().unwrap() as u64;
            sum + match field(0) {
                0 | 1 => field(2),
                2 => field(4),
                _ => 0,
            }
        });
        assert_eq!(lane["busy_ns"].as_u64().unwrap(), busy, "{}", lane["name"]);
    }
}

/// A trace without events.
pub fn empty() -> Vec<u8> {
    Writer::new(Vec::new(), &header()).unwrap().finish().unwrap()
}

#[test]
fn an_empty_trace_and_an_empty_part_are_pages_too() {
    let page = Sample::of(&empty()).converted("html", &[]);
    assert_eq!(data(&page)["events"], 0);
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for at in [100, 500].map(Duration::from_nanos) {
        let (lane, kind) = (Lane::Worker(0), EventKind::SearchFailed);
        writer.event(&Event { at, is_exact: true, lane, kind }).unwrap();
    }
    let sample = Sample::of(&writer.finish().unwrap());
    assert_eq!(data(&sample.converted("html", &[]))["events"], 2);
    let page = sample.converted("html", &["--from", "200ns", "--until", "300ns"]);
    assert_eq!(data(&page)["events"], 0);
}

fn on_worker(kinds: impl IntoIterator<Item = EventKind>) -> Sample {
    let mut writer = Writer::new(Vec::new(), &Header { seats: 1, ..header() }).unwrap();
    for (number, kind) in kinds.into_iter().enumerate() {
        let at = Duration::from_nanos(100 * number as u64);
        writer.event(&Event { at, is_exact: true, lane: Lane::Worker(0), kind }).unwrap();
    }
    Sample::of(&writer.finish().unwrap())
}

/// More jobs within jobs than are followed: each end is that of the last that began.
#[test]
fn spans_that_are_too_deep_end_before_the_others() {
    let starts = std::iter::repeat_n(EventKind::JobStart { is_stolen: false }, 70);
    let sample = on_worker(starts.chain(std::iter::repeat_n(EventKind::JobEnd, 70)));
    let data = data(&sample.converted("html", &[]));
    let spans = data["lanes"][0]["spans"].as_array().unwrap();
    let outermost = spans.chunks(6).find(|span| span[0] == 1).unwrap();
    assert_eq!(outermost[2], 139 * 100);
}

/// Rounds without work are drawn as a sleep, which says how often the worker was woken.
#[test]
fn rounds_without_work_are_a_sleep() {
    let (rounds, searches, seat) = (9, 9, None);
    let kind = EventKind::IdleRounds { rounds, searches, seat, nanos: 80, awake_nanos: 20 };
    let wake_up = EventKind::Unpark { by_itself: false };
    let data = data(&on_worker([EventKind::Park, kind, wake_up]).converted("html", &[]));
    let sleeps = [[3, 0, 100, 0, 0, 0], [3, 100, 80, 9, 20, 0], [3, 80, 20, 0, 0, 0]];
    assert_eq!(data["lanes"][0]["spans"], serde_json::json!(sleeps.concat()));
}

/// A worker that loses its seat leaves it too.
#[test]
fn a_seat_is_left_once() {
    let (seat, from) = (0, 0);
    let kinds = [
        EventKind::SearchFailed,
        EventKind::SeatRobbed { seat, from },
        EventKind::SeatLeft { seat },
        EventKind::SearchFailed,
    ];
    let data = data(&on_worker(kinds).converted("html", &[]));
    assert_eq!(data["seats"], serde_json::json!([{ "seat": 0, "sittings": [[0, 0, 100]] }]));
}

/// A task of a `LocalSet` that is polled twice, and beside it a closure that does not end.
#[test]
fn what_no_worker_runs_has_rows_of_its_own() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    let (local, closure) = (TaskId(7), TaskId(8));
    writer.name(local, "local").unwrap();
    let kinds = [
        EventKind::OffWorkerSpawn { task: local, by: OffWorker::LocalSet },
        EventKind::OffWorkerStart { task: local },
        EventKind::OffWorkerStart { task: closure },
        EventKind::OffWorkerEnd { task: local, outcome: Outcome::Waits },
        EventKind::OffWorkerStart { task: local },
        EventKind::OffWorkerEnd { task: local, outcome: Outcome::Done },
        EventKind::SearchFailed,
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let at = Duration::from_nanos(100 * number as u64);
        writer.event(&Event { at, is_exact: true, lane: Lane::Outside, kind }).unwrap();
    }
    let data = data(&Sample::of(&writer.finish().unwrap()).converted("html", &[]));
    let lanes = data["lanes"].as_array().unwrap();
    let names: Vec<_> = lanes.iter().map(|lane| lane["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["outside", "off-worker 1", "off-worker 2"]);
    assert_eq!(data["titles"], serde_json::json!(["local", "task 8"]));
    // Start after the one before, length, title, task, and flags: from no queue; waits, done, had
    // not ended.
    let spans = |lane: usize| lanes[lane]["spans"].clone();
    assert_eq!(spans(0), serde_json::json!([]));
    assert_eq!(spans(1), serde_json::json!([0, 100, 200, 1, 7, 5 | 1 << 3, 0, 300, 100, 1, 7, 5]));
    assert_eq!(spans(2), serde_json::json!([0, 200, 400, 2, 8, 5 | 3 << 3]));
    assert_eq!((&data["polls"], &data["hidden_asides"]), (&0.into(), &0.into()));
    let row = data["tasks"].as_array().unwrap().iter().find(|row| row["title"] == "local").unwrap();
    assert_eq!((&row["polls"], &row["busy"]), (&2.into(), &300.into()));
}

/// More at once than there is room for are counted, and drawn by nobody.
#[test]
fn the_number_of_rows_is_limited() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    for number in 0..40 {
        let (at, task) = (Duration::from_nanos(100 * number), TaskId(number + 1));
        let (lane, kind) = (Lane::Outside, EventKind::OffWorkerStart { task });
        writer.event(&Event { at, is_exact: true, lane, kind }).unwrap();
    }
    let data = data(&Sample::of(&writer.finish().unwrap()).converted("html", &[]));
    assert_eq!(data["lanes"].as_array().unwrap().len(), 17);
    assert_eq!(data["hidden_asides"], 24);
    assert_eq!(data["tasks"].as_array().unwrap().len(), 40);
}

#[test]
fn ends_without_beginnings_and_the_other_way_round_are_no_spans_beyond_the_trace() {
    let mut writer = Writer::new(Vec::new(), &header()).unwrap();
    let kinds = [
        EventKind::JobEnd,
        EventKind::Unpark { by_itself: true },
        EventKind::PollEnd { task: TaskId(1), outcome: heist::trace::Outcome::Waits },
        EventKind::PollStart { task: TaskId(2), source: heist::trace::PollSource::Ring },
        EventKind::JobStart { is_stolen: false },
        EventKind::PollEnd { task: TaskId(2), outcome: heist::trace::Outcome::Done },
        EventKind::PollStart { task: TaskId(3), source: heist::trace::PollSource::Ring },
        EventKind::SearchFailed,
    ];
    for (number, kind) in kinds.into_iter().enumerate() {
        let at = Duration::from_nanos(100 * number as u64);
        writer.event(&Event { at, is_exact: true, lane: Lane::Worker(0), kind }).unwrap();
    }
    let data = data(&Sample::of(&writer.finish().unwrap()).converted("html", &[]));
    let spans = data["lanes"][0]["spans"].as_array().unwrap();
    let spans: Vec<Vec<i64>> = spans
        .chunks(6)
        .map(|span| span[..3].iter().map(|n| n.as_i64().unwrap()).collect())
        .collect();
    // A job within the poll, which ends with it; the poll; and one that had not ended.
    assert_eq!(spans, [[5, 400, 100], [0, -100, 200], [0, 300, 100]]);
}
