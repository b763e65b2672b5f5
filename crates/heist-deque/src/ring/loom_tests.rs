//! The ring's protocol in every interleaving that loom can find (Q1, Q3–Q7). A single attempt to
//! steal need not succeed (NP4).
//!
//! Items are plain numbers. Loom itself reports a slot that is read and written without order;
//! the tests account for every number at the end.

use super::{Full, Owner, Stealer};
use crate::Steal;
use crate::canary;
use loom::thread;

/// Positions start here, so that every model also crosses the wrap-around.
const START: u32 = u32::MAX - 1;

fn ring(capacity: usize, items: std::ops::Range<u32>) -> Owner<u32> {
    let mut owner = Owner::starting_at(capacity, START);
    for item in items {
        owner.push(item).unwrap();
    }
    owner
}

fn drain(owner: &mut Owner<u32>, into: &mut Vec<u32>) {
    into.extend(std::iter::from_fn(|| owner.pop()));
}

/// Every item of 0..count is there exactly once.
fn account(mut taken: Vec<u32>, count: u32) {
    taken.sort_unstable();
    assert!(taken.iter().copied().eq(0..count), "not exactly once: {taken:?}");
}

/// A thief that tries twice to take one.
fn thief(stealer: Stealer<u32>) -> thread::JoinHandle<Vec<u32>> {
    thread::spawn(move || (0..2).filter_map(|_| stealer.steal().success()).collect())
}

/// A thief that takes half into a ring of its own.
fn half_thief(stealer: Stealer<u32>) -> thread::JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        let mut own = Owner::starting_at(2, START);
        let mut taken = Vec::new();
        taken.extend(stealer.steal_into(&mut own).success());
        drain(&mut own, &mut taken);
        taken
    })
}

fn last_item() {
    let mut owner = ring(2, 0..1);
    let thief = thief(owner.stealer());
    let mut taken = Vec::new();
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(taken, 1);
}

fn push_is_seen_with_its_data() {
    let mut owner = ring(2, 0..0);
    let thief = thief(owner.stealer());
    owner.push(0).unwrap();
    owner.push(1).unwrap();
    let mut taken = thief.join().unwrap();
    drain(&mut owner, &mut taken);
    account(taken, 2);
}

/// The owner laps a thief that may still be copying.
fn reuse_under_a_thief() {
    let mut owner = ring(2, 0..2);
    let thief = half_thief(owner.stealer());
    let mut taken = Vec::new();
    for item in 2..4 {
        if let Err(Full(item)) = owner.push(item) {
            taken.push(item);
        }
        taken.extend(owner.pop());
    }
    taken.extend(thief.join().unwrap());
    drain(&mut owner, &mut taken);
    account(taken, 4);
}

/// Full: half leaves, and a thief is somewhere in between.
fn overflow_under_a_thief() {
    let mut owner = ring(4, 0..4);
    let thief = half_thief(owner.stealer());
    let mut taken: Vec<u32> = owner.drain_half().collect();
    if let Err(Full(item)) = owner.push(4) {
        taken.push(item);
    }
    taken.extend(thief.join().unwrap());
    drain(&mut owner, &mut taken);
    account(taken, 5);
}

/// What stays in the ring is there for a thief at every instant.
fn no_false_empty_beside_a_drain() {
    let mut owner = ring(4, 0..4);
    let stealer = owner.stealer();
    let thief = thread::spawn(move || {
        assert!(!stealer.is_empty(), "a false empty");
        assert!(!stealer.steal().is_empty(), "a false empty");
    });
    drop(owner.drain_half());
    thief.join().unwrap();
}

/// The second thief sees the head that the first one moved, and needs the tail that goes with it.
fn a_moved_head_brings_its_tail() {
    let mut owner = ring(4, 0..0);
    let thieves = [owner.stealer(), owner.stealer()]
        .map(|stealer| thread::spawn(move || stealer.steal().success()));
    owner.push(0).unwrap();
    let mut taken: Vec<u32> = thieves.into_iter().filter_map(|t| t.join().unwrap()).collect();
    drain(&mut owner, &mut taken);
    account(taken, 1);
}

/// Not full: what stays moves to other slots.
fn drain_of_a_part_under_a_thief() {
    let mut owner = ring(4, 0..3);
    let thief = half_thief(owner.stealer());
    let mut taken: Vec<u32> = owner.drain_half().collect();
    owner.push(3).unwrap_or_else(|Full(item)| taken.push(item));
    owner.push(4).unwrap_or_else(|Full(item)| taken.push(item));
    taken.extend(thief.join().unwrap());
    drain(&mut owner, &mut taken);
    account(taken, 5);
}

