//! The deque's protocol in every interleaving that loom can find (Q1, Q2, Q6, Q7).
//!
//! Under loom a thief that has asked does not wait for the owner but goes on to the barrier at
//! once, so that the owner's answer and the thief's exposure race in every order.

use super::{Owner, Stealer};
use crate::canary;
use heist_sync::Barrier;
use loom::thread;

/// Positions start here, so that every model also crosses the wrap-around.
const START: u64 = u32::MAX as u64;

fn deque(capacity: usize, items: std::ops::Range<u32>) -> Owner<u32> {
    let mut owner = Owner::starting_at(capacity, START, Barrier::detect());
    items.for_each(|item| owner.push(item));
    owner
}

/// Every item of 0..count is there exactly once.
fn account(mut owner: Owner<u32>, mut taken: Vec<u32>, count: u32) {
    // If the bottom fell behind the top, pops would never end.
    taken.extend(std::iter::from_fn(|| owner.pop()).take(count as usize + 1));
    taken.sort_unstable();
    assert!(taken.iter().copied().eq(0..count), "not exactly once: {taken:?}");
}

/// One preemption less, for models that would take minutes otherwise.
fn bounded() -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.map(|bound| bound - 1);
    builder
}

/// A thief that makes this number of attempts to take an item.
fn thief(stealer: Stealer<u32>, attempts: usize) -> thread::JoinHandle<Vec<u32>> {
    thread::spawn(move || (0..attempts).filter_map(|_| stealer.steal().success()).collect())
}

fn last_item() {
    let mut owner = deque(2, 0..1);
    let thief = thief(owner.stealer(), 1);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    taken.extend(thief.join().unwrap());
    account(owner, taken, 1);
}

/// The owner takes back what it has just pushed, and knows what it was.
fn last_item_is_taken_back() {
    let mut owner = deque(2, 0..0);
    let thief = thief(owner.stealer(), 1);
    let mark = owner.mark();
    owner.push(0);
    let is_taken_back = owner.take_back(mark) || owner.pop().is_some();
    let mut taken = Vec::from_iter(is_taken_back.then_some(0));
    taken.extend(thief.join().unwrap());
    account(owner, taken, 1);
}

/// The owner works on while a thief asks, is answered, or exposes.
fn pops_and_pushes_under_a_thief() {
    let mut owner = deque(4, 0..2);
    let thief = thief(owner.stealer(), 2);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    owner.push(2);
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(owner, taken, 3);
}

/// The owner empties the deque and fills it again while a thief is about to expose.
fn refill_under_a_thief() {
    let mut owner = deque(2, 0..1);
    let thief = thief(owner.stealer(), 2);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    owner.push(1);
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(owner, taken, 2);
}

/// A thief exposes what the owner pushes; nothing but the bottom orders the two.
fn push_is_seen_with_its_data() {
    let mut owner = deque(2, 0..0);
    let thief = thief(owner.stealer(), 1);
    owner.push(0);
    let taken = thief.join().unwrap();
    account(owner, taken, 1);
}

/// The thief asks when it has seen one item, and the owner's answer shows it two.
fn answer_is_seen_with_its_data() {
    let mut owner = deque(4, 0..1);
    let thief = thief(owner.stealer(), 3);
    owner.push(1);
    owner.push(2);
    let taken = thief.join().unwrap();
    account(owner, taken, 3);
}

/// One request is answered while the next is being raised.
fn requests_in_a_row() {
    let mut owner = deque(4, 0..3);
    let thief = thief(owner.stealer(), 3);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(owner, taken, 3);
}

/// The owner shares without being asked, while a thief asks and exposes.
fn shared_under_a_thief() {
    let mut owner = deque(2, 0..1);
    let thief = thief(owner.stealer(), 2);
    owner.push(1);
    owner.share();
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    taken.extend(thief.join().unwrap());
    account(owner, taken, 2);
}

/// A thief takes the public item and asks for more, or the owner takes it back and asks itself. A
/// push answers, and is popped while the thief tries again.
fn restocked_under_a_thief() {
    let mut owner = deque(2, 0..1);
    owner.share();
    let thief = thief(owner.stealer(), 2);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    owner.share_next();
    owner.push(1);
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(owner, taken, 2);
}

/// The owner clears the flag for an exchange that fails, and finds nothing left. A thief that has
/// seen the flag set tries again.
fn left_unanswered_under_a_thief() {
    let mut owner = deque(4, 0..3);
    owner.share();
    let thief = thief(owner.stealer(), 3);
    let mut taken: Vec<u32> = owner.pop().into_iter().collect();
    owner.share_next();
    taken.extend(owner.pop());
    owner.push(3);
    taken.extend(owner.pop());
    taken.extend(thief.join().unwrap());
    account(owner, taken, 4);
}

/// The owner laps a thief that may still be copying.
fn reuse_under_a_thief() {
    let mut owner = deque(2, 0..2);
    let thief = thief(owner.stealer(), 1);
    owner.push(2);
    let taken = thief.join().unwrap();
    account(owner, taken, 3);
}

