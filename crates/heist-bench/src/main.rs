use std::process::ExitCode;

use clap::Parser;
use heist_bench::role::Role;
use heist_bench::{benches, cli};

fn main() -> ExitCode {
    match Role::given(std::env::args_os()) {
        Some(Ok(role)) => role.play(),
        Some(Err(error)) => error.exit(),
        None => cli::main(benches::all(), &cli::Args::parse()),
    }
}