#[test]
fn loom_q1_last_item_goes_to_one() {
    loom::model(last_item);
}

#[test]
fn loom_q7_whoever_sees_the_index_sees_the_data() {
    loom::model(push_is_seen_with_its_data);
}

#[test]
fn loom_q3_slots_are_reused_only_after_the_copy() {
    loom::model(reuse_under_a_thief);
}

#[test]
fn loom_q5_overflow_beside_a_thief() {
    loom::model(overflow_under_a_thief);
}

#[test]
fn loom_q6_no_false_empty_beside_a_drain() {
    loom::model(no_false_empty_beside_a_drain);
}

#[test]
fn loom_q7_a_moved_head_brings_its_tail() {
    loom::model(a_moved_head_brings_its_tail);
}

#[test]
fn loom_q5_drain_beside_a_thief() {
    loom::model(drain_of_a_part_under_a_thief);
}

/// Two thieves, one attempt each: at least one succeeds whatever happens, and a loser is told
/// to try again (Q6). Neither gives up because the other is in the middle of its copy.
#[test]
fn loom_q6_two_thieves_and_one_makes_progress() {
    loom::model(|| {
        let mut owner = ring(4, 0..4);
        let thieves = [owner.stealer(), owner.stealer()].map(|stealer| {
            thread::spawn(move || {
                let mut own = Owner::starting_at(2, START);
                let outcome = stealer.steal_into(&mut own);
                let won = !outcome.is_retry();
                assert!(!outcome.is_empty());
                let mut taken: Vec<u32> = outcome.success().into_iter().collect();
                drain(&mut own, &mut taken);
                (won, taken)
            })
        });
        let results = thieves.map(|thief| thief.join().unwrap());
        assert!(results.iter().any(|(won, _)| *won));
        let mut taken: Vec<u32> = results.into_iter().flat_map(|(_, taken)| taken).collect();
        drain(&mut owner, &mut taken);
        account(taken, 4);
    });
}

#[test]
fn loom_q3_two_thieves_and_a_pushing_owner() {
    loom::model(|| {
        let mut owner = ring(2, 0..2);
        let thieves = [owner.stealer(), owner.stealer()]
            .map(|stealer| thread::spawn(move || stealer.steal().success()));
        let mut taken = Vec::new();
        if let Err(Full(item)) = owner.push(2) {
            taken.push(item);
        }
        taken.extend(owner.pop());
        taken.extend(thieves.into_iter().filter_map(|thief| thief.join().unwrap()));
        drain(&mut owner, &mut taken);
        account(taken, 3);
    });
}

#[test]
fn loom_q4_half_into_a_small_ring() {
    loom::model(|| {
        let mut owner = ring(8, 0..8);
        let stealer = owner.stealer();
        let thief = thread::spawn(move || {
            let mut own = Owner::starting_at(2, START);
            match stealer.steal_half_into(&mut own) {
                Steal::Success(count) => assert_eq!((count, own.len()), (2, 2)),
                Steal::Retry => assert!(own.is_empty()),
                Steal::Empty => panic!("the owner pops only one of eight"),
            }
            let mut taken = Vec::new();
            drain(&mut own, &mut taken);
            taken
        });
        let mut taken: Vec<u32> = owner.pop().into_iter().collect();
        taken.extend(thief.join().unwrap());
        drain(&mut owner, &mut taken);
        account(taken, 8);
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_publish_without_release() {
    canary::RING_PUBLISH_RELAXED.model(push_is_seen_with_its_data);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_slots_handed_back_without_release() {
    canary::RING_RELEASE_RELAXED.model(reuse_under_a_thief);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_floor_ignored() {
    canary::RING_FLOOR_IGNORED.model(reuse_under_a_thief);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_drain_ignores_thieves() {
    canary::RING_DRAIN_IGNORES_THIEVES.model(overflow_under_a_thief);
}

#[test]
#[should_panic(expected = "the tail is behind the head")]
fn loom_canary_claim_without_release() {
    canary::RING_CLAIM_RELAXED.model(a_moved_head_brings_its_tail);
}

#[test]
#[should_panic(expected = "a false empty")]
fn loom_canary_closed_is_empty() {
    canary::RING_CLOSED_IS_EMPTY.model(no_false_empty_beside_a_drain);
}
