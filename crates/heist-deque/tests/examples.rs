//! Every example runs, and checks its own results.

#[path = "../examples/queues.rs"]
mod queues;

#[test]
fn queues_runs() {
    queues::main();
}
