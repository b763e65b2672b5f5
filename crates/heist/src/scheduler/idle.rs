//! Which workers sleep, search and are woken. The protocol is told in `idle/README.md`. A worker
//! goes by the number of the seat that it holds. When all sleep, none wakes up unasked (I5).

use crate::canary;
use heist_sync::{AdaptiveBarrier, AtomicBool, AtomicU32, AtomicU64, Barrier, Ordering, fence};

#[cfg(all(test, loom))]
mod loom_tests;
#[cfg(all(test, not(loom)))]
mod tests;

// The layout of `Counts`.
const SEARCHING_BITS: u32 = 16;
const ONE_SEARCHING: u32 = 1;
const ONE_IDLE: u32 = 1 << SEARCHING_BITS;
const SEARCHING_MASK: u32 = ONE_IDLE - 1;

/// The largest number of workers, by the layout of `Counts`: half of what a field can count,
/// because a worker may be counted twice for a moment.
pub(crate) const MAX_WORKERS: usize = SEARCHING_MASK as usize / 2;

/// How many workers search, and how many are idle.
///
/// | bits | field |
/// |---|---|
/// | 0..16 | searching: workers that look at others, or are being woken to do so |
/// | 16..32 | idle: workers that sleep, or are about to, and that no thread is waking |
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Counts(u32);

impl Counts {
    fn searching(self) -> u32 {
        self.0 & SEARCHING_MASK
    }

    fn idle(self) -> u32 {
        self.0 >> SEARCHING_BITS
    }
}

/// How a worker gets up that has come back to a seat in its sleep.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum GetUp {
    /// By itself. It is busy.
    Busy,
    /// Another thread is waking it, or will: it must park, and searches then.
    Woken,
    /// The same, and this worker must be unparked in its place.
    WokenBeside(usize),
}

/// A bit for each worker that sleeps or is about to: set by it before it counts itself as idle,
/// cleared by the thread that wakes it.
struct Sleepers {
    /// Those of the first 64, beside the counts: a thread that wakes one has that cache line
    /// already.
    first: AtomicU64,
    rest: Box<[AtomicU64]>,
}

