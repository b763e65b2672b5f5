//! Every example runs, and checks its own results.

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
