//! Deliberate mistakes that loom must find in this crate's protocols. The code that each of them
//! would break names it.

use heist_sync::Canary;

/// The ring's owner publishes the tail before the slots are visible.
pub(crate) const RING_PUBLISH_RELAXED: Canary = Canary::new("ring publish relaxed");
/// A thief gives slots back before it has copied the items.
pub(crate) const RING_RELEASE_RELAXED: Canary = Canary::new("ring release relaxed");
/// The ring's owner reuses slots that a thief is still copying.
pub(crate) const RING_FLOOR_IGNORED: Canary = Canary::new("ring floor ignored");
/// A claim does not release the tail that the claiming thread had seen.
pub(crate) const RING_CLAIM_RELAXED: Canary = Canary::new("ring claim relaxed");
/// A thief takes a closed ring for an empty one.
pub(crate) const RING_CLOSED_IS_EMPTY: Canary = Canary::new("ring closed is empty");
/// An overflow moves the older half into slots that a thief is still copying.
pub(crate) const RING_DRAIN_IGNORES_THIEVES: Canary = Canary::new("ring drain ignores thieves");
/// The deque's owner publishes the bottom before the slot is visible.
pub(crate) const DEQUE_PUBLISH_RELAXED: Canary = Canary::new("deque publish relaxed");
/// The owner's pop does not order its store of the bottom before its load of the threshold.
pub(crate) const DEQUE_LIGHT_BARRIER_MISSING: Canary = Canary::new("deque light barrier missing");
/// An exposing thief does not order its request before its load of the bottom.
pub(crate) const DEQUE_HEAVY_BARRIER_MISSING: Canary = Canary::new("deque heavy barrier missing");
/// A thief reads the bottom by a plain load, as the owner does.
pub(crate) const DEQUE_BOTTOM_PLAIN: Canary = Canary::new("deque bottom plain");
/// An exposing thief uses the bottom that it loaded before the barrier.
pub(crate) const DEQUE_BOTTOM_NOT_REREAD: Canary = Canary::new("deque bottom not reread");
/// The owner clears the flag of a request after it has moved the split.
pub(crate) const DEQUE_ACKNOWLEDGED_LATE: Canary = Canary::new("deque acknowledged late");
/// An owner that has cleared the flag, and then finds nothing left, does not set it again.
pub(crate) const DEQUE_LEFT_UNANSWERED: Canary = Canary::new("deque left unanswered");
/// An owner that moves the split and clears the flag does not record the split in the threshold.
pub(crate) const DEQUE_SPLIT_UNFOLLOWED: Canary = Canary::new("deque split unfollowed");
/// The deque's owner reuses a slot that a thief is still copying.
pub(crate) const DEQUE_COPIED_IGNORED: Canary = Canary::new("deque copied ignored");
/// The owner's answer makes the split visible before the slots.
pub(crate) const DEQUE_ANSWER_RELAXED: Canary = Canary::new("deque answer relaxed");
