//! A file descriptor for a child process, which can be polled.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Opens a descriptor that is readable when the process has exited. `pid` must be that of a child
/// that was not waited for. Fails where the system does not support it, or a sandbox forbids it.
pub(crate) fn open(pid: u32) -> io::Result<OwnedFd> {
    system::open(pid)
}

/// Whether the process has exited. It may still not be possible to wait for it, because a tracer is
/// first.
pub(crate) fn has_exited(pidfd: &impl AsFd) -> bool {
    system::has_exited(pidfd)
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    pub(super) fn open(pid: u32) -> io::Result<OwnedFd> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(pidfd_open(pid, PidfdFlags::NONBLOCK)?)
    }

    pub(super) fn has_exited(pidfd: &impl AsFd) -> bool {
        let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub(super) fn open(_: u32) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn has_exited(_: &impl AsFd) -> bool {
        false
    }
}
