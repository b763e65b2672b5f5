//! What the `heist` program is made of.
//!
//! | module | what |
//! |---|---|
//! | `cli` | the command line |
//! | `bench` | heist beside its peers, as a table and as plots |
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
