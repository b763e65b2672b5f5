//! What the stress tests share: a ledger of items.

use heist_testing::seed;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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

impl Item {
    /// What is known of it by who has pushed it.
    pub fn again(&self) -> Item {
        Item { id: self.id, copies: self.copies }
    }
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
