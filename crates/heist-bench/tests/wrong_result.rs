//! A bench whose result is wrong must fail the run, and keep what was measured before it.

use clap::Parser;
use heist_bench::bench::{Bench, Fault, Pace, Runtime, Sample};
use heist_bench::cli::{Args, execute};
use heist_bench::received::{Mismatch, Received};
use heist_bench::unit::Unit;
use serde_json::Value;

fn sound(name: &'static str) -> Bench {
    Bench::new(name, "", Unit::Rate("items/s"), Pace::Once)
        .side(Runtime::Heist, |_| Ok(|_| Ok(Sample::Value(2.0))))
}

/// Right twice, as warm-up and first sample, then short of an item.
fn loses_an_item() -> Bench {
    sound("leaky").side(Runtime::St3, |_| {
        let mut samples = 0;
        Ok(move |_| {
            samples += 1;
            let found = Received::of_all(if samples > 2 { 9 } else { 10 });
            Mismatch::check(Received::of_all(10), found)?;
            Ok(Sample::Value(1.0))
        })
    })
}

fn panics() -> Bench {
    sound("shaky")
        .side(Runtime::St3, |_| Ok(|_| -> Result<Sample, Fault> { panic!("the ring is on fire") }))
}

/// Runs `broken` between two sound benches: the message, the exit code and the benches in the
/// JSON file.
fn outcome(broken: Bench) -> (String, u8, Vec<String>) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("wrong_result_{}.json", broken.name()));
    let path_arg = path.to_str().expect("UTF-8");
    let args = Args::parse_from(["heist-bench", "--samples", "3", "--json", path_arg]);
    let mut out = Vec::new();
    let error =
        execute(vec![sound("before"), broken, sound("after")], &args, &mut out).unwrap_err();
    let text = std::fs::read_to_string(&path).expect("was written");
    let rows: Vec<Value> = serde_json::from_str(&text).expect("is a JSON array");
    let benches = rows.iter().map(|row| row["bench"].as_str().expect("text").to_owned());
    (error.to_string(), error.exit_code(), benches.collect())
}

#[test]
fn a_lost_item_fails_the_run_and_names_bench_and_runtime() {
    let (message, code, benches) = outcome(loses_an_item());
    assert_eq!(message, "bench leaky, runtime st3: 1 of 10 items lost");
    assert_eq!(code, 1);
    assert_eq!(benches, ["before"]);
}

#[test]
fn a_panic_fails_the_run_the_same_way() {
    let (message, code, benches) = outcome(panics());
    assert_eq!(message, "bench shaky, runtime st3: panicked: the ring is on fire");
    assert_eq!(code, 1);
    assert_eq!(benches, ["before"]);
}
