//! The blocks of a chunk in every interleaving.

use super::blocks::Blocks;
use crate::canary;
use heist_sync::{AtomicU32, Ordering, UnsafeCell};
use loom::thread;
use std::sync::Arc;

struct Chunk {
    blocks: Blocks,
    /// The jobs, one in each block.
    jobs: [UnsafeCell<u32>; 2],
    /// The number of times that the chunk was freed.
    freed: AtomicU32,
}

// SAFETY: (J6) as in an arena: only the owner touches its cell, and a job belongs to the thread
// that runs it, or to one that has seen its block freed.
unsafe impl Sync for Chunk {}

impl Chunk {
    /// With both blocks allocated.
    fn new() -> Arc<Chunk> {
        let jobs = [UnsafeCell::new(7), UnsafeCell::new(7)];
        let chunk = Chunk { blocks: Blocks::new(), jobs, freed: AtomicU32::new(0) };
        chunk.blocks.allocated();
        chunk.blocks.allocated();
        Arc::new(chunk)
    }

    fn write(&self, number: usize, value: u32) {
        // SAFETY: (J6) checked by loom.
        self.jobs[number].with_mut(|job| unsafe { *job = value });
    }

    /// Another thread moves a job out, and frees its block.
    fn run_elsewhere(&self, number: usize) {
        // SAFETY: (J6) checked by loom.
        assert_eq!(self.jobs[number].with(|job| unsafe { *job }), 7);
        if self.blocks.freed_elsewhere() {
            self.free();
        }
    }

    /// No block is in use: any byte may be overwritten.
    fn free(&self) {
        self.write(0, 0);
        self.write(1, 0);
        self.freed.fetch_add(1, Ordering::Relaxed);
    }
}

/// A thief runs one job, the owner the other; then the chunk is started afresh, if no block is in
/// use.
fn used_again() {
    let chunk = Chunk::new();
    let thief = {
        let chunk = Arc::clone(&chunk);
        thread::spawn(move || chunk.run_elsewhere(0))
    };
    chunk.blocks.freed();
    if chunk.blocks.in_use() == 0 {
        chunk.write(0, 8);
        chunk.write(1, 8);
    }
    thief.join().unwrap();
    assert_eq!(chunk.blocks.in_use(), 0);
}

/// The owner ends while two other threads have a job each.
fn abandoned() {
    let chunk = Chunk::new();
    let others = [0, 1].map(|number| {
        let chunk = Arc::clone(&chunk);
        thread::spawn(move || chunk.run_elsewhere(number))
    });
    if chunk.blocks.abandon() {
        chunk.free();
    }
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(chunk.freed.load(Ordering::Relaxed), 1);
}

#[test]
fn j6_a_block_is_used_again_when_its_job_has_left_it() {
    loom::model(used_again);
}

#[test]
fn j6_an_abandoned_chunk_is_freed_once() {
    loom::model(abandoned);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_back_relaxed() {
    canary::BLOCKS_BACK_RELAXED.model(used_again);
}

#[test]
#[should_panic]
fn canary_abandon_looks() {
    canary::BLOCKS_ABANDON_LOOKS.model(abandoned);
}
