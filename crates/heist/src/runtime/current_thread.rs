//! The flavour without worker threads: tasks run on whatever thread waits in `block_on`.

use super::block_on::Unpark;
use crate::scheduler::Worker;
use crate::task::coop;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The one worker, and the threads that would like to run it.
///
/// A thread in `block_on` takes the worker and runs tasks until its own future is ready. Others
/// that come meanwhile wait for their futures only, which the first one's tasks will wake; when
/// the first one leaves it wakes them all, and one of them takes over.
pub(super) struct Driver {
    seat: Mutex<Seat>,
}

struct Seat {
    worker: Option<Worker>,
    waiting: Vec<Arc<Unpark>>,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driver")
    }
}

impl Driver {
    pub(super) fn new(worker: Worker) -> Self {
        Driver { seat: Mutex::new(Seat { worker: Some(worker), waiting: Vec::new() }) }
    }

    /// Runs `future` on this thread, and tasks beside it if nobody else does.
    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let unpark = Arc::new(Unpark::new());
        let waker = Waker::from(unpark.clone());
        let mut cx = Context::from_waker(&waker);
        loop {
            if let Some(seated) = Seated::take(self, &unpark) {
                return seated.worker().drive(future.as_mut());
            }
            if let Poll::Ready(output) = coop::with_fresh_budget(|| future.as_mut().poll(&mut cx)) {
                self.lock().waiting.retain(|other| !Arc::ptr_eq(other, &unpark));
                return output;
            }
            unpark.park();
        }
    }

    /// Cancels what is left in the worker's queues.
    pub(super) fn shut_down(&self) {
        let worker = self.lock().worker.take();
        // Outside of the lock: tasks may do anything when they are dropped.
        drop(worker);
    }

    fn lock(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that has the worker; gives it back at the end, also when it unwinds.
struct Seated<'a> {
    driver: &'a Driver,
    worker: Option<Worker>,
}

impl<'a> Seated<'a> {
    /// Takes the worker; or `None`, and then `unpark` is woken when it is free.
    fn take(driver: &'a Driver, unpark: &Arc<Unpark>) -> Option<Self> {
        let mut seat = driver.lock();
        seat.waiting.retain(|other| !Arc::ptr_eq(other, unpark));
        match seat.worker.take() {
            Some(worker) => Some(Seated { driver, worker: Some(worker) }),
            None => {
                seat.waiting.push(unpark.clone());
                None
            }
        }
    }

    fn worker(&self) -> &Worker {
        self.worker.as_ref().expect("given back in drop only")
    }
}

impl Drop for Seated<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut seat = self.driver.lock();
            seat.worker = self.worker.take();
            std::mem::take(&mut seat.waiting)
        };
        waiting.iter().for_each(|other| other.unpark());
    }
}
