//! Side-by-side benchmarks of heist and its peers.
//!
//! A [`bench::Bench`] is one workload with one side per runtime. [`run`] measures the sides
//! interleaved, sample by sample, in one process, so that a machine that slows down half-way
//! slows down all of them; [`report`] turns the samples into a table and a JSON file.
//!
//! Code map, in the order in which a run meets it:
//!
//! - [`cli`]: the command line and its exit codes
//! - [`role`]: the command line of a process that another one of this program has started
//! - [`benches`]: the registry, one module a group of benches
//! - [`select`]: which benches and sides a command line means
//! - [`mod@bench`], [`mod@unit`], [`received`]: what a bench is made of
//! - [`alloc`]: the allocator under all of it
//! - [`run`], [`order`], [`calibrate`]: the measurement
//! - [`report`], [`progress`]: what comes out of it

pub mod alloc;
pub mod bench;
pub mod benches;
pub mod calibrate;
pub mod cli;
pub mod error;
pub mod order;
pub mod progress;
pub mod received;
pub mod report;
pub mod role;
pub mod run;
pub mod select;
pub mod unit;
