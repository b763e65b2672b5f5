//! Memory for the jobs that a worker spawns. `arena/README.md` specifies the protocol.

mod blocks;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use super::LARGEST;
use crate::tuning::SHORT_WORK;
use blocks::Blocks;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

// Layout: chunks have room for about as many of the largest blocks as a magazine, and lie at
// multiples of their size; blocks lie at multiples of ALIGN.
const CHUNK: usize = SHORT_WORK * LARGEST;
const ALIGN: usize = 8;
const _: () = assert!(CHUNK.is_power_of_two());

/// Protocol: the number of chunks that are looked at for each that is needed, so that at most about
/// half of them are free without being known to be.
const SWEEP: usize = 2;

/// The memory for the jobs of one worker; only its thread touches this.
pub(crate) struct Arena {
    /// Unique in the process, also among arenas that are gone.
    number: u64,
    /// The newest chunk.
    top: Cell<Option<NonNull<Chunk>>>,
    /// The oldest chunk.
    oldest: Cell<Option<NonNull<Chunk>>>,
    /// Where the next block goes.
    next: Cell<*mut u8>,
    /// Where the top chunk ends.
    end: Cell<*mut u8>,
    /// The chunk at which the next sweep begins; `None` stands for the oldest.
    sweep_from: Cell<Option<NonNull<Chunk>>>,
    /// A chunk without blocks in use, kept for the next time.
    kept: Cell<Option<NonNull<Chunk>>>,
}

/// The header of a chunk. Its blocks lie behind it.
struct Chunk {
    blocks: Blocks,
    /// The number of the arena that allocates in it.
    arena: u64,
    /// Where its unused part begins, while it is not the top chunk.
    next: Cell<*mut u8>,
    /// The next older chunk.
    below: Cell<Option<NonNull<Chunk>>>,
    /// The next newer chunk.
    above: Cell<Option<NonNull<Chunk>>>,
}

// SAFETY: (J6) other threads have blocks, and count in their chunks by an atomic word; all else
// belongs to the arena.
unsafe impl Send for Arena {}

