//! `heist top` and `heist bench` as their users meet them.

mod bench;
mod live;
mod support;
mod terminal;
