//! What the tests share.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod futures;
pub mod resident;

use heist::runtime::{Builder, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A runtime with so many workers.
pub fn runtime(workers: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
}

/// Counts its drop.
pub struct Counted(pub Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A number from the environment, or `default`.
fn setting<N: std::str::FromStr>(name: &str, default: N) -> N {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")),
        Err(_) => default,
    }
}

/// The seed of this run; `HEIST_STRESS_SEED` sets it.
pub fn seed() -> u64 {
    setting("HEIST_STRESS_SEED", 0x05EE_DED0)
}

/// `count` times `HEIST_STRESS_SCALE`.
pub fn scaled(count: u64) -> u64 {
    ((count as f64 * setting("HEIST_STRESS_SCALE", 1.0)) as u64).max(1)
}

/// SplitMix64.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
