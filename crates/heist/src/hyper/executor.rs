//! `Executor`.

use ::hyper::rt;
use std::future::Future;

/// Spawns hyper's tasks with [`heist::spawn`](crate::spawn), on the runtime of the calling thread.
///
/// # Examples
///
/// ```
/// use hyper::rt::Executor as _;
/// use heist::sync::oneshot;
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// let (sender, receiver) = oneshot::channel();
/// heist::hyper::Executor.execute(async move { sender.send(7).unwrap() });
/// assert_eq!(receiver.await, Ok(7));
/// # }
/// ```
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
