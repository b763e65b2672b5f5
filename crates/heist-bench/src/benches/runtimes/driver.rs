//! The thread that a side is driven from.
//!
//! The runtime is built, used from outside and dropped on this thread, and the thread that
//! measures only waits for it. So a runtime that loses a task or a wake-up ends the run with a
//! message, where it would have hung for good.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{AsyncRuntime, Story};
use crate::bench::{Fault, Sample, Setup};

/// Many times longer than any sample.
pub const GIVE_UP: Duration = Duration::from_secs(60);

/// Dropped, it waits until the runtime is gone, so that the next bench is not disturbed.
pub struct Driver {
    /// How many iterations the next sample has; None when the thread is to leave.
    orders: Option<Sender<u64>>,
    reports: Receiver<Report>,
    /// None if the thread is lost.
    thread: Option<JoinHandle<()>>,
    patience: Duration,
}

/// The first one, without a sample, says that the runtime is up.
type Report = Result<Option<Sample>, Fault>;

impl Driver {
    pub fn start<R: AsyncRuntime, S: Story>(
        setup: Setup,
        make: impl Fn(&Setup) -> S + Send + 'static,
        patience: Duration,
    ) -> Result<Self, Fault> {
        let (orders, taken) = mpsc::channel();
        let (sender, reports) = mpsc::channel();
        let work = move || {
            if let Err(fault) = drive::<R, S>(&setup, make, taken, &sender) {
                // Nobody listens if the driver has been given up.
                let _ = sender.send(Err(fault));
            }
        };
        let thread =
            thread::Builder::new().name("driver".to_owned()).spawn(work).map_err(Fault::Setup)?;
        let thread = Some(thread);
        let mut driver = Driver { orders: Some(orders), reports, thread, patience };
        driver.report()?;
        Ok(driver)
    }

    pub fn sample(&mut self, iterations: u64) -> Result<Sample, Fault> {
        if let Some(orders) = &self.orders {
            // A thread that cannot take it is gone; the report will tell why.
            let _ = orders.send(iterations);
        }
        self.report().map(|sample| sample.expect("a sample has iterations"))
    }

    fn report(&mut self) -> Report {
        match self.reports.recv_timeout(self.patience) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => {
                self.thread = None;
                Err(Fault::Stuck { waited: self.patience })
            }
            Err(RecvTimeoutError::Disconnected) => {
                let ended = self.thread.take().map(JoinHandle::join);
                match ended {
                    Some(Err(panic)) => resume_unwind(panic),
                    _ => Err(Fault::Panicked("the driver left without a word".to_owned())),
                }
            }
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.orders = None;
        let Some(thread) = self.thread.take() else { return };
        // Reports are left only if the run is over; the channel's end is the thread's.
        while !thread.is_finished() {
            match self.reports.recv_timeout(self.patience) {
                Ok(_) => (),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    // A second panic would abort, and hide the first.
                    assert!(thread::panicking(), "a runtime does not shut down");
                    return;
                }
            }
        }
        // What a panic said has been printed where it happened.
        let _ = thread.join();
    }
}

/// The life of the driver thread.
fn drive<R: AsyncRuntime, S: Story>(
    setup: &Setup,
    make: impl Fn(&Setup) -> S,
    orders: Receiver<u64>,
    reports: &Sender<Report>,
) -> Result<(), Fault> {
    let mut story = make(setup);
    let first = start::<R>(setup)?;
    story.ready(&first)?;
    let mut runtime = Some(first);
    let _ = reports.send(Ok(None));
    for iterations in orders {
        // A fault is told before the runtime is dropped, which may take its time then.
        let _ = reports.send(iterate(&mut story, &mut runtime, setup, iterations));
    }
    Ok(())
}

fn start<R: AsyncRuntime>(setup: &Setup) -> Result<R, Fault> {
    R::start(setup.workers).map_err(Fault::Setup)
}

