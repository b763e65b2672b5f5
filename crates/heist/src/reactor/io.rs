//! I/O: what a file descriptor is ready for, and who waits for that. The protocol is told in
//! `io/README.md`.
//!
//! | module | what |
//! |---|---|
//! | `ready` | what one waits for, and what there is |
//! | `readiness` | the word of a source that says so |
//! | `source` | that word, and those who wait |
//! | `sources` | the sources that a reactor watches |
//! | `registration` | which reactor that is |
//! | `evented` | a descriptor with all this, for those who read and write |

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

/// Which side of a source one waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
    /// Reading datagrams: that nobody was there for one that was sent comes as an error alone.
    Receive,
}

impl Direction {
    fn interest(self) -> Interest {
        match self {
            Direction::Read => Interest::READABLE,
            Direction::Write => Interest::WRITABLE,
            Direction::Receive => Interest::READABLE | Interest::ERROR,
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
