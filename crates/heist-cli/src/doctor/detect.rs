//! What is looked for: one module for each kind of trouble.
//!
//! | module | what |
//! |---|---|
//! | `blocking` | system calls that blocked a worker, and what ran beside (`holders`) |
//! | `long_polls` | polls that go on and on |
//! | `imbalance` | one worker has all the work, and why |
//! | `idle` | a task waited beside a worker that slept |
//! | `ping_pong` | two tasks that do nothing but wake each other |
//! | `inject` | tiny tasks that come through the shared queue |
//! | `storms` | many are woken, and have nothing to do |
//! | `self_wake` | tasks that wake themselves and do nothing else |
//! | `tiny` | tasks that do next to nothing |
//! | `budget` | polls that always use up their budget |
//! | `leaks` | tasks that pile up |
//! | `unpolled` | tasks that nobody has ever polled |
//! | `spares` | no thread was left for the seat of a stuck worker |
//! | `closures` | closures that wait for a thread |
//!
//! Shares and counts decide, not times, wherever that is possible: on a machine with too few cores
//! each single poll may take long, and each single worker may come late.

mod blocking;
mod budget;
mod closures;
mod holders;
mod idle;
mod imbalance;
mod inject;
mod leaks;
mod long_polls;
mod ping_pong;
mod self_wake;
mod spares;
mod storms;
mod tiny;
mod top;
mod unpolled;

use super::finding::{Finding, Texts};
use super::picture::{Picture, Poll, Ran};
use heist::trace::Event;
use std::time::Duration;

/// Looks for one kind of trouble.
pub(super) trait Detector {
    /// Something has happened, and the picture shows it.
    fn event(&mut self, _event: &Event, _picture: &Picture) {}

    /// A poll is over.
    fn poll(&mut self, _poll: &Poll, _picture: &Picture) {}

    /// A closure has got its thread, or the trace has ended before.
    fn closure(&mut self, _closure: &Ran, _picture: &Picture) {}

    /// What there is to say in the end.
    fn findings(&self, picture: &Picture, texts: &dyn Texts) -> Vec<Finding>;
}

pub(super) fn all() -> Vec<Box<dyn Detector>> {
    vec![
        Box::new(spares::Spares::default()),
        Box::new(closures::Closures::default()),
        Box::new(blocking::Blocking::default()),
        Box::new(long_polls::LongPolls::default()),
        Box::new(unpolled::Unpolled),
        Box::new(imbalance::Imbalance::default()),
        Box::new(idle::IdleBesideWork::default()),
        Box::new(ping_pong::PingPong::default()),
        Box::new(storms::Storms::default()),
        Box::new(inject::Pressure::default()),
        Box::new(self_wake::SelfWake::default()),
        Box::new(tiny::Tiny),
        Box::new(budget::Budget),
        Box::new(leaks::Leaks),
    ]
}

/// One cause is reported once: what follows from another finding is left out. A finding that is
/// left out itself explains the same things as the one it gives way to.
pub(super) fn leave_out_what_others_explain(findings: &mut Vec<Finding>) {
    const SHORT: &[&str] = &[imbalance::TOO_SHORT, imbalance::ONE_TASK];
    const EXPLAINED: [(&str, &[&str]); 6] = [
        (ping_pong::ID, SHORT),
        (storms::ID, SHORT),
        (budget::ID, SHORT),
        (self_wake::ID, SHORT),
        (inject::ID, &[imbalance::TOO_SHORT, imbalance::ONE_TASK, tiny::ID]),
        (tiny::ID, &[imbalance::TOO_SHORT, imbalance::ONE_TASK, imbalance::ONE_SPAWNER]),
    ];
    let is_there = |id: &str| findings.iter().any(|finding| finding.id == id);
    let explained = EXPLAINED.iter().filter(|(cause, _)| is_there(cause));
    let explained: Vec<&str> = explained.flat_map(|(_, follows)| follows.iter().copied()).collect();
    findings.retain(|finding| !explained.contains(&finding.id));
}

/// A part of the whole, from 0 to 1; nothing of nothing is 0.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn share_of_time(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}
