//! Listeners that are polled with wakers of other code. The runtime that announces a signal calls
//! them, and a process has no other while they wait: this is a program of its own.

mod support;

use heist::signal::unix::{Signal, SignalKind, signal};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use support::runtime;
use support::signals::raise;

/// A waker that waits for the next one to be called.
struct InTurn {
    before: Mutex<mpsc::Receiver<()>>,
    after: mpsc::Sender<()>,
}

impl Wake for InTurn {
    fn wake(self: Arc<Self>) {
        self.before.lock().unwrap().recv().unwrap();
        self.after.send(()).unwrap();
    }
}

/// L2: the wakers of listeners may wait for each other, in either order.
#[test]
fn l2_wakers_of_listeners_may_wait_for_each_other() {
    const COUNT: usize = 3;
    let kind = SignalKind::user_defined1();
    // Kept, because others would take their places in the reverse order, and so be told.
    let mut kept = Vec::new();
    for is_reversed in [false, true] {
        let rt = runtime(1);
        let _entered = rt.enter();
        let (first, mut before) = mpsc::channel();
        let mut wakers = Vec::new();
        for _ in 0..COUNT {
            let (after, next) = mpsc::channel();
            let before = Mutex::new(std::mem::replace(&mut before, next));
            wakers.push(Waker::from(Arc::new(InTurn { before, after })));
        }
        if is_reversed {
            wakers.reverse();
        }
        let mut listeners: Vec<Signal> = (0..COUNT).map(|_| signal(kind).unwrap()).collect();
        for (listener, waker) in listeners.iter_mut().zip(&wakers) {
            assert!(listener.poll_recv(&mut Context::from_waker(waker)).is_pending());
        }
        raise(kind);
        first.send(()).unwrap();
        before.recv().unwrap();
        kept.append(&mut listeners);
    }
}
