//! `heist top` and `heist bench` as their users meet them.

mod bench;
mod support;
