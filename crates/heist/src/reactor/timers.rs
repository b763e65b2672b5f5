#![allow(unused)]
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);
impl Time {
    pub(crate) const NEVER: Time = Time(u64::MAX);
    pub(crate) fn from_nanos(n: u64) -> Time {
        Time(n)
    }
    pub(crate) fn as_nanos(self) -> u64 {
        self.0
    }
    pub(crate) fn until(self, l: Time) -> Duration {
        Duration::from_nanos(l.0.saturating_sub(self.0))
    }
}
pub(crate) struct Clock(Instant);
impl Clock {
    pub(crate) fn new() -> Self {
        Clock(Instant::now())
    }
    pub(crate) fn now(&self) -> Time {
        Time(self.0.elapsed().as_nanos() as u64)
    }
}
pub(crate) struct Timer;
pub(crate) struct Timers;
impl Timers {
    pub(crate) fn new() -> Self {
        Timers
    }
    pub(crate) fn next(&self) -> Time {
        Time::NEVER
    }
    pub(crate) fn lie_down(&self) -> Option<Time> {
        None
    }
    pub(crate) fn rise(&self) {}
    pub(crate) fn register(&self, _: &Arc<Timer>) -> bool {
        false
    }
    pub(crate) fn advance(&self, _: Time, _: usize, _: &mut Vec<Waker>) -> bool {
        false
    }
    pub(crate) fn close(&self, _: &mut Vec<Waker>) {}
}
