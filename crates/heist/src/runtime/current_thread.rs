//! The flavor without worker threads: tasks run on the thread that is in `block_on`.

use super::block_on::{Unpark, Waiter};
use crate::scheduler::{Driven, Worker};
use crate::task::coop;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// The one worker, and the threads that wait to run it.
///
/// A thread in `block_on` takes the worker and runs tasks until its own future is ready. Other
/// threads in `block_on` meanwhile only poll their futures. When the first thread leaves, it wakes
/// all of them, and one takes over.
pub(super) struct Driver {
    seat: Mutex<Seat>,
}

struct Seat {
    worker: Option<Box<Driven>>,
    waiting: Vec<Arc<Unpark>>,
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driver")
    }
}

impl Driver {
    pub(super) fn new(worker: Worker) -> Self {
        let worker = Some(Box::new(Driven::new(worker)));
        Driver { seat: Mutex::new(Seat { worker, waiting: Vec::new() }) }
    }

    /// Runs `future` on this thread, and tasks too unless another thread does.
    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let future = pin!(future);
        match Seated::take(self) {
            Some(seated) => seated.worker().run(future),
            None => self.block_on_beside(future),
        }
    }

    /// Runs `future` while another thread runs the tasks. Takes over when that thread has left.
    #[cold]
    fn block_on_beside<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        Waiter::with(|waiter| {
            let (unpark, mut cx) = (waiter.unpark(), waiter.context());
            let _waiting = Waiting { driver: self, unpark };
            loop {
                if let Some(seated) = Seated::take_or_wait(self, unpark) {
                    return seated.worker().run(future);
                }
                let poll = coop::with_fresh_budget(|| future.as_mut().poll(&mut cx));
                if let Poll::Ready(output) = poll {
                    return output;
                }
                waiter.park();
            }
        })
    }

    /// Leaves the worker's jobs to the threads that drop the leftovers.
    pub(super) fn leave_jobs(&self) {
        if let Some(worker) = &self.lock().worker {
            worker.leave_jobs();
        }
    }

    /// Cancels what is left in the worker's queues.
    pub(super) fn shut_down(&self) {
        let worker = self.lock().worker.take();
        // Outside of the lock, because dropping tasks may run any code.
        drop(worker);
    }

    fn lock(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Removes a waiting thread, if it is one.
    fn forget(&mut self, unpark: &Arc<Unpark>) {
        self.waiting.retain(|other| !Arc::ptr_eq(other, unpark));
    }
}

/// A guard of a thread that may wait for the worker, also when it unwinds.
struct Waiting<'a> {
    driver: &'a Driver,
    unpark: &'a Arc<Unpark>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.driver.lock().forget(self.unpark);
    }
}

/// A guard of the thread that has the worker. Returns it on drop, also when it unwinds.
struct Seated<'a> {
    driver: &'a Driver,
    worker: Option<Box<Driven>>,
}

impl<'a> Seated<'a> {
    fn take(driver: &'a Driver) -> Option<Self> {
        let worker = driver.lock().worker.take()?;
        Some(Seated { driver, worker: Some(worker) })
    }

    /// Takes the worker, or returns `None` and has `unpark` woken when it is free.
    fn take_or_wait(driver: &'a Driver, unpark: &Arc<Unpark>) -> Option<Self> {
        let mut seat = driver.lock();
        seat.forget(unpark);
        let worker = seat.worker.take();
        if worker.is_none() {
            seat.waiting.push(unpark.clone());
            return None;
        }
        Some(Seated { driver, worker })
    }

    fn worker(&self) -> &Driven {
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

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::runtime::Builder;
    use std::future::ready;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    /// A thread that arrives while another runs tasks is forgotten when it leaves, also by a panic.
    #[test]
    fn nobody_waits_for_the_worker_who_has_left() {
        let runtime = Builder::new_current_thread().build().unwrap();
        let waiting = || runtime.driver.as_ref().unwrap().lock().waiting.len();
        runtime.block_on(async {
            thread::scope(|scope| {
                let beside = scope.spawn(|| {
                    runtime.block_on(ready(()));
                    let panics = || runtime.block_on(async { panic!("oh") });
                    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
                    waiting()
                });
                assert_eq!(beside.join().unwrap(), 0);
            });
        });
    }
}
