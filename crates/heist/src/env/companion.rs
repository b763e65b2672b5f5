//! The companion: a Tokio runtime beside a heist runtime, for crates that require Tokio's. It
//! exists only with the feature `tokio-context`, for each runtime that enables it.

#[cfg(not(feature = "tokio-context"))]
#[path = "companion/absent.rs"]
mod kind;
#[cfg(feature = "tokio-context")]
#[path = "companion/present.rs"]
mod kind;

pub(crate) use kind::{Companion, Guard, OwnedCompanion, Settings};
