//! I/O: the readiness of file descriptors, and the tasks that wait for it. `io/README.md` specifies
//! the protocol.
//!
//! | module | contents |
//! |---|---|
//! | `ready` | what a task waits for, and what a descriptor is ready for |
//! | `readiness` | the readiness word of a source |
//! | `source` | that word, and the waiting tasks |
//! | `sources` | the sources that a reactor watches |
//! | `registration` | which reactor watches a source |
//! | `evented` | a descriptor with its registration, for reading and writing |

mod evented;
#[cfg(all(test, loom))]
mod loom_tests;
mod readiness;
mod ready;
mod registration;
mod source;
mod sources;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use evented::Evented;
pub use ready::{Interest, Ready};
pub(crate) use source::ReadyEvent;
pub(crate) use sources::Sources;

use super::Reactors;
use std::io;
use std::os::fd::BorrowedFd;

/// The direction in which a task waits for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    /// Reading datagrams: an unreachable destination is reported as an error event only.
    Receive,
}

impl Direction {
    /// What ends the wait.
    #[inline]
    fn wanted(self) -> Ready {
        match self {
            Direction::Read => Ready::of(Interest::READABLE),
            Direction::Write => Ready::of(Interest::WRITABLE),
            Direction::Receive => Ready::of(Interest::READABLE | Interest::ERROR),
        }
    }
}

impl registration::Places for Reactors {
    fn here(&self) -> Option<usize> {
        Reactors::here(self)
    }

    fn here_or_any(&self) -> usize {
        Reactors::here_or_any(self)
    }

    fn sources(&self, seat: usize) -> &Sources {
        &self[seat].sources
    }

    fn is_neglected(&self, seat: usize) -> bool {
        self[seat].is_neglected(self.clock.now())
    }

    fn watch(
        &self,
        seat: usize,
        fd: BorrowedFd<'_>,
        key: u64,
        interest: Interest,
    ) -> io::Result<()> {
        self[seat].poller.add(fd, key, interest)?;
        self.added_source(seat);
        Ok(())
    }

    fn unwatch(&self, seat: usize, fd: BorrowedFd<'_>) -> io::Result<()> {
        self[seat].poller.remove(fd)
    }
}
