#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod deque;
pub mod ring;

mod slot;
mod steal;
mod sync;

pub use steal::Steal;
