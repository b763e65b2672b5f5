#![allow(unused)]
mod ready;
pub use ready::{Interest, Ready};
use std::task::Waker;
pub(crate) struct Sources;
impl Sources {
    pub(crate) fn new() -> Self {
        Sources
    }
    pub(crate) fn len(&self) -> usize {
        0
    }
    pub(crate) fn close(&self, _: &mut Vec<Waker>) {}
    pub(crate) fn dispatch(&self, _: impl Iterator<Item = (u64, Ready)>, _: &mut Vec<Waker>) {}
}
