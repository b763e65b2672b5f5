//! Blocking threads are in the runtime that they work for.

use super::Handle;
use super::context;
use crate::scheduler::blocking::Host;
use std::io;

impl Host for Handle {
    fn start(&self, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let handle = self.clone();
        self.scheduler.blocking.start(move || {
            let _entered = context::enter(&handle);
            body();
        })
    }

    fn within(&self, act: impl FnOnce()) {
        let _entered = context::enter(self);
        act();
    }

    fn started(&self) {
        let threads = self.scheduler.blocking.threads();
        threads.unbind();
        threads.started();
    }

    fn stopping(&self) {
        self.scheduler.blocking.threads().stopping();
    }
}
