//! `Builder::start_paused`: runtimes whose clock is paused from the beginning.

use super::{Builder, RuntimeFlavor};

impl Builder {
    /// Sets whether the clock of the runtime starts paused, as after
    /// [`time::pause`](crate::time::pause). The default is `false`. This requires the feature
    /// `test-util`.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::runtime::Builder;
    /// use heist::time::{self, Duration, Instant};
    ///
    /// let rt = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    /// rt.block_on(async {
    ///     let before = Instant::now();
    ///     time::sleep(Duration::from_secs(3600)).await; // takes no real time
    ///     assert_eq!(before.elapsed(), Duration::from_secs(3600));
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the runtime has worker threads.
    #[track_caller]
    pub fn start_paused(&mut self, is_so: bool) -> &mut Self {
        assert!(
            !is_so || self.flavor == RuntimeFlavor::CurrentThread,
            "Builder::start_paused: the clock of a runtime with worker threads cannot be paused; \
             use Builder::new_current_thread"
        );
        self.starts_paused = is_so;
        self
    }
}
