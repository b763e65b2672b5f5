//! The program as its users meet it; `--quick` shrinks the work, and no test looks at a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn heist_bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_heist-bench")).args(args).output().expect("starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("prints UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("prints UTF-8")
}

/// A path for this test alone, with nothing there yet.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("was written");
    serde_json::from_str(&text).expect("is a JSON array")
}

#[test]
fn list_shows_each_bench_with_its_runtimes() {
    let output = heist_bench(&["--list"]);
    assert!(output.status.success());
    let text = stdout(&output);
    for name in [
        "deque_push_pop",
        "deque_batch64",
        "deque_contended",
        "deque_grow",
        "ring_push_pop",
        "ring_batch64",
        "ring_contended",
        "ring_steal_half",
    ] {
        let line = line_of(&text, name);
        assert!(line.contains("[heist, crossbeam"), "{line}");
    }
    for name in [
        "spawn_local",
        "spawn_many_local",
        "spawn_remote_idle",
        "remote_busy1",
        "remote_busy2",
        "remote_spawn",
        "remote_spawn_p1",
        "remote_spawn_p2",
        "remote_spawn_p4",
        "yield_many",
        "ping_pong",
        "chained_spawn",
        "spawn_await",
        "mpsc",
        "oneshot",
        "wake_latency",
        "task_bytes",
        "idle",
    ] {
        let line = line_of(&text, name);
        assert!(line.contains("[heist, tokio, smol"), "{line}");
    }
    for (names, runtimes) in [
        (&["stall", "stall_p99", "stall_burn", "stall_burn_p99"][..], "[heist, tokio, smol]"),
        (&["stall_echo", "stall_echo_p99", "stall_echo_all"], "[heist, tokio, smol]"),
        (&["timeout_ready", "timeout_pending", "sleep_churn"], "[heist, tokio, smol]"),
        (&["timer_fire", "timer_fire_max", "echo_tcp_1000x64_p99"], "[heist, tokio, smol]"),
        (&["http_hello", "http_hello_p99", "accept_storm", "conn_bytes"], "[heist, tokio, smol]"),
        (&["echo_compute_cpu", "echo_fan_out_csw", "accept_slow_sys"], "[heist, tokio, smol]"),
        (&["spawn_blocking", "spawn_blocking_many"], "[heist, tokio]"),
        (&["block_in_place", "block_in_place_polls", "file_read_4k"], "[heist, tokio]"),
        (&["block_on", "one_spawner_csw"], "[heist, tokio, smol, nio]"),
        (&["alone_block_on", "alone_spawn", "alone_oneshot"], "[heist, tokio]"),
        (&["stall_recovery"], "[heist]"),
        (&["fork_join_fib", "tree_sum_1k", "tree_skewed_10m"], "[heist, rayon, chili, sequential]"),
        (&["quicksort", "mergesort", "nqueens", "matmul"], "[heist, rayon, chili, sequential]"),
        (&["tree_search", "mandelbrot", "prefix_sums"], "[heist, rayon, chili, sequential]"),
        (
            &["list_50ns", "list_5us", "pairs_50ns", "pairs_5us"],
            "[heist, rayon, chili, sequential]",
        ),
        (&["tick", "tick_p99", "tick_cpu"], "[heist, rayon, chili, sequential]"),
        (&["join_overhead"], "[heist, rayon, chili]"),
        (&["scope_spawn", "scope_tree", "tick_outside", "tick_bound"], "[heist, rayon]"),
        (&["mixed", "mixed_p50", "mixed_long_max"], "[heist, tokio-rayon]"),
    ] {
        for name in names {
            let line = line_of(&text, name);
            assert!(line.contains(runtimes), "{line}");
        }
    }
}

fn line_of<'a>(list: &'a str, name: &str) -> &'a str {
    let mut lines = list.lines();
    lines.find(|line| line.split_whitespace().next() == Some(name)).expect(name)
}

#[test]
fn an_exact_name_runs_that_bench_alone_and_writes_its_rows() {
    let path = scratch("exact.json");
    let output = heist_bench(&[
        "deque_contended",
        "--quick",
        "--samples",
        "3",
        "--workers",
        "2",
        "--json",
        path.to_str().expect("UTF-8"),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("geometric mean"));
    let rows = rows(&path);
    let runtimes: Vec<_> = rows.iter().map(|row| row["runtime"].as_str().expect("text")).collect();
    assert_eq!(runtimes, ["heist", "crossbeam", "st3"]);
    for row in &rows {
        let mut keys: Vec<_> = row.as_object().expect("an object").keys().collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            ["bench", "median", "p10", "p90", "runtime", "samples", "unit", "workers"]
        );
        assert_eq!(row["bench"], "deque_contended");
        assert_eq!(row["unit"], "ns");
        assert_eq!(row["workers"], 2);
        assert_eq!(row["samples"], 3);
        assert!(row["median"].is_f64() && row["p10"].is_f64() && row["p90"].is_f64());
    }
}

