//! Chrome's JSON as Perfetto takes it in. `scripts/perfetto-check` asks the real one, where it can
//! be had; these are the rules of its version 52, which say what becomes of an event: slices of a
//! track that overlap without being nested are dropped, an arrow that finds no slice on its track
//! is dropped, a thread with the number of its process, or 0, is taken for the main thread.

use super::{MILLISECOND, Sample};
use heist::runtime::Builder;
use heist::task::{LocalSet, spawn_blocking, spawn_local, yield_now};
use heist::trace::Config;
use heist::{join, spawn, time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The track of threads that are no workers; those of seats come behind it.
const OUTSIDE: u64 = 1 << 17;

#[derive(Debug, Default)]
struct Imported {
    slices: Vec<Slice>,
    /// From one slice to the other.
    flows: Vec<(usize, usize)>,
    /// Names of threads, by number.
    threads: BTreeMap<u64, String>,
    /// Where the user interface puts threads, by process and number; a process itself has number 0.
    order: BTreeMap<(u64, u64), u64>,
    /// Their names.
    counters: Vec<String>,
    problems: Vec<String>,
}

#[derive(Debug, Clone)]
struct Slice {
    category: String,
    start: u64,
    /// Not known yet while it is open.
    end: Option<u64>,
}

#[derive(Default)]
struct Importer {
    found: Imported,
    /// What is open on each track.
    open: BTreeMap<String, Vec<usize>>,
    /// Arrows that have begun, by category, name and id.
    begun: BTreeMap<String, usize>,
    /// Which process a thread is in.
    processes: BTreeMap<u64, u64>,
}

fn nanos(event: &Value, field: &str) -> u64 {
    let micros = event[field].as_f64().unwrap_or_else(|| panic!("no {field} in {event}"));
    (micros * 1000.0).round() as u64
}

fn import(json: &str) -> Imported {
    let json: Value = serde_json::from_str(json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let (meta, mut timed): (Vec<_>, Vec<_>) = events.iter().partition(|event| event["ph"] == "M");
    let mut importer = Importer::default();
    meta.into_iter().for_each(|event| importer.meta(event));
    // Of what has the same time slices with a length come first, the longest first; all others stay
    // in their order.
    let shortness = |event: &Value| match event["ph"] == "X" {
        true => u64::MAX - nanos(event, "dur"),
        false => u64::MAX,
    };
    timed.sort_by_key(|event| (nanos(event, "ts"), shortness(event)));
    timed.into_iter().for_each(|event| importer.event(event));
    importer.finish()
}

impl Importer {
    fn thread(&mut self, event: &Value) -> u64 {
        let (process, thread) = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let known = *self.processes.entry(thread).or_insert(process);
        // Perfetto could tell them apart; there are other viewers.
        if known != process {
            self.found.problems.push(format!("a thread of two processes: {event}"));
        }
        if thread == process || thread == 0 {
            self.found.problems.push(format!("called the main thread: {event}"));
        }
        thread
    }

    fn meta(&mut self, event: &Value) {
        let thread = self.thread(event);
        if let Some(index) = event["args"]["sort_index"].as_u64() {
            let place = if event["name"] == "thread_sort_index" { thread } else { 0 };
            self.found.order.insert((event["pid"].as_u64().unwrap(), place), index);
            return;
        }
        let name = event["args"]["name"].as_str().unwrap().to_owned();
        if event["name"] == "thread_name" && self.found.threads.insert(thread, name).is_some() {
            self.found.problems.push(format!("two names for one thread: {event}"));
        }
    }

    fn event(&mut self, event: &Value) {
        let thread = self.thread(event);
        let track = format!("thread {thread}");
        let at = nanos(event, "ts");
        match event["ph"].as_str().unwrap() {
            "X" => self.begin(track, event, at, Some(at + nanos(event, "dur"))),
            "i" => self.begin(track, event, at, Some(at)),
            "b" => self.begin(aside(event), event, at, None),
            "e" => self.end(&aside(event), event, at),
            "s" => self.flow_begin(&track, event, at),
            "f" => self.flow_end(&track, event, at),
            "C" => {
                for (series, value) in event["args"].as_object().unwrap() {
                    assert!(value.is_number(), "{event}");
                    let name = format!("{} {series}", event["name"].as_str().unwrap());
                    self.found.counters.push(name);
                }
            }
            other => panic!("a phase {other}: {event}"),
        }
    }

    /// What has ended before is closed, but what has no length lies on others of its time that have
    /// none; what would stick out of what is open is dropped.
    fn begin(&mut self, track: String, event: &Value, start: u64, end: Option<u64>) {
        let stack = self.open.entry(track).or_default();
        let slices = &mut self.found.slices;
        let has_length = |slice: &Slice| slice.end.is_none_or(|end| end > slice.start);
        let is_instant = end == Some(start);
        stack.retain(|open| {
            let open = &slices[*open];
            let is_pile = is_instant && !has_length(open) && open.end == Some(start);
            is_pile || open.end.is_none_or(|end| end > start)
        });
        let sticks_out = |open: &usize| {
            let outer = slices[*open].end;
            outer.is_some_and(|outer| end.is_some_and(|end| end > outer))
        };
        if stack.iter().any(sticks_out) {
            self.found.problems.push(format!("overlaps, dropped: {event}"));
            return;
        }
        stack.push(slices.len());
        let category = event["cat"].as_str().unwrap_or_default().to_owned();
        slices.push(Slice { category, start, end });
    }

    fn end(&mut self, track: &str, event: &Value, at: u64) {
        match self.open.get_mut(track).and_then(Vec::pop) {
            Some(open) => self.found.slices[open].end = Some(at),
            None => self.found.problems.push(format!("ends what has not begun: {event}")),
        }
    }

    /// The slice that came last on the track, be it over or not.
    fn topmost(&mut self, track: &str, event: &Value, at: u64) -> Option<usize> {
        let topmost = self.open.get(track).and_then(|stack| stack.last()).copied();
        let is_around = |slice: &Slice| slice.start <= at && slice.end.is_none_or(|end| at <= end);
        if !topmost.is_some_and(|slice| is_around(&self.found.slices[slice])) {
            self.found.problems.push(format!("an arrow at no slice: {event}"));
        }
        topmost
    }

    fn flow_begin(&mut self, track: &str, event: &Value, at: u64) {
        let Some(slice) = self.topmost(track, event, at) else { return };
        if self.begun.insert(flow(event), slice).is_some() {
            self.found.problems.push(format!("begins twice: {event}"));
        }
    }

    fn flow_end(&mut self, track: &str, event: &Value, at: u64) {
        assert_eq!(event["bp"], "e", "{event}");
        let Some(slice) = self.topmost(track, event, at) else { return };
        match self.begun.remove(&flow(event)) {
            Some(from) => self.found.flows.push((from, slice)),
            None => self.found.problems.push(format!("ends and has not begun: {event}")),
        }
        let end = &self.found.slices[slice];
        if end.start != at || !["poll", "steal"].contains(&end.category.as_str()) {
            self.found
                .problems
                .push(format!("does not end where a poll or a theft begins: {event}"));
        }
    }

    fn finish(mut self) -> Imported {
        let left = self.begun.keys().map(|flow| format!("begins and does not end: {flow}"));
        self.found.problems.extend(left);
        let open = self.found.slices.iter().filter(|slice| slice.end.is_none()).count();
        assert_eq!(open, 0, "slices without an end");
        self.found
    }
}

/// A track of its own for each, in its process.
fn aside(event: &Value) -> String {
    assert!(event["id2"]["local"].is_u64(), "in no process: {event}");
    format!("{} {} {}", event["pid"], event["cat"], event["id2"]["local"])
}

fn flow(event: &Value) -> String {
    format!("{} {} {}", event["cat"], event["name"], event["id"])
}

fn check(json: &str) -> Imported {
    let imported = import(json);
    let first: Vec<_> = imported.problems.iter().take(5).collect();
    assert!(first.is_empty(), "{} problems: {first:#?}", imported.problems.len());
    let count = |phase: &str| json.matches(&format!("\"ph\":\"{phase}\"")).count();
    assert_eq!(imported.slices.len(), count("X") + count("i") + count("b"));
    assert_eq!((imported.flows.len(), imported.flows.len()), (count("s"), count("f")));
    assert_eq!(imported.counters.len(), count("C"));
    imported
}

#[test]
fn nothing_of_a_sample_is_dropped() {
    let imported = check(&Sample::new(20 * MILLISECOND).converted("perfetto", &[]));
    assert!(imported.flows.len() > 100 && imported.counters.len() > 10);
    let of = |category| imported.slices.iter().filter(|s| s.category == category).count();
    for category in ["poll", "job", "parked", "steal", "seat", "closure or local task"] {
        assert!(of(category) > 0, "no {category}");
    }
    let is_known = |name: &&str| imported.threads.values().any(|thread| thread == *name);
    assert!(["worker 0", "worker 4", "seat 0", "seat 3", "outside"].iter().all(is_known));
    for name in ["stolen tasks", "injected tasks", "overflowed tasks"] {
        assert!(imported.counters.iter().any(|counter| counter == name), "no {name}");
    }
    // In this order from top to bottom.
    let order: Vec<_> = imported.order.into_iter().collect();
    let workers = [0, 1000, 1001, 1002, 1003, 1004].map(|track| (1, track));
    let workers = workers.into_iter().zip([0, 0, 1, 2, 3, 4]);
    let rest = [(2, 0), (2, OUTSIDE + 1), (2, OUTSIDE + 2), (2, OUTSIDE + 3), (2, OUTSIDE + 4)];
    let rest = rest.into_iter().zip([1, 0, 1, 2, 3]);
    let expected = workers.chain([((1, OUTSIDE), 5)]).chain(rest);
    assert_eq!(order, expected.collect::<Vec<_>>());
}

/// A part of it begins and ends in the middle of everything.
#[test]
fn nothing_of_a_part_is_dropped() {
    let sample = Sample::new(20 * MILLISECOND);
    for from in [3100, 7777, 12_345] {
        let (from, until) = (format!("{from}us"), format!("{}us", from + 2000));
        check(&sample.converted("perfetto", &["--from", &from, "--until", &until]));
    }
}

/// What a real program has recorded: all kinds of work at once.
#[test]
fn nothing_of_a_real_trace_is_dropped() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(3).enable_all().trace(Config::new().capacity(1 << 20));
    let runtime = builder.build().unwrap();
    let work = || async {
        for round in 0..50 {
            let (a, b) = join(|| (0..100).sum::<u64>(), || (0..200).sum::<u64>());
            assert_eq!(a + b, 24_850);
            match round % 10 {
                0 => time::sleep(Duration::from_millis(1)).await,
                1 => spawn_blocking(|| ()).await.unwrap(),
                2 => spawn(async {}).await.unwrap(),
                _ => yield_now().await,
            }
        }
    };
    let tasks: Vec<_> = (0..20).map(|_| runtime.spawn(work())).collect();
    LocalSet::new().block_on(&runtime, async {
        for task in tasks {
            spawn_local(async move { task.await.unwrap() }).await.unwrap();
        }
    });
    let mut bytes = Vec::new();
    runtime.handle().dump_trace_to(&mut bytes).unwrap();
    let imported = check(&Sample::of(&bytes).converted("perfetto", &[]));
    let of = |category| imported.slices.iter().filter(|s| s.category == category).count();
    assert!(of("poll") >= 1000, "{}", of("poll"));
    assert!(of("closure or local task") >= 100 + 20, "{}", of("closure or local task"));
    assert!(!imported.flows.is_empty());
}
