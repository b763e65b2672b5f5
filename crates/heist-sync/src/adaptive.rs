//! A two-sided barrier that chooses, while the program runs, which side pays.

use crate::barrier::Barrier;
use crate::tuning::{BURST, SHARE, TYPICAL_CALL};
use crate::{Ordering, fence};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, compiler_fence};
use std::time::Instant;

/// A [`Barrier`] whose two sides need not stay the frequent and the rare one.
///
/// A call of the kernel costs as much as a thousand fences, and interrupts other threads. On a
/// virtual machine it may even wait some milliseconds for a core that the host has taken away. So
/// the rare side calls the kernel only as long as these calls take less than 1 % of the time;
/// beyond that, both sides run a fence. There are two states, and changing between them is safe at
/// any time:
///
/// | state | frequent side ([`light`](Self::light)) | rare side ([`heavy`](Self::heavy)) |
/// |---|---|---|
/// | uneven | compiler fence | kernel call |
/// | changing | fence | kernel call |
/// | even | fence | fence |
///
/// The two columns of a row order each other. So do those of neighbouring rows, because a change
/// makes a kernel call between its two steps: a thread that looked at the state before that call
/// has its store made visible by it, and a thread that looks later sees the new state.
///
/// Under loom the state is always even, so a model checks the protocol and not the change of state.
///
/// # Examples
///
/// ```
/// use heist_sync::AdaptiveBarrier;
/// use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
///
/// // Either the submitter sees that the worker sleeps, or the worker sees what was submitted.
/// let barrier = AdaptiveBarrier::detect();
/// let (submitted, asleep) = (AtomicBool::new(false), AtomicBool::new(false));
/// let (saw_sleeper, saw_work) = std::thread::scope(|scope| {
///     let worker = scope.spawn(|| {
///         asleep.store(true, Relaxed);
///         // `false`: the kernel refused, so act as if something had been submitted.
///         !barrier.heavy() || submitted.load(Relaxed)
///     });
///     submitted.store(true, Relaxed);
///     barrier.light();
///     (asleep.load(Relaxed), worker.join().unwrap())
/// });
/// assert!(saw_sleeper || saw_work);
/// ```
#[derive(Debug)]
pub struct AdaptiveBarrier {
    barrier: Barrier,
    frequent_fences: AtomicBool,
    rare_fences: AtomicBool,
    /// Held by the thread that changes the state.
    change: Mutex<()>,
    budget: Budget,
}

impl AdaptiveBarrier {
    /// Returns a barrier of the best kind that this process can use.
    ///
    /// # Examples
    ///
    /// ```
    /// let barrier = heist_sync::AdaptiveBarrier::detect();
    /// assert!(barrier.heavy(), "the kernel keeps what it has promised");
    /// ```
    pub fn detect() -> Self {
        Self::new(Barrier::detect())
    }

    /// Creates a barrier of this kind: uneven at first, or always even if `barrier` is a fence on
    /// both sides.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AdaptiveBarrier, Barrier};
    ///
    /// assert!(AdaptiveBarrier::new(Barrier::Fence).is_even());
    /// ```
    pub fn new(barrier: Barrier) -> Self {
        let is_even = barrier == Barrier::Fence;
        AdaptiveBarrier {
            barrier,
            frequent_fences: AtomicBool::new(is_even),
            rare_fences: AtomicBool::new(is_even),
            change: Mutex::new(()),
            budget: Budget::new(),
        }
    }

    /// The frequent side: call it between the store and the load.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AdaptiveBarrier, AtomicBool, Ordering};
    ///
    /// let (submitted, asleep) = (AtomicBool::new(false), AtomicBool::new(false));
    /// submitted.store(true, Ordering::Relaxed);
    /// AdaptiveBarrier::detect().light();
    /// assert!(!asleep.load(Ordering::Relaxed), "no other thread sleeps here");
    /// ```
    #[inline(always)]
    pub fn light(&self) {
        // The state is loaded after the caller's store, not before.
        compiler_fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in set_even(). A thread that sees the uneven state must
        // not have done its load, which the fence used to order, before that.
        if self.frequent_fences.load(Ordering::Acquire) {
            fence(Ordering::SeqCst);
        }
        compiler_fence(Ordering::SeqCst);
    }

