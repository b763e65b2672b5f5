//! The `heist` program: see what the scheduler does, and why.
use clap::Parser;
use heist_cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("heist: {error}");
            ExitCode::from(2)
        }
    }
}
