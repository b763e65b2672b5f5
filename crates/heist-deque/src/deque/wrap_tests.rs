//! The deque across the wrap-around of the 32-bit positions in its split word (Q1, Q2), its growth,
//! and what only the module itself can see.

use super::{Owner, Pushed, Stealer};
use crate::Steal;
use heist_sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Every start from well before to well after the wrap.
fn starts() -> impl Iterator<Item = u64> {
    (0..24).map(|back| (1 << 32) + 8 - back)
}

/// With the barrier of this machine or, at every other start, with the one that is always there.
fn empty(start: u64, capacity: usize) -> Owner<u32> {
    let barrier = if start % 2 == 0 { Barrier::detect() } else { Barrier::Fence };
    Owner::starting_at(capacity, start, barrier)
}

fn filled(start: u64, capacity: usize, len: u32) -> Owner<u32> {
    let mut owner = empty(start, capacity);
    (0..len).for_each(|item| owner.push(item));
    owner
}

/// Takes everything, oldest first.
fn steal_all(stealer: &Stealer<u32>) -> Vec<u32> {
    std::iter::from_fn(|| {
        loop {
            match stealer.steal() {
                Steal::Success(item) => return Some(item),
                Steal::Empty => return None,
                Steal::Retry => {}
            }
        }
    })
    .collect()
}

#[test]
fn q2_last_in_first_out_for_the_owner() {
    for start in starts() {
        let mut owner = filled(start, 2, 40);
        let popped: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        assert_eq!(popped, (0..40).rev().collect::<Vec<_>>());
        assert_eq!((owner.pop(), owner.len()), (None, 0));
    }
}

/// Q1: what was pushed at a mark is taken back once, if it is the newest and was not stolen.
#[test]
fn q1_the_newest_is_taken_back() {
    for start in starts() {
        let mut owner = filled(start, 2, 3);
        let mark = owner.mark();
        owner.push(3);
        assert!(owner.has(mark));
        // Without the kernel's barrier this is always left to a pop.
        assert!(owner.take_back(mark) || owner.pop() == Some(3));
        assert!(!owner.take_back(mark) && !owner.has(mark), "it is gone");
        owner.push(3);
        owner.push(4);
        assert!(!owner.take_back(mark), "it is not the newest");
        assert_eq!(owner.pop(), Some(4));
        assert_eq!(steal_all(&owner.stealer()), [0, 1, 2, 3]);
        assert!(!owner.take_back(mark) && !owner.has(mark), "it was stolen");
        assert_eq!((owner.pop(), owner.len()), (None, 0));
    }
}

/// A bell rings until the owner silences it. A nudge is noticed as well, but does not count as
/// ringing.
#[test]
fn a_bell_is_heard_and_a_nudge_is_none() {
    for start in starts() {
        let mut owner = empty(start, 4);
        let stealer = owner.stealer();
        owner.push(0);
        assert!(!owner.finish_push(), "the bell is silent");
        stealer.nudge();
        assert!(matches!(owner.push_fast(1), Pushed::Flagged) && owner.finish_push());
        assert!(stealer.ring() && !stealer.ring(), "it was silent before the first ring");
        assert!(matches!(owner.push_fast(2), Pushed::Flagged) && owner.finish_push());
        owner.silence();
        assert!(!owner.finish_push() && owner.ring());
        owner.silence();
        assert_eq!(owner.pop(), Some(2), "pops ignore the bell");
        // If the owner has to run a fence, a push is never done on the fast path.
        let is_done = matches!(owner.push_fast(2), Pushed::Done);
        assert_eq!(is_done, start % 2 == 0 && Barrier::detect() == Barrier::Process);
        owner.push(3);
        assert!(matches!(owner.push_fast(4), Pushed::Full(4)), "there is no room");
        assert_eq!(owner.len(), 4);
    }
}

/// A thief that takes the last public item asks on behalf of the next: the owner answers at its
/// next push, or with the items that a pop leaves.
#[test]
fn what_was_public_is_replaced() {
    for start in starts() {
        let mut owner = filled(start, 4, 2);
        let stealer = owner.stealer();
        assert_eq!(owner.public(), 0, "no thief has asked");
        // No thief has to expose.
        owner.share();
        assert_eq!(owner.public(), 1);
        assert_eq!(stealer.steal(), Steal::Success(0));
        assert_eq!(owner.pop(), Some(1));
        for _ in 0..100 {
            owner.push(4);
            assert_eq!(owner.public(), 1);
            assert_eq!(stealer.steal(), Steal::Success(4));
        }
        assert_eq!(owner.pop(), None, "there is nothing to answer with");
        (5..8).for_each(|item| owner.push(item));
        assert_eq!(owner.public(), 1, "the first of them was the answer");
        assert_eq!(stealer.steal(), Steal::Success(5));
        assert_eq!(owner.pop(), Some(7));
        assert_eq!(owner.public(), 1, "a pop answers too");
        assert_eq!(owner.pop(), Some(6));
    }
}

