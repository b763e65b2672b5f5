//! The mistakes that loom must find in this crate's protocols, each named at the code that it
//! would break.

use heist_sync::Canary;

/// The ring's owner publishes the tail before the slots are visible.
pub(crate) const RING_PUBLISH_RELAXED: Canary = Canary::new("ring publish relaxed");
/// A thief hands slots back before its copies are done.
pub(crate) const RING_RELEASE_RELAXED: Canary = Canary::new("ring release relaxed");
/// The ring's owner reuses slots that a thief is still copying.
pub(crate) const RING_FLOOR_IGNORED: Canary = Canary::new("ring floor ignored");
/// A claim does not pass on the tail that the claimer had seen.
pub(crate) const RING_CLAIM_RELAXED: Canary = Canary::new("ring claim relaxed");
/// A thief takes a ring that is closed for a moment for an empty one.
pub(crate) const RING_CLOSED_IS_EMPTY: Canary = Canary::new("ring closed is empty");
/// An overflow moves the older half into slots that a thief is still copying.
pub(crate) const RING_DRAIN_IGNORES_THIEVES: Canary = Canary::new("ring drain ignores thieves");
/// The deque's owner publishes the bottom before the slot is visible.
pub(crate) const DEQUE_PUBLISH_RELAXED: Canary = Canary::new("deque publish relaxed");
/// The owner's pop does not order its store of the bottom before its look at the split.
pub(crate) const DEQUE_LIGHT_BARRIER_MISSING: Canary = Canary::new("deque light barrier missing");
/// An exposing thief does not order its request before its look at the bottom.
pub(crate) const DEQUE_HEAVY_BARRIER_MISSING: Canary = Canary::new("deque heavy barrier missing");
/// A thief reads the bottom as the owner does, by a plain load.
pub(crate) const DEQUE_BOTTOM_PLAIN: Canary = Canary::new("deque bottom plain");
/// An exposing thief trusts the bottom that it saw before the barrier.
pub(crate) const DEQUE_BOTTOM_NOT_REREAD: Canary = Canary::new("deque bottom not reread");
/// The owner lowers the flag of a request after it has moved the split.
pub(crate) const DEQUE_ACKNOWLEDGED_LATE: Canary = Canary::new("deque acknowledged late");
/// An owner that has lowered the flag, and then finds nothing left to answer with, does not raise it again.
pub(crate) const DEQUE_LEFT_UNANSWERED: Canary = Canary::new("deque left unanswered");
/// An owner that moves the split, and lowers the flag, leaves its own word for it where it was.
pub(crate) const DEQUE_SPLIT_UNFOLLOWED: Canary = Canary::new("deque split unfollowed");
/// The deque's owner reuses a slot that a thief is still copying.
pub(crate) const DEQUE_COPIED_IGNORED: Canary = Canary::new("deque copied ignored");
/// The owner's answer shows the split before the slots are visible.
pub(crate) const DEQUE_ANSWER_RELAXED: Canary = Canary::new("deque answer relaxed");