    /// The rare side: call it between the store and the load. Returns `false` if the kernel refuses
    /// what it once granted (a sandbox was closed later): then nothing is ordered.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AdaptiveBarrier, AtomicBool, Ordering};
    ///
    /// let (submitted, asleep) = (AtomicBool::new(false), AtomicBool::new(false));
    /// asleep.store(true, Ordering::Relaxed);
    /// let is_ordered = AdaptiveBarrier::detect().heavy();
    /// assert!(is_ordered && !submitted.load(Ordering::Relaxed));
    /// ```
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        if self.is_always_even() {
            return self.barrier.heavy();
        }
        // Acquire: pairs with the Release in set_even(): the kernel call of the change came before.
        if self.rare_fences.load(Ordering::Acquire) {
            let now = self.budget.now();
            if !self.budget.is_settled(now) {
                self.budget.spare(now);
                fence(Ordering::SeqCst);
                return true;
            }
            self.set_even(false);
        }
        self.call()
    }

    /// The rare side against a frequent side that only runs [`Barrier::light`]: a kernel call in
    /// either state. Returns `false` as [`heavy`](Self::heavy) does.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(heist_sync::AdaptiveBarrier::detect().heavy_for_light());
    /// ```
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy_for_light(&self) -> bool {
        if self.is_always_even() { self.barrier.heavy() } else { self.call() }
    }

    /// Returns whether [`heavy`](Self::heavy) is a fence now, not a kernel call.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AdaptiveBarrier, Barrier};
    ///
    /// let barrier = AdaptiveBarrier::detect();
    /// assert_eq!(barrier.is_even(), Barrier::detect() == Barrier::Fence);
    /// ```
    pub fn is_even(&self) -> bool {
        // Relaxed: the answer may be outdated whatever the ordering.
        self.rare_fences.load(Ordering::Relaxed)
    }

    /// Returns to the uneven state if the rare side has been quiet for a while. The frequent side
    /// calls this now and then; otherwise only the next [`heavy`](Self::heavy) changes the state.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AdaptiveBarrier, Barrier};
    ///
    /// let barrier = AdaptiveBarrier::new(Barrier::Fence);
    /// barrier.settle();
    /// assert!(barrier.is_even(), "there is no other state");
    /// ```
    pub fn settle(&self) {
        if self.is_even() && !self.is_always_even() && self.budget.is_settled(self.budget.now()) {
            self.set_even(false);
        }
    }

    /// Makes the barrier even for good, as if kernel calls had taken very long. For tests.
    #[doc(hidden)]
    pub fn keep_even(&self) {
        self.budget.exhaust();
        self.set_even(true);
    }

    /// Whether the kernel does not help at all.
    fn is_always_even(&self) -> bool {
        self.barrier == Barrier::Fence
    }

    /// Calls the kernel, and makes the barrier even if such calls have cost too much lately.
    fn call(&self) -> bool {
        let start = self.budget.now();
        let is_ordered = self.barrier.heavy();
        let end = self.budget.now();
        if self.budget.spend(end, end.saturating_sub(start)) {
            self.set_even(true);
        }
        is_ordered
    }

    /// Changes the state, with a kernel call between the two steps. If the kernel refuses that
    /// call, the state stays between the two, which is correct too.
    fn set_even(&self, is_even: bool) {
        if self.is_always_even() || self.is_even() == is_even {
            return;
        }
        // Another thread is changing the state, and knows as much as this one.
        let Ok(_change) = self.change.try_lock() else { return };
        if is_even {
            // Relaxed: the kernel call orders it before the store below.
            self.frequent_fences.store(true, Ordering::Relaxed);
            if self.barrier.heavy() {
                // Release: pairs with the Acquire in heavy(): the kernel call came before.
                self.rare_fences.store(true, Ordering::Release);
            }
        } else {
            // Relaxed: as above.
            self.rare_fences.store(false, Ordering::Relaxed);
            if self.barrier.heavy() {
                // Release: pairs with the Acquire in light(): the kernel call came before.
                self.frequent_fences.store(false, Ordering::Release);
            }
        }
    }
}

/// How much of the time kernel calls have taken lately.
///
/// A leaky bucket in one word: the instant at which the calls so far will have taken one part in
/// [`SHARE`] of the time. Threads may overwrite each other's updates; then a call goes uncounted.
/// All accesses are Relaxed: the word decides what is cheaper, never what is correct.
#[derive(Debug)]
struct Budget {
    start: Instant,
    /// In nanoseconds since the start.
    settled_at: AtomicU64,
}

/// Layout: a whole burst in the word's unit, which is SHARE nanoseconds for each of a call.
const BURST_AHEAD: u64 = SHARE * BURST.as_nanos() as u64;

