use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    heist_bench::cli::main(heist_bench::benches::all(), &heist_bench::cli::Args::parse())
}
