//! `heist doctor` on real programs (M2): each cause has its finding, and healthy programs have
//! none; the same on programs that it was not made with. And `heist demo`, which shows some of
//! them.

mod programs;
mod unseen;
mod verdicts;

use heist::runtime::Builder;
use heist::trace::Config;
use heist_cli::doctor::examine;
use programs::{
    SLOW_POLLS, SLOW_SPAWNS, SLOW_TINY, alone, expect, expect_if_fast, expect_nothing, healthy,
    judge_undisturbed, sick,
};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{self, Command, Output, Stdio};
use std::thread;

#[test]
fn one_spawner() {
    expect(&sick::ONE_SPAWNER, "imbalance-one-spawner", &[]);
}

/// The poll is long, and it is why the others wait: both are said, and both name the line of the
/// spawner.
#[test]
fn a_spawner_that_does_not_await() {
    let judge = || {
        let trace = sick::SPAWNS_WITHOUT_AWAIT.trace();
        let diagnosis = examine(&trace).expect("a trace of one's own can be read");
        let line = |id| {
            let finding = diagnosis.findings.iter().find(|finding| finding.id == id);
            finding.map(|finding| finding.lines.clone())
        };
        let lines = [line("imbalance-one-spawner"), line("long-poll")];
        let [Some(spawner), Some(poll)] = lines else { return Err(Box::new(diagnosis)) };
        assert!(spawner[0].contains("sick.rs:") && spawner == poll, "{diagnosis:#?}");
        Ok(())
    };
    // Where a worker has a small part of a core the trace shows too little of it.
    judge_undisturbed(sick::SPAWNS_WITHOUT_AWAIT.name, judge).unwrap();
}

#[test]
fn one_task() {
    expect(&sick::ONE_TASK, "imbalance-one-task", &[]);
}

#[test]
fn too_short_to_steal() {
    expect_if_fast(&sick::TOO_SHORT, &["tiny-tasks", SLOW_POLLS, SLOW_SPAWNS]);
}

#[test]
fn pinned_to_one_worker() {
    expect(&sick::PINNED, "imbalance-pinned", &[]);
}

#[test]
fn io_affinity() {
    expect(&sick::IO_AFFINITY, "imbalance-io-affinity", &[]);
}

#[test]
fn long_polls() {
    expect(&sick::LONG_POLLS, "long-poll", &[]);
}

#[test]
fn blocking_calls() {
    expect(&sick::BLOCKING, "blocking-call", &[]);
}

#[test]
fn no_spares() {
    expect(&sick::NO_SPARES, "spare-shortage", &["blocking-call"]);
}

#[test]
fn ping_pong() {
    expect(&sick::PING_PONG, "lifo-ping-pong", &[]);
}

#[test]
fn inject_pressure() {
    expect_if_fast(&sick::INJECT, &["inject-pressure", SLOW_POLLS, SLOW_TINY]);
}

#[test]
fn wake_storms() {
    // The tasks that wake meet at a lock, whose holder may lose its core.
    expect(&sick::STORM, "wake-storm", &["blocking-call"]);
}

#[test]
fn idle_beside_work() {
    expect(&sick::IDLE_BESIDE_WORK, "idle-beside-work", &[]);
}

#[test]
fn budget_used_up() {
    expect(&sick::BUDGET, "budget-exhausted", &[]);
}

#[test]
fn leaks() {
    expect(&sick::LEAK, "task-leak", &[]);
}

#[test]
fn never_polled() {
    expect(&sick::NEVER_POLLED, "never-polled", &["blocking-call", "long-poll"]);
}

/// One test each would run them at the same time, on cores that they do not have.
#[test]
fn healthy_programs_are_healthy() {
    healthy::ALL.iter().for_each(expect_nothing);
}

fn heist(args: &[&str]) -> Output {
    let _stage = alone();
    Command::new(env!("CARGO_BIN_EXE_heist")).args(args).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("it prints UTF-8")
}

/// Puts a file of its own under `target`.
fn file(name: &str, bytes: &[u8]) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("a file can be written");
    path.into_os_string().into_string().expect("a path in UTF-8")
}

#[test]
fn the_exit_code_tells_whether_anything_was_found() {
    let sick = file("sick.trace", &sick::BLOCKING.record());
    let output = heist(&["doctor", &sick]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = text(&output.stdout);
    for part in ["problem: blocking-call", "clock_nanosleep", "sick.rs:", "spawn_blocking"] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    assert!(!said.contains('\x1b'), "{said}");

    let healthy = file("healthy.trace", &healthy::BALANCED.record());
    let output = heist(&["doctor", &healthy]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("healthy: nothing found"));
}

#[test]
fn json_is_for_programs() {
    let sick = file("json.trace", &sick::BLOCKING.record());
    let output = heist(&["doctor", "--json", &sick]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(said["version"], 1);
    assert_eq!(said["subject"]["seats"], 2);
    let finding = &said["findings"][0];
    assert_eq!(finding["id"], "blocking-call");
    assert_eq!(finding["severity"], "problem");
    let polls = &finding["evidence"][0];
    assert_eq!((&polls["what"], &polls["unit"]), (&"blocked polls".into(), &"count".into()));
    assert!(polls["value"].as_f64().is_some_and(|polls| polls >= 1.0), "{finding}");
    assert!(finding["tasks"][0]["spawned_at"].as_str().is_some_and(|at| at.contains("sick.rs")));
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let nonsense = file("nonsense.trace", b"not a trace at all");
    for path in [nonsense.as_str(), "does/not/exist"] {
        let output = heist(&["doctor", path]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(path), "{output:?}");
        assert!(output.stdout.is_empty());
    }
}

/// Answers one request as a console does.
fn serve_once(listener: UnixListener, body: Vec<u8>) {
    let (mut client, _) = listener.accept().expect("somebody comes");
    let mut request = String::new();
    BufReader::new(&client).read_line(&mut request).expect("it asks");
    assert!(request.starts_with("GET /v1/trace "), "{request}");
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    client.write_all(head.as_bytes()).expect("it listens");
    client.write_all(&body).expect("it listens");
}

#[test]
fn a_running_program_is_asked_for_its_trace() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.sock", process::id()));
    let listener = UnixListener::bind(&path).expect("a socket can be made");
    let body = sick::BLOCKING.record();
    let server = thread::spawn(move || serve_once(listener, body));
    let output = heist(&["doctor", path.to_str().expect("a path in UTF-8")]);
    server.join().expect("it was asked");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).contains("blocking-call"), "{output:?}");
}

