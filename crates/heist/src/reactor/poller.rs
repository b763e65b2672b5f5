//! The system's poller: epoll, edge-triggered.

use super::io::{Interest, Ready};
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// How many events one look may bring. Guessed.
const EVENTS: usize = 256;
/// The key of the eventfd that wakes who waits.
const WAKE: u64 = u64::MAX;

pub(crate) struct Poller {
    epoll: OwnedFd,
    wake: OwnedFd,
}

pub(crate) struct Events(Vec<epoll::Event>);

impl Poller {
    pub(crate) fn new() -> io::Result<Poller> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(WAKE), flags)?;
        Ok(Poller { epoll, wake })
    }

    pub(crate) fn add(&self, fd: BorrowedFd<'_>, key: u64, interest: Interest) -> io::Result<()> {
        let mut flags = epoll::EventFlags::ET;
        if interest.is_readable() {
            flags |= epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
        }
        if interest.is_writable() {
            flags |= epoll::EventFlags::OUT;
        }
        if interest.is_priority() {
            flags |= epoll::EventFlags::PRI;
        }
        Ok(epoll::add(&self.epoll, fd, epoll::EventData::new_u64(key), flags)?)
    }

    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    pub(crate) fn wake(&self) {
        // Fails only if the counter is full, and then it is not read yet.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.0.clear();
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().min(i32::MAX as u64) as i64,
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let room = rustix::buffer::spare_capacity(&mut events.0);
        epoll::wait(&self.epoll, room, timeout.as_ref())?;
        Ok(())
    }
}

impl Events {
    pub(crate) fn new() -> Events {
        Events(Vec::with_capacity(EVENTS))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Ready)> {
        let events = self.0.iter().filter(|event| event.data.u64() != WAKE);
        events.map(|event| (event.data.u64(), ready(event.flags)))
    }
}

/// What the system says in words of its own. A side is closed if it says so, or if there was an error
/// and no more.
fn ready(flags: epoll::EventFlags) -> Ready {
    use epoll::EventFlags as Flags;
    let mut ready = Ready::EMPTY;
    if flags.intersects(Flags::IN | Flags::PRI) {
        ready |= Ready::READABLE;
    }
    if flags.contains(Flags::OUT) {
        ready |= Ready::WRITABLE;
    }
    if flags.contains(Flags::HUP) || flags.contains(Flags::IN | Flags::RDHUP) {
        ready |= Ready::READ_CLOSED;
    }
    if flags.contains(Flags::HUP) || flags.contains(Flags::OUT | Flags::ERR) || flags == Flags::ERR
    {
        ready |= Ready::WRITE_CLOSED;
    }
    if flags.contains(Flags::ERR) {
        ready |= Ready::ERROR;
    }
    if flags.contains(Flags::PRI) {
        ready |= Ready::PRIORITY;
    }
    ready
}
