#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod deque;
pub mod ring;

mod canary;
mod slot;
mod steal;
mod tuning;

pub use steal::Steal;
