//! Reports of recorded results, and of a heist-bench that is a few lines of shell.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{assert_golden, command, golden, heist, scratch, stderr, stdout};

const RECORDED: &str = "bench/results.json";

/// The report of the recorded results.
fn report(name: &str) -> PathBuf {
    let out = scratch(name);
    let recorded = golden(RECORDED);
    let output =
        heist(&["bench", "--from", recorded.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert!(output.status.success(), "{}", stderr(&output));
    out
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("was written")
}

/// Something that takes heist-bench's options; `body` may use `$json`.
fn program(directory: &Path, body: &str) -> PathBuf {
    let (text, path) = (directory.join("script"), directory.join("heist-bench"));
    let script = format!(
        "#!/bin/sh\necho \"$@\"\nfor arg; do [ \"$last\" = --json ] && json=$arg; last=$arg; done\n\
         {body}\n"
    );
    fs::write(&text, script).unwrap();
    install(&text, &path);
    path
}

/// Copies a program. Not in this process: what it has open for writing, a child that another test
/// starts at this moment has open too, and until that is gone the program is busy and cannot be
/// run.
fn install(from: &Path, to: &Path) {
    let status = Command::new("install").args(["-m", "755"]).arg(from).arg(to).status().unwrap();
    assert!(status.success());
}

fn run(directory: &Path, program: &Path, args: &[&str]) -> Output {
    let mut command = command();
    command.arg("bench").arg("--program").arg(program).arg("--out").arg(directory).args(args);
    command.output().expect("starts")
}

#[test]
fn recorded_results_make_this_table() {
    assert_golden("bench/results.txt", &read(report("bench-table").join("results.md")));
}

#[test]
fn plots_are_well_formed_and_have_a_bar_with_its_spread_for_each_runtime() {
    let plots = report("bench-plots").join("plots");
    let text = read(plots.join("spawn_local.svg"));
    let svg = roxmltree::Document::parse(&text).expect("is XML");
    let with_class = |class: &str| {
        let has = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|it| it.split(' ').any(|part| part == class))
        };
        svg.descendants().filter(has).count()
    };
    assert_eq!(["bar", "own", "spread"].map(with_class), [4, 1, 4]);
    let width = |bar: usize| -> f64 {
        let bars: Vec<_> = svg.descendants().filter(|node| node.has_tag_name("rect")).collect();
        bars[bar].attribute("width").unwrap().parse().unwrap()
    };
    // 135.0 ns and 817.2 ns.
    assert!((width(1) / width(0) - 817.2 / 135.0).abs() < 0.1, "{text}");
    let mut files = 0;
    for entry in fs::read_dir(plots).unwrap() {
        let path = entry.unwrap().path();
        roxmltree::Document::parse(&read(&path)).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        files += 1;
    }
    assert_eq!(files, 8 + 2, "a plot a bench, an overview a family");
}

#[test]
fn the_page_is_whole_and_needs_nothing_else() {
    let page = read(report("bench-page").join("index.html"));
    // Apart from its first line, the page is also XML.
    let (_, rest) = page.split_once('\n').unwrap();
    let document = roxmltree::Document::parse(rest).expect("is well-formed");
    let named = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((named("table"), named("figure")), (2, 8 + 2));
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("prefers-color-scheme: dark"));
}

#[test]
fn what_heist_bench_measures_is_reported_with_where_it_was_measured() {
    let out = scratch("bench-run");
    let script = program(&out, &format!("cp '{}' \"$json\"", golden(RECORDED).display()));
    let args =
        ["spawn_local", "yield", "--peers", "tokio,smol", "--workers", "2", "--samples", "5"];
    let output = run(&out, &script, &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let passed_on = "spawn_local yield --peers=tokio,smol --workers=2 --samples=5 --json ";
    assert!(stdout(&output).starts_with(passed_on), "{}", stdout(&output));
    let table = read(out.join("results.md"));
    assert!(table.contains("5 samples a side, measured on 2"), "{table}");
    assert_eq!(read(out.join("results.json")), read(golden(RECORDED)));
}

#[test]
fn a_run_that_fails_reports_what_was_measured_before() {
    let out = scratch("bench-fails");
    let script = program(&out, &format!("cp '{}' \"$json\"; exit 1", golden(RECORDED).display()));
    let output = run(&out, &script, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did not get to its end"), "{}", stderr(&output));
    assert!(read(out.join("results.md")).contains("spawn_local"));
}

#[test]
fn results_of_an_earlier_run_are_not_taken_for_those_of_one_that_is_killed() {
    let out = scratch("bench-killed");
    fs::write(out.join("results.json"), read(golden(RECORDED))).unwrap();
    fs::write(out.join("results.json.part"), read(golden(RECORDED))).unwrap();
    let output = run(&out, &program(&out, "kill -9 $$"), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("SIGKILL"), "{}", stderr(&output));
    assert!(!out.join("results.md").exists());
}

#[test]
fn without_a_heist_bench_it_says_what_is_needed() {
    // Outside of the repository, which has one.
    let directory = std::env::temp_dir().join(format!("heist-cli-test-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let copy = directory.join("heist");
    install(Path::new(env!("CARGO_BIN_EXE_heist")), &copy);
    let output =
        Command::new(&copy).arg("bench").current_dir(&directory).env("PATH", "").output().unwrap();
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    for part in ["no heist-bench", "repository", "--program", "--from"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn files_that_are_no_results_are_refused() {
    let directory = scratch("bench-refused");
    for (text, reason) in [
        ("{}", "is not what heist-bench writes"),
        ("[]", "has no results"),
        ("[{\"bench\": null}]", "is not what heist-bench writes"),
    ] {
        let file = directory.join("file.json");
        fs::write(&file, text).unwrap();
        let output = heist(&["bench", "--from", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    let output = heist(&["bench", "--from", "no/such/file"]);
    assert!(stderr(&output).contains("cannot read no/such/file"), "{}", stderr(&output));
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let directory = scratch("bench-unwritable");
    let file = directory.join("file");
    fs::write(&file, "").unwrap();
    let (from, out) = (golden(RECORDED), file.join("report"));
    let output =
        heist(&["bench", "--from", from.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--out names another place"), "{}", stderr(&output));
}

#[test]
fn help_has_examples_and_list_is_passed_on() {
    let help = stdout(&heist(&["bench", "--help"]));
    assert!(help.contains("heist bench spawn_local yield_many"), "{help}");
    let directory = scratch("bench-list");
    let output = run(&directory, &program(&directory, ""), &["--list", "ring"]);
    assert_eq!(stdout(&output), "--list ring\n");
}
