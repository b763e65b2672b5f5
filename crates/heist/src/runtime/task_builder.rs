//! `task::Builder`: spawning tasks with a name.

use super::local_set::{self, LocalSet};
use super::{Handle, current_or_global};
use crate::task::JoinHandle;
use std::future::Future;
use std::io;

/// Spawns a task with a name, which reports and the `Debug` output of its handles show.
///
/// Tasks without a name pay nothing for this.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() -> std::io::Result<()> {
/// let task = heist::task::Builder::new().name("greeter").spawn(async { "hello" })?;
/// assert!(format!("{task:?}").contains("greeter"));
/// assert_eq!(task.await?, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[must_use = "a builder does nothing until one of its spawn methods is called"]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// Creates a builder for a task without a name.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::Builder;
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let task = Builder::new().name("parser").spawn(async { 7 }).unwrap();
    /// assert_eq!(task.await.unwrap(), 7);
    /// # }
    /// ```
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the name of the task. Names need not be unique.
    pub fn name(&self, name: &'a str) -> Self {
        Builder { name: Some(name) }
    }

    /// Spawns a task on the current runtime, or on the global one outside of a runtime; see
    /// [`spawn`](crate::task::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let task = heist::task::Builder::new().name("parser").spawn(async { 7 }).unwrap();
    /// assert_eq!(task.await.unwrap(), 7);
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Panics
    ///
    /// Panics if the global runtime is needed and cannot be started.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_on(future, &current_or_global())
    }

    /// Spawns a task on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// let rt = heist::runtime::Runtime::new()?;
    /// let builder = heist::task::Builder::new().name("adder");
    /// let task = builder.spawn_on(async { 1 + 2 }, rt.handle())?;
    /// assert_eq!(rt.block_on(task)?, 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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

    /// Runs a closure that may block on the current runtime; see
    /// [`spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let sum = heist::task::Builder::new().name("sum").spawn_blocking(|| 1 + 2)?;
    /// assert_eq!(sum.await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no runtime.
    #[track_caller]
    pub fn spawn_blocking<F, R>(self, function: F) -> io::Result<JoinHandle<R>>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.spawn_blocking_on(function, &Handle::current_for("task::Builder::spawn_blocking"))
    }

    /// Runs a closure that may block on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
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

    /// Spawns a task on the current [`LocalSet`]; see [`spawn_local`](crate::task::spawn_local).
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Panics
    ///
    /// Panics if the calling thread is in no `LocalSet`.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set::spawn_with(future, self.name))
    }

    /// Spawns a task on `local_set`.
    ///
    /// # Errors
    ///
    /// Never returns an error; the signature is Tokio's.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::task::{Builder, LocalSet};
    ///
    /// let rt = heist::runtime::Runtime::new()?;
    /// let set = LocalSet::new();
    /// let task = Builder::new().name("local").spawn_local_on(async { 1 + 2 }, &set)?;
    /// assert_eq!(set.block_on(&rt, task)?, 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