impl Arena {
    pub(crate) fn new() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Arena {
            // Relaxed: it only has to be unique.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            top: Cell::new(None),
            oldest: Cell::new(None),
            next: Cell::new(ptr::null_mut()),
            end: Cell::new(ptr::null_mut()),
            sweep_from: Cell::new(None),
            kept: Cell::new(None),
        }
    }

    /// Whether arenas have blocks of this layout. Under checkers they have none: those must see
    /// every allocation.
    pub(crate) const fn has(layout: Layout) -> bool {
        let is_small = layout.size() <= LARGEST && layout.align() <= ALIGN;
        is_small && !cfg!(any(loom, heist_plain_memory))
    }

    /// Allocates a block of a layout that arenas [have](Self::has).
    #[inline]
    pub(crate) fn allocate(&self, layout: Layout) -> NonNull<u8> {
        debug_assert!(layout.size() <= LARGEST && layout.align() <= ALIGN);
        let size = layout.size().next_multiple_of(ALIGN);
        if (self.end.get() as usize) - (self.next.get() as usize) < size {
            self.make_room();
        }
        let block = self.next.get();
        // SAFETY: (J6) make_room() has left enough room before the end of the chunk.
        self.next.set(unsafe { block.add(size) });
        if let Some(top) = self.top.get() {
            // SAFETY: (J6) a chunk of the list is alive.
            unsafe { top.as_ref() }.blocks.allocated();
        }
        // SAFETY: (type) within a chunk.
        unsafe { NonNull::new_unchecked(block) }
    }

    /// Frees a block that some arena allocated. `arena` is the arena of the calling thread, if it
    /// has one.
    ///
    /// # Safety
    /// An arena allocated the block for `layout`, and it is not used any more.
    #[inline]
    pub(crate) unsafe fn free(arena: Option<&Arena>, block: NonNull<u8>, layout: Layout) {
        let chunk = Chunk::of(block);
        // SAFETY: (J6) a chunk is alive as long as one of its blocks is in use.
        let number = unsafe { chunk.as_ref() }.arena;
        match arena {
            Some(arena) if arena.number == number => arena.free_own(chunk, block, layout),
            // SAFETY: (J6) as above.
            _ => unsafe { Chunk::free_elsewhere(chunk) },
        }
    }

    #[inline]
    fn free_own(&self, chunk: NonNull<Chunk>, block: NonNull<u8>, layout: Layout) {
        // SAFETY: (J6) a chunk of this arena is alive.
        unsafe { chunk.as_ref() }.blocks.freed();
        if self.top.get() != Some(chunk) && !self.step_down_to(chunk) {
            return;
        }
        let end = block.as_ptr().wrapping_add(layout.size().next_multiple_of(ALIGN));
        if end == self.next.get() {
            self.next.set(block.as_ptr());
        }
    }

    /// If the top chunk has no block in use and this is the chunk below, makes it the top chunk.
    #[cold]
    fn step_down_to(&self, chunk: NonNull<Chunk>) -> bool {
        let Some(top) = self.top.get() else { return false };
        // SAFETY: (J6) a chunk of the list is alive.
        let this = unsafe { top.as_ref() };
        if this.below.get() != Some(chunk) || this.blocks.in_use() > 0 {
            return false;
        }
        self.unlink(top);
        self.keep(top);
        self.stand_on(chunk);
        true
    }

    /// Gets a chunk with room for a block, when the top chunk has none.
    #[cold]
    fn make_room(&self) {
        if let Some(top) = self.top.get() {
            // SAFETY: (J6) a chunk of the list is alive.
            let this = unsafe { top.as_ref() };
            if this.blocks.in_use() == 0 {
                self.unlink(top);
                return self.begin(top);
            }
            this.next.set(self.next.get());
        }
        self.sweep(SWEEP);
        let chunk = self.kept.take().unwrap_or_else(Chunk::allocate);
        self.begin(chunk);
    }

    /// Frees chunks without blocks in use, when the worker has nothing to do.
    pub(crate) fn rest(&self) {
        // SAFETY: (J6) a chunk of the list is alive.
        let has_more = |top: NonNull<Chunk>| unsafe { top.as_ref() }.below.get().is_some();
        if self.top.get().is_some_and(has_more) {
            self.sweep_from.set(None);
            self.sweep(usize::MAX);
        }
    }

    /// Abandons all chunks, when the worker ends. It may come back with an empty arena.
    pub(crate) fn leave(&mut self) {
        if self.top.get().is_some() {
            *self = Arena::new();
        }
    }

    /// Looks at up to `most` chunks, each at most once, and frees those without blocks in use,
    /// except for one.
    fn sweep(&self, most: usize) {
        let mut next = self.sweep_from.take().or(self.oldest.get());
        for _ in 0..most {
            let Some(chunk) = next.take().filter(|chunk| self.top.get() != Some(*chunk)) else {
                // The next sweep begins at the oldest.
                break;
            };
            // SAFETY: (J6) a chunk of the list is alive.
            let this = unsafe { chunk.as_ref() };
            next = this.above.get();
            if this.blocks.in_use() == 0 {
                self.unlink(chunk);
                self.keep(chunk);
            }
        }
        self.sweep_from.set(next);
    }

    /// Keeps a chunk without blocks in use, and frees the one that was kept before.
    fn keep(&self, chunk: NonNull<Chunk>) {
        if let Some(kept) = self.kept.replace(Some(chunk)) {
            // SAFETY: (J6) none of its blocks is in use.
            unsafe { Chunk::free(kept) };
        }
    }
}

/// The list of chunks.
impl Arena {
    /// Makes a chunk that is in no list and has no block in use the top chunk.
    fn begin(&self, chunk: NonNull<Chunk>) {
        let below = self.top.get();
        let new = Chunk {
            blocks: Blocks::new(),
            arena: self.number,
            next: Cell::new(Chunk::start(chunk)),
            below: Cell::new(below),
            above: Cell::new(None),
        };
        // SAFETY: (J6) allocated for it, and none of its blocks is in use.
        unsafe { chunk.write(new) };
        match below {
            // SAFETY: (J6) a chunk of the list is alive.
            Some(below) => unsafe { below.as_ref() }.above.set(Some(chunk)),
            None => self.oldest.set(Some(chunk)),
        }
        self.stand_on(chunk);
    }

