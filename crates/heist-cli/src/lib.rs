//! What the `heist` program is made of.
//!
//! | module | what |
//! |---|---|
//! | `bench` | heist beside its peers, as a table and as plots |
//! | `cli` | the command line |
//! | `convert` | `heist trace convert`: traces as pages and for Perfetto |
//! | `demo` | a tour on this machine |
//! | [`doctor`] | what is wrong with a program, and why |
//! | [`live`] | talking to the consoles of running programs |
//! | `style` | colours, widths and pipes |
//! | `top` | a running program, live |
//!
//! Exit codes: 0, all is well; 1, the command has found something (`doctor`); 2, it could not do
//! what it was asked for.
#![warn(missing_docs)]

mod bench;
mod cli;
mod convert;
mod demo;
pub mod doctor;
pub mod live;
mod style;
mod top;

pub use cli::Cli;

/// The example of the page about doctor is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/doctor.md")]
struct Doctor;
