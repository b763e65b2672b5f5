//! Futures that let a test decide what happens when.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// A gate that is closed at first. A task that passes waits until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    pub fn open(&self) {
        let wakers = {
            let mut gate = self.0.lock().unwrap();
            gate.0 = true;
            std::mem::take(&mut gate.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub fn pass(&self) -> impl Future<Output = ()> + Send + Unpin + 'static {
        let gate = self.0.clone();
        poll_fn(move |cx| {
            let mut gate = gate.lock().unwrap();
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

/// Counts how often a future is polled.
pub struct CountPolls<F> {
    future: Pin<Box<F>>,
    polls: usize,
}

pub fn count_polls<F: Future>(future: F) -> CountPolls<F> {
    CountPolls { future: Box::pin(future), polls: 0 }
}

impl<F: Future> Future for CountPolls<F> {
    /// The output, and the number of polls.
    type Output = (F::Output, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.polls += 1;
        let polls = self.polls;
        self.future.as_mut().poll(cx).map(|output| (output, polls))
    }
}

/// Waits until `is_so`, letting others run.
pub async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::yield_now();
        heist::task::yield_now().await;
    }
}
