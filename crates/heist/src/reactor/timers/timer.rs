//! A timer: a deadline, and the task that waits for it.

use super::Timers;
use super::list::Links;
use super::time::Time;
use super::wheel::Wheel;
use crate::canary;
use heist_sync::{AtomicU32, Ordering, UnsafeCell};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::Waker;

/// One deadline, and the task that waits for it. It is part of its owner, a `Sleep`, which polls,
/// resets, cancels and registers it. While it waits, it is a member of a list of its wheel.
///
/// Dropping it cancels it.
pub(crate) struct Timer {
    /// Where it was registered last.
    home: Option<Arc<Timers>>,
    node: Node,
}

/// What a wheel knows of a timer. While its phase is Waiting, it is accessed with the lock of its
/// wheel, except that its owner may read the alarm without; otherwise only by its owner (T11).
// The links come first, so that their address is that of the node.
#[repr(C)]
pub(super) struct Node {
    links: Links,
    /// A [`Phase`].
    phase: AtomicU32,
    /// Written by the owner only.
    alarm: UnsafeCell<Alarm>,
}

struct Alarm {
    deadline: Time,
    /// It is there while the phase is Waiting. A thread that ends the phase takes it, which leaves
    /// its bytes as they are.
    waker: MaybeUninit<Waker>,
}

/// | phase | is in a wheel | what a poll does |
/// |---|---|---|
/// | Resting | no | registers |
/// | Waiting | yes | stores its waker |
/// | Fired | no | is ready |
/// | Closed | no | registers with another runtime, or fails |
/// | Told | no | the same; its waker was called to have it polled once more |
///
/// The owner, or a thread with the lock of the wheel, ends Waiting; the owner does all else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Phase {
    Resting,
    Waiting,
    Fired,
    Closed,
    Told,
}

/// The result of a poll by the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Polled {
    /// The deadline has passed.
    Fired,
    /// The waker will be called.
    Waiting,
    /// It is not registered.
    Resting,
    /// The runtime in which it was registered has been shut down.
    Closed,
    /// The same, and it was polled before because of that; see [`Timer::tell`].
    Told,
}

/// How a wheel ends the wait of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Fired,
    Closed,
}

// SAFETY: (T11) the phase and the lock of the wheel say which thread may access it.
unsafe impl Send for Node {}
// SAFETY: (T11) as above; what needs no exclusive borrow of the timer only reads the phase.
unsafe impl Sync for Node {}

impl Timer {
    /// Creates a timer that is not registered.
    #[inline]
    pub(crate) fn new() -> Self {
        let alarm = Alarm { deadline: Time::NEVER, waker: MaybeUninit::uninit() };
        let phase = AtomicU32::new(Phase::Resting as u32);
        Timer {
            home: None,
            node: Node { links: Links::new(), phase, alarm: UnsafeCell::new(alarm) },
        }
    }

    /// Whether it has fired, and was not reset since.
    pub(crate) fn has_fired(&self) -> bool {
        self.node.phase() == Phase::Fired
    }

    /// Returns its state. If it waits, it calls `waker` from now on.
    pub(crate) fn poll(self: Pin<&mut Self>, waker: &Waker) -> Polled {
        match self.node.phase() {
            Phase::Waiting if self.node.will_wake(waker) => return Polled::Waiting,
            Phase::Waiting => {}
            Phase::Fired => return Polled::Fired,
            Phase::Resting => return Polled::Resting,
            Phase::Closed => return Polled::Closed,
            Phase::Told => return Polled::Told,
        }
        // Foreign code, so it is called before the lock is taken.
        let new = waker.clone();
        // SAFETY: (T11) it waits, and the lock of its wheel is held.
        match self.while_waiting(|node, _| unsafe { node.replace_waker(new) }) {
            Some(old) => {
                drop(old);
                Polled::Waiting
            }
            // It has ended since, and called the previous waker.
            None if self.node.phase() == Phase::Closed => Polled::Closed,
            None => Polled::Fired,
        }
    }

