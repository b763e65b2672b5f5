//! The tuning constants of this crate.

/// Number of times that a thief checks for the owner's answer before it pays for the barrier,
/// together about as long as the barrier takes. Benchmark: `fork_join_fib`, which has half as many
/// barriers as with 8; `deque_contended` does not change. Loom needs none.
pub(crate) const ANSWER_CHECKS: u32 = if cfg!(loom) { 0 } else { 32 };
