//! Circular lists of what is linked in them. A member leaves its list without knowing which it is.

use std::cell::Cell;
use std::marker::PhantomPinned;
use std::ptr;

/// The head of a list, or a member's place in it. Neither may move while it is linked.
pub(super) struct Links {
    next: Cell<*const Links>,
    previous: Cell<*const Links>,
    _pinned: PhantomPinned,
}

impl Links {
    pub(super) const fn new() -> Self {
        let null = Cell::new(ptr::null());
        Links { next: null, previous: Cell::new(ptr::null()), _pinned: PhantomPinned }
    }

    /// Makes this the head of an empty list. It must stay at its address from now on.
    pub(super) fn become_head(&self) {
        self.next.set(self);
        self.previous.set(self);
    }

    /// Whether this is the head of an empty list.
    pub(super) fn is_empty(&self) -> bool {
        ptr::eq(self.next.get(), self)
    }

    /// The first member of the list with this head.
    pub(super) fn first(&self) -> Option<*const Links> {
        (!self.is_empty()).then(|| self.next.get())
    }

    /// Adds a member at the end of the list with this head.
    ///
    /// # Safety
    ///
    /// `member` is in no list, and stays where it is until it has left this one. This is the head
    /// of a list, none of whose members other threads access meanwhile.
    pub(super) unsafe fn push(&self, member: *const Links) {
        let last = self.previous.get();
        // SAFETY: (T11) the new member is valid.
        let links = unsafe { &*member };
        links.next.set(self);
        links.previous.set(last);
        // SAFETY: (T11) a member of this list, or its head.
        unsafe { &*last }.next.set(member);
        self.previous.set(member);
    }

    /// Takes this member out of its list.
    ///
    /// # Safety
    ///
    /// It is in a list, none of whose members other threads access meanwhile.
    pub(super) unsafe fn leave(&self) {
        let (next, previous) = (self.next.get(), self.previous.get());
        // SAFETY: (T11) a member of the same list, or its head.
        unsafe { &*next }.previous.set(previous);
        // SAFETY: (T11) as above.
        unsafe { &*previous }.next.set(next);
    }

    /// Moves all members of the list with the head `other` to this list, which is empty.
    ///
    /// # Safety
    ///
    /// Both are heads, and no other threads access the members meanwhile.
    pub(super) unsafe fn take_all(&self, other: &Links) {
        let (Some(first), last) = (other.first(), other.previous.get()) else { return };
        self.next.set(first);
        self.previous.set(last);
        // SAFETY: (T11) a member of the other list.
        unsafe { &*first }.previous.set(self);
        // SAFETY: (T11) as above.
        unsafe { &*last }.next.set(self);
        other.become_head();
    }
}
