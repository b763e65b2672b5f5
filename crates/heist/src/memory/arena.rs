//! Memory for the jobs that a worker spawns. The protocol is told in `arena/README.md`.

mod blocks;
#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

use blocks::Blocks;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Chunks lie at multiples of their size. Guessed: room for a thousand small jobs, and little for a worker to keep.
const CHUNK: usize = 32 << 10;
/// Blocks lie at multiples of that, and are no longer than a chunk has many of: what is larger is not worth it.
const ALIGN: usize = 8;
const LARGEST: usize = 512;
/// So many chunks are looked at for each that is needed.
const SWEEP: usize = 2;

/// The memory for the jobs of one worker; touched by its thread alone.
pub(crate) struct Arena {
    /// Unlike that of any other, also of those that are gone.
    number: u64,
    /// The newest chunk, and the oldest.
    top: Cell<Option<NonNull<Chunk>>>,
    oldest: Cell<Option<NonNull<Chunk>>>,
    /// Where the next block goes, and where the top chunk ends.
    next: Cell<*mut u8>,
    end: Cell<*mut u8>,
    /// The chunk to be looked at next, when one is needed; the oldest, if there is none.
    hand: Cell<Option<NonNull<Chunk>>>,
    /// One that nobody uses.
    spare: Cell<Option<NonNull<Chunk>>>,
}

/// What a chunk begins with. Blocks lie behind it.
struct Chunk {
    blocks: Blocks,
    /// The number of the arena that gives its blocks.
    arena: u64,
    /// Where its free part begins, while it is not the top chunk.
    next: Cell<*mut u8>,
    /// The next older one, and the next newer one.
    below: Cell<Option<NonNull<Chunk>>>,
    above: Cell<Option<NonNull<Chunk>>>,
}

// SAFETY: (J1) others know blocks, and count in their chunks by an atomic word; all else goes with the arena.
unsafe impl Send for Arena {}

impl Arena {
    pub(crate) fn new() -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        Arena {
            // Relaxed: unlike all others is all that it has to be.
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            top: Cell::new(None),
            oldest: Cell::new(None),
            next: Cell::new(ptr::null_mut()),
            end: Cell::new(ptr::null_mut()),
            hand: Cell::new(None),
            spare: Cell::new(None),
        }
    }

    /// Whether blocks of this layout come from arenas: not for checkers, which want to see every block come and go.
    pub(crate) const fn has(layout: Layout) -> bool {
        let is_small = layout.size() <= LARGEST && layout.align() <= ALIGN;
        is_small && !cfg!(any(loom, heist_plain_memory))
    }

    /// Memory for a job of a layout that arenas [have](Self::has).
    #[inline]
    pub(crate) fn allocate(&self, layout: Layout) -> NonNull<u8> {
        debug_assert!(layout.size() <= LARGEST && layout.align() <= ALIGN);
        let size = layout.size().next_multiple_of(ALIGN);
        if (self.end.get() as usize) - (self.next.get() as usize) < size {
            self.make_room();
        }
        let block = self.next.get();
        // SAFETY: (J1) there is so much room before the end of the chunk.
        self.next.set(unsafe { block.add(size) });
        if let Some(top) = self.top.get() {
            // SAFETY: (J1) a chunk of the list is alive.
            unsafe { top.as_ref() }.blocks.give();
        }
        // SAFETY: (type) within a chunk.
        unsafe { NonNull::new_unchecked(block) }
    }

    /// Takes back what [`allocate`](Self::allocate) gave, on the thread of `arena`, or on one that has none.
    ///
    /// # Safety
    /// An arena gave the block for `layout`, and nobody uses it any more.
    #[inline]
    pub(crate) unsafe fn free(arena: Option<&Arena>, block: NonNull<u8>, layout: Layout) {
        let chunk = Chunk::of(block);
        // SAFETY: (J1) a chunk is alive as long as one of its blocks has not come back.
        let number = unsafe { chunk.as_ref() }.arena;
        match arena {
            Some(arena) if arena.number == number => arena.take_back(chunk, block, layout),
            // SAFETY: (J1) as above.
            _ => unsafe { Chunk::take_back_elsewhere(chunk) },
        }
    }

    #[inline]
    fn take_back(&self, chunk: NonNull<Chunk>, block: NonNull<u8>, layout: Layout) {
        // SAFETY: (J1) a chunk of this arena is alive.
        unsafe { chunk.as_ref() }.blocks.take_back();
        if self.top.get() != Some(chunk) && !self.step_down_to(chunk) {
            return;
        }
        let end = block.as_ptr().wrapping_add(layout.size().next_multiple_of(ALIGN));
        if end == self.next.get() {
            self.next.set(block.as_ptr());
        }
    }

    /// If nothing of the top chunk waits, and this is the one below, it becomes the top chunk.
    #[cold]
    fn step_down_to(&self, chunk: NonNull<Chunk>) -> bool {
        let Some(top) = self.top.get() else { return false };
        // SAFETY: (J1) a chunk of the list is alive.
        let this = unsafe { top.as_ref() };
        if this.below.get() != Some(chunk) || this.blocks.waiting() > 0 {
            return false;
        }
        self.unlink(top);
        self.keep(top);
        self.stand_on(chunk);
        true
    }

    /// There is no room for a block in the top chunk.
    #[cold]
    fn make_room(&self) {
        if let Some(top) = self.top.get() {
            // SAFETY: (J1) a chunk of the list is alive.
            let this = unsafe { top.as_ref() };
            if this.blocks.waiting() == 0 {
                self.unlink(top);
                return self.begin(top);
            }
            this.next.set(self.next.get());
        }
        self.sweep(SWEEP);
        let chunk = self.spare.take().unwrap_or_else(Chunk::allocate);
        self.begin(chunk);
    }

    /// The worker has nothing to do: it needs no more than what is in use.
    pub(crate) fn rest(&self) {
        // SAFETY: (J1) a chunk of the list is alive.
        let has_more = |top: NonNull<Chunk>| unsafe { top.as_ref() }.below.get().is_some();
        if self.top.get().is_some_and(has_more) {
            self.hand.set(None);
            self.sweep(usize::MAX);
        }
    }

    /// The worker ends, and may come again: others do with its chunks as if it did not.
    pub(crate) fn leave(&mut self) {
        if self.top.get().is_some() {
            *self = Arena::new();
        }
    }

    /// Looks at so many chunks, each at most once, and keeps one of which nothing waits.
    fn sweep(&self, most: usize) {
        let mut hand = self.hand.take().or(self.oldest.get());
        for _ in 0..most {
            let Some(chunk) = hand.take().filter(|chunk| self.top.get() != Some(*chunk)) else {
                // From the oldest on, the next time.
                break;
            };
            // SAFETY: (J1) a chunk of the list is alive.
            let this = unsafe { chunk.as_ref() };
            hand = this.above.get();
            if this.blocks.waiting() == 0 {
                self.unlink(chunk);
                self.keep(chunk);
            }
        }
        self.hand.set(hand);
    }

    /// A chunk that nobody uses: it is kept, or freed if there is one.
    fn keep(&self, chunk: NonNull<Chunk>) {
        if let Some(spare) = self.spare.replace(Some(chunk)) {
            // SAFETY: (J1) nobody uses it.
            unsafe { Chunk::free(spare) };
        }
    }
}

