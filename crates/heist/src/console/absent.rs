//! No runtime has a console: in models there is nobody to ask.

use crate::scheduler::{self, Scheduler};
use std::io;

/// Where a console listens: nowhere.
#[derive(Debug, Clone)]
pub(crate) enum Address {}

#[derive(Debug, Clone, Default)]
pub(crate) struct Wish;

impl Wish {
    pub(crate) fn prepare(&self, _runtime: &mut scheduler::Config) -> io::Result<Prepared> {
        Ok(Prepared)
    }
}

pub(crate) struct Prepared;

impl Prepared {
    pub(crate) fn records(&self) -> bool {
        false
    }

    pub(crate) fn start(self, _scheduler: &Scheduler) -> io::Result<Console> {
        Ok(Console)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Console;

impl Console {
    pub(crate) fn stop(&mut self) {}
}
