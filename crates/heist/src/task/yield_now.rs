//! Letting others go first.

use std::future::poll_fn;
use std::task::Poll;

/// Gives the worker back once: other tasks that are ready run before this one goes on.
///
/// The task goes to the end of its worker's queue, not to the slot for the task woken last.
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
