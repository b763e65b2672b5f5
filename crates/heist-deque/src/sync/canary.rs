//! Deliberate mistakes, for the model checker to find.
//!
//! A loom suite that passes proves nothing until it has been seen to fail. Each canary names
//! one ordering or one step of a protocol; a loom test that switches it on must fail. Outside
//! loom a canary is a constant `false`: nothing of it reaches the compiled code.

use super::Ordering;

/// One mistake.
#[cfg_attr(not(loom), allow(dead_code, reason = "named at the code it would break"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Canary {
    /// The ring's owner publishes the tail before the slots are visible.
    RingPublishRelaxed,
    /// A thief hands slots back before its copies are done.
    RingReleaseRelaxed,
    /// The ring's owner reuses slots that a thief is still copying.
    RingFloorIgnored,
    /// An overflow moves the older half into slots that a thief is still copying.
    RingDrainIgnoresThieves,
    /// The deque's owner publishes the bottom before the slot is visible.
    DequePublishRelaxed,
    /// The owner's pop does not order its store of the bottom before its look at the split.
    DequeLightBarrierMissing,
    /// An exposing thief does not order its request before its look at the bottom.
    DequeHeavyBarrierMissing,
    /// An exposing thief trusts the bottom that it saw before the barrier.
    DequeBottomNotReread,
    /// The owner lowers the flag of a request after it has moved the split.
    DequeAcknowledgedLate,
    /// The deque's owner reuses a slot that a thief is still copying.
    DequeCopiedIgnored,
    /// The owner's answer shows the split before the slots are visible.
    DequeAnswerRelaxed,
}

#[cfg(loom)]
std::thread_local! {
    static ACTIVE: std::cell::Cell<Option<Canary>> = const { std::cell::Cell::new(None) };
}

impl Canary {
    /// Whether this mistake is being made.
    #[inline(always)]
    pub(crate) fn sings(self) -> bool {
        #[cfg(loom)]
        return ACTIVE.get() == Some(self);
        #[cfg(not(loom))]
        false
    }

    /// `right`, or `Relaxed` while this mistake is being made.
    #[inline(always)]
    pub(crate) fn weakens(self, right: Ordering) -> Ordering {
        if self.sings() { Ordering::Relaxed } else { right }
    }

    /// Runs a loom model with this mistake in it. The model must panic; the caller says with
    /// `#[should_panic(expected = …)]` how. Loom runs all threads of a model on the calling OS thread, so a
    /// thread-local reaches all of them and no other test.
    #[cfg(loom)]
    pub(crate) fn model(self, body: impl Fn() + Sync + Send + 'static) {
        struct Silence;
        impl Drop for Silence {
            fn drop(&mut self) {
                ACTIVE.set(None);
            }
        }
        let _silence = Silence;
        ACTIVE.set(Some(self));
        loom::model(body);
    }
}
