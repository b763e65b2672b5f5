//! Executors, threads and futures outside of heist.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

pub type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Runs a future on this thread with the standard library alone.
pub fn park_on<F: Future>(future: F) -> F::Output {
    struct Bell(Mutex<bool>, Condvar);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() = true;
            self.1.notify_one();
        }
    }

    let bell = Arc::new(Bell(Mutex::new(false), Condvar::new()));
    let waker = Waker::from(Arc::clone(&bell));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        let mut rung = bell.0.lock().unwrap();
        while !*rung {
            rung = bell.1.wait(rung).unwrap();
        }
        *rung = false;
    }
}

/// Polls all of them in one task until all have ended.
pub async fn join_all<T>(futures: Vec<Boxed<T>>) -> Vec<T> {
    let mut slots: Vec<_> = futures.into_iter().map(|future| (Some(future), None)).collect();
    poll_fn(|cx| {
        let mut is_over = true;
        for (future, output) in &mut slots {
            let Some(pending) = future else { continue };
            match pending.as_mut().poll(cx) {
                Poll::Ready(ready) => (*future, *output) = (None, Some(ready)),
                Poll::Pending => is_over = false,
            }
        }
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    slots.into_iter().filter_map(|(_, output)| output).collect()
}

/// Polls once.
pub async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// Calls `act` on one of a few threads that belong to no runtime.
pub fn elsewhere(act: impl FnOnce() + Send + 'static) {
    type Act = Box<dyn FnOnce() + Send>;
    static THREADS: OnceLock<Sender<Act>> = OnceLock::new();

    let threads = THREADS.get_or_init(|| {
        let (sender, receiver) = channel::<Act>();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..3 {
            let receiver = Arc::clone(&receiver);
            thread::spawn(move || {
                loop {
                    // A statement of its own, so that the lock is not held during the call.
                    let act = receiver.lock().unwrap().recv();
                    let Ok(act) = act else { break };
                    act();
                }
            });
        }
        sender
    });
    threads.send(Box::new(act)).expect("the threads do not end");
}

/// Is pending until another thread wakes it, in one of several ways.
pub async fn wake_from_elsewhere(variant: u64) {
    let is_woken = Arc::new(AtomicBool::new(false));
    let mut has_begun = false;
    poll_fn(|cx| {
        if is_woken.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        // Each poll passes on its own waker: the task may have moved.
        let (waker, flag) = (cx.waker().clone(), Arc::clone(&is_woken));
        let wake = move || {
            flag.store(true, Ordering::Release);
            match variant % 3 {
                0 => waker.wake(),
                1 => {
                    let copy = waker.clone();
                    waker.wake_by_ref();
                    copy.wake();
                }
                _ => {
                    waker.wake_by_ref();
                    thread::yield_now();
                    drop(waker);
                }
            }
        };
        match variant / 3 % 4 {
            // During the poll.
            0 if !has_begun => wake(),
            1 => drop(thread::spawn(wake)),
            _ => elsewhere(wake),
        }
        has_begun = true;
        Poll::Pending
    })
    .await;
}
