//! Tasks of the repository that need more than a shell script.
//!
//! `cargo run -p xtask -- --help` lists them.

mod benchmarks;
mod peer_tests;
mod rayon_bench;

use std::process::ExitCode;

use clap::Parser;

/// Tasks of the repository that need more than a shell script.
#[derive(Debug, Parser)]
#[command(name = "xtask", version)]
enum Task {
    Benchmarks(benchmarks::Args),
    PeerTests(peer_tests::Args),
    RayonBench(rayon_bench::Args),
}

fn main() -> ExitCode {
    match Task::parse() {
        Task::Benchmarks(args) => benchmarks::main(&args),
        Task::PeerTests(args) => peer_tests::main(&args),
        Task::RayonBench(args) => rayon_bench::main(&args),
    }
}
