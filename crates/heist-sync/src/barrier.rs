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
use std::sync::atomic::compiler_fence;

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
        compiler_fence(Ordering::SeqCst);
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
