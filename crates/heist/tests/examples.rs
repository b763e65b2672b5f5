//! Every example runs, and checks its own results.

#[path = "../examples/tour.rs"]
mod tour;

#[test]
fn tour_runs() {
    tour::main();
}
