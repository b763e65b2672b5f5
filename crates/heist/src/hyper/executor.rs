//! `Executor`.

use ::hyper::rt;
use std::future::Future;

/// Spawns hyper's tasks with [`heist::spawn`](crate::spawn), on the runtime of the calling thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Executor;

impl<F> rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[track_caller]
    fn execute(&self, future: F) {
        drop(crate::task::spawn(future));
    }
}
