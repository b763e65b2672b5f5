//! A runtime of Tokio's beside one of ours, for crates that ask for Tokio's and take no other. With the
//! feature `tokio-context` there is one for each runtime that wants it, else there is none.

#[cfg(not(feature = "tokio-context"))]
#[path = "companion/absent.rs"]
mod kind;
#[cfg(feature = "tokio-context")]
#[path = "companion/present.rs"]
mod kind;

pub(crate) use kind::{Companion, Guard, Owner, Wish};
