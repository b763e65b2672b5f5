//! A system that reports nothing about threads.

use super::{SystemCall, ThreadState, Times};

#[derive(Clone)]
pub(super) struct Thread;

impl Thread {
    pub(super) fn this() -> Thread {
        Thread
    }

    pub(super) fn state(&self) -> Option<ThreadState> {
        None
    }

    pub(super) fn times(&self) -> Option<Times> {
        None
    }

    pub(super) fn system_call(&self) -> Option<SystemCall> {
        None
    }
}
