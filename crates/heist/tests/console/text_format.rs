//! Prometheus' text format, read as strictly as its description says.

use crate::client::{get, start};
use heist::console::Config;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Page {
    /// Family to kind.
    kinds: BTreeMap<String, String>,
    helped: BTreeSet<String>,
    /// Name and labels to value.
    samples: BTreeMap<(String, Vec<(String, String)>), f64>,
}

fn is_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    name.starts_with(is_first) && name.chars().all(|c| is_first(c) || c.is_ascii_digit())
}

fn parse(text: &str) -> Page {
    assert!(text.ends_with('\n'), "the last line ends, too");
    let mut page = Page::default();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, text) = help.split_once(' ').unwrap();
            assert!(is_name(name) && !text.is_empty(), "{line}");
            assert!(page.helped.insert(name.into()), "twice: {line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(page.kinds.insert(name.into(), kind.into()).is_none(), "twice: {line}");
        } else {
            let (name, labels, value) = sample(line);
            let family = ["_bucket", "_sum", "_count"]
                .iter()
                .filter_map(|suffix| name.strip_suffix(suffix))
                .find(|family| page.kinds.get(*family).is_some_and(|kind| kind == "histogram"));
            let family = family.unwrap_or(&name);
            assert!(page.kinds.contains_key(family), "no TYPE before {line}");
            assert!(page.helped.contains(family), "no HELP before {line}");
            assert!(page.samples.insert((name, labels), value).is_none(), "twice: {line}");
        }
    }
    page
}

fn sample(line: &str) -> (String, Vec<(String, String)>, f64) {
    let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
    assert!(is_name(name), "{line}");
    let mut chars = rest.chars();
    let mut labels = Vec::new();
    loop {
        let label: String = chars.by_ref().take_while(|c| *c != '=').collect();
        assert!(is_name(&label), "{line}");
        assert_eq!(chars.next(), Some('"'), "{line}");
        let mut value = String::new();
        loop {
            match chars.next().unwrap() {
                '"' => break,
                '\\' => value.push(match chars.next().unwrap() {
                    'n' => '\n',
                    c @ ('\\' | '"') => c,
                    other => panic!("\\{other} in {line}"),
                }),
                c => value.push(c),
            }
        }
        labels.push((label, value));
        match chars.next() {
            Some(',') => {}
            Some('}') => break,
            other => panic!("{other:?} in {line}"),
        }
    }
    assert_eq!(chars.next(), Some(' '), "{line}");
    (name.into(), labels, chars.as_str().parse().unwrap())
}

impl Page {
    /// The sum over all workers.
    fn sum(&self, name: &str) -> f64 {
        let of_it = self.samples.iter().filter(|((sample, _), _)| sample == name);
        of_it.map(|(_, value)| value).sum()
    }
}

/// M1: what Prometheus reads is what was counted, whatever the name of the runtime.
#[test]
fn m1_metrics_are_valid_and_right() {
    let name = "a\"b\\c\nd}é";
    let asked = start(Config::unix, |builder| _ = builder.name(name));
    for _ in 0..10 {
        asked.rt.block_on(asked.rt.spawn(async {})).unwrap();
    }
    let mut page = parse(&get(&asked.address, "/metrics"));
    // A worker counts a poll a moment after the handle has the output.
    while page.sum("heist_worker_polls_total") < 10.0 || page.sum("heist_tracked_tasks") > 0.0 {
        page = parse(&get(&asked.address, "/metrics"));
    }
    for (_, labels) in page.samples.keys() {
        assert_eq!(labels[0], ("runtime".into(), name.into()));
    }
    assert_eq!(page.sum("heist_spawned_tasks_total"), 10.0);
    assert_eq!(page.sum("heist_worker_polls_total"), 10.0);
    assert_eq!(page.sum("heist_worker_state"), 2.0, "each worker is in one state");
    assert_eq!(page.kinds["heist_worker_polls_total"], "counter");
    for histogram in ["heist_poll_duration_seconds", "heist_scheduling_delay_seconds"] {
        let samples = page.samples.iter();
        let buckets = samples.filter(|((name, _), _)| *name == format!("{histogram}_bucket"));
        let limit = |text: &str| if text == "+Inf" { f64::MAX } else { text.parse().unwrap() };
        let mut buckets: Vec<_> =
            buckets.map(|((_, labels), count)| (limit(&labels[1].1), *count)).collect();
        buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(buckets.is_sorted_by_key(|bucket| bucket.1), "each counts those before it, too");
        assert_eq!(*buckets.last().unwrap(), (f64::MAX, 10.0));
        assert_eq!(page.sum(&format!("{histogram}_count")), 10.0);
        assert!(page.sum(&format!("{histogram}_sum")) > 0.0);
    }
}