    /// Moves the deadline. If it waits and the new deadline is earlier, it leaves its wheel: then
    /// this returns the waker with which it must be registered again. If it does not wait, the next
    /// poll registers it.
    #[must_use]
    pub(crate) fn reset(self: Pin<&mut Self>, deadline: Time) -> Option<Waker> {
        let moved = self.while_waiting(|node, wheel| {
            // SAFETY: (T11) it waits, and the lock of its wheel is held.
            if unsafe { node.postpone(deadline) } {
                return None;
            }
            // SAFETY: (T11) as above.
            Some(unsafe { node.leave(wheel) })
        });
        if moved.is_none() {
            self.node.set(Phase::Resting);
        }
        moved.flatten()
    }

    /// Cancels it: it leaves its wheel, and drops its waker. A later poll registers it again.
    pub(crate) fn cancel(self: Pin<&mut Self>) {
        drop(self.leave());
        self.node.set(Phase::Resting);
    }

    /// Marks it as one whose owner is to be polled once more, as the runtime has been shut down.
    pub(crate) fn tell(self: Pin<&mut Self>) {
        drop(self.leave());
        self.node.set(Phase::Told);
    }

    /// Fires it, called by the owner if the deadline had passed when it was to be registered.
    pub(crate) fn fire(self: Pin<&mut Self>) {
        drop(self.leave());
        self.node.set(Phase::Fired);
    }

    /// Prepares it for a registration with these timers, and returns its node.
    pub(super) fn move_to(self: Pin<&mut Self>, timers: &Arc<Timers>) -> NonNull<Node> {
        assert_ne!(self.node.phase(), Phase::Waiting, "it is in one wheel at most");
        // SAFETY: (T11) nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        if !this.home.as_ref().is_some_and(|home| Arc::ptr_eq(home, timers)) {
            this.home = Some(Arc::clone(timers));
        }
        NonNull::from(&this.node)
    }

    /// Takes it out of its wheel, if it waits.
    fn leave(&self) -> Option<Waker> {
        // SAFETY: (T11) it waits, and the lock of its wheel is held.
        self.while_waiting(|node, wheel| unsafe { node.leave(wheel) })
    }

    /// Calls `f` with the lock of its wheel held, if it waits. Must be called by the owner.
    fn while_waiting<R>(&self, f: impl FnOnce(&Node, &mut Wheel) -> R) -> Option<R> {
        let node = &self.node;
        if node.phase() != Phase::Waiting {
            return None;
        }
        let mut wheel = self.home.as_ref()?.lock();
        // It may have ended before the lock was taken.
        if node.phase() != Phase::Waiting && !canary::TIMER_OWNER_UNCHECKED.sings() {
            return None;
        }
        // A wheel that is closed has no timers.
        wheel.as_mut().map(|wheel| f(node, wheel))
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        drop(self.leave());
    }
}

impl Node {
    #[inline]
    fn phase(&self) -> Phase {
        // Acquire: pairs with the Release in end(), so that what the wheel has done is over.
        match self.phase.load(canary::TIMER_END_RELAXED.weakens(Ordering::Acquire)) {
            0 => Phase::Resting,
            1 => Phase::Waiting,
            2 => Phase::Fired,
            3 => Phase::Closed,
            _ => Phase::Told,
        }
    }

    /// Called by the owner, with the lock if it waits.
    fn set(&self, phase: Phase) {
        // Relaxed: the owner tells itself, or the lock publishes it.
        self.phase.store(phase as u32, Ordering::Relaxed);
    }

    /// Whether it waits for a task with this waker. Called by the owner, who has seen that it
    /// waits.
    fn will_wake(&self, waker: &Waker) -> bool {
        self.alarm.with(|alarm| {
            // SAFETY: (T11) only the owner writes to it.
            let alarm = unsafe { &*alarm };
            // SAFETY: (T11) it was there, and its bytes are, which is all that is compared. If it
            // has been called since, `waker` is valid, and so is not another that has its address.
            unsafe { alarm.waker.assume_init_ref() }.will_wake(waker)
        })
    }

