//! The names of system calls.

use std::fmt;

/// A system call in which a stuck thread was found, such as `futex`, `read` or `clock_nanosleep`.
///
/// # Examples
///
/// ```no_run
/// use heist::runtime::{Builder, StallCause};
///
/// Builder::new_multi_thread().on_stall(|stall| {
///     if let StallCause::Blocked { system_call: Some(call) } = stall.cause() {
///         eprintln!("call {}: {}", call.number(), call.name().unwrap_or("?"));
///     }
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SystemCall {
    number: u32,
}

impl SystemCall {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "procfs alone makes one"))]
    pub(crate) fn new(number: u32) -> Self {
        SystemCall { number }
    }

    /// Returns the number of the call, whose meaning depends on the machine's architecture.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the name of the call as in the system's manual, if it is known.
    ///
    /// The calls in which threads are known to block have a name here, on x86-64 and AArch64.
    pub fn name(&self) -> Option<&'static str> {
        let mut calls = names::EVERYWHERE.iter().chain(names::HERE);
        let (_, constant) = calls.find(|(number, _)| *number == self.number)?;
        constant.strip_prefix("SYS_")
    }
}

/// Formats the name, or `system call 1234` if the name is not known.
impl fmt::Display for SystemCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "system call {}", self.number),
        }
    }
}

/// Numbers and the constants that have them.
type Names = &'static [(u32, &'static str)];

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod names {
    use super::Names;

    macro_rules! constants {
        ($($constant:ident)*) => { &[$((libc::$constant as u32, stringify!($constant))),*] };
    }

    pub(super) const EVERYWHERE: Names = constants![
        SYS_futex SYS_futex_waitv SYS_nanosleep SYS_clock_nanosleep SYS_sched_yield
        SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_restart_syscall
        SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_preadv2
        SYS_write SYS_writev SYS_pwrite64 SYS_pwritev SYS_pwritev2
        SYS_sendfile SYS_splice SYS_tee SYS_vmsplice SYS_copy_file_range SYS_readahead
        SYS_ppoll SYS_pselect6 SYS_epoll_pwait SYS_epoll_pwait2
        SYS_io_getevents SYS_io_uring_enter
        SYS_accept SYS_accept4 SYS_connect SYS_shutdown
        SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_sendto SYS_sendmsg SYS_sendmmsg
        SYS_openat SYS_openat2 SYS_close SYS_fcntl SYS_ioctl SYS_flock
        SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_msync
        SYS_truncate SYS_ftruncate SYS_fallocate
        SYS_fstat SYS_newfstatat SYS_statx SYS_faccessat SYS_readlinkat SYS_getdents64
        SYS_unlinkat SYS_renameat2 SYS_mkdirat SYS_linkat SYS_symlinkat
        SYS_mmap SYS_munmap SYS_mprotect SYS_madvise SYS_getrandom
        SYS_wait4 SYS_waitid SYS_clone SYS_clone3 SYS_execve
        SYS_semop SYS_semtimedop SYS_msgrcv SYS_msgsnd SYS_mq_timedreceive SYS_mq_timedsend
    ];

    /// What newer architectures do without.
    #[cfg(target_arch = "x86_64")]
    pub(super) const HERE: Names = constants![
        SYS_poll SYS_select SYS_epoll_wait SYS_pause
        SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents
        SYS_unlink SYS_rename SYS_renameat SYS_mkdir SYS_rmdir SYS_link SYS_symlink
        SYS_fork SYS_vfork
    ];
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) const HERE: Names = &[];
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod names {
    use super::Names;

    pub(super) const EVERYWHERE: Names = &[];
    pub(super) const HERE: Names = &[];
}