#[test]
fn a_peer_that_is_no_console_is_reported() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("no-{}.sock", process::id()));
    let listener = UnixListener::bind(&path).expect("a socket can be made");
    let server = thread::spawn(move || serve_once(listener, b"{}".to_vec()));
    let output = heist(&["doctor", path.to_str().expect("a path in UTF-8")]);
    server.join().expect("it was asked");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("is it a console"), "{output:?}");
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    // No pid is as large as this.
    let output = heist(&["doctor", "4294967295"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("4294967295"), "{output:?}");
}

/// What is there of a file that was cut off is examined.
#[test]
fn a_trace_that_is_cut_off_is_examined() {
    let mut bytes = sick::LONG_POLLS.record();
    bytes.truncate(bytes.len() - 3);
    let cut = file("cut.trace", &bytes);
    let output = heist(&["doctor", &cut]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(text(&output.stdout).contains("cut off"), "{output:?}");
}

/// To say that it is healthy would be a guess.
#[test]
fn a_trace_without_events_is_no_healthy_one() {
    let runtime = Builder::new_current_thread().trace(Config::new()).build().unwrap();
    let mut nobody_drove = Vec::new();
    runtime.handle().dump_trace_to(&mut nobody_drove).expect("memory can be written to");
    let not_yet = file("not-yet.trace", &nobody_drove);

    let header = 12 + usize::from(u16::from_le_bytes([nobody_drove[10], nobody_drove[11]])) + 4;
    // Behind the header, and in the middle of the first chunk.
    let cut = [header, header + 20]
        .map(|length| file(&format!("cut-at-{length}.trace"), &sick::BLOCKING.record()[..length]));

    let advice = [(&not_yet, "let the program run"), (&cut[0], "cut off"), (&cut[1], "copy it")];
    for (path, what_to_do) in advice {
        for args in [&["doctor", path][..], &["doctor", "--json", path]] {
            let output = heist(args);
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            let said = text(&output.stderr);
            assert!(said.contains(path) && said.contains(what_to_do), "{said}");
            assert!(output.stdout.is_empty(), "{output:?}");
        }
    }
}

/// Each in its place.
const TOUR: [&str; 12] = [
    "1. Balanced work",
    "doctor:",
    "2. All from one task",
    "imbalance-one-spawner",
    "3. A blocked worker",
    "ticks meanwhile",
    "blocking-call",
    "clock_nanosleep",
    "4. Fork-join beside async",
    "sums of",
    "doctor:",
    "Next:",
];

/// The first command of the README. A machine that has no time for it shows too little to be
/// judged.
#[test]
fn the_demo_shows_each_phase_and_what_doctor_says() {
    let tour = |_| {
        let output = heist(&[]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let said = text(&output.stdout).to_owned();
        assert!(!said.contains('\x1b'), "{said}");
        let missing = TOUR.iter().try_fold(said.as_str(), |rest, part| {
            rest.split_once(part).map(|(_, rest)| rest).ok_or(*part)
        });
        missing.map(|_| ()).map_err(|part| format!("no {part} in its place: {said}"))
    };
    let tours: Vec<_> = (0..5).map(tour).take_while(Result::is_err).collect();
    assert!(tours.len() < 5, "{tours:?}");
}

/// The share of worker 0 in the table of a phase, and in what doctor says of it.
fn shares(phase: &str) -> Option<(&str, &str)> {
    let row = phase.lines().find_map(|line| line.trim_start().strip_prefix("0 "))?;
    let (_, evidence) = phase.split_once("worker 0 busy:")?;
    Some((row.split('%').next()?.trim(), evidence.split('%').next()?.trim()))
}

/// Both mean time in tasks.
#[test]
fn the_bars_of_the_demo_show_what_doctor_says() {
    let compared = |_| {
        let output = heist(&[]);
        let said = text(&output.stdout);
        let (_, phase) = said.split_once("2. All from one task").expect("there is this phase");
        let (phase, _) = phase.split_once("3. A blocked worker").expect("there is the next");
        let (bar, evidence) = shares(phase)?;
        assert_eq!(bar, evidence, "{phase}");
        Some(())
    };
    // A machine that has no time for it shows too little to be judged.
    assert!((0..5).any(|tour| compared(tour).is_some()));
}

/// `heist | head -1`.
#[test]
fn a_reader_who_goes_away_is_no_error() {
    let _stage = alone();
    let mut command = Command::new(env!("CARGO_BIN_EXE_heist"));
    let mut demo = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(demo.stdout.take());
    let output = demo.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stderr), "");
}
