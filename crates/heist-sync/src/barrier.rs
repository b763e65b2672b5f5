//! A StoreLoad barrier for which the rare side pays.
//!
//! Two threads that each store one flag and then load the other's flag need a full fence each, or
//! both may miss the other's store. If one side runs a million times as often as the other, the
//! kernel can help: `membarrier` makes every running thread of the process execute a full fence
//! between the call and its return. Then the frequent side only has to keep the *compiler* from
//! reordering its store and its load.
//!
//! Where the kernel does not offer that (another system, an old kernel, a sandbox), both sides run
//! a full fence, which is slower for the frequent side and equally correct. Under loom both sides
//! run fences too: loom checks the protocol, not the kernel.

use crate::{Ordering, fence};
use std::sync::atomic::compiler_fence;

/// One of the two ways to order a store before a load on both sides. A process always uses the
/// same.
///
/// # Examples
///
/// ```
/// use heist_sync::Barrier;
///
/// let barrier = Barrier::detect();
/// barrier.light();
/// assert!(barrier.heavy());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barrier {
    /// The rare side calls the kernel, and the frequent side only holds the compiler back.
    Process,
    /// Both sides run a full fence.
    Fence,
}

impl Barrier {
    /// Returns the best kind that this process can use.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(heist_sync::Barrier::detect(), heist_sync::Barrier::detect());
    /// ```
    pub fn detect() -> Barrier {
        if kernel::register() { Barrier::Process } else { Barrier::Fence }
    }

    /// The frequent side: call it between the store and the load.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AtomicBool, Barrier, Ordering};
    ///
    /// let (busy, done) = (AtomicBool::new(false), AtomicBool::new(false));
    /// busy.store(true, Ordering::Relaxed);
    /// Barrier::detect().light();
    /// assert!(!done.load(Ordering::Relaxed));
    /// ```
    #[inline(always)]
    pub fn light(self) {
        match self {
            Barrier::Process => compiler_fence(Ordering::SeqCst),
            Barrier::Fence => fence(Ordering::SeqCst),
        }
    }

    /// The frequent side if the rare side is known to call the kernel: keeps the compiler from
    /// moving the load before the store.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AtomicBool, Barrier, Ordering};
    ///
    /// let (busy, done) = (AtomicBool::new(false), AtomicBool::new(false));
    /// let barrier = Barrier::detect();
    /// busy.store(true, Ordering::Relaxed);
    /// match barrier {
    ///     Barrier::Process => Barrier::hold_compiler(),
    ///     Barrier::Fence => barrier.light(),
    /// }
    /// assert!(!done.load(Ordering::Relaxed));
    /// ```
    #[inline(always)]
    pub fn hold_compiler() {
        compiler_fence(Ordering::SeqCst);
    }

    /// The rare side: call it between the store and the load. Returns `false` if the kernel refuses
    /// what it has granted before (a sandbox was closed later). Then nothing is ordered, and the
    /// caller must not rely on its load.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist_sync::{AtomicBool, Barrier, Ordering};
    ///
    /// let (busy, done) = (AtomicBool::new(false), AtomicBool::new(false));
    /// done.store(true, Ordering::Relaxed);
    /// if Barrier::detect().heavy() {
    ///     assert!(!busy.load(Ordering::Relaxed));
    /// } else {
    ///     // The kernel has withdrawn the call. Act as if the other side were busy.
    /// }
    /// ```
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

#[cfg(all(target_os = "linux", not(loom), not(miri)))]
mod kernel {
    use std::sync::OnceLock;

    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;

    /// Registers the process once. Returns `false` if the kernel refuses.
    pub(super) fn register() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    pub(super) fn barrier() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: (FFI) membarrier(command, flags, cpu) takes three integers and accesses no memory
        // of the process. An unknown command or a missing call returns an error.
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
