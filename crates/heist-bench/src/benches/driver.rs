//! The thread that a side is driven from.
//!
//! The runtime is built, used from outside and dropped on this thread, and the thread that
//! measures only waits for it. So a runtime that loses a task or a wake-up ends the run with a
//! message, where it would have hung for good.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::bench::{Fault, Sample};

/// Many times longer than any sample.
pub const GIVE_UP: Duration = Duration::from_secs(60);

/// Dropped, it waits until the runtime is gone, so that the next bench is not disturbed.
pub struct Driver {
    /// How many iterations the next sample has; None when the thread is to leave.
    orders: Option<Sender<u64>>,
    reports: Receiver<Report>,
    /// The thread; `None` if it is lost.
    thread: Option<JoinHandle<()>>,
    patience: Duration,
}

/// The first one, without a sample, says that the runtime is up.
type Report = Result<Option<Sample>, Fault>;

impl Driver {
    /// `start` sets the side up, and returns what is sampled; both stay on the driver's thread.
    pub fn start<S>(
        start: impl FnOnce() -> Result<S, Fault> + Send + 'static,
        patience: Duration,
    ) -> Result<Self, Fault>
    where
        S: FnMut(u64) -> Result<Sample, Fault>,
    {
        let (orders, taken) = mpsc::channel();
        let (sender, reports) = mpsc::channel();
        let work = move || {
            if let Err(fault) = drive(start, taken, &sender) {
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
        self.report().map(|sample| sample.expect("only the first report is without"))
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
fn drive<S>(
    start: impl FnOnce() -> Result<S, Fault>,
    orders: Receiver<u64>,
    reports: &Sender<Report>,
) -> Result<(), Fault>
where
    S: FnMut(u64) -> Result<Sample, Fault>,
{
    let mut subject = start()?;
    let _ = reports.send(Ok(None));
    for iterations in orders {
        // A fault is told before the runtime is dropped, which may take its time then.
        let _ = reports.send(subject(iterations).map(Some));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// The third sample of a side that says how often it was sampled, until it does something
    /// else.
    fn third(then: fn() -> Result<(), Fault>, patience: Duration) -> Result<Sample, Fault> {
        let start = move || {
            let mut samples = 0;
            Ok(move |_| {
                samples += 1;
                if samples > 2 {
                    then()?;
                }
                Ok(Sample::Value(f64::from(samples)))
            })
        };
        let mut driver = Driver::start(start, patience)?;
        for sample in 1..=2 {
            assert_eq!(driver.sample(1)?, Sample::Value(f64::from(sample)));
        }
        driver.sample(1)
    }

    #[test]
    fn a_side_goes_on_from_sample_to_sample() {
        assert_eq!(third(|| Ok(()), GIVE_UP).unwrap(), Sample::Value(3.0));
    }

    #[test]
    fn a_fault_is_handed_on() {
        let wrong = || Err(Fault::Wrong { what: "x", expected: 1, found: 2 });
        let message = third(wrong, GIVE_UP).unwrap_err().to_string();
        assert_eq!(message, "x: expected 1, found 2");
    }

    #[test]
    fn a_side_that_hangs_is_given_up() {
        let hang = || loop {
            thread::park();
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
    fn a_side_that_cannot_start_is_a_fault() {
        let start = || Err::<fn(u64) -> _, _>(Fault::Setup(std::io::ErrorKind::OutOfMemory.into()));
        let driver = Driver::start(start, GIVE_UP);
        assert!(matches!(driver.err(), Some(Fault::Setup(_))));
    }
}