impl Sleepers {
    fn new(workers: usize) -> Self {
        let rest = workers.div_ceil(64).saturating_sub(1);
        Sleepers { first: AtomicU64::new(0), rest: (0..rest).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The word with the bit of worker `index`, and the bit.
    fn bit_of(&self, index: usize) -> (&AtomicU64, u64) {
        let word = match index / 64 {
            0 => &self.first,
            word => &self.rest[word - 1],
        };
        (word, 1 << (index % 64))
    }

    fn words(&self) -> impl Iterator<Item = &AtomicU64> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    fn has(&self, index: usize) -> bool {
        let (word, bit) = self.bit_of(index);
        word.load(Ordering::Relaxed) & bit != 0
    }

    fn set(&self, index: usize) {
        let (word, bit) = self.bit_of(index);
        // AcqRel: pairs with the AcqRel in clear() and take_any().
        word.fetch_or(bit, Ordering::AcqRel);
    }

    /// Whether it was set.
    fn clear(&self, index: usize) -> bool {
        let (word, bit) = self.bit_of(index);
        // AcqRel: pairs with the AcqRel in set().
        word.fetch_and(!bit, Ordering::AcqRel) & bit != 0
    }

    /// Clears a bit, and returns whose it was. The caller knows that there is one.
    fn take_any(&self) -> usize {
        loop {
            for (index, word) in self.words().enumerate() {
                let mut bits = word.load(Ordering::Relaxed);
                while bits != 0 {
                    let bit = bits & bits.wrapping_neg();
                    // AcqRel: pairs with the AcqRel in set().
                    bits = word.fetch_and(!bit, Ordering::AcqRel);
                    if bits & bit != 0 {
                        return index * 64 + bit.trailing_zeros() as usize;
                    }
                }
            }
            // Another waker took the bit that we saw; the one it was after is still there.
        }
    }
}

pub(super) struct Idle {
    counts: AtomicU32,
    /// Whether a bell was silenced since the last nudge: mostly no worker is at a job. A hint.
    is_any_silenced: AtomicBool,
    sleepers: Sleepers,
    workers: u32,
    barrier: AdaptiveBarrier,
}

impl Idle {
    /// For `workers` workers, all of them busy.
    pub(super) fn new(workers: usize, barrier: Barrier) -> Self {
        Idle {
            counts: AtomicU32::new(0),
            is_any_silenced: AtomicBool::new(false),
            sleepers: Sleepers::new(workers),
            workers: workers as u32,
            barrier: AdaptiveBarrier::new(barrier),
        }
    }

    /// Something was published that a worker could take. Returns a worker that must be unparked,
    /// if one should be woken for it (I1, I4).
    #[inline]
    pub(super) fn submitted(&self) -> Option<usize> {
        if self.is_anybody_free() { self.wake_one() } else { None }
    }

    /// Something was published. Returns whether any worker sleeps or searches: otherwise none has
    /// to be woken (I1, I4).
    #[inline(always)]
    pub(super) fn is_anybody_free(&self) -> bool {
        if !canary::IDLE_NO_LIGHT_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after the push by the barrier, which pairs with the heavy one in
        // sleep().
        self.counts.load(Ordering::Relaxed) != 0
    }

    /// The owner of a deque has heard its bell after a push. Returns whether any worker is free, as
    /// [`is_anybody_free`](Self::is_anybody_free) does. If none is, calls `silence`, which says
    /// whether it has silenced the bell, and `ring` if that was a mistake.
    pub(super) fn is_anybody_free_for_bell(
        &self,
        silence: impl FnOnce() -> bool,
        ring: impl FnOnce(),
    ) -> bool {
        if self.is_anybody_free() {
            return true;
        }
        if !silence() {
            return false;
        }
        // SeqCst: pairs with the fence in sleep(). A worker that parks, and has found the bell
        // ringing, is seen here; any other rings it.
        fence(Ordering::SeqCst);
        let is_rung = self.is_anybody_free() && !canary::IDLE_BELL_NO_SECOND_LOOK.sings();
        if is_rung {
            ring();
        } else {
            // Release: pairs with the Acquire in is_nudge_needed(): a thread that sees it sees that
            // the bell is silent.
            self.is_any_silenced.store(true, Ordering::Release);
        }
        is_rung
    }

    /// Whether each worker that parks calls the kernel, bells or not.
    pub(super) fn is_sleep_dear(&self) -> bool {
        !self.barrier.is_even()
    }

    /// Whether workers at jobs may have to be nudged. The caller does that.
    pub(super) fn is_nudge_needed(&self) -> bool {
        // Acquire: pairs with the Release in is_anybody_free_for_bell().
        self.is_any_silenced.load(Ordering::Relaxed)
            && self.is_any_silenced.swap(false, Ordering::Acquire)
    }

    /// Picks a sleeper, unless a worker searches already: one wake-up at a time.
    #[cold]
    pub(super) fn wake_one(&self) -> Option<usize> {
        // The sleeper counts as searching from now on, so that no other thread wakes one more.
        let is_claimed = self.claim(ONE_SEARCHING, |counts| counts.searching() == 0);
        is_claimed.then(|| self.sleepers.take_any())
    }

    /// Takes a sleeper out of the idle count, if there is one and `may` allows it for the current
    /// counts, and adds `searching` to the other count. There is a bit for each sleeper that was
    /// counted, because it is set first: the caller clears one.
    fn claim(&self, searching: u32, may: impl Fn(Counts) -> bool) -> bool {
        let mut counts = Counts(self.counts.load(Ordering::Relaxed));
        while counts.idle() > 0 && may(counts) {
            let new = counts.0 - ONE_IDLE + searching;
            // AcqRel: pairs with itself and with the one in sleep(); the thread that takes a
            // sleeper from the count finds its bit.
            match self.counts.compare_exchange(counts.0, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => counts = Counts(now),
            }
        }
        false
    }

    /// Something was published that only worker `index` can take (W8), if it `is_there`. Returns a
    /// worker that must be unparked, if one should be: that one, or another in its place that is
    /// woken for nothing.
    #[inline]
    pub(super) fn submitted_to(
        &self,
        index: usize,
        is_there: impl FnOnce() -> bool,
    ) -> Option<usize> {
        if !canary::IDLE_NO_TARGET_BARRIER.sings() {
            self.barrier.light();
        }
        // Relaxed: ordered after the push by the barrier, which pairs with the heavy one in
        // sleep().
        if self.sleepers.has(index) && is_there() { self.wake_this(index) } else { None }
    }

    #[cold]
    fn wake_this(&self, index: usize) -> Option<usize> {
        if !self.claim(ONE_SEARCHING, |_| true) {
            // Others are being woken, and perhaps not this one; but then there is a worker that
            // will look in its place, in wake_owners().
            return None;
        }
        Some(if self.sleepers.clear(index) { index } else { self.sleepers.take_any() })
    }

    /// A worker has come back to a seat that sleeps, number `index`, and would like to have it
    /// awake: unless another thread is waking it, it is busy, and has looked at nothing.
    pub(super) fn get_up(&self, index: usize) -> GetUp {
        // That it has come back was stored before; the thread that puts the seat to sleep looks for
        // that behind the heavy barrier in sleep(), in wake_owners().
        self.barrier.light();
        if !self.claim(0, |_| true) {
            // As in wake_this().
            return GetUp::Woken;
        }
        if self.sleepers.clear(index) {
            return GetUp::Busy;
        }
        // The sleeper that we took from the count is another one, which gets up as a searcher.
        self.join_search();
        GetUp::WokenBeside(self.sleepers.take_any())
    }

    /// Worker `me`, behind the barrier of its [`sleep`](Self::sleep), looks for sleepers with
    /// something that only they can take, itself included, and has them unparked (I1).
    pub(super) fn wake_owners(
        &self,
        me: usize,
        has_own: impl Fn(usize) -> bool,
        mut unpark: impl FnMut(usize),
    ) {
        for index in 0..self.workers as usize {
            let canary = match index == me {
                true => canary::IDLE_NO_LOOK_FOR_ONESELF,
                false => canary::IDLE_NO_LOOK_FOR_OTHERS,
            };
            if !canary.sings() && has_own(index) && self.sleepers.has(index) {
                self.submitted_to(index, || true).into_iter().for_each(&mut unpark);
            }
        }
    }

    /// A worker with nothing to do wants to look at others. Returns `false` if enough others do
    /// (I3).
    pub(super) fn start_search(&self) -> bool {
        let counts = Counts(self.counts.load(Ordering::Relaxed));
        let busy = self.workers - counts.idle();
        if counts.searching() >= busy.div_ceil(2) {
            return false;
        }
        // Relaxed: a count too high for a moment wakes one worker less, and the worker that made it
        // so is about to look everywhere.
        self.counts.fetch_add(ONE_SEARCHING, Ordering::Relaxed);
        true
    }

    /// A worker begins to search, however many others do: it was called, or is back.
    pub(super) fn join_search(&self) {
        // Relaxed: as in start_search().
        self.counts.fetch_add(ONE_SEARCHING, Ordering::Relaxed);
    }

    /// A searcher has found something. Returns a worker that must be unparked: the last one to stop
    /// searching has another begin if `is_more` to be found (I2).
    pub(super) fn stop_search(&self, is_more: impl FnOnce() -> bool) -> Option<usize> {
        // AcqRel: pairs with itself.
        let before = Counts(self.counts.fetch_sub(ONE_SEARCHING, Ordering::AcqRel));
        debug_assert!(before.searching() > 0);
        if before.searching() > 1 || before.idle() == 0 {
            return None;
        }
        // Submitters relied on it until now. Without the barrier it may miss what they published.
        let has_barrier = canary::IDLE_LAST_NO_BARRIER.sings() || self.barrier.heavy();
        let is_more = || !canary::IDLE_LAST_NO_LOOK.sings() && is_more();
        if !has_barrier || is_more() { self.wake_one() } else { None }
    }

    /// A worker that stops searching makes sure that it sees what was published while it searched:
    /// the submitters relied on it. Returns `false` if the barrier fails.
    #[must_use = "if it is not to be had, act as if something had come"]
    pub(super) fn catch_up(&self) -> bool {
        self.barrier.heavy()
    }

    pub(super) fn is_anybody_searching(&self) -> bool {
        Counts(self.counts.load(Ordering::Relaxed)).searching() > 0
    }

    /// A searcher has found something, in a runtime in which workers do not steal.
    pub(super) fn stop_search_alone(&self) {
        // Relaxed: no submitter relies on a searcher.
        self.counts.fetch_sub(ONE_SEARCHING, Ordering::Relaxed);
    }

    /// Worker `index` is going to sleep. Afterwards it must park until it is unparked. Returns a
    /// worker that must be unparked first, possibly itself: there is work after all.
    ///
    /// `ring` rings the bells of all deques, and tells whether one was silent.
    pub(super) fn sleep(
        &self,
        index: usize,
        was_searching: bool,
        ring: impl FnOnce() -> bool,
        has_work: impl FnOnce() -> bool,
    ) -> Option<usize> {
        // The bit comes before the count.
        self.sleepers.set(index);
        let change = ONE_IDLE.wrapping_sub(if was_searching { ONE_SEARCHING } else { 0 });
        // AcqRel: pairs with the AcqRel in wake_one().
        let before = Counts(self.counts.fetch_add(change, Ordering::AcqRel));
        debug_assert!(!was_searching || before.searching() > 0);
        if !canary::IDLE_BELL_NO_FENCE.sings() && !canary::IDLE_NO_HEAVY_BARRIER.sings() {
            // SeqCst: pairs with the fence in is_anybody_free_for_bell().
            fence(Ordering::SeqCst);
        }
        let was_silent = !canary::IDLE_BELL_NOT_RUNG.sings() && ring();
        // An owner that does not hear the bell of its deque runs no fence.
        let heavy =
            || if was_silent { self.barrier.heavy_for_light() } else { self.barrier.heavy() };
        if !canary::IDLE_NO_HEAVY_BARRIER.sings() && !heavy() {
            // Without the barrier a submitter may have missed us. Act as if it had.
            return self.wake_one();
        }
        if !canary::IDLE_NO_RECHECK.sings() && has_work() { self.wake_one() } else { None }
    }

    /// Called by busy workers now and then: submits should not pay for sleeps while no worker
    /// sleeps.
    pub(super) fn settle_barrier(&self) {
        self.barrier.settle();
    }

    /// Whether a seat is idle.
    pub(super) fn is_any_idle(&self) -> bool {
        Counts(self.counts.load(Ordering::Relaxed)).idle() > 0
    }

    /// Whether all are.
    pub(super) fn are_all_idle(&self) -> bool {
        Counts(self.counts.load(Ordering::Relaxed)).idle() == self.workers
    }

    /// As if workers slept all the time.
    #[cfg(all(test, not(loom)))]
    pub(super) fn make_sleep_cheap(&self) {
        self.barrier.keep_even();
    }

    /// How many search, and how many are idle.
    #[cfg(all(test, not(loom)))]
    pub(super) fn counts(&self) -> (usize, usize) {
        let counts = Counts(self.counts.load(Ordering::Relaxed));
        (counts.searching() as usize, counts.idle() as usize)
    }

    /// Every sleeper, to be unparked because the runtime goes down. They count as searching then.
    ///
    /// A worker that goes to sleep at the same time looks, after its heavy barrier, whether the
    /// runtime is down; that was stored before the light one here.
    pub(super) fn wake_all(&self, mut unpark: impl FnMut(usize)) {
        self.barrier.light();
        while self.claim(ONE_SEARCHING, |_| true) {
            unpark(self.sleepers.take_any());
        }
    }
}
