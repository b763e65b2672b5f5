//! What the tests and benchmarks of heist share: how much to run, with which random numbers, and
//! what samples come to.
//!
//! | variable | what |
//! |---|---|
//! | `HEIST_STRESS_SCALE` | multiplies the number of operations of the stress tests |
//! | `HEIST_STRESS_SEED` | their seed: what they try is the same for the same seed |
#![warn(missing_docs)]

mod rng;
pub mod stats;

pub use rng::Rng;

/// The seed of this run; `HEIST_STRESS_SEED` sets it.
pub fn seed() -> u64 {
    setting("HEIST_STRESS_SEED", 0x05EE_DED0)
}

/// `count` times `HEIST_STRESS_SCALE`, and at least 1.
pub fn scaled(count: u64) -> u64 {
    ((count as f64 * setting("HEIST_STRESS_SCALE", 1.0)) as u64).max(1)
}

/// A number from the environment, or `default`.
fn setting<N: std::str::FromStr>(name: &str, default: N) -> N {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}
