//! What jobs lie in while they wait is given back. What fails here hangs.
// There everything lies in a block of its own.
#![cfg(not(heist_plain_memory))]

use heist::runtime::Builder;
use heist::task;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Counts the chunks of arenas: nothing else is aligned as they are.
struct Counting;

const CHUNK: usize = 32 << 10;
static CHUNKS: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: (type) all is left to the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() == CHUNK {
            let chunks = CHUNKS.fetch_add(1, Ordering::SeqCst) + 1;
            MOST.fetch_max(chunks, Ordering::SeqCst);
        }
        // SAFETY: (type) passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() == CHUNK {
            CHUNKS.fetch_sub(1, Ordering::SeqCst);
        }
        // SAFETY: (type) passed on to the caller.
        unsafe { System.dealloc(block, layout) };
    }
}

/// A spare worker that has nothing to do may never come again, and keeps nothing.
#[test]
fn a_spare_worker_that_ends_keeps_nothing() {
    const JOBS: usize = 10_000;
    let rt = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let handle = rt.handle().clone();
    let runs = &AtomicUsize::new(0);
    let spawn_all = || {
        handle.scope(|s| {
            (0..JOBS).for_each(|_| s.spawn(move |_| _ = runs.fetch_add(1, Ordering::Relaxed)));
        });
    };
    rt.handle().install(|| {
        task::block_in_place(|| {
            spawn_all();
            assert!(MOST.load(Ordering::SeqCst) > 2, "jobs lie in chunks");
            while CHUNKS.load(Ordering::SeqCst) > 0 {
                thread::yield_now();
            }
        });
    });
    assert_eq!(runs.load(Ordering::Relaxed), JOBS);
}