#[test]
fn all_benches_run_and_lose_nothing() {
    let path = scratch("all.json");
    let output = heist_bench(&["--quick", "--json", path.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", stderr(&output));
    let list = stdout(&heist_bench(&["--list"]));
    let heist = rows(&path).iter().filter(|row| row["runtime"] == "heist").count();
    let left_out = match stderr(&output).contains(NOTHING_COUNTS) {
        true => list.lines().filter(|line| counts_calls(line)).count(),
        false => 0,
    };
    assert_eq!(heist, list.lines().count() - left_out);
}

const NOTHING_COUNTS: &str = "the rows of system calls are left out: not available";

/// Whether a line of the list is a row in system calls.
fn counts_calls(line: &str) -> bool {
    let name = line.split_whitespace().next().expect("a name");
    name.ends_with("_sys") || name.ends_with("_ctl")
}

/// Nothing may need a second worker to make progress, nor find as many as there are cores.
#[test]
fn runtimes_run_with_any_number_of_workers() {
    for (filter, workers) in [
        ("wake_latency", "1"),
        ("one_spawner", "1"),
        ("one_spawner", "5"),
        ("remote_busy2", "1"),
        ("spawn_local", "5"),
        ("stall", "1"),
        ("stall", "5"),
        ("block_in_place", "1"),
        ("stall_echo", "1"),
        ("stall_echo", "5"),
        ("timeout_pending", "1"),
        ("sleep_churn", "1"),
        ("timer_fire", "5"),
        ("echo_tcp_64x64", "1"),
        ("http_hello", "5"),
        ("accept_storm", "1"),
        ("echo_compute", "1"),
        ("echo_fan_out", "1"),
        ("accept_slow", "5"),
        ("fork_join_fib", "1"),
        ("scope_tree", "1"),
        ("scope_tree", "5"),
        ("tick", "1"),
        ("mixed", "1"),
        ("mixed_long", "5"),
    ] {
        let output = heist_bench(&[filter, "--quick", "--workers", workers]);
        assert!(output.status.success(), "{filter}, {workers} workers: {}", stderr(&output));
    }
}

#[test]
fn peers_restrict_the_comparison_but_keep_heist() {
    let path = scratch("peers.json");
    let args = ["push_pop", "--quick", "--peers", "st3", "--json", path.to_str().expect("UTF-8")];
    let output = heist_bench(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&path);
    let sides: Vec<_> = rows
        .iter()
        .map(|row| [&row["bench"], &row["runtime"]].map(|value| value.as_str().expect("text")))
        .collect();
    assert_eq!(
        sides,
        [
            ["deque_push_pop", "heist"],
            ["deque_push_pop", "st3"],
            ["ring_push_pop", "heist"],
            ["ring_push_pop", "st3"],
        ]
    );
}

/// What heist is compared with to see what a part of it costs.
#[test]
fn heist_runs_beside_itself_if_asked_to() {
    let path = scratch("unwatched.json");
    let args = ["--quick", "--peers", "heist-unwatched", "--json", path.to_str().expect("UTF-8")];
    let output = heist_bench(&[&["yield_many"], &args[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let rows = rows(&path);
    let runtimes: Vec<_> = rows.iter().map(|row| row["runtime"].as_str().expect("text")).collect();
    assert_eq!(runtimes, ["heist", "heist-unwatched"]);
}

/// A server costs something, also one without worker threads.
#[test]
fn servers_run_with_fewer_workers_if_asked_to() {
    let path = scratch("fewer.json");
    let peers = ["heist-one", "heist-alone", "tokio-alone", "bare", "bare-one"];
    let args = ["--quick", "--peers", &peers.join(","), "--json", path.to_str().expect("UTF-8")];
    let output = heist_bench(&[&["echo_tcp_64x64"], &args[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for runtime in ["heist"].into_iter().chain(peers) {
        let is_cpu =
            |row: &&Value| row["runtime"] == runtime && row["bench"] == "echo_tcp_64x64_cpu";
        let rows = rows(&path);
        let row = rows.iter().find(is_cpu).expect("a row of each side");
        assert!(row["median"].as_f64().expect("a number") > 0.0, "{row}");
    }
}

/// The tools that count are no part of the build.
#[test]
fn without_a_tool_the_rows_of_system_calls_are_left_out() {
    let path = scratch("uncounted.json");
    let args = ["echo_tcp_1x64", "--quick", "--peers", "bare-one", "--json"];
    let run = |command: &mut Command| {
        let output = command.args(args).arg(&path).output().expect("starts");
        assert!(output.status.success(), "{}", stderr(&output));
        (stderr(&output).contains(NOTHING_COUNTS), rows(&path).len())
    };
    let command = || Command::new(env!("CARGO_BIN_EXE_heist-bench"));
    assert_eq!(run(command().env("PATH", scratch("no_programs_here"))), (true, 2 * 5));
    let (nothing_counts, rows) = run(&mut command());
    assert_eq!(rows, if nothing_counts { 2 * 5 } else { 2 * 7 });
}

/// A peer in another language is a side like any other where its tools are; where they are not,
/// heist runs without it, and the message says what is missing.
#[test]
fn peers_in_other_languages_run_if_their_tools_are_there() {
    let fork_join = ["fork_join_fib", "tree_skewed_1k", "quicksort", "nqueens", "matmul"];
    let served = ["stall_burn", "echo_tcp_64x64", "http_hello", "accept_storm", "conn_bytes"];
    for (peer, install, benches) in [
        ("go", "install Go", &[&served[..], &fork_join].concat()),
        ("tbb", "install g++ and oneTBB", &fork_join.to_vec()),
        ("java", "install a JDK", &fork_join.to_vec()),
    ] {
        let path = scratch(&format!("{peer}.json"));
        let mut args = benches.clone();
        args.extend(["--quick", "--peers", peer, "--json", path.to_str().expect("UTF-8")]);
        let output = heist_bench(&args);
        let message = stderr(&output);
        assert!(output.status.success(), "{message}");
        if message.contains(&format!("{peer} is left out: not available")) {
            assert!(message.contains(install), "{message}");
            println!("skipped: {message}");
            continue;
        }
        let rows = rows(&path);
        for bench in benches {
            let sides = rows.iter().filter(|row| row["bench"] == *bench);
            let runtimes: Vec<_> = sides.map(|row| row["runtime"].clone()).collect();
            assert_eq!(runtimes, ["heist", peer], "{bench}");
        }
    }
}

#[test]
fn a_peer_whose_tools_are_missing_is_left_out() {
    let path = scratch("left_out.json");
    let args = ["fork_join_fib", "--quick", "--peers", "chili,go,tbb,java", "--json"];
    let output = Command::new(env!("CARGO_BIN_EXE_heist-bench"))
        .args(args)
        .arg(&path)
        .env("PATH", scratch("no_programs_here"))
        .output()
        .expect("starts");
    let message = stderr(&output);
    assert!(output.status.success(), "{message}");
    for said in ["go is left out: not available", "install g++ and oneTBB", "install a JDK"] {
        assert!(message.contains(said), "{message}");
    }
    let rows = rows(&path);
    let runtimes: Vec<_> = rows.iter().map(|row| row["runtime"].as_str().expect("text")).collect();
    assert_eq!(runtimes, ["heist", "chili"]);
}

#[test]
fn shorter_results_replace_longer_ones() {
    let path = scratch("replace.json");
    std::fs::write(&path, "x".repeat(100_000)).expect("writable");
    let path_arg = path.to_str().expect("UTF-8");
    let output = heist_bench(&["deque_grow", "--quick", "--json", path_arg]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(rows(&path).len(), 2);
}

/// Runs a command line that has to be refused before anything is measured.
fn refused(args: &[&str], says: &[&str]) {
    let output = heist_bench(args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert_eq!(stdout(&output), "", "{args:?}");
    let message = stderr(&output);
    for word in says {
        assert!(message.contains(word), "{args:?}: {message}");
    }
}

#[test]
fn nonsense_is_refused_with_a_message() {
    refused(&["no_such_bench", "--quick"], &["no_such_bench", "--list"]);
    refused(&["--quick", "--peers", "tokyo"], &["tokyo", "crossbeam", "st3"]);
    refused(&["--quick", "--samples", "0"], &["--samples", "0"]);
    refused(&["--quick", "--workers", "0"], &["--workers", "0"]);
    refused(&["--quick", "--workers", "65536"], &["--workers", "65536"]);
    refused(&["--quick", "--json", "/no/such/directory/x.json"], &["/no/such/directory/x.json"]);
}
