//! What a runtime counts and measures (M1).

mod counts;
mod histogram;
#[path = "../support/mod.rs"]
mod support;
