//! Seeded load for as long as it takes. `HEIST_STRESS_SEED` and `HEIST_STRESS_SCALE` say where to
//! begin and how much to do.

mod forkjoin;
mod pinned;
mod stalls;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
