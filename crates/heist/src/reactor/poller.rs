//! The poller: epoll, edge-triggered. Any thread may use it.

use super::io::{Interest, Ready};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::{Errno, retry_on_intr};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

pub(crate) struct Poller {
    epoll: OwnedFd,
    /// Readable since the first [`wake`](Self::wake), and never read: each write is a new edge.
    eventfd: OwnedFd,
}

/// Protocol: the key of the eventfd. No source has it, because its index is larger than any slab.
const EVENTFD: u64 = u64::MAX;

/// Layout: half of a worker's ring. A poll takes at most this many events and fires at most this
/// many timers, so that the woken tasks do not overflow the ring of the worker that polls. The rest
/// is left to the next poll.
pub(super) const HARVEST: usize = heist_deque::ring::Owner::<()>::DEFAULT_CAPACITY / 2;

const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// The events of a wait, as the system reports them.
#[derive(Default)]
pub(crate) struct Events(Vec<epoll::Event>);

// SAFETY: (type) plain data. An event might carry a pointer, but these carry keys.
unsafe impl Send for Events {}

impl Events {
    /// The events of sources: keys, and what the sources are ready for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, Ready)> + '_ {
        let of_sources = self.0.iter().filter(|event| event.data.u64() != EVENTFD);
        of_sources.map(|event| (event.data.u64(), ready(event.flags)))
    }

    /// Whether there are no events of sources.
    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Whether the eventfd was signalled.
    pub(super) fn is_signalled(&self) -> bool {
        self.0.iter().any(|event| event.data.u64() == EVENTFD)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Poller {
    /// # Errors
    /// If the process has too many open files.
    pub(crate) fn new() -> io::Result<Self> {
        let poller = Poller {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            eventfd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        };
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&poller.epoll, &poller.eventfd, EventData::new_u64(EVENTFD), flags)?;
        Ok(poller)
    }

    /// Adds a descriptor: waits then return its current readiness, and each change of it.
    pub(crate) fn add(&self, fd: BorrowedFd<'_>, key: u64, interest: Interest) -> io::Result<()> {
        let flags = flags(interest) | EventFlags::ET;
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(key), flags)?)
    }

    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Ends the current wait or, if there is none, the next one.
    pub(crate) fn wake(&self) {
        let signal = || retry_on_intr(|| rustix::io::write(&self.eventfd, &1u64.to_ne_bytes()));
        if signal() == Err(Errno::AGAIN) {
            // The counter has overflowed after 2⁶⁴ writes. Reading resets it.
            let _ = rustix::io::read(&self.eventfd, &mut [0; 8]);
            let _ = signal();
        }
    }

    /// Waits for events, at most for `timeout`. Returns `false` after a timeout. There may be no
    /// events in other cases too.
    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> bool {
        self.try_wait(events, timeout).unwrap_or_else(|error| {
            unreachable!("a poller that could be waited for once always can: {error}")
        })
    }

    fn try_wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<bool> {
        events.clear();
        // A timeout that is too long for a Timespec is infinite.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let timeout = match timeout {
            Some(limit) if limit != NO_TIME => {
                // The timeout of epoll is in milliseconds; that of poll is more precise.
                let mut epoll = [PollFd::new(&self.epoll, PollFlags::IN)];
                match poll(&mut epoll, Some(&limit)) {
                    Ok(0) => return Ok(false),
                    Err(Errno::INTR) => return Ok(true),
                    Ok(_) => Some(NO_TIME),
                    Err(error) => return Err(error.into()),
                }
            }
            other => other,
        };
        events.0.reserve_exact(HARVEST);
        match epoll::wait(&self.epoll, spare_capacity(&mut events.0), timeout.as_ref()) {
            Ok(brought) => Ok(brought > 0),
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }
}

/// A poller that watches other pollers.
impl Poller {
    /// Prepares for watching `other`.
    pub(super) fn add_other(&self, other: &Poller, key: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, &other.epoll, EventData::new_u64(key), EventFlags::ONESHOT)?)
    }

    /// Has the next event of `other`, or a pending one, end a wait once.
    pub(super) fn watch_other(&self, other: &Poller, key: u64) {
        self.modify(other, key, EventFlags::IN | EventFlags::ONESHOT);
    }

    pub(super) fn ignore_other(&self, other: &Poller, key: u64) {
        self.modify(other, key, EventFlags::ONESHOT);
    }

    fn modify(&self, other: &Poller, key: u64, flags: EventFlags) {
        let done = epoll::modify(&self.epoll, &other.epoll, EventData::new_u64(key), flags);
        debug_assert!(done.is_ok(), "added before: {done:?}");
    }
}

fn flags(interest: Interest) -> EventFlags {
    let mut flags = EventFlags::empty();
    if interest.is_readable() {
        flags |= EventFlags::IN | EventFlags::RDHUP;
    }
    if interest.is_writable() {
        flags |= EventFlags::OUT;
    }
    if interest.is_priority() {
        flags |= EventFlags::PRI;
    }
    flags
}

fn ready(flags: EventFlags) -> Ready {
    let is_hung_up = flags.contains(EventFlags::HUP);
    let is_error = flags.contains(EventFlags::ERR);
    let is_read_closed = is_hung_up || flags.contains(EventFlags::IN | EventFlags::RDHUP);
    let is_write_closed =
        is_hung_up || flags.contains(EventFlags::OUT | EventFlags::ERR) || flags == EventFlags::ERR;
    let all = [
        (flags.intersects(EventFlags::IN | EventFlags::PRI), Ready::READABLE),
        (flags.contains(EventFlags::OUT), Ready::WRITABLE),
        (is_read_closed, Ready::READ_CLOSED),
        (is_write_closed, Ready::WRITE_CLOSED),
        (flags.contains(EventFlags::PRI), Ready::PRIORITY),
        (is_error, Ready::ERROR),
    ];
    all.iter().filter(|(is_so, _)| *is_so).fold(Ready::EMPTY, |ready, (_, this)| ready | *this)
}
