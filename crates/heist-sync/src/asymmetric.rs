//! A StoreLoad barrier whose cost falls on the rare side.
//!
//! Two threads that each store one flag and then load the other's need a full fence on both
//! sides, or both may miss the other's store. When one side runs a million times as often as
//! the other, the kernel can pay for both: `membarrier` makes every running thread of the
//! process pass a full fence at some instant between the call and its return. The frequent
//! side then needs only to keep the *compiler* from reordering its store and its load.
//!
//! Where the kernel does not offer it (another system, an old kernel, a sandbox), both sides
//! use an ordinary full fence: slower for the frequent side, equally right. Under loom both
//! sides are ordinary fences too, so what loom checks is the protocol, not the kernel.

use crate::{Ordering, fence};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, compiler_fence};
use std::time::{Duration, Instant};

/// Which of the two ways this process uses. It never changes while the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// The rare side calls the kernel; the frequent side only holds the compiler back.
    Process,
    /// Both sides run a full fence.
    Fence,
}

impl Barrier {
    /// What this process can do.
    pub fn detect() -> Barrier {
        if kernel::register() { Barrier::Process } else { Barrier::Fence }
    }

    /// The frequent side: between its store and its load.
    #[inline(always)]
    pub fn light(self) {
        match self {
            Barrier::Process => compiler_fence(Ordering::SeqCst),
            Barrier::Fence => fence(Ordering::SeqCst),
        }
    }

    /// What is left of the frequent side where it is known that the rare side calls the kernel: the
    /// compiler keeps its store before its load.
    #[inline(always)]
    pub fn hold_compiler() {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    }

    /// The rare side: between its store and its load. `false` means that the kernel took the
    /// barrier back after it had granted it (a sandbox closed later); then nothing was ordered
    /// and the caller must not go on.
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy(self) -> bool {
        match self {
            Barrier::Process => kernel::barrier(),
            Barrier::Fence => {
                fence(Ordering::SeqCst);
                true
            }
        }
    }
}

/// A [`Barrier`] between two sides of which now one is the rare one, and now neither.
///
/// A call of the kernel costs as much as some thousand fences, and disturbs whoever runs. So there are two
/// states, and [`set_even`](Self::set_even) changes between them at any time, beside anything:
///
/// | state | frequent side | rare side |
/// |---|---|---|
/// | uneven | compiler | kernel |
/// | while it changes | fence | kernel |
/// | even | fence | fence |
///
/// Each pair in a row is enough, and so are those of neighbouring rows, if the kernel's barrier lies between the
/// two steps of a change. Who is past its own look at the state when that comes has its store visible to
/// everybody, as if it had made a fence; who is not sees the new state.
///
/// Under loom it is even, as every barrier: its own state is none of a model's.
#[derive(Debug)]
pub struct TunedBarrier {
    barrier: Barrier,
    frequent_fences: AtomicBool,
    rare_fences: AtomicBool,
    change: Mutex<()>,
}

impl TunedBarrier {
    /// Uneven at first; where the kernel is of no help, even for good.
    pub fn new(barrier: Barrier) -> Self {
        let is_even = barrier == Barrier::Fence;
        TunedBarrier {
            barrier,
            frequent_fences: AtomicBool::new(is_even),
            rare_fences: AtomicBool::new(is_even),
            change: Mutex::new(()),
        }
    }

    /// The frequent side: between its store and its load.
    #[inline(always)]
    pub fn light(&self) {
        // The state is looked at between the two, not before.
        compiler_fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in set_even(). Who sees that the other side calls the kernel again must not
        // have loaded before that what the fence was for.
        if self.frequent_fences.load(Ordering::Acquire) {
            fence(Ordering::SeqCst);
        }
        compiler_fence(Ordering::SeqCst);
    }

    /// The rare side, as [`Barrier::heavy`].
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy(&self) -> bool {
        compiler_fence(Ordering::SeqCst);
        // Acquire: pairs with the Release in set_even(): the kernel's barrier has come before.
        if self.rare_fences.load(Ordering::Acquire) {
            fence(Ordering::SeqCst);
            return true;
        }
        self.barrier.heavy()
    }

    /// The rare side against a frequent side that never runs more than [`Barrier::light`], whatever the state.
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy_for_both(&self) -> bool {
        self.barrier.heavy()
    }

    /// Whether [`heavy`](Self::heavy) is a fence at the moment, and no call of the kernel.
    pub fn is_even(&self) -> bool {
        self.rare_fences.load(Ordering::Relaxed)
    }

    /// Whether it stays so: the kernel is of no help.
    fn is_even_for_good(&self) -> bool {
        self.barrier == Barrier::Fence
    }

