//! The builder of rayon's first versions.
#![allow(deprecated)]

use crate::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::error::Error;

/// What a pool should be like.
#[deprecated(note = "use `ThreadPoolBuilder`")]
#[derive(Debug, Default)]
pub struct Configuration {
    pub(crate) builder: ThreadPoolBuilder,
}

/// Builds the global pool.
///
/// # Errors
/// Like [`ThreadPoolBuilder::build_global`].
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
pub fn initialize(configuration: Configuration) -> Result<(), Box<dyn Error>> {
    configuration.builder.build_global().map_err(Box::from)
}

/// Works like the methods of [`ThreadPoolBuilder`] with these names.
impl Configuration {
    /// What a pool is like if nothing is said.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool.
    ///
    /// # Errors
    /// Like [`ThreadPoolBuilder::build`].
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        self.builder.build().map_err(Box::from)
    }

    /// The names of the threads.
    pub fn thread_name<F>(self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Configuration { builder: self.builder.thread_name(name) }
    }

    /// How many threads there are.
    pub fn num_threads(self, count: usize) -> Self {
        Configuration { builder: self.builder.num_threads(count) }
    }

    /// What becomes of panics that nobody waits for.
    pub fn panic_handler<H>(self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.panic_handler(handler) }
    }

    /// How much stack threads have, in bytes.
    pub fn stack_size(self, bytes: usize) -> Self {
        Configuration { builder: self.builder.stack_size(bytes) }
    }

    /// Jobs of [`spawn`](crate::spawn) in the order in which they were spawned.
    pub fn breadth_first(self) -> Self {
        Configuration { builder: self.builder.breadth_first() }
    }

    /// Called by each thread when it starts.
    pub fn start_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.start_handler(handler) }
    }

    /// Called by each thread when it ends.
    pub fn exit_handler<H>(self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration { builder: self.builder.exit_handler(handler) }
    }
}
