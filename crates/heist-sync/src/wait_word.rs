//! A word that a thread can sleep on.
//!
//! On Linux this is a futex: a sleeper need not undo anything when it is woken, and the thread that
//! wakes it accesses nothing but the word. Elsewhere, and under loom, it is a lock and a condition
//! variable.

use crate::AtomicU32;
use bed::Bed;
use std::ops::Deref;
use std::time::Duration;

/// An atomic word on which threads can sleep while it has a certain value.
///
/// # Examples
///
/// ```
/// use heist_sync::{Ordering, WaitWord};
///
/// let is_done = WaitWord::new(0);
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         is_done.store(1, Ordering::Release);
///         is_done.wake_one();
///     });
///     while is_done.load(Ordering::Acquire) == 0 {
///         is_done.sleep_while(0, None);
///     }
/// });
/// ```
pub struct WaitWord {
    word: AtomicU32,
    bed: Bed,
}

impl WaitWord {
    /// Creates a word with this value.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{Ordering, WaitWord};
    ///
    /// assert_eq!(WaitWord::new(5).load(Ordering::Relaxed), 5);
    /// ```
    pub fn new(value: u32) -> Self {
        WaitWord { word: AtomicU32::new(value), bed: Bed::new() }
    }

    /// Sleeps until it is [woken](Self::wake_one), for at most about `limit`, if the word has this
    /// value. Spurious wake-ups are possible. This orders no memory accesses.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::WaitWord;
    /// use std::time::Duration;
    ///
    /// let word = WaitWord::new(1);
    /// word.sleep_while(0, None); // Returns at once, because the word has another value.
    /// word.sleep_while(1, Some(Duration::from_millis(1)));
    /// ```
    pub fn sleep_while(&self, value: u32, limit: Option<Duration>) {
        self.bed.sleep_while(&self.word, value, limit);
    }

    /// Wakes one sleeping thread. If only one thread sleeps, changing the word and then calling
    /// this does not leave it asleep on the old value.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{Ordering, WaitWord};
    ///
    /// let word = WaitWord::new(0);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         while word.load(Ordering::Acquire) == 0 {
    ///             word.sleep_while(0, None);
    ///         }
    ///     });
    ///     word.store(1, Ordering::Release);
    ///     word.wake_one();
    /// });
    /// ```
    pub fn wake_one(&self) {
        self.bed.wake_one(&self.word);
    }
}

impl Deref for WaitWord {
    type Target = AtomicU32;

    #[inline]
    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}

#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod bed {
    use rustix::thread::futex::{self, Flags, Timespec};
    use std::sync::atomic::AtomicU32;
    use std::time::Duration;

    pub(super) struct Bed;

    impl Bed {
        pub(super) fn new() -> Self {
            Bed
        }

        pub(super) fn sleep_while(&self, word: &AtomicU32, value: u32, limit: Option<Duration>) {
            // A limit that is too long for the kernel is infinite.
            let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
            // Whatever the result (woken, timed out, interrupted, changed), the caller checks the
            // word.
            let _ = futex::wait(word, Flags::PRIVATE, value, limit.as_ref());
        }

        pub(super) fn wake_one(&self, word: &AtomicU32) {
            let _ = futex::wake(word, Flags::PRIVATE, 1);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(loom), not(miri))))]
mod bed {
    use crate::{AtomicU32, Canary, Condvar, Mutex, MutexGuard, Ordering};
    use std::time::Duration;

    /// A waking thread does not wait until the other thread sleeps.
    pub(super) const NO_LOCK: Canary = Canary::new("wait word no lock");

    pub(super) struct Bed {
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Bed {
        pub(super) fn new() -> Self {
            Bed { lock: Mutex::new(()), woken: Condvar::new() }
        }

        pub(super) fn sleep_while(&self, word: &AtomicU32, value: u32, limit: Option<Duration>) {
            let guard = self.lock();
            if word.load(Ordering::Relaxed) != value {
                return;
            }
            match limit {
                None => drop(self.woken.wait(guard)),
                Some(limit) => drop(self.woken.wait_timeout(&self.lock, guard, limit)),
            }
        }

        pub(super) fn wake_one(&self, _: &AtomicU32) {
            // A thread that has seen the old value holds the lock until it sleeps. After this
            // thread has had the lock, the other one sleeps and does not miss the notification.
            if !NO_LOCK.sings() {
                drop(self.lock());
            }
            self.woken.notify_one();
        }

        fn lock(&self) -> MutexGuard<'_, ()> {
            self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Ordering;
    use loom::thread;

    /// One thread changes the word and wakes the other, which sleeps until it has changed. The word
    /// is leaked because loom's objects cannot be dropped after a deadlock.
    fn a_change_beside_a_sleeper() {
        let word: &'static WaitWord = Box::leak(Box::new(WaitWord::new(0)));
        let sleeper = thread::spawn(move || {
            while word.load(Ordering::Relaxed) == 0 {
                word.sleep_while(0, None);
            }
        });
        word.swap(1, Ordering::Relaxed);
        word.wake_one();
        sleeper.join().unwrap();
    }

    #[test]
    fn loom_i1_a_change_beside_a_sleeper() {
        loom::model(a_change_beside_a_sleeper);
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn loom_canary_no_lock() {
        bed::NO_LOCK.model(a_change_beside_a_sleeper);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;
    use std::thread;

    #[test]
    fn a_thread_that_comes_too_late_does_not_sleep() {
        let word = WaitWord::new(1);
        word.sleep_while(0, None);
        word.sleep_while(0, Some(Duration::MAX));
    }

    #[test]
    fn a_sleep_with_a_limit_ends() {
        let word = WaitWord::new(0);
        word.sleep_while(0, Some(Duration::from_millis(1)));
        word.sleep_while(0, Some(Duration::ZERO));
        assert_eq!(word.load(Ordering::Relaxed), 0);
    }

    /// Two threads take turns. Each changes the word and sleeps until the other has changed it, so
    /// a missed wake-up is a hang.
    #[test]
    fn no_wake_up_is_missed() {
        const TURNS: u32 = 20_000;
        let word = WaitWord::new(0);
        let play = |parity: u32| {
            for turn in (0..TURNS).filter(|turn| turn % 2 == parity) {
                // Until it is this thread's turn, it is the other's.
                while word.load(Ordering::Relaxed) != turn {
                    word.sleep_while(turn - 1, None);
                }
                word.store(turn + 1, Ordering::Relaxed);
                word.wake_one();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| play(1));
            play(0);
        });
        assert_eq!(word.load(Ordering::Relaxed), TURNS);
    }
}
