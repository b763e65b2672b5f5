//! `Interest` and `Ready`: what a task waits for, and what a descriptor is ready for.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// The kinds of readiness to wait for.
///
/// # Examples
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
    /// Readable: there is data, or the end.
    pub const READABLE: Interest = Interest(1);
    /// Writable: there is room, or writing fails.
    pub const WRITABLE: Interest = Interest(1 << 1);
    /// Urgent data, such as TCP's out-of-band data.
    pub const PRIORITY: Interest = Interest(1 << 2);
    /// Errors. They are reported to tasks that wait for them, whatever the source was registered
    /// for.
    pub const ERROR: Interest = Interest(1 << 3);

    /// Returns whether this includes [`READABLE`](Self::READABLE).
    pub const fn is_readable(self) -> bool {
        self.has(Interest::READABLE)
    }

    /// Returns whether this includes [`WRITABLE`](Self::WRITABLE).
    pub const fn is_writable(self) -> bool {
        self.has(Interest::WRITABLE)
    }

    /// Returns whether this includes [`PRIORITY`](Self::PRIORITY).
    pub const fn is_priority(self) -> bool {
        self.has(Interest::PRIORITY)
    }

    /// Returns whether this includes [`ERROR`](Self::ERROR).
    pub const fn is_error(self) -> bool {
        self.has(Interest::ERROR)
    }

    /// Returns both interests together, like `|` but usable in constants.
    #[must_use = "nothing is changed in place"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// Returns this interest without `other`, or `None` if nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use heist::io::Interest;
    ///
    /// let both = Interest::READABLE | Interest::WRITABLE;
    /// assert_eq!(both.remove(Interest::WRITABLE), Some(Interest::READABLE));
    /// assert_eq!(Interest::READABLE.remove(Interest::READABLE), None);
    /// ```
    #[must_use = "nothing is changed in place"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        let left = self.0 & !other.0;
        (left != 0).then_some(Interest(left))
    }

    const fn has(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }

    /// The direction, if the interest is about reading only or writing only.
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

/// The kinds of readiness of a source. An operation may still return `WouldBlock`.
///
/// # Examples
///
/// ```
/// use heist::io::Ready;
///
/// let ready = Ready::READ_CLOSED | Ready::WRITABLE;
/// assert!(ready.is_readable(), "a read returns the end");
/// assert!(ready.is_writable() && !ready.is_write_closed());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready(u8);

impl Ready {
    /// Not ready.
    pub const EMPTY: Ready = Ready(0);
    /// Ready for reading.
    pub const READABLE: Ready = Ready(1);
    /// Ready for writing.
    pub const WRITABLE: Ready = Ready(1 << 1);
    /// The peer will send nothing more.
    pub const READ_CLOSED: Ready = Ready(1 << 2);
    /// The peer will receive nothing more.
    pub const WRITE_CLOSED: Ready = Ready(1 << 3);
    /// Ready for reading urgent data.
    pub const PRIORITY: Ready = Ready(1 << 4);
    /// An error has occurred.
    pub const ERROR: Ready = Ready(1 << 5);
    /// All kinds of readiness.
    pub const ALL: Ready = Ready((1 << 6) - 1);

    /// The final ones.
    pub(super) const CLOSED: Ready = Ready(Ready::READ_CLOSED.0 | Ready::WRITE_CLOSED.0);

    /// Returns whether the source is not ready for anything.
    pub fn is_empty(self) -> bool {
        self == Ready::EMPTY
    }

    /// Returns whether a read would not block, because there is data or the end.
    pub fn is_readable(self) -> bool {
        self.has(Ready::READABLE) || self.is_read_closed()
    }

    /// Returns whether a write would not block, because there is room or it would fail.
    pub fn is_writable(self) -> bool {
        self.has(Ready::WRITABLE) || self.is_write_closed()
    }

    /// Returns whether the peer will send nothing more.
    pub fn is_read_closed(self) -> bool {
        self.has(Ready::READ_CLOSED)
    }

    /// Returns whether the peer will receive nothing more.
    pub fn is_write_closed(self) -> bool {
        self.has(Ready::WRITE_CLOSED)
    }

    /// Returns whether there is urgent data to read.
    pub fn is_priority(self) -> bool {
        self.has(Ready::PRIORITY)
    }

    /// Returns whether an error has occurred.
    pub fn is_error(self) -> bool {
        self.has(Ready::ERROR)
    }

    fn has(self, other: Ready) -> bool {
        self.0 & other.0 != 0
    }

    /// The kinds of readiness that are reported to a task that waits for `interest`.
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
