//! Free memory of tasks and jobs, kept for the next ones.
//!
//! A task is often made on one thread and freed on another. That is expensive with general
//! allocators, which return the block to the thread or arena that it came from. Tasks are many,
//! small and of few sizes, so they have an allocator of their own: each thread keeps up to two
//! piles of free blocks of each size, and exchanges whole piles with the other threads through a
//! depot. That takes one short lock for each pile; everything else is local to the thread.
//!
//! What is kept is bounded: two piles of each size per thread, and [`KEPT_BYTES`] bytes of each
//! size in the depot. The rest goes back to the allocator, as do tasks above [`LARGEST`].

use super::LARGEST;
use crate::env::prefetch_to_write;
use crate::tuning::{KEPT_BYTES, PREFETCH_AHEAD, SHORT_WORK};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Layout: blocks come in multiples of this size.
const STEP: usize = 32;
/// The alignment that allocators guarantee.
const ALIGN: usize = 16;
const CLASSES: usize = LARGEST / STEP;
/// Number of blocks that a magazine has room for: two piles.
const ROOM: usize = SHORT_WORK;
const PILE: usize = ROOM / 2;
/// The size on most machines. Few tasks are longer than two of them.
const CACHE_LINE: usize = 64;

/// Memory for a task.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    let Some(class) = Class::of(layout) else { return from_allocator(layout) };
    let kept = MAGAZINES.try_with(|magazines| magazines.0[class.0].take(class));
    kept.ok().flatten().unwrap_or_else(|| from_allocator(class.layout()))
}

/// Frees a block that [`allocate`] returned.
///
/// # Safety
/// `block` was allocated for `layout`, and is not used any more.
#[inline]
pub(crate) unsafe fn free(block: NonNull<u8>, layout: Layout) {
    let Some(class) = Class::of(layout) else {
        // SAFETY: (type) passed on to the caller; such layouts are the allocator's.
        return unsafe { to_allocator(block, layout) };
    };
    // SAFETY: (type) passed on to the caller: the block is free, and of this class.
    let kept = MAGAZINES.try_with(|magazines| unsafe { magazines.0[class.0].put(block, class) });
    if kept.is_err() {
        // SAFETY: (type) the thread is ending and keeps nothing; blocks of a class have its layout.
        unsafe { to_allocator(block, class.layout()) };
    }
}

