//! What the `heist` program is made of.
//!
//! | module | what |
//! |---|---|
//! | `cli` | the command line |
//! | `convert` | `heist trace convert`: traces as pages and for Perfetto |
//! | [`live`] | talking to the consoles of running programs |
//!
//! Exit codes: 0, all is well; 1, the command has found something (`doctor`); 2, it could not do
//! what it was asked for.
#![warn(missing_docs)]

mod cli;
mod convert;
pub mod live;

pub use cli::Cli;
