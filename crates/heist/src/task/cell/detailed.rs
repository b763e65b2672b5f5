//! Tasks with details: a name, statistics for the console, or both.
//!
//! Other tasks have no space for details and pay nothing for them. The differences are in the
//! vtable, so that the code of each future exists once.

use super::{Cell, Header, Ran, VTable, displace, place};
use crate::task::tracker::Tracked;
use crate::task::{Id, JoinError, Schedule};
use crate::task_core::names::Name;
use std::future::Future;
use std::panic::Location;
use std::ptr::NonNull;

/// What is known of a task besides its id and where it was spawned.
pub(in crate::task_core) struct Details {
    pub(in crate::task_core) name: Option<Name>,
    pub(in crate::task_core) tracked: Option<Tracked>,
}

#[repr(C)]
struct DetailedCell<F: Future, S: Schedule> {
    cell: Cell<F, S>,
    details: Details,
}

/// Allocates a task with details; see [`allocate`](super::allocate).
pub(in crate::task_core) fn allocate_detailed<F, S>(
    future: F,
    id: Id,
    spawned_at: &'static Location<'static>,
    details: Details,
) -> NonNull<Header>
where
    F: Future,
    S: Schedule,
{
    let mut cell = Cell::<F, S>::new(future, id, spawned_at);
    cell.header.vtable = DetailedCell::<F, S>::VTABLE;
    place(DetailedCell { cell, details })
}

impl<F: Future, S: Schedule> DetailedCell<F, S> {
    /// Functions that are not listed are those of the inner cell.
    const VTABLE: &'static VTable = &VTable {
        run: Self::run,
        cancel: Self::cancel,
        schedule: Self::schedule,
        name: Self::name,
        dealloc: Self::dealloc,
        ..*Cell::<F, S>::VTABLE
    };

    /// # Safety
    /// `header` is that of a live `DetailedCell<F, S>`, and the reference does not outlive it.
    unsafe fn details<'a>(header: NonNull<Header>) -> &'a Details {
        // SAFETY: (T10) the header is the first field. The details are written before the task is
        // shared, and never again; no reference to the rest of the cell is made here.
        unsafe { &(*header.cast::<Self>().as_ptr()).details }
    }

    unsafe fn run(header: NonNull<Header>, scheduler: NonNull<()>) -> Ran<()> {
        // SAFETY: (T10) the vtable belongs to this type, and the caller has a reference until the
        // poll.
        let tracked = unsafe { Self::details(header) }.tracked.as_ref();
        // A share of its own, because the task may be freed when the poll has ended.
        let stats = tracked.map(Tracked::share);
        let poll = stats.as_ref().map(|stats| stats.poll_begins());
        // SAFETY: (T2) passed on to the caller.
        let ran = unsafe { Cell::<F, S>::run(header, scheduler) };
        if let (Some(stats), Some(poll)) = (stats, poll) {
            stats.poll_ends(poll, &ran);
        }
        ran
    }

    unsafe fn cancel(header: NonNull<Header>, why: JoinError) {
        // SAFETY: (T10) the vtable belongs to this type, and the caller has a reference until the
        // next call.
        let tracked = unsafe { Self::details(header) }.tracked.as_ref();
        let stats = tracked.map(Tracked::share);
        // SAFETY: (T2) passed on to the caller.
        unsafe { Cell::<F, S>::cancel_held(header, why) };
        stats.iter().for_each(|stats| stats.end());
    }

    unsafe fn schedule(header: NonNull<Header>) {
        // SAFETY: (T10) the vtable belongs to this type; the task is in no queue yet, so it is
        // alive.
        let tracked = unsafe { Self::details(header) }.tracked.as_ref();
        tracked.iter().for_each(|tracked| tracked.woken());
        // SAFETY: (T4) passed on to the caller.
        unsafe { Cell::<F, S>::schedule(header) };
    }

    unsafe fn name(header: NonNull<Header>) -> Option<NonNull<str>> {
        // SAFETY: (T10) the vtable belongs to this type, and the caller has a reference.
        let name = unsafe { Self::details(header) }.name.as_ref();
        name.map(|name| NonNull::from(&**name))
    }

    unsafe fn dealloc(header: NonNull<Header>) {
        // SAFETY: (T10) the vtable belongs to this type.
        unsafe { Cell::<F, S>::of(header) }.show_end();
        // SAFETY: (T10) placed by allocate_detailed(), and the last reference is gone.
        unsafe { displace::<Self>(header) };
    }
}
