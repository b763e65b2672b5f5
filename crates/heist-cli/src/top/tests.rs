//! The state without a screen, keys without a keyboard, and the thread that fetches without a
//! program.

mod fetching;
pub mod fixture;
mod keys;
mod once;
mod rates;
mod state;
