//! Options for stalls.

use super::Builder;
use crate::runtime::StallReport;
use std::sync::Arc;
use std::time::Duration;

/// # Stalls
impl Builder {
    /// Sets how long a task may keep its worker while others wait. The default is 10 milliseconds.
    ///
    /// A worker whose current poll takes longer, because it blocks or computes, is *stuck*: the
    /// stall is reported to [`on_stall`](Self::on_stall), and the worker's seat goes to a spare
    /// worker, which runs the tasks that wait.
    ///
    /// A monitor thread checks for stalls every few milliseconds while there is something to run,
    /// and sleeps otherwise; a threshold below that interval has the effect of the interval. A
    /// worker that is *blocked* while work waits loses its seat at the next check, even before the
    /// threshold. With `None`, stalls are not detected, and a stuck worker keeps its seat.
    ///
    /// Tasks that are pinned to a stuck worker or belong to a [`LocalSet`](crate::task::LocalSet)
    /// on it wait in any case. So do all tasks of a runtime with
    /// [`thread_per_core`](Self::thread_per_core), or without worker threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let threshold = Duration::from_millis(50);
    /// let patient = Builder::new_multi_thread().stall_threshold(threshold).build()?;
    /// let unwatched = Builder::new_multi_thread().stall_threshold(None).build()?;
    /// assert_eq!(patient.metrics().stall_count() + unwatched.metrics().stall_count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the threshold is zero.
    #[track_caller]
    pub fn stall_threshold(&mut self, threshold: impl Into<Option<Duration>>) -> &mut Self {
        let threshold = threshold.into();
        assert!(
            threshold != Some(Duration::ZERO),
            "Builder::stall_threshold: with zero every poll would be a stall; ask for 1 millisecond \
             or more, leave it out for 10, or turn it off with None"
        );
        self.stall.threshold = threshold;
        self
    }

    /// Sets a callback for stalls; see [`stall_threshold`](Self::stall_threshold). It replaces the
    /// callback that was set before.
    ///
    /// The monitor thread calls it and watches nothing meanwhile, so it should be short, and it
    /// must not wait for a task. If it panics, the panic hook reports that, and the monitor
    /// continues.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use std::sync::mpsc;
    ///
    /// let (sender, stalls) = mpsc::channel();
    /// let rt = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .on_stall(move |stall| _ = sender.send(stall.to_string()))
    ///     .build()
    ///     .unwrap();
    /// let (release, held) = mpsc::channel::<()>();
    /// // The first task blocks the only worker while the second one waits.
    /// let blocks = rt.spawn(async move { held.recv() });
    /// let waits = rt.spawn(async { "ran on a spare" });
    /// assert_eq!(rt.block_on(waits).unwrap(), "ran on a spare");
    /// drop(release);
    /// rt.block_on(blocks).unwrap().unwrap_err();
    /// drop(rt);
    /// // Each report names the place where the task was spawned.
    /// assert!(stalls.try_iter().all(|stall| stall.contains("spawned at")));
    /// ```
    pub fn on_stall<F>(&mut self, callback: F) -> &mut Self
    where
        F: Fn(&StallReport) + Send + Sync + 'static,
    {
        self.stall.on_stall = Some(Arc::new(callback));
        self
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::env::ThreadSpec;
    use crate::stall::StallConfig;

    fn stall(builder: &Builder) -> StallConfig {
        builder.config(1, ThreadSpec::new()).stall
    }

    /// L2: the default threshold is 10 ms, and the user can change it.
    #[test]
    fn l2_the_threshold_is_what_the_user_says() {
        let mut builder = Builder::new_multi_thread();
        assert_eq!(stall(&builder).threshold, Some(Duration::from_millis(10)));
        builder.stall_threshold(Duration::from_millis(50));
        assert_eq!(stall(&builder).threshold, Some(Duration::from_millis(50)));
        builder.stall_threshold(None);
        assert_eq!(stall(&builder).threshold, None);
        builder.stall_threshold(Some(Duration::MAX));
        assert_eq!(stall(&builder).threshold, Some(Duration::MAX));
    }

    #[test]
    fn the_last_hook_counts() {
        let mut builder = Builder::new_multi_thread();
        assert!(stall(&builder).on_stall.is_none());
        let (first, last) = (Arc::new(()), Arc::new(()));
        let [held_first, held_last] = [&first, &last].map(Arc::clone);
        builder.on_stall(move |_| _ = &held_first).on_stall(move |_| _ = &held_last);
        assert!(stall(&builder).on_stall.is_some());
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&last)), (1, 2));
    }
}