impl Budget {
    fn new() -> Self {
        Budget { start: Instant::now(), settled_at: AtomicU64::new(0) }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// A kernel call has taken `cost` nanoseconds. Returns whether calls have taken too much.
    #[must_use]
    fn spend(&self, now: u64, cost: u64) -> bool {
        let before = self.settled_at.load(Ordering::Relaxed).max(now);
        let after = before.saturating_add(cost.saturating_mul(SHARE));
        self.settled_at.store(after, Ordering::Relaxed);
        after - now > BURST_AHEAD
    }

    /// A kernel call was spared: it counts, but not so much that many of them add up.
    fn spare(&self, now: u64) {
        let before = self.settled_at.load(Ordering::Relaxed);
        let after = before.saturating_add(SHARE * TYPICAL_CALL.as_nanos() as u64);
        let most = now.saturating_add(2 * BURST_AHEAD);
        self.settled_at.store(after.min(most).max(before), Ordering::Relaxed);
    }

    /// Whether calls have taken no more than their share.
    fn is_settled(&self, now: u64) -> bool {
        self.settled_at.load(Ordering::Relaxed) <= now
    }

    fn exhaust(&self) {
        self.settled_at.store(u64::MAX, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    const ROUNDS: usize = 200_000;

    /// Waits until both sides have arrived at this round; mostly within a few cycles.
    fn meet(arrived: &AtomicUsize, round: usize) {
        arrived.fetch_add(1, Ordering::Relaxed);
        for looks in 0.. {
            if arrived.load(Ordering::Relaxed) >= 2 * (round + 1) {
                return;
            }
            if looks % 1000 == 999 {
                thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// In each round both sides store a flag and then load the other's. In some rounds one of them
    /// changes the state, while the other waits for a varying number of cycles, so that the change
    /// meets each point of what it does.
    fn play(mine: &[AtomicBool], others: &[AtomicBool], game: &Game, is_rare: bool) -> Vec<bool> {
        let round = |round: usize| {
            let (is_even, by_rare) = (round % 8 == 0, matches!(round % 16, 0 | 12));
            meet(&game.arrived, round);
            if round % 4 != 0 {
                // The state stays.
            } else if by_rare == is_rare {
                game.barrier.set_even(is_even);
            } else {
                (0..round * 7919 % 97).for_each(|_| std::hint::spin_loop());
            }
            mine[round].store(true, Ordering::Relaxed);
            match is_rare {
                false => game.barrier.light(),
                true => assert!(game.barrier.heavy()),
            }
            others[round].load(Ordering::Relaxed)
        };
        (0..ROUNDS).map(round).collect()
    }

    struct Game {
        barrier: AdaptiveBarrier,
        arrived: AtomicUsize,
    }

    #[test]
    fn one_side_sees_the_other_while_the_state_changes() {
        let game = Game { barrier: AdaptiveBarrier::detect(), arrived: AtomicUsize::new(0) };
        let new = || (0..ROUNDS).map(|_| AtomicBool::new(false)).collect::<Vec<_>>();
        let (light, heavy) = (new(), new());
        thread::scope(|scope| {
            let frequent = scope.spawn(|| play(&light, &heavy, &game, false));
            let rare = play(&heavy, &light, &game, true);
            let both = frequent.join().unwrap().into_iter().zip(rare);
            let missed = both.filter(|(frequent, rare)| !frequent && !rare).count();
            assert_eq!(missed, 0, "rounds in which neither saw the other");
        });
    }

    #[test]
    fn kernel_calls_that_cost_too_much_make_it_even() {
        let barrier = AdaptiveBarrier::detect();
        let has_kernel = Barrier::detect() == Barrier::Process;
        assert_eq!(barrier.is_even(), !has_kernel);
        barrier.keep_even();
        assert!(barrier.heavy() && barrier.is_even());
        barrier.settle();
        assert!(barrier.is_even(), "the calls have not been paid for");
        assert!(barrier.heavy_for_light() && barrier.is_even());
        barrier.budget.settled_at.store(0, Ordering::Relaxed);
        barrier.settle();
        assert_eq!(barrier.is_even(), !has_kernel);
    }

    #[test]
    fn the_next_rare_call_makes_it_uneven_again() {
        let barrier = AdaptiveBarrier::detect();
        barrier.set_even(true);
        assert!(barrier.heavy());
        let is_affordable = barrier.budget.settled_at.load(Ordering::Relaxed) < BURST_AHEAD;
        let has_kernel = Barrier::detect() == Barrier::Process;
        assert!(!is_affordable || barrier.is_even() != has_kernel);
    }

    #[test]
    fn without_the_kernel_it_is_always_even() {
        let barrier = AdaptiveBarrier::new(Barrier::Fence);
        barrier.set_even(false);
        barrier.settle();
        assert!(barrier.is_even() && barrier.heavy() && barrier.heavy_for_light());
        assert!(barrier.frequent_fences.load(Ordering::Relaxed));
    }

    #[test]
    fn calls_may_take_their_share_of_the_time() {
        let (budget, call) = (Budget::new(), 5_000);
        // Each call is paid for when the next comes.
        for round in 1..100 {
            assert!(!budget.spend(round * call * SHARE, call));
        }
        let now = 100 * call * SHARE;
        assert!(budget.is_settled(now));
        let burst = BURST.as_nanos() as u64 / call;
        (0..burst).for_each(|_| assert!(!budget.spend(now, call)));
        assert!(budget.spend(now, call), "more than a burst");
        assert!(!budget.is_settled(now + BURST_AHEAD));
        assert!(budget.is_settled(now + BURST_AHEAD + call * SHARE));
    }

    #[test]
    fn a_long_call_is_paid_for_like_many_short_ones() {
        let (budget, long) = (Budget::new(), 5_000_000);
        assert!(budget.spend(0, long));
        budget.spare(0);
        assert!(!budget.is_settled(SHARE * long - 1), "spared calls do not cut this short");
        assert!(budget.is_settled(SHARE * long));
    }

    #[test]
    fn spared_calls_do_not_add_up() {
        let (budget, now) = (Budget::new(), 1_000);
        (0..1_000_000).for_each(|_| budget.spare(now));
        assert!(!budget.is_settled(now + BURST_AHEAD));
        assert!(budget.is_settled(now + 2 * BURST_AHEAD));
    }
}
