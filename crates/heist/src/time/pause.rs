//! Clocks that stand still, for tests.

use super::Duration;
use crate::reactor::Reactors;
use crate::runtime::{Handle, RuntimeFlavor};
use crate::task;

/// Stops the clock of the runtime. With the feature `test-util`.
///
/// From now on time passes when [`advance`] says so, and when there is nothing to do: if no task can be run, no
/// closure of [`spawn_blocking`](crate::task::spawn_blocking) runs, and nothing has come to a socket, the clock
/// jumps to the next timer. The clock stops at a whole millisecond, so [`Instant`](super::Instant)s may be up
/// to one later than they were.
///
/// ```
/// use heist::time::{self, Duration, Instant};
///
/// # #[heist::main(flavor = "current_thread")]
/// # async fn main() {
/// time::pause();
/// let before = Instant::now();
/// time::sleep(Duration::from_secs(3600)).await;
/// assert_eq!(before.elapsed(), Duration::from_secs(3600));
/// # }
/// ```
///
/// # Panics
/// If the clock stands still already, if the runtime has worker threads or neither I/O nor timers, or if the
/// calling thread is in no runtime.
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

/// Lets the clock of the runtime go on, from what it shows. With the feature `test-util`.
///
/// # Panics
/// If the clock does not stand still, or the calling thread is in no runtime.
#[track_caller]
pub fn resume() {
    let (api, handle) = ("time::resume", Handle::current_for("time::resume"));
    let was_stopped = reactors(&handle, api).clock.go_on();
    assert!(was_stopped, "{api}: time is not frozen; call time::pause before");
}

/// Moves the clock of the runtime on by so much. With the feature `test-util`.
///
/// Whoever waits for a time that has come then is woken, and gets its turn before this goes on, unless it
/// has more to wait for. The clock moves in one step: a task that sleeps again and again, each time for less
/// than that, does so once; to have it do all of it, [`sleep`](super::sleep) instead.
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
/// If the clock does not stand still, or the calling thread is in no runtime.
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