#[test]
fn loom_q1_last_item_is_taken_back_by_one() {
    loom::model(last_item_is_taken_back);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_taken_back_without_light_barrier() {
    canary::DEQUE_LIGHT_BARRIER_MISSING.model(last_item_is_taken_back);
}

#[test]
fn loom_q1_last_item_goes_to_one() {
    loom::model(last_item);
}

#[test]
fn loom_q7_pops_and_pushes_beside_a_thief() {
    bounded().check(pops_and_pushes_under_a_thief);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_split_unfollowed() {
    canary::DEQUE_SPLIT_UNFOLLOWED.model(shared_under_a_thief);
}

#[test]
fn loom_q7_refill_beside_a_thief() {
    loom::model(refill_under_a_thief);
}

#[test]
fn loom_q7_whoever_sees_the_index_sees_the_data() {
    loom::model(push_is_seen_with_its_data);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_bottom_plain() {
    canary::DEQUE_BOTTOM_PLAIN.model(push_is_seen_with_its_data);
}

#[test]
fn loom_q7_requests_in_a_row() {
    loom::model(requests_in_a_row);
}

#[test]
fn loom_q7_an_answer_is_seen_with_its_data() {
    bounded().check(answer_is_seen_with_its_data);
}

#[test]
fn loom_q1_what_is_shared_unasked_goes_to_one() {
    loom::model(shared_under_a_thief);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_shared_unasked_and_acknowledged_late() {
    canary::DEQUE_ACKNOWLEDGED_LATE.model(shared_under_a_thief);
}

#[test]
fn loom_q1_what_replaces_the_last_that_was_public_goes_to_one() {
    bounded().check(restocked_under_a_thief);
}

#[test]
fn loom_q1_what_comes_after_a_request_without_answer_goes_to_one() {
    bounded().check(left_unanswered_under_a_thief);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_left_unanswered() {
    canary::DEQUE_LEFT_UNANSWERED.model(requests_in_a_row);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_left_unanswered_with_more_to_come() {
    canary::DEQUE_LEFT_UNANSWERED.model_with(&bounded(), left_unanswered_under_a_thief);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_replaced_without_release() {
    canary::DEQUE_ANSWER_RELAXED.model(restocked_under_a_thief);
}

#[test]
fn loom_q2_growth_and_reuse_beside_a_thief() {
    loom::model(reuse_under_a_thief);
}

#[test]
fn loom_q2_growth_beside_two_thefts() {
    bounded().check(|| {
        let mut owner = deque(2, 0..2);
        let thief = thief(owner.stealer(), 2);
        owner.push(2);
        owner.push(3);
        let mut taken: Vec<u32> = owner.pop().into_iter().collect();
        taken.extend(thief.join().unwrap());
        account(owner, taken, 4);
    });
}

/// After growing the owner comes round to where a thief may be copying in the new buffer.
#[test]
fn loom_q2_a_lap_after_growth() {
    bounded().check(|| {
        let mut owner = deque(2, 0..2);
        let thief = thief(owner.stealer(), 1);
        (2..5).for_each(|item| owner.push(item));
        let taken = thief.join().unwrap();
        account(owner, taken, 5);
    });
}

/// Two thieves at one item beside an owner that leaves it alone: one of them gets it (Q6).
#[test]
fn loom_q6_two_thieves_at_the_last_item() {
    loom::model(|| {
        let owner = deque(2, 0..1);
        let other = thief(owner.stealer(), 1);
        let mut taken: Vec<u32> = owner.stealer().steal().success().into_iter().collect();
        taken.extend(other.join().unwrap());
        if taken.is_empty() {
            // Each saw the other's request or exposure: both made progress for the next.
            taken.extend(owner.stealer().steal().success());
            assert_eq!(taken, [0], "nobody else is left to lose against");
        }
        account(owner, taken, 1);
    });
}

#[test]
fn loom_q6_two_thieves_and_a_popping_owner() {
    bounded().check(|| {
        let mut owner = deque(2, 0..2);
        let thieves = [thief(owner.stealer(), 1), thief(owner.stealer(), 1)];
        let mut taken: Vec<u32> = owner.pop().into_iter().collect();
        taken.extend(thieves.into_iter().flat_map(|thief| thief.join().unwrap()));
        account(owner, taken, 2);
    });
}

#[test]
fn loom_q2_a_batch_beside_a_popping_owner() {
    loom::model(|| {
        let mut owner = deque(4, 0..4);
        let stealer = owner.stealer();
        let thief = thread::spawn(move || {
            let mut own = deque(2, 0..0);
            let mut taken: Vec<u32> =
                stealer.steal_batch_into(&mut own).success().into_iter().collect();
            taken.extend(std::iter::from_fn(|| own.pop()));
            taken
        });
        let mut taken: Vec<u32> = owner.pop().into_iter().collect();
        taken.extend(owner.pop());
        taken.extend(thief.join().unwrap());
        account(owner, taken, 4);
    });
}

#[test]
fn loom_q1_a_thief_outlives_the_owner() {
    loom::model(|| {
        let owner = deque(2, 0..2);
        let thief = thief(owner.stealer(), 3);
        drop(owner);
        let taken = thief.join().unwrap();
        assert_eq!(taken, [0, 1], "alone, a thief gets everything, oldest first");
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_publish_without_release() {
    canary::DEQUE_PUBLISH_RELAXED.model(push_is_seen_with_its_data);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_answer_without_release() {
    canary::DEQUE_ANSWER_RELAXED.model(answer_is_seen_with_its_data);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_no_light_barrier() {
    canary::DEQUE_LIGHT_BARRIER_MISSING.model(last_item);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_no_heavy_barrier() {
    canary::DEQUE_HEAVY_BARRIER_MISSING.model(last_item);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_bottom_not_read_again() {
    canary::DEQUE_BOTTOM_NOT_REREAD.model(last_item);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_slot_reused_under_a_thief() {
    canary::DEQUE_COPIED_IGNORED.model(reuse_under_a_thief);
}

#[test]
#[should_panic(expected = "not exactly once")]
fn loom_canary_acknowledged_late() {
    canary::DEQUE_ACKNOWLEDGED_LATE.model(requests_in_a_row);
}