/// One sample; none if there are no iterations.
fn iterate<R: AsyncRuntime, S: Story>(
    story: &mut S,
    runtime: &mut Option<R>,
    setup: &Setup,
    iterations: u64,
) -> Report {
    let mut total = None;
    for _ in 0..iterations {
        if S::FRESH {
            // The old one first: two at a time would share the cores.
            *runtime = None;
        }
        let runtime = match &mut *runtime {
            Some(runtime) => runtime,
            none => none.insert(start(setup)?),
        };
        total = Some(add(total, story.sample(runtime)?));
    }
    Ok(total)
}

/// Values do not add up; they come from benches that have one iteration.
fn add(total: Option<Sample>, sample: Sample) -> Sample {
    match (total, sample) {
        (
            Some(Sample::Timed { elapsed, operations }),
            Sample::Timed { elapsed: e, operations: o },
        ) => Sample::Timed { elapsed: elapsed + e, operations: operations + o },
        (_, sample) => sample,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sides::Tokio;
    use super::*;
    use futures_lite::future::block_on;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Says how often it was sampled, until it does something else.
    struct Counts {
        samples: u64,
        then: fn() -> Result<(), Fault>,
    }

    impl Story for Counts {
        fn sample<R: AsyncRuntime>(&mut self, _: &R) -> Result<Sample, Fault> {
            self.samples += 1;
            if self.samples > 2 {
                (self.then)()?;
            }
            Ok(Sample::Value(self.samples as f64))
        }
    }

    /// The third sample of a story.
    fn third(then: fn() -> Result<(), Fault>, patience: Duration) -> Result<Sample, Fault> {
        let setup = Setup { workers: 1, quick: true };
        let make = move |_: &Setup| Counts { samples: 0, then };
        let mut driver = Driver::start::<Tokio, Counts>(setup, make, patience)?;
        for sample in 1..=2 {
            assert_eq!(driver.sample(1)?, Sample::Value(f64::from(sample)));
        }
        driver.sample(1)
    }

    #[test]
    fn a_story_goes_on_from_sample_to_sample() {
        assert_eq!(third(|| Ok(()), GIVE_UP).unwrap(), Sample::Value(3.0));
    }

    #[test]
    fn times_of_iterations_add_up() {
        let timed =
            |ms, operations| Sample::Timed { elapsed: Duration::from_millis(ms), operations };
        let total = [timed(3, 10), timed(4, 20)]
            .into_iter()
            .fold(None, |total, sample| Some(add(total, sample)));
        assert_eq!(total, Some(timed(7, 30)));
    }

    #[test]
    fn a_fault_is_handed_on() {
        let wrong = || Err(Fault::Wrong { what: "x", expected: 1, found: 2 });
        let message = third(wrong, GIVE_UP).unwrap_err().to_string();
        assert_eq!(message, "x: expected 1, found 2");
    }

    #[test]
    fn a_story_that_hangs_is_given_up() {
        let hang = || {
            block_on(std::future::pending::<()>());
            Ok(())
        };
        let fault = third(hang, Duration::from_millis(500)).unwrap_err();
        assert!(matches!(fault, Fault::Stuck { .. }), "{fault}");
    }

    #[test]
    fn a_panic_reaches_the_thread_that_measures() {
        let panics = || panic!("out of tasks");
        let third = AssertUnwindSafe(|| third(panics, GIVE_UP));
        let panic = catch_unwind(third).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"out of tasks"));
    }

    #[test]
    fn a_runtime_that_cannot_start_is_a_fault() {
        let setup = Setup { workers: 1000, quick: true };
        let make = |_: &Setup| Counts { samples: 0, then: || Ok(()) };
        let driver = Driver::start::<super::super::sides::Nio, _>(setup, make, GIVE_UP);
        let message = driver.err().expect("nio has no 1000 workers").to_string();
        assert!(message.contains("at most 255"), "{message}");
    }
}
