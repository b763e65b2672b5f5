//! Every example runs, and checks its own results.

#[path = "../examples/thread_per_core.rs"]
mod thread_per_core;
#[path = "../examples/tour.rs"]
mod tour;

#[test]
fn tour_runs() {
    tour::main();
}

#[path = "../examples/metrics.rs"]
mod metrics;

#[test]
fn metrics_runs() {
    metrics::main();
}

#[path = "../examples/never_stall.rs"]
mod never_stall;

#[test]
fn never_stall_runs() {
    never_stall::main();
}

#[test]
fn thread_per_core_runs() {
    thread_per_core::main();
}
