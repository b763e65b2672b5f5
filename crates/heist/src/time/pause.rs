//! Stopped clocks, for tests.

use super::Duration;
use crate::reactor::Reactors;
use crate::runtime::{Handle, RuntimeFlavor};
use crate::task;

/// Stops the clock of the current runtime. Requires the feature `test-util`.
///
/// From now on time passes only when [`advance`] is called, and when there is nothing to do: if no
/// task can run, no closure of [`spawn_blocking`](crate::task::spawn_blocking) is running, and no
/// I/O event is pending, the clock jumps to the next timer. The clock stops at a whole millisecond,
/// so an [`Instant`](super::Instant) may be up to one millisecond later than before.
///
/// # Examples
///
/// ```
/// use heist::time::{self, Duration, Instant};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// time::pause();
/// let before = Instant::now();
/// time::sleep(Duration::from_secs(3600)).await; // takes no real time
/// assert_eq!(before.elapsed(), Duration::from_secs(3600));
/// # }
/// ```
///
/// # Panics
///
/// Panics if the clock is already stopped, if the runtime has worker threads, if it has neither I/O
/// nor timers, or if the calling thread is in no runtime.
#[track_caller]
pub fn pause() {
    let (api, handle) = ("time::pause", Handle::current_for("time::pause"));
    assert!(
        handle.runtime_flavor() == RuntimeFlavor::CurrentThread,
        "{api}: the clock of a runtime with worker threads cannot be paused; use \
         Builder::new_current_thread, or #[heist::test] without `flavor`"
    );
    let has_stopped = reactors(&handle, api).clock.stop();
    assert!(has_stopped, "{api}: time is already frozen; call it once, or time::resume before");
}

/// Restarts the clock of the current runtime from the time that it shows. Requires the feature
/// `test-util`.
///
/// # Examples
///
/// ```
/// use heist::time::{self, Duration, Instant};
///
/// # #[heist::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let before = Instant::now();
/// time::resume();
/// time::sleep(Duration::from_millis(2)).await; // takes real time again
/// assert!(before.elapsed() >= Duration::from_millis(2));
/// # }
/// ```
///
/// # Panics
///
/// Panics if the clock is not stopped, or if the calling thread is in no runtime.
#[track_caller]
pub fn resume() {
    let (api, handle) = ("time::resume", Handle::current_for("time::resume"));
    let was_stopped = reactors(&handle, api).clock.go_on();
    assert!(was_stopped, "{api}: time is not frozen; call time::pause before");
}

/// Moves the stopped clock of the current runtime forward. Requires the feature `test-util`.
///
/// Tasks whose timers expire are woken, and run before this function returns, as far as they need
/// not wait again. The clock moves in one step: a task that sleeps repeatedly for shorter durations
/// wakes only once. To make it run each time, [`sleep`](super::sleep) instead.
///
/// # Examples
///
/// ```
/// use heist::time::{self, Duration, Instant};
///
/// # #[heist::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let nap = heist::spawn(time::sleep(Duration::from_secs(60)));
/// let before = Instant::now();
/// time::advance(Duration::from_secs(59)).await;
/// assert!(!nap.is_finished());
/// time::advance(Duration::from_secs(1)).await;
/// nap.await.unwrap();
/// assert_eq!(before.elapsed(), Duration::from_secs(60));
/// # }
/// ```
///
/// # Panics
///
/// Panics if the clock is not stopped, or if the calling thread is in no runtime.
///
/// # Cancel safety
///
/// The clock moves when the future is first polled. Dropping it afterwards only ends the wait for
/// the tasks that were woken.
pub async fn advance(duration: Duration) {
    step(duration, "time::advance");
    task::yield_now().await;
}

fn step(duration: Duration, api: &str) {
    let handle = Handle::current_for(api);
    let reactors = reactors(&handle, api);
    let is_stopped = reactors.clock.push(duration);
    assert!(is_stopped, "{api}: time is not frozen; call time::pause before");
    reactors.fire_timers();
}

#[track_caller]
fn reactors<'a>(handle: &'a Handle, api: &str) -> &'a Reactors {
    match handle.reactors() {
        Some(reactors) => reactors,
        None => panic!(
            "{api}: this runtime has no clock: call `enable_time` or `enable_all` on its Builder"
        ),
    }
}
