//! The list of chunks.

use super::*;
use std::collections::VecDeque;
use std::sync::mpsc;
use std::thread;

const BLOCK: Layout = Layout::new::<[u64; 60]>();

/// The number of blocks that fill a chunk.
const IN_CHUNK: usize = (CHUNK - size_of::<Chunk>()) / BLOCK.size();

/// J6: a block in use, filled with a number that no other block overwrites.
struct Given(NonNull<u8>, u64);

// SAFETY: (J6) any thread may free a block.
unsafe impl Send for Given {}

impl Given {
    fn new(arena: &Arena, number: u64) -> Self {
        let block = arena.allocate(BLOCK);
        // SAFETY: (J6) just allocated for it.
        unsafe { block.cast::<[u64; 60]>().write([number; 60]) };
        Given(block, number)
    }

    /// Frees the block, after a check that no other block has the same memory.
    fn give_back(self, arena: Option<&Arena>) {
        // SAFETY: (J6) written above.
        assert_eq!(unsafe { self.0.cast::<[u64; 60]>().read() }, [self.1; 60]);
        // SAFETY: (J6) allocated by an arena, and not used any more.
        unsafe { Arena::free(arena, self.0, BLOCK) };
    }
}

fn chunks(arena: &Arena) -> usize {
    let below = |chunk: &NonNull<Chunk>| {
        // SAFETY: (J6) a chunk of the list is alive.
        unsafe { chunk.as_ref() }.below.get()
    };
    std::iter::successors(arena.top.get(), below).count()
}

#[test]
fn the_newest_block_is_used_again() {
    let arena = Arena::new();
    let first = Given::new(&arena, 0);
    let (second, address) = (Given::new(&arena, 1), arena.next.get());
    second.give_back(Some(&arena));
    let again = Given::new(&arena, 2);
    assert_eq!(arena.next.get(), address);
    again.give_back(Some(&arena));
    first.give_back(Some(&arena));
    assert_eq!(chunks(&arena), 1);
}

/// Like a scope with very many jobs: all wait, and then the newest is run first.
#[test]
fn what_grew_shrinks_again() {
    let arena = Arena::new();
    let mut all: Vec<_> =
        (0..10 * IN_CHUNK as u64).map(|number| Given::new(&arena, number)).collect();
    assert_eq!(chunks(&arena), 10);
    while let Some(given) = all.pop() {
        given.give_back(Some(&arena));
    }
    assert_eq!(chunks(&arena), 1);
    // At the edge of a chunk only the chunk that is kept comes and goes.
    let full: Vec<_> = (0..IN_CHUNK as u64).map(|number| Given::new(&arena, number)).collect();
    let kept = arena.kept.get();
    for number in 0..3 {
        let given = Given::new(&arena, number);
        assert_eq!((arena.top.get(), chunks(&arena)), (kept, 2));
        given.give_back(Some(&arena));
    }
    full.into_iter().for_each(|given| given.give_back(Some(&arena)));
}

/// The top chunk is full, and then all its blocks are freed: it is started afresh, and the one
/// below stays as it was.
#[test]
fn a_chunk_is_begun_anew() {
    let arena = Arena::new();
    let fill = || (0..IN_CHUNK as u64).map(|number| Given::new(&arena, number)).collect::<Vec<_>>();
    let mut below = fill();
    let last = below[IN_CHUNK - 1].0;
    for _ in 0..3 {
        fill().into_iter().for_each(|given| given.give_back(None));
    }
    assert_eq!(chunks(&arena), 2);
    below.pop().unwrap().give_back(Some(&arena));
    below.push(Given::new(&arena, 0));
    assert_eq!((below[IN_CHUNK - 1].0, chunks(&arena)), (last, 1));
    below.into_iter().for_each(|given| given.give_back(Some(&arena)));
}

/// Like a job that keeps spawning, with thieves that keep up: the oldest blocks are freed first, by
/// other threads, and some are in use at any time.
#[test]
fn what_thieves_take_is_used_again() {
    let arena = Arena::new();
    let mut waiting = VecDeque::new();
    for number in 0..100 * IN_CHUNK as u64 {
        waiting.push_back(Given::new(&arena, number));
        if waiting.len() > IN_CHUNK / 2 {
            waiting.pop_front().unwrap().give_back(None);
        }
        assert!(chunks(&arena) <= 4, "{} chunks", chunks(&arena));
    }
    waiting.into_iter().for_each(|given| given.give_back(None));
}

/// A block that is in use for long does not keep all later chunks.
#[test]
fn an_old_block_keeps_its_own_chunk() {
    let arena = Arena::new();
    let old = Given::new(&arena, 0);
    let mut waiting = VecDeque::new();
    for number in 0..100 * IN_CHUNK as u64 {
        waiting.push_back(Given::new(&arena, number));
        if waiting.len() > 3 * IN_CHUNK {
            waiting.pop_front().unwrap().give_back((number % 2 == 0).then_some(&arena));
        }
        assert!(chunks(&arena) <= 9, "{} chunks", chunks(&arena));
    }
    waiting.into_iter().for_each(|given| given.give_back(None));
    arena.rest();
    assert_eq!(chunks(&arena), 2);
    old.give_back(None);
    arena.rest();
    assert_eq!(chunks(&arena), 1);
}

/// J6: the last block of an arena that is gone frees the chunk. (Checkers see a leak or a second
/// free.)
#[test]
fn blocks_outlive_their_arena() {
    let (sender, receiver) = mpsc::channel::<Given>();
    let other = thread::spawn(move || {
        let arena = Arena::new();
        receiver.into_iter().for_each(|given| given.give_back(Some(&arena)));
    });
    for round in 0..20 {
        let arena = Arena::new();
        let own: Vec<_> = (0..round).map(|number| Given::new(&arena, number)).collect();
        (0..2 * IN_CHUNK as u64)
            .for_each(|number| sender.send(Given::new(&arena, number)).unwrap());
        own.into_iter().for_each(|given| given.give_back(Some(&arena)));
    }
    drop(sender);
    other.join().unwrap();
}

/// Against a list: any block may be freed at any time, by this thread or another one.
#[test]
fn blocks_are_apart() {
    let arena = Arena::new();
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut waiting = Vec::new();
    for number in 0..50_000 {
        match random(5) {
            0..=1 => waiting.push(Given::new(&arena, number)),
            2 => waiting.extend((0..20).map(|more| Given::new(&arena, number << 8 | more))),
            _ if waiting.is_empty() => arena.rest(),
            3 => (0..waiting.len().min(20)).for_each(|_| {
                waiting.pop().unwrap().give_back(Some(&arena));
            }),
            _ => {
                let index = random(waiting.len());
                waiting.remove(index).give_back((random(2) == 0).then_some(&arena));
            }
        }
    }
    waiting.into_iter().for_each(|given| given.give_back(None));
    arena.rest();
    assert_eq!(chunks(&arena), 1);
}
