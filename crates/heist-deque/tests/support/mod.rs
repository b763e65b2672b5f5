//! What the stress and drop tests share: a seeded generator and a ledger of items.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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
    ((count as f64 * setting("HEIST_STRESS_SCALE", 1.0)) as u64).max(1000)
}

/// SplitMix64.
pub struct Rng(u64);

impl Rng {
    /// One stream per thread of a run.
    pub fn for_thread(number: u64) -> Self {
        Rng(seed() ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03))
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

/// An item large enough to be torn, if anything could tear it.
pub struct Item {
    id: u64,
    copies: [u64; 3],
}

/// Which items exist, and which have been taken.
pub struct Ledger {
    taken: Vec<AtomicU8>,
    issued: AtomicU64,
}

impl Ledger {
    pub fn new(capacity: u64) -> Self {
        Ledger {
            taken: (0..capacity).map(|_| AtomicU8::new(0)).collect(),
            issued: AtomicU64::new(0),
        }
    }

    /// A new item, or `None` when all have been issued.
    pub fn issue(&self) -> Option<Item> {
        let id = self.issued.fetch_add(1, Ordering::Relaxed);
        ((id as usize) < self.taken.len()).then_some(Item { id, copies: [!id; 3] })
    }

    /// Somebody got `item`; it must be whole, and must not have been taken before.
    pub fn take(&self, item: Item) {
        assert!(item.copies.iter().all(|copy| *copy == !item.id), "item {} is torn", item.id);
        let before = self.taken[item.id as usize].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "item {} was taken twice (seed {:#x})", item.id, seed());
    }

    /// All items have been issued and taken.
    pub fn settle(&self) {
        for (id, taken) in self.taken.iter().enumerate() {
            let times = taken.load(Ordering::Relaxed);
            assert_eq!(times, 1, "item {id} was taken {times} times (seed {:#x})", seed());
        }
    }
}