    /// Begins to wait.
    ///
    /// # Safety
    ///
    /// It does not wait, and the caller is its owner and has the lock of the wheel to which it has
    /// been added.
    pub(super) unsafe fn begin(&self, deadline: Time, waker: Waker) {
        let new = Alarm { deadline, waker: MaybeUninit::new(waker) };
        // SAFETY: (T11) as the caller promises; the previous waker was taken.
        self.alarm.with_mut(|alarm| unsafe { *alarm = new });
        self.set(Phase::Waiting);
    }

    /// # Safety
    ///
    /// It waits, and the caller is its owner and has the lock of the wheel.
    unsafe fn replace_waker(&self, new: Waker) -> Waker {
        self.alarm.with_mut(|alarm| {
            // SAFETY: (T11) as the caller promises.
            let alarm = unsafe { &mut *alarm };
            let old = std::mem::replace(&mut alarm.waker, MaybeUninit::new(new));
            // SAFETY: (T11) as the caller promises, it waits.
            unsafe { old.assume_init() }
        })
    }

    /// Stores the deadline if it is not earlier than the present one. The wheel sees it when it
    /// comes to the timer.
    ///
    /// # Safety
    ///
    /// As for [`replace_waker`](Self::replace_waker).
    unsafe fn postpone(&self, deadline: Time) -> bool {
        self.alarm.with_mut(|alarm| {
            // SAFETY: (T11) as the caller promises.
            let alarm = unsafe { &mut *alarm };
            let is_later = alarm.deadline <= deadline;
            if is_later {
                alarm.deadline = deadline;
            }
            is_later
        })
    }

    /// Leaves the wheel, and rests.
    ///
    /// # Safety
    ///
    /// As for [`replace_waker`](Self::replace_waker), and this is the wheel.
    unsafe fn leave(&self, _wheel: &mut Wheel) -> Waker {
        // SAFETY: (T11) as the caller promises, it is in a list of the wheel.
        unsafe { self.links.leave() };
        self.set(Phase::Resting);
        // SAFETY: (T11) as the caller promises, it was waiting.
        unsafe { self.take_waker() }
    }

    /// The deadline.
    ///
    /// # Safety
    ///
    /// It waits, and the caller has the lock of the wheel.
    pub(super) unsafe fn deadline(&self) -> Time {
        // SAFETY: (T11) as the caller promises.
        self.alarm.with(|alarm| unsafe { (*alarm).deadline })
    }

    /// # Safety
    ///
    /// It waits or waited, the caller has the lock of the wheel, and no other takes the waker.
    unsafe fn take_waker(&self) -> Waker {
        self.alarm.with(|alarm| {
            // SAFETY: (T11) as the caller promises.
            let alarm = unsafe { &*alarm };
            // SAFETY: (T11) as above. It is taken once.
            unsafe { alarm.waker.assume_init_read() }
        })
    }

    pub(super) fn links(this: NonNull<Node>) -> *const Links {
        this.as_ptr().cast_const().cast()
    }

    /// The node with these links.
    pub(super) fn with_links(links: *const Links) -> NonNull<Node> {
        NonNull::new(links.cast_mut().cast()).expect("members have an address")
    }

    /// Ends its wait, and returns the waker, which the caller must call. Afterwards its owner may
    /// free it.
    ///
    /// # Safety
    ///
    /// It waits, has left its list, and the caller has the lock of the wheel.
    pub(super) unsafe fn end(this: NonNull<Node>, end: End) -> Waker {
        // SAFETY: (T11) it waits, so its owner cannot free it without the lock.
        let node = unsafe { this.as_ref() };
        // SAFETY: (T11) as the caller promises.
        let waker = unsafe { node.take_waker() };
        let phase = match end {
            End::Fired => Phase::Fired,
            End::Closed => Phase::Closed,
        };
        // Release: pairs with the Acquire in phase(). The owner may use it, and free it.
        node.phase.store(phase as u32, canary::TIMER_END_RELAXED.weakens(Ordering::Release));
        waker
    }
}
