//! The tuning constants of this crate.

use std::time::Duration;

/// An [`AdaptiveBarrier`](crate::AdaptiveBarrier) lets kernel calls take one part in this many of
/// the time. Chosen so that the calls cost about as much as fences on the frequent side would at a
/// million operations a second; does not matter within a factor of four.
pub(crate) const SHARE: u64 = 128;

/// A kernel call that was spared counts as this much: a typical call takes 1 to 30 µs. Does not
/// matter within a factor of four.
pub(crate) const TYPICAL_CALL: Duration = Duration::from_micros(5);

/// Kernel calls may take this long in one burst before fences replace them. A single call that
/// takes longer has waited for a virtual machine's core that was not running. Does not matter
/// within a factor of four.
pub(crate) const BURST: Duration = Duration::from_micros(100);
