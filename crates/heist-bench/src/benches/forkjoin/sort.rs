//! What the sorts share: the numbers, and what they are when sorted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heist_testing::Rng;

use super::expect;
use super::shared::Shared;
use crate::bench::{Fault, Setup};

/// 10^7 numbers, as all sides get them.
pub struct Numbers {
    unsorted: Vec<u32>,
    sorted: Vec<u32>,
    buffers: Mutex<Buffers>,
}

/// The sides take turns with them.
pub struct Buffers {
    pub numbers: Vec<u32>,
    /// Scratch memory of the same length.
    pub scratch: Vec<u32>,
}

impl Numbers {
    pub fn get(shared: &Shared<Numbers>, setup: &Setup) -> Arc<Self> {
        shared.get(|| Numbers::new(setup.scaled(10_000_000) as usize))
    }

    pub fn new(count: usize) -> Self {
        let mut rng = Rng::new(7);
        let unsorted: Vec<u32> = (0..count).map(|_| rng.next_u64() as u32).collect();
        let mut sorted = unsorted.clone();
        sorted.sort_unstable();
        let buffers = Buffers { numbers: unsorted.clone(), scratch: vec![0; count] };
        Numbers { unsorted, sorted, buffers: Mutex::new(buffers) }
    }

    pub fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What they are to be in the end.
    pub fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    pub fn shuffle(&self) {
        self.buffers().numbers.copy_from_slice(&self.unsorted);
    }

    pub fn check(&self) -> Result<(), Fault> {
        let buffers = self.buffers();
        let right = buffers.numbers.iter().zip(&self.sorted).filter(|(a, b)| a == b).count();
        expect("numbers in their place", self.sorted.len() as u64, right as u64)
    }
}
