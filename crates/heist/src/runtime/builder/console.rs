//! Runtimes that can be asked from outside.

use super::Builder;
use crate::console::{Address, Config};
use crate::runtime::Handle;

impl Builder {
    /// The runtime answers questions about itself: on a Unix socket, or on a loopback TCP port; see
    /// [`console`](crate::console). Not so unless this is called, or the environment variable
    /// `HEIST_CONSOLE` says so; what is said here goes before that.
    ///
    /// Then each poll of a task reads the clock twice, and each task needs some 200 bytes more, up to
    /// a limit.
    ///
    /// If the console cannot listen there, [`build`](Self::build) returns an error that holds a
    /// [`StartError`](crate::console::StartError).
    pub fn console(&mut self, config: Config) -> &mut Self {
        self.console.0 = Some(config);
        self
    }
}

impl Handle {
    /// Where the runtime's console listens, if it has one; see [`Builder::console`].
    pub fn console_address(&self) -> Option<&Address> {
        self.scheduler.config().console.as_ref()
    }
}
