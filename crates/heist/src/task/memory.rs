//! Memory for tasks and jobs, used again.
//!
//! A task is often made on one thread and freed on another. General allocators make that dear: the
//! block has to find its way back to the thread, or the arena, that it came from. Tasks are many,
//! small and of few sizes, so they have a way of their own: each thread keeps up to two piles of
//! free blocks of each size, and exchanges whole piles with the other threads through a depot.
//! That is one short lock for each pile; everything else is the thread's own.
//!
//! What is kept is bounded: two piles of each size a thread, and [`DEPOT`] bytes of each size in
//! all. The rest goes back to the allocator. Tasks above [`LARGEST`] always do.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Blocks come in multiples of this size.
const STEP: usize = 32;
/// Larger tasks are few, and cost more than their memory.
const LARGEST: usize = 512;
/// What allocators give anyway.
const ALIGN: usize = 16;
const CLASSES: usize = LARGEST / STEP;
/// How many blocks a pile has. Guessed: the depot's lock is lost among so many tasks.
const PILE: usize = 32;
/// Guessed: enough for a burst of ten thousand small tasks.
const DEPOT: usize = 1 << 20;

/// Memory for a task.
#[inline]
pub(crate) fn allocate(layout: Layout) -> NonNull<u8> {
    let Some(class) = Class::of(layout) else { return from_allocator(layout) };
    let kept = MAGAZINES.try_with(|magazines| magazines.0[class.0].take(class));
    kept.ok().flatten().unwrap_or_else(|| from_allocator(class.layout()))
}

/// Takes back what [`allocate`] gave.
///
/// # Safety
/// `block` was given for `layout`, and nobody uses it any more.
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
/// `block` was given by the allocator for `layout`, and nobody uses it any more.
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

/// Free blocks, linked through themselves.
#[derive(Clone, Copy)]
struct Pile {
    first: Option<NonNull<Free>>,
    len: usize,
}

struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: (type) nobody else knows the blocks of a pile.
unsafe impl Send for Pile {}

impl Pile {
    const EMPTY: Pile = Pile { first: None, len: 0 };

    /// Gives every block back to the allocator.
    ///
    /// # Safety
    /// The blocks are of this class.
    unsafe fn dismantle(self, class: Class) {
        let mut next = self.first;
        while let Some(block) = next {
            // SAFETY: (type) a block of a pile begins with its link.
            next = unsafe { block.as_ref() }.next;
            // SAFETY: (type) passed on to the caller.
            unsafe { to_allocator(block.cast(), class.layout()) };
        }
    }
}

std::thread_local! {
    static MAGAZINES: Magazines =
        const { Magazines([const { Magazine { top: Cell::new(Pile::EMPTY), spare: Cell::new(Pile::EMPTY) } }; CLASSES]) };
}

/// What a thread keeps, for each class.
struct Magazines([Magazine; CLASSES]);

/// Two piles: one to take from and put on, and one, full or empty, so that a thread which takes
/// and puts in turns at a pile's edge does not go to the depot each time.
struct Magazine {
    top: Cell<Pile>,
    spare: Cell<Pile>,
}

impl Magazine {
    #[inline]
    fn take(&self, class: Class) -> Option<NonNull<u8>> {
        let mut top = self.top.get();
        if top.first.is_none() {
            top = self.refill(class)?;
        }
        let block = top.first?;
        // SAFETY: (type) a block of a pile begins with its link.
        let next = unsafe { block.as_ref() }.next;
        self.top.set(Pile { first: next, len: top.len - 1 });
        Some(block.cast())
    }

    /// A pile that is not empty, if there is one.
    #[cold]
    fn refill(&self, class: Class) -> Option<Pile> {
        let spare = self.spare.replace(Pile::EMPTY);
        if spare.len > 0 { Some(spare) } else { class.depot().pop() }
    }

    /// # Safety
    /// The block is of this class, and nobody uses it any more.
    #[inline]
    unsafe fn put(&self, block: NonNull<u8>, class: Class) {
        let mut top = self.top.get();
        if top.len == PILE {
            self.stow(top, class);
            top = Pile::EMPTY;
        }
        let block = block.cast::<Free>();
        // SAFETY: (type) the block is nobody's, large enough for a link, and aligned to 16.
        unsafe { block.write(Free { next: top.first }) };
        self.top.set(Pile { first: Some(block), len: top.len + 1 });
    }

    /// Puts a full pile aside, and the one that was there before into the depot.
    #[cold]
    fn stow(&self, pile: Pile, class: Class) {
        let spare = self.spare.replace(pile);
        if spare.len > 0 {
            give(spare, class);
        }
    }
}

/// Gives a pile to the others, or to the allocator when they have plenty.
fn give(pile: Pile, class: Class) {
    {
        let mut depot = class.depot();
        if depot.len() < DEPOT / (PILE * class.size()) {
            return depot.push(pile);
        }
    }
    // SAFETY: (type) piles of a magazine or depot of this class.
    unsafe { pile.dismantle(class) };
}

/// A thread that ends leaves its blocks to the others.
impl Drop for Magazines {
    fn drop(&mut self) {
        for (class, magazine) in self.0.iter().enumerate() {
            for pile in [&magazine.top, &magazine.spare] {
                let pile = pile.replace(Pile::EMPTY);
                if pile.len > 0 {
                    give(pile, Class(class));
                }
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

    /// Tests run side by side, and share the depots: these sizes have one test each.
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
            // SAFETY: (type) allocated above, and used no more.
            blocks.into_iter().for_each(|block| unsafe { free(block, layout) });
        }
    }

    /// What one thread frees, others get: also when it has ended.
    #[test]
    fn blocks_go_round() {
        let layout = layout(GOES_ROUND);
        let allocate_all = move || -> HashSet<usize> {
            (0..8 * PILE).map(|_| allocate(layout).as_ptr() as usize).collect()
        };
        let first: HashSet<usize> = thread::spawn(move || {
            let all: HashSet<usize> = allocate_all();
            for block in &all {
                // SAFETY: (type) allocated above, and used no more.
                unsafe { free(NonNull::new(*block as *mut u8).unwrap(), layout) };
            }
            all
        })
        .join()
        .unwrap();
        let second: HashSet<usize> = thread::spawn(allocate_all).join().unwrap();
        assert_eq!(second.len(), 8 * PILE);
        assert!(second.intersection(&first).count() >= 8 * PILE - 2 * PILE);
        // SAFETY: (type) allocated above, and used no more.
        second
            .iter()
            .for_each(|block| unsafe { free(NonNull::new(*block as *mut u8).unwrap(), layout) });
    }

    #[test]
    fn the_depot_is_bounded() {
        let layout = layout(BOUNDED);
        let class = Class::of(layout).unwrap();
        let blocks: Vec<_> = (0..2 * DEPOT / class.size()).map(|_| allocate(layout)).collect();
        // SAFETY: (type) allocated above, and used no more.
        blocks.into_iter().for_each(|block| unsafe { free(block, layout) });
        assert!(class.depot().len() <= DEPOT / (PILE * class.size()));
    }
}
