//! The poller.
pub(super) struct Poller {}
