//! Spawning with a name.

use super::local_set::{self, LocalSet};
use super::{Handle, current_or_global};
use crate::task::JoinHandle;
use std::future::Future;
use std::io;

/// Spawns a task with more to be said about it than [`spawn`](crate::task::spawn) can.
///
/// The name is shown by the `Debug` of the task's handles and by reports. A task that has none
/// pays nothing for those that do.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let rt = heist::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
/// # let _entered = rt.enter();
/// let task = heist::task::Builder::new().name("greeter").spawn(async { "hello" })?;
/// assert!(format!("{task:?}").contains("greeter"));
/// # assert_eq!(rt.block_on(task)?, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use = "a builder does nothing until one of its spawn methods is called"]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// A builder of tasks without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// The task's name. It need not be unlike others.
    pub fn name(&self, name: &'a str) -> Self {
        Builder { name: Some(name) }
    }

    /// Runs a future on the current runtime; on a thread that is in none, on the global one, as
    /// [`spawn`](crate::task::spawn).
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    ///
    /// # Panics
    /// As [`spawn`](crate::task::spawn).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_on(future, &current_or_global())
    }

    /// Runs a future on the runtime of `handle`.
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(match self.name {
            Some(name) => handle.spawn_named(future, name),
            None => handle.spawn(future),
        })
    }
    /// Runs a closure that may block, on the current runtime.
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    ///
    /// # Panics
    /// If the calling thread is in no runtime, as [`spawn_blocking`](crate::task::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, function: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_on(function, &Handle::current_for("task::Builder::spawn_blocking"))
    }

    /// Runs a closure that may block, on the runtime of `handle`.
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_blocking_on<F, R>(self, function: F, handle: &Handle) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        Ok(match self.name {
            Some(name) => handle.spawn_blocking_named(function, name),
            None => handle.spawn_blocking(function),
        })
    }

    /// Adds a task to the current [`LocalSet`].
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    ///
    /// # Panics
    /// If the calling thread is in no set, as [`spawn_local`](crate::task::spawn_local).
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set::spawn_with(future, self.name))
    }

    /// Adds a task to `local_set`.
    ///
    /// # Errors
    /// None at present; the signature is Tokio's.
    #[track_caller]
    pub fn spawn_local_on<F>(
        self,
        future: F,
        local_set: &LocalSet,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_with(future, self.name))
    }
}
