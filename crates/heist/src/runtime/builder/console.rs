//! `Builder::console`: runtimes that can be inspected from outside.

use super::Builder;
use crate::console::{Address, Config};
use crate::runtime::Handle;

impl Builder {
    /// Enables the console: the runtime answers questions about itself on a Unix socket or a
    /// loopback TCP port; see [`console`](crate::console).
    ///
    /// Without this call there is no console, unless the environment variable `HEIST_CONSOLE` asks
    /// for one. This call takes precedence over the variable.
    ///
    /// With a console, each poll of a task reads the clock twice, each task needs about 200 bytes
    /// more, up to a limit, and the runtime records what its workers do; see [`Config`] for all of
    /// these.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::console::{Address, Config};
    /// use heist::runtime::Builder;
    ///
    /// let config = Config::tcp(([127, 0, 0, 1], 0));
    /// let rt = Builder::new_multi_thread().console(config).build().unwrap();
    /// let Some(Address::Tcp(address)) = rt.handle().console_address() else { unreachable!() };
    /// assert_ne!(address.port(), 0);
    /// ```
    ///
    /// # Errors
    ///
    /// If the console cannot listen at its address, [`build`](Self::build) returns an error that
    /// wraps a [`StartError`](crate::console::StartError).
    pub fn console(&mut self, config: Config) -> &mut Self {
        self.console.0 = Some(config);
        self
    }
}

impl Handle {
    /// Returns the address of this runtime's console, or `None` if it has no console; see
    /// [`Builder::console`].
    pub fn console_address(&self) -> Option<&Address> {
        self.scheduler.config().console.as_ref()
    }
}