fn from_allocator(layout: Layout) -> NonNull<u8> {
    // SAFETY: (type) a task has a header, so its size is not 0.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

/// # Safety
/// The allocator returned `block` for `layout`, and it is not used any more.
unsafe fn to_allocator(block: NonNull<u8>, layout: Layout) {
    // SAFETY: (type) passed on to the caller.
    unsafe { dealloc(block.as_ptr(), layout) };
}

/// A size of blocks: the class's number and one, times [`STEP`].
#[derive(Clone, Copy)]
struct Class(usize);

impl Class {
    /// The class for a layout; none when it is too large, or for checkers, which want to see every
    /// block come and go.
    #[inline]
    const fn of(layout: Layout) -> Option<Class> {
        let is_kept = layout.size() <= LARGEST && layout.align() <= ALIGN;
        if is_kept && !cfg!(any(loom, heist_plain_memory)) {
            Some(Class(layout.size().div_ceil(STEP) - 1))
        } else {
            None
        }
    }

    const fn size(self) -> usize {
        (self.0 + 1) * STEP
    }

    fn layout(self) -> Layout {
        Layout::from_size_align(self.size(), ALIGN).expect("a size of at most LARGEST")
    }

    fn depot(self) -> MutexGuard<'static, Vec<Pile>> {
        static DEPOTS: [Mutex<Vec<Pile>>; CLASSES] = [const { Mutex::new(Vec::new()) }; CLASSES];
        // Nothing panics with the lock held but an allocation that fails, and aborts.
        DEPOTS[self.0].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Free blocks, as many as threads exchange at once. Their addresses are an array and not a list
/// through the blocks: blocks that another thread has freed are not in the cache, and a list would
/// have to wait for each block to find the next.
struct Pile([*mut u8; PILE]);

// SAFETY: (type) no other thread has the blocks of a pile.
unsafe impl Send for Pile {}

std::thread_local! {
    static MAGAZINES: Magazines = const { Magazines([const { Magazine::new() }; CLASSES]) };
}

/// The free blocks of a thread, by class.
struct Magazines([Magazine; CLASSES]);

/// A stack with room for two piles, so that a thread that allocates and frees in turns at the edge
/// of a pile does not go to the depot each time.
struct Magazine {
    blocks: [Cell<*mut u8>; ROOM],
    /// The number of free blocks. The entries behind them are stale or null.
    len: Cell<usize>,
}

impl Magazine {
    const fn new() -> Self {
        Magazine { blocks: [const { Cell::new(ptr::null_mut()) }; ROOM], len: Cell::new(0) }
    }

    #[inline]
    fn take(&self, class: Class) -> Option<NonNull<u8>> {
        if self.len.get() == 0 {
            self.refill(class)?;
        }
        self.pop()
    }

    #[inline(always)]
    fn pop(&self) -> Option<NonNull<u8>> {
        let last = self.len.get().checked_sub(1)?;
        self.len.set(last);
        if let Some(later) = last.checked_sub(PREFETCH_AHEAD) {
            prefetch(self.at(later).get());
        }
        NonNull::new(self.at(last).get())
    }

    /// # Safety
    /// The block is of this class, and is not used any more.
    #[inline]
    unsafe fn put(&self, block: NonNull<u8>, class: Class) {
        if self.len.get() == ROOM {
            self.stow(class);
        }
        let len = self.len.get();
        self.at(len).set(block.as_ptr());
        self.len.set(len + 1);
    }

    #[inline(always)]
    fn at(&self, place: usize) -> &Cell<*mut u8> {
        &self.blocks[place % ROOM]
    }

    /// Takes a pile from the depot, if there is one.
    #[cold]
    fn refill(&self, class: Class) -> Option<()> {
        let Pile(blocks) = class.depot().pop()?;
        blocks[PILE - PREFETCH_AHEAD..].iter().for_each(|block| prefetch(*block));
        self.blocks.iter().zip(blocks).for_each(|(place, block)| place.set(block));
        self.len.set(PILE);
        Some(())
    }

    /// Makes a pile of the blocks from `first` on, which the caller must forget.
    fn pile(&self, first: usize) -> Pile {
        Pile(std::array::from_fn(|place| self.at(first + place).get()))
    }

    /// Moves the older half to the depot, because the newer half is in the cache.
    #[cold]
    fn stow(&self, class: Class) {
        let pile = self.pile(0);
        let (older, newer) = self.blocks.split_at(PILE);
        older.iter().zip(newer).for_each(|(place, block)| place.set(block.get()));
        self.len.set(PILE);
        // Last, because a user's allocator may come back here, and must not find the same blocks
        // again.
        give(pile, class);
    }
}

/// Prefetches a block in which a task will be made or run soon.
#[inline(always)]
pub(crate) fn prefetch(block: *const u8) {
    prefetch_to_write(block);
    prefetch_to_write(block.wrapping_add(CACHE_LINE));
}

/// Gives a pile to the depot, or to the allocator if the depot is full.
fn give(pile: Pile, class: Class) {
    {
        let mut depot = class.depot();
        if depot.len() < KEPT_BYTES / (PILE * class.size()) {
            return depot.push(pile);
        }
    }
    // SAFETY: (type) blocks of a pile are of its class, and no other thread has them.
    let free = |block| unsafe { to_allocator(block, class.layout()) };
    pile.0.into_iter().filter_map(NonNull::new).for_each(free);
}

/// Moves the blocks of a thread that ends to the depot, as far as they make whole piles.
impl Drop for Magazines {
    fn drop(&mut self) {
        for (class, magazine) in self.0.iter().enumerate() {
            let len = magazine.len.replace(0);
            let rest = len % PILE;
            (rest..len).step_by(PILE).for_each(|first| give(magazine.pile(first), Class(class)));
            for block in
                magazine.blocks[..rest].iter().filter_map(|block| NonNull::new(block.get()))
            {
                // SAFETY: (type) blocks of a magazine are of its class, and no other thread has
                // them.
                unsafe { to_allocator(block, Class(class).layout()) };
            }
        }
    }
}

#[cfg(all(test, not(any(loom, heist_plain_memory))))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::thread;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    /// Tests run side by side and share the depots, so each of these sizes belongs to one test.
    const GOES_ROUND: usize = LARGEST;
    const BOUNDED: usize = LARGEST - STEP;
    const OTHERS: usize = LARGEST - 2 * STEP;

    #[test]
    fn blocks_are_large_enough_and_apart() {
        let sizes = (1..=OTHERS).chain(LARGEST + 1..LARGEST + STEP);
        for layout in sizes.map(layout) {
            let blocks: Vec<_> = (0..3 * PILE).map(|_| allocate(layout)).collect();
            for (number, block) in blocks.iter().enumerate() {
                // SAFETY: (type) each block has the layout's size.
                unsafe { block.write_bytes(number as u8, layout.size()) };
            }
            for (number, block) in blocks.iter().enumerate() {
                // SAFETY: (type) as above.
                let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), layout.size()) };
                assert!(bytes.iter().all(|byte| *byte == number as u8));
            }
            // SAFETY: (type) allocated above, and not used any more.
            blocks.into_iter().for_each(|block| unsafe { free(block, layout) });
        }
    }

    /// Other threads get the blocks that a thread has freed, also after it has ended.
    #[test]
    fn blocks_go_round() {
        let layout = layout(GOES_ROUND);
        let allocate_all = move || -> HashSet<usize> {
            (0..8 * PILE).map(|_| allocate(layout).as_ptr() as usize).collect()
        };
        let first: HashSet<usize> = thread::spawn(move || {
            let all: HashSet<usize> = allocate_all();
            for block in &all {
                // SAFETY: (type) allocated above, and not used any more.
                unsafe { free(NonNull::new(*block as *mut u8).unwrap(), layout) };
            }
            all
        })
        .join()
        .unwrap();
        let second: HashSet<usize> = thread::spawn(allocate_all).join().unwrap();
        assert_eq!(second.len(), 8 * PILE);
        assert!(second.intersection(&first).count() >= 8 * PILE - 2 * PILE);
        // SAFETY: (type) allocated above, and not used any more.
        second
            .iter()
            .for_each(|block| unsafe { free(NonNull::new(*block as *mut u8).unwrap(), layout) });
    }

    #[test]
    fn the_depot_is_bounded() {
        let layout = layout(BOUNDED);
        let class = Class::of(layout).unwrap();
        let blocks: Vec<_> = (0..2 * KEPT_BYTES / class.size()).map(|_| allocate(layout)).collect();
        // SAFETY: (type) allocated above, and not used any more.
        blocks.into_iter().for_each(|block| unsafe { free(block, layout) });
        assert!(class.depot().len() <= KEPT_BYTES / (PILE * class.size()));
    }
}
