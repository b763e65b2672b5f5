//! `yield_now`: letting other tasks run.

use std::future::poll_fn;
use std::task::Poll;

/// Yields, so that other ready tasks can run. Their order is not guaranteed.
///
/// The task is put at the end of its worker's queue, not into the LIFO slot.
///
/// # Examples
///
/// ```
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// # heist::spawn(async {
/// // On a runtime without worker threads, or with one worker:
/// let task = heist::spawn(async { "ran" });
/// assert!(!task.is_finished());
/// heist::task::yield_now().await;
/// assert!(task.is_finished());
/// # }).await.unwrap();
/// # }
/// ```
///
/// # Cancel safety
///
/// This function is cancel safe.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        // Woken while it runs, a task is put at the end of the queue by its worker.
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
