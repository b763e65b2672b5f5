//! Tasks of all kinds, from their spawn to their end, and closures that block. Those that are
//! pinned are apart, in `pinned.rs`: how often they get their turn is counted, and a worker that
//! the machine keeps from running loses its seat.

mod blocking;
mod builder;
mod coop;
mod hostile_wakers;
mod join_set;
mod lifecycle;
mod local_set;
mod locals;
mod nested_waits;
#[path = "../support/mod.rs"]
mod support;
