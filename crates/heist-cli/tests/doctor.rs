//! `heist doctor` on real programs: each cause has its finding, and healthy programs have none. And
//! `heist demo`, which shows some of them.

mod programs;

use heist_cli::doctor::{Diagnosis, examine};
use programs::{Program, healthy, sick};

fn ids(diagnosis: &Diagnosis) -> Vec<&str> {
    diagnosis.findings.iter().map(|finding| finding.id).collect()
}

/// Examines the program: the finding `id` has to be there, and none but those that may `follow`.
fn expect(program: &Program, id: &str, follow: &[&str]) {
    let diagnosis = examine(&program.trace()).expect("a trace of one's own can be read");
    let found = ids(&diagnosis);
    assert!(found.contains(&id), "{}: {diagnosis:#?}", program.name);
    let others: Vec<_> = found.iter().filter(|&&f| f != id && !follow.contains(&f)).collect();
    assert!(others.is_empty(), "{}: also {others:?}: {diagnosis:#?}", program.name);
}

#[test]
fn one_spawner() {
    expect(&sick::ONE_SPAWNER, "imbalance-one-spawner", &[]);
}

#[test]
fn one_task() {
    expect(&sick::ONE_TASK, "imbalance-one-task", &[]);
}

#[test]
fn too_short_to_steal() {
    expect(&sick::TOO_SHORT, "imbalance-too-short", &[]);
}

#[test]
fn pinned_to_one_worker() {
    expect(&sick::PINNED, "imbalance-pinned", &[]);
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
    expect(&sick::INJECT, "inject-pressure", &[]);
}

#[test]
fn wake_storms() {
    expect(&sick::STORM, "wake-storm", &[]);
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
    for program in healthy::ALL {
        let diagnosis = examine(&program.trace()).expect("a trace of one's own can be read");
        assert!(ids(&diagnosis).is_empty(), "{}: {diagnosis:#?}", program.name);
    }
}
