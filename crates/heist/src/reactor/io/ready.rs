//! What one waits for, and what there is.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// What one waits for: any of one or several kinds of readiness.
///
/// ```
/// use heist::io::Interest;
///
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// assert_eq!(both.remove(Interest::READABLE), Some(Interest::WRITABLE));
/// assert_eq!(format!("{both:?}"), "READABLE | WRITABLE");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Something to read, or the end of it.
    pub const READABLE: Interest = Interest(1);
    /// Room for writing, or that there will be none any more.
    pub const WRITABLE: Interest = Interest(1 << 1);
    /// Something urgent to read, as out-of-band data of TCP.
    pub const PRIORITY: Interest = Interest(1 << 2);
    /// An error. It is told to those who wait for it whatever else a source was registered for.
    pub const ERROR: Interest = Interest(1 << 3);

    /// Whether reading is asked for.
    pub const fn is_readable(self) -> bool {
        self.has(Interest::READABLE)
    }

    /// Whether writing is asked for.
    pub const fn is_writable(self) -> bool {
        self.has(Interest::WRITABLE)
    }

    /// Whether urgent data is asked for.
    pub const fn is_priority(self) -> bool {
        self.has(Interest::PRIORITY)
    }

    /// Whether errors are asked for.
    pub const fn is_error(self) -> bool {
        self.has(Interest::ERROR)
    }

    /// Both together. The same as `|`, for constants.
    #[must_use = "nothing is changed in place"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// What is left without `other`, if that is anything.
    #[must_use = "nothing is changed in place"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        let left = self.0 & !other.0;
        (left != 0).then_some(Interest(left))
    }

    const fn has(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it is about reading only, or about writing only.
    pub(super) fn is_one_sided(self) -> bool {
        !(self.is_writable() && (self.is_readable() || self.is_priority()))
    }
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Interest) {
        *self = *self | other;
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.is_readable(), "READABLE"),
            (self.is_writable(), "WRITABLE"),
            (self.is_priority(), "PRIORITY"),
            (self.is_error(), "ERROR"),
        ];
        let names: Vec<_> = kinds.iter().filter(|kind| kind.0).map(|kind| kind.1).collect();
        f.write_str(&names.join(" | "))
    }
}

/// What a source is ready for. It may turn out not to be, and then whoever tried finds `WouldBlock`.
///
/// ```
/// use heist::io::Ready;
///
/// let ready = Ready::READ_CLOSED | Ready::WRITABLE;
/// assert!(ready.is_readable(), "reading tells that this is the end");
/// assert!(ready.is_writable() && !ready.is_write_closed());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready(u8);

impl Ready {
    /// Nothing.
    pub const EMPTY: Ready = Ready(0);
    /// Reading.
    pub const READABLE: Ready = Ready(1);
    /// Writing.
    pub const WRITABLE: Ready = Ready(1 << 1);
    /// The other side will send no more.
    pub const READ_CLOSED: Ready = Ready(1 << 2);
    /// The other side will take no more.
    pub const WRITE_CLOSED: Ready = Ready(1 << 3);
    /// Reading what is urgent.
    pub const PRIORITY: Ready = Ready(1 << 4);
    /// There was an error.
    pub const ERROR: Ready = Ready(1 << 5);
    /// All of them.
    pub const ALL: Ready = Ready((1 << 6) - 1);

    /// The final ones.
    pub(super) const CLOSED: Ready = Ready(Ready::READ_CLOSED.0 | Ready::WRITE_CLOSED.0);

    /// Whether there is nothing.
    pub fn is_empty(self) -> bool {
        self == Ready::EMPTY
    }

    /// Whether reading may go on, or tells that it is at an end.
    pub fn is_readable(self) -> bool {
        self.has(Ready::READABLE) || self.is_read_closed()
    }

    /// Whether writing may go on, or tells that it is at an end.
    pub fn is_writable(self) -> bool {
        self.has(Ready::WRITABLE) || self.is_write_closed()
    }

    /// Whether the other side will send no more.
    pub fn is_read_closed(self) -> bool {
        self.has(Ready::READ_CLOSED)
    }

    /// Whether the other side will take no more.
    pub fn is_write_closed(self) -> bool {
        self.has(Ready::WRITE_CLOSED)
    }

    /// Whether there is something urgent to read.
    pub fn is_priority(self) -> bool {
        self.has(Ready::PRIORITY)
    }

    /// Whether there was an error.
    pub fn is_error(self) -> bool {
        self.has(Ready::ERROR)
    }

    fn has(self, other: Ready) -> bool {
        self.0 & other.0 != 0
    }

    /// Everything that one who waits for `interest` wants to know of.
    pub(super) fn of(interest: Interest) -> Ready {
        let mut ready = Ready::EMPTY;
        if interest.is_readable() {
            ready |= Ready::READABLE | Ready::READ_CLOSED;
        }
        if interest.is_writable() {
            ready |= Ready::WRITABLE | Ready::WRITE_CLOSED;
        }
        if interest.is_priority() {
            ready |= Ready::PRIORITY | Ready::READ_CLOSED;
        }
        if interest.is_error() {
            ready |= Ready::ERROR;
        }
        ready
    }

    pub(super) const fn from_bits(bits: u8) -> Ready {
        Ready(bits & Ready::ALL.0)
    }

    pub(super) const fn bits(self) -> u8 {
        self.0
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        *self = *self | other;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error())
            .field("is_priority", &self.is_priority())
            .finish()
    }
}
