//! Programs that are no part of this one: peers in other languages, servers and loads.
//!
//! The peers are part of this program as text, and are built when a side is set up: cargo neither
//! needs nor knows what they are built with. Where that is missing, the peer is left out.
//!
//! - `language`: what they are written in, and whether it is there
//! - `program`: one of them, built
//! - `process`: programs that run beside this one
//! - `run`: programs that are run and waited for

pub mod language;
pub mod process;
pub mod program;
pub mod run;