    /// The rare side is not rare at the moment, and both run a fence; or it is. Costs a call of the kernel if
    /// that changes anything.
    pub fn set_even(&self, is_even: bool) {
        if self.barrier == Barrier::Fence || self.rare_fences.load(Ordering::Relaxed) == is_even {
            return;
        }
        // Whoever is changing it knows as much as we do.
        let Ok(_change) = self.change.try_lock() else { return };
        // Relaxed where the kernel's barrier comes next and orders it. Without that the state stays between the
        // two, which is right, too.
        if is_even {
            self.frequent_fences.store(true, Ordering::Relaxed);
            if self.barrier.heavy() {
                self.rare_fences.store(true, Ordering::Release);
            }
        } else {
            self.rare_fences.store(false, Ordering::Relaxed);
            if self.barrier.heavy() {
                // Release: pairs with the Acquire in light(): the kernel's barrier has come before.
                self.frequent_fences.store(false, Ordering::Release);
            }
        }
    }
}

/// A [`Barrier`] whose rare side is wary of the kernel.
///
/// The kernel's barrier waits until each core that runs a thread of the process has answered, and burns its own core meanwhile.
/// Some microseconds, as a rule; but the core of a virtual machine may have no core of the host to run on, for milliseconds. So after a call that took long the
/// two sides are [even](TunedBarrier) for a while.
#[derive(Debug)]
pub struct WaryBarrier {
    barrier: TunedBarrier,
    /// How often the rare side came while it was even.
    spared: AtomicU32,
}

/// A call that took longer has waited for a core that was away. Guessed: it takes 1 to 30 µs where none is.
const LONG: Duration = Duration::from_micros(100);

/// So many calls are spared before the next is tried. Guessed: what the longest take is little beside the time between so many.
const SPARED_CALLS: u32 = 1024;

impl WaryBarrier {
    /// What this process can do.
    pub fn detect() -> Self {
        WaryBarrier { barrier: TunedBarrier::new(Barrier::detect()), spared: AtomicU32::new(0) }
    }

    /// The frequent side: between its store and its load.
    #[inline(always)]
    pub fn light(&self) {
        self.barrier.light();
    }

    /// The rare side, as [`Barrier::heavy`].
    #[must_use = "without the barrier nothing is ordered"]
    pub fn heavy(&self) -> bool {
        if self.barrier.is_even_for_good()
            || self.barrier.is_even() && self.spared.fetch_add(1, Ordering::Relaxed) < SPARED_CALLS
        {
            return self.barrier.heavy();
        }
        let start = Instant::now();
        self.barrier.set_even(false);
        let is_ordered = self.barrier.heavy();
        if start.elapsed() > LONG {
            self.has_waited();
        }
        is_ordered
    }

    /// The kernel has let us wait.
    fn has_waited(&self) {
        self.spared.store(0, Ordering::Relaxed);
        self.barrier.set_even(true);
    }
}

#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod kernel {
    use std::sync::OnceLock;

    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    /// Registers the process, once; `false` when the kernel refuses.
    pub(super) fn register() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    pub(super) fn barrier() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: (FFI) membarrier(command, flags, cpu) takes three integers and touches no
        // memory of ours; an unknown command or a missing call is answered by an error.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}

#[cfg(not(all(target_os = "linux", not(loom), not(miri))))]
mod kernel {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn barrier() -> bool {
        false
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    const ROUNDS: usize = 200_000;

    /// Waits until both sides have come so often. Most often both go on within a few cycles.
    fn meet(come: &AtomicUsize, round: usize) {
        come.fetch_add(1, Ordering::Relaxed);
        for looks in 0.. {
            if come.load(Ordering::Relaxed) >= 2 * (round + 1) {
                return;
            }
            if looks % 1000 == 999 {
                thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    /// Round after round both sides store and then load what the other has stored. Now and then one of them
    /// changes the state, and the other waits for a while, never the same, so that the change comes at each
    /// point of what it does.
    fn play(mine: &[AtomicBool], others: &[AtomicBool], game: &Game, is_rare: bool) -> Vec<bool> {
        let round = |round: usize| {
            let (is_even, by_rare) = (round % 8 == 0, matches!(round % 16, 0 | 12));
            meet(&game.come, round);
            if round % 4 != 0 {
                // The state is what it was.
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
        barrier: TunedBarrier,
        come: AtomicUsize,
    }

    #[test]
    fn one_of_the_two_sees_the_other_while_it_changes() {
        let barrier = TunedBarrier::new(Barrier::detect());
        let game = Game { barrier, come: AtomicUsize::new(0) };
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
    fn who_has_waited_for_the_kernel_is_wary_for_a_while() {
        let (barrier, has_kernel) = (WaryBarrier::detect(), Barrier::detect() == Barrier::Process);
        assert_eq!(barrier.barrier.is_even(), !has_kernel);
        barrier.has_waited();
        for _ in 0..SPARED_CALLS {
            assert!(barrier.barrier.is_even());
            assert!(barrier.heavy());
        }
        assert!(barrier.heavy());
        let has_waited_again = || barrier.spared.load(Ordering::Relaxed) == 0;
        assert!(!has_kernel || !barrier.barrier.is_even() || has_waited_again());
    }

    #[test]
    fn without_the_kernel_it_is_even_for_good() {
        let barrier = TunedBarrier::new(Barrier::Fence);
        barrier.set_even(false);
        assert!(barrier.rare_fences.load(Ordering::Relaxed));
        assert!(barrier.frequent_fences.load(Ordering::Relaxed));
    }
}