/// The list of chunks.
impl Arena {
    /// A chunk that nobody uses, and that is in no list, becomes the top chunk.
    fn begin(&self, chunk: NonNull<Chunk>) {
        let below = self.top.get();
        let new = Chunk {
            blocks: Blocks::new(),
            arena: self.number,
            next: Cell::new(Chunk::start(chunk)),
            below: Cell::new(below),
            above: Cell::new(None),
        };
        // SAFETY: (J1) allocated for it, and nobody uses it.
        unsafe { chunk.write(new) };
        match below {
            // SAFETY: (J1) a chunk of the list is alive.
            Some(below) => unsafe { below.as_ref() }.above.set(Some(chunk)),
            None => self.oldest.set(Some(chunk)),
        }
        self.stand_on(chunk);
    }

    /// The next block goes to the free part of this chunk.
    fn stand_on(&self, chunk: NonNull<Chunk>) {
        self.top.set(Some(chunk));
        // SAFETY: (J1) a chunk of the list is alive.
        self.next.set(unsafe { chunk.as_ref() }.next.get());
        self.end.set(chunk.as_ptr().cast::<u8>().wrapping_add(CHUNK));
    }

    /// Takes a chunk out of the list.
    fn unlink(&self, chunk: NonNull<Chunk>) {
        // SAFETY: (J1) a chunk of the list is alive.
        let this = unsafe { chunk.as_ref() };
        let (below, above) = (this.below.get(), this.above.get());
        match below {
            // SAFETY: (J1) as above.
            Some(below) => unsafe { below.as_ref() }.above.set(above),
            None => self.oldest.set(above),
        }
        match above {
            // SAFETY: (J1) as above.
            Some(above) => unsafe { above.as_ref() }.below.set(below),
            None => self.top.set(below),
        }
        if self.hand.get() == Some(chunk) {
            self.hand.set(above);
        }
    }
}

/// Leaves chunks of which blocks wait to those who have them.
impl Drop for Arena {
    fn drop(&mut self) {
        let mut next = self.oldest.take();
        while let Some(chunk) = next {
            // SAFETY: (J1) a chunk of the list is alive.
            let this = unsafe { chunk.as_ref() };
            next = this.above.get();
            if this.blocks.abandon() {
                // SAFETY: (J1) all its blocks have come back.
                unsafe { Chunk::free(chunk) };
            }
        }
        if let Some(spare) = self.spare.take() {
            // SAFETY: (J1) nobody uses it.
            unsafe { Chunk::free(spare) };
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
    /// By [`allocate`](Self::allocate), and nobody uses it any more.
    unsafe fn free(chunk: NonNull<Chunk>) {
        // SAFETY: (J1) passed on to the caller. What it begins with needs no drop.
        unsafe { dealloc(chunk.as_ptr().cast(), Self::LAYOUT) };
    }

    /// The chunk that a block is of.
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
    /// For a block that was given, has not come back, and is not used any more.
    unsafe fn take_back_elsewhere(chunk: NonNull<Chunk>) {
        // SAFETY: (J1) alive as long as the block has not come back.
        if unsafe { chunk.as_ref() }.blocks.take_back_elsewhere() {
            // SAFETY: (J1) abandoned, and that was its last block.
            unsafe { Chunk::free(chunk) };
        }
    }
}