    /// Has the next block go to the unused part of this chunk.
    fn stand_on(&self, chunk: NonNull<Chunk>) {
        self.top.set(Some(chunk));
        // SAFETY: (J6) a chunk of the list is alive.
        self.next.set(unsafe { chunk.as_ref() }.next.get());
        self.end.set(chunk.as_ptr().cast::<u8>().wrapping_add(CHUNK));
    }

    /// Takes a chunk out of the list.
    fn unlink(&self, chunk: NonNull<Chunk>) {
        // SAFETY: (J6) a chunk of the list is alive.
        let this = unsafe { chunk.as_ref() };
        let (below, above) = (this.below.get(), this.above.get());
        match below {
            // SAFETY: (J6) as above.
            Some(below) => unsafe { below.as_ref() }.above.set(above),
            None => self.oldest.set(above),
        }
        match above {
            // SAFETY: (J6) as above.
            Some(above) => unsafe { above.as_ref() }.below.set(below),
            None => self.top.set(below),
        }
        if self.sweep_from.get() == Some(chunk) {
            self.sweep_from.set(above);
        }
    }
}

/// Leaves chunks with blocks in use to the threads that free the blocks.
impl Drop for Arena {
    fn drop(&mut self) {
        let mut next = self.oldest.take();
        while let Some(chunk) = next {
            // SAFETY: (J6) a chunk of the list is alive.
            let this = unsafe { chunk.as_ref() };
            next = this.above.get();
            if this.blocks.abandon() {
                // SAFETY: (J6) none of its blocks is in use.
                unsafe { Chunk::free(chunk) };
            }
        }
        if let Some(kept) = self.kept.take() {
            // SAFETY: (J6) none of its blocks is in use.
            unsafe { Chunk::free(kept) };
        }
    }
}

impl Chunk {
    const LAYOUT: Layout = match Layout::from_size_align(CHUNK, CHUNK) {
        Ok(layout) => layout,
        Err(_) => panic!("a power of two"),
    };

    fn allocate() -> NonNull<Chunk> {
        // SAFETY: (type) its size is not 0.
        let chunk = unsafe { alloc(Self::LAYOUT) };
        NonNull::new(chunk.cast()).unwrap_or_else(|| handle_alloc_error(Self::LAYOUT))
    }

    /// # Safety
    /// The chunk is one of [`allocate`](Self::allocate), and none of its blocks is in use.
    unsafe fn free(chunk: NonNull<Chunk>) {
        // SAFETY: (J6) passed on to the caller. Its header needs no drop.
        unsafe { dealloc(chunk.as_ptr().cast(), Self::LAYOUT) };
    }

    /// The chunk that a block belongs to.
    #[inline(always)]
    fn of(block: NonNull<u8>) -> NonNull<Chunk> {
        let chunk = block.as_ptr().map_addr(|address| address & !(CHUNK - 1));
        // SAFETY: (type) chunks lie at multiples of their size, and none at 0.
        unsafe { NonNull::new_unchecked(chunk.cast()) }
    }

    /// Where its first block is.
    fn start(chunk: NonNull<Chunk>) -> *mut u8 {
        chunk.as_ptr().wrapping_add(1).cast()
    }

    /// # Safety
    /// One of its blocks is counted as in use, and is not used any more.
    unsafe fn free_elsewhere(chunk: NonNull<Chunk>) {
        // SAFETY: (J6) alive as long as the block counts as in use.
        if unsafe { chunk.as_ref() }.blocks.freed_elsewhere() {
            // SAFETY: (J6) abandoned, and that was its last block.
            unsafe { Chunk::free(chunk) };
        }
    }
}
