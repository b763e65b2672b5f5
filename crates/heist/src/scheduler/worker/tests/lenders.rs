//! What a worker does after a job in which its seat was borrowed, step by step (F3).

use super::*;
use crate::runtime::Handle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls from outside that worker 0 has come to.
#[derive(Clone, Default)]
struct Calls(Arc<AtomicU32>);

impl Calls {
    fn call(&self, f: impl FnOnce() + Send + 'static) {
        let (calls, handle) = (self.clone(), Handle::of_worker(&stage().players[0].worker));
        let job = move || {
            f();
            calls.0.fetch_add(1, Ordering::Relaxed);
        };
        super::super::outside(|| handle.spawn_detached(job));
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Worker 0 is back from a job, in the middle of which `f` was called, and a spare sits on its
/// seat.
fn stage_of_lender(f: impl FnOnce() + Send + 'static) -> Rc<Stage> {
    const SPARE: usize = 1;
    let stage = Stage::with_spares(1, 1, Some(u32::MAX), 7);
    Calls::default().call(|| {
        super::super::outside(|| drop(super::stage().spawn(async {})));
        // It comes, and runs the task; that there is no more it does not know yet.
        (0..2).for_each(|_| _ = super::stage().step(SPARE));
        f();
    });
    assert_eq!(stage.step(0), Step::Ran);
    assert_eq!(stage.step(0), Step::Unseated);
    assert_eq!(stage.scheduler.seats[0].holder(), Some(SPARE));
    stage
}

fn is_recalled(stage: &Stage) -> bool {
    stage.scheduler.seats[0].is_recalled()
}

/// It asks for its seat before it runs another job: a task may lie in its ring.
#[test]
fn f3_a_lender_asks_for_its_seat_before_the_next_job() {
    let stage = stage_of_lender(|| drop(super::stage().spawn(async {})));
    assert_eq!(stage.ring_len(0), 1);
    let calls = Calls::default();
    calls.call(|| ());
    stage.step(0);
    assert_eq!((calls.count(), is_recalled(&stage)), (0, true));
    stage.run();
    assert_eq!((calls.count(), stage.ring_len(0)), (1, 0));
}

/// No job waits: it asks for its seat at once.
#[test]
fn f3_a_lender_without_a_job_wants_its_seat() {
    let stage = stage_of_lender(|| ());
    stage.step(0);
    assert!(is_recalled(&stage));
    stage.run();
    assert!(stage.is_asleep(0));
}
