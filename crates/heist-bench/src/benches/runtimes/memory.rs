//! What a task costs while it waits: memory.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use futures_lite::future::block_on;

use super::roll::RollCall;
use super::{AsyncRuntime, Story};
use crate::alloc::Balance;
use crate::bench::{Bench, Fault, Sample, Setup};
use crate::unit::Unit;

const TASKS: u64 = 1_000_000;

/// The maximum number of tasks that are spawned but do not wait yet: this bench does not measure
/// queues.
const AT_ONCE: u64 = 256;

pub fn bench() -> Bench {
    super::bench(
        "task_bytes",
        "1 000 000 tasks that wait, with futures of 16 bytes; allocated bytes per task",
        Unit::B,
        ParkedTasks::new,
    )
}

struct ParkedTasks {
    tasks: u64,
    lot: &'static ParkingLot,
}

impl ParkedTasks {
    fn new(setup: &Setup) -> Self {
        let lot = ParkingLot { roll: RollCall::leak(), parked: Mutex::default() };
        ParkedTasks { tasks: setup.scaled(TASKS), lot: Box::leak(Box::new(lot)) }
    }
}

impl Story for ParkedTasks {
    /// What a runtime keeps from one sample to the next, such as a list of its tasks that has
    /// grown, would be missing from the second sample on.
    const FRESH: bool = true;

    fn sample<R: AsyncRuntime>(&mut self, runtime: &R) -> Result<Sample, Fault> {
        let ParkedTasks { tasks, lot } = *self;
        let all = lot.roll.begin(tasks)?;
        lot.lock().wakers.reserve(tasks as usize);
        let handle = runtime.handle();

        let balance = Balance::open();
        for number in 0..tasks {
            R::detach(R::spawn_from_outside(&handle, Parked { lot, number }));
            if (number + 1) % AT_ONCE == 0 {
                lot.wait_for(number + 1);
            }
        }
        lot.wait_for(tasks);
        let bytes = balance.close();

        lot.open();
        block_on(all);
        lot.roll.check()?;
        lot.close();
        Ok(Sample::Value(bytes as f64 / tasks as f64))
    }
}

/// Where the tasks wait. Allocates nothing while they come.
struct ParkingLot {
    roll: &'static RollCall,
    parked: Mutex<Wakers>,
}

#[derive(Default)]
struct Wakers {
    wakers: Vec<Waker>,
    open: bool,
}

impl ParkingLot {
    fn lock(&self) -> MutexGuard<'_, Wakers> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until this many tasks wait.
    fn wait_for(&self, tasks: u64) {
        while (self.lock().wakers.len() as u64) < tasks {
            thread::yield_now();
        }
    }

    /// Lets all tasks go.
    fn open(&self) {
        let mut parked = self.lock();
        parked.open = true;
        let wakers = std::mem::take(&mut parked.wakers);
        drop(parked);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn close(&self) {
        self.lock().open = false;
    }
}

/// A task that waits until the lot opens.
struct Parked {
    lot: &'static ParkingLot,
    number: u64,
}

impl Future for Parked {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut parked = self.lot.lock();
        if !parked.open {
            parked.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        drop(parked);
        self.lot.roll.here(self.number);
        Poll::Ready(())
    }
}