/// An owner that expects a thief makes its next push public, once.
#[test]
fn the_next_is_shared() {
    for start in starts() {
        let mut owner = filled(start, 4, 0);
        owner.share_next();
        assert_eq!(owner.pop(), None, "the request waits for a push");
        owner.push(0);
        owner.push(1);
        assert_eq!(owner.public(), 1);
        assert_eq!((owner.pop(), owner.pop(), owner.pop()), (Some(1), Some(0), None));
        owner.push(2);
        assert_eq!(owner.public(), 0);
        owner.share_next();
        assert_eq!(owner.pop(), Some(2), "nothing is left to answer with");
        owner.push(3);
        assert_eq!(owner.public(), 1, "so the next is");
    }
}

/// Q2: items older than a mark stay, even if some of them were popped and pushed again.
#[test]
fn q2_what_is_newer_than_a_mark() {
    for start in starts() {
        let mut owner = filled(start, 2, 3);
        let mark = owner.mark();
        assert_eq!(owner.pop_newer(mark), None);
        owner.push(3);
        owner.push(4);
        assert_eq!((owner.pop_newer(mark), owner.pop_newer(mark)), (Some(4), Some(3)));
        assert_eq!(owner.pop_newer(mark), None);
        assert_eq!(owner.pop(), Some(2));
        assert_eq!(owner.pop_newer(mark), None);
        owner.push(2);
        assert_eq!(owner.pop_newer(mark), None);
        assert_eq!(owner.len(), 3);
    }
}

#[test]
fn q2_first_in_first_out_for_thieves() {
    for start in starts() {
        let owner = filled(start, 2, 40);
        assert_eq!(steal_all(&owner.stealer()), (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn q2_both_ends_meet() {
    for start in starts() {
        let mut owner = filled(start, 4, 9);
        let stealer = owner.stealer();
        assert_eq!(stealer.steal(), Steal::Success(0));
        assert_eq!(owner.pop(), Some(8));
        owner.push(8);
        assert_eq!(stealer.steal(), Steal::Success(1));
        let popped: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        assert_eq!(popped, [8, 7, 6, 5, 4, 3, 2]);
        assert_eq!(stealer.steal(), Steal::Empty);
    }
}

/// Slots that thieves have given back are reused: theft alone does not make a deque grow.
#[test]
fn q2_a_deque_that_is_stolen_empty_does_not_grow() {
    for start in starts() {
        let mut owner = empty(start, 4);
        let stealer = owner.stealer();
        for item in 0..100 {
            owner.push(item);
            owner.push(item);
            while stealer.steal() != Steal::Empty {}
        }
        assert_eq!(owner.capacity(), 4);
    }
}

#[test]
fn q2_a_batch_is_at_most_half_and_keeps_the_order() {
    for start in starts() {
        let mut victim = filled(start, 4, 8);
        let mut thief = empty(start + 5, 2);
        assert_eq!(victim.stealer().steal_batch_into(&mut thief), Steal::Success(0));
        let stolen: Vec<_> = std::iter::from_fn(|| thief.pop()).collect();
        assert_eq!(stolen, [3, 2, 1]);
        let left: Vec<_> = std::iter::from_fn(|| victim.pop()).collect();
        assert_eq!(left, (4..8).rev().collect::<Vec<_>>());
    }
}

#[test]
fn q1_a_thief_may_be_its_own_victim() {
    for start in starts() {
        let mut owner = filled(start, 2, 8);
        let stealer = owner.stealer();
        assert_eq!(stealer.steal_batch_into(&mut owner), Steal::Success(0));
        let mut all: Vec<_> = std::iter::from_fn(|| owner.pop()).collect();
        all.sort_unstable();
        assert_eq!(all, (1..8).collect::<Vec<_>>());
    }
}

/// An owner at the edge of emptiness against a thief, with each barrier: every item is taken
/// once.
#[test]
fn q7_either_barrier_decides_the_last_item() {
    const ITEMS: u64 = 300_000;
    for barrier in [Barrier::detect(), Barrier::Fence] {
        let mut owner = Owner::starting_at(2, u64::from(u32::MAX) - 1000, barrier);
        let stealer = owner.stealer();
        let done = AtomicBool::new(false);
        let sum = thread::scope(|scope| {
            let thief = scope.spawn(|| {
                let mut sum = 0;
                while !done.load(Ordering::Acquire) {
                    sum += stealer.steal().success().unwrap_or(0);
                }
                sum
            });
            let mut sum = 0;
            for item in 1..=ITEMS {
                owner.push(item);
                sum += owner.pop().unwrap_or(0);
            }
            done.store(true, Ordering::Release);
            sum + thief.join().unwrap()
        });
        assert_eq!((sum, owner.pop()), (ITEMS * (ITEMS + 1) / 2, None));
    }
}
