//! What the `heist` program is made of.
//!
//! | module | what |
//! |---|---|
//! | `cli` | the command line |
//! | `bench` | heist beside its peers, as a table and as plots |
//! | [`live`] | talking to the consoles of running programs |
//! | `top` | a running program, live |
//!
//! Exit codes: 0, all is well; 1, the command has found something (`doctor`); 2, it could not do
//! what it was asked for.
#![warn(missing_docs)]

mod bench;
mod cli;
pub mod live;
mod top;

pub use cli::Cli;
