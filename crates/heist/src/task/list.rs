//! A queue of runnable tasks.

use super::{Notified, Schedule};
use std::collections::VecDeque;
use std::mem;

/// Layout: number of tasks on a page: half a ring and the task that did not fit into it, which is
/// what an overflow moves.
const PAGE: usize = if cfg!(test) { 4 } else { 129 };

/// A first-in, first-out queue of runnable tasks.
///
/// Tasks are stored on pages instead of being linked through their headers, so that a worker that
/// takes a hundred of them need not wait for the memory of each one to find the next. A long queue
/// does not move when it grows.
pub(crate) struct TaskList<S: Schedule> {
    /// Tasks are popped here. When it is empty the next page replaces it, or the last one if there
    /// is no other, so a short queue uses two pages in turns.
    first: Page<S>,
    /// The pages in between, none of which is empty.
    full: VecDeque<Page<S>>,
    /// Tasks are pushed here.
    last: Page<S>,
    len: usize,
}

type Page<S> = VecDeque<Notified<S>>;

impl<S: Schedule> TaskList<S> {
    pub(crate) const fn new() -> Self {
        TaskList { first: Page::new(), full: VecDeque::new(), last: Page::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, task: Notified<S>) {
        if self.last.len() == self.last.capacity() {
            self.begin_page();
        }
        self.last.push_back(task);
        self.len += 1;
    }

    #[cold]
    fn begin_page(&mut self) {
        let last = mem::replace(&mut self.last, Page::with_capacity(PAGE));
        self.keep(last);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Notified<S>> {
        if self.first.is_empty() {
            self.turn_page();
        }
        let task = self.first.pop_front()?;
        self.len -= 1;
        Some(task)
    }

    fn turn_page(&mut self) {
        match self.full.pop_front() {
            Some(page) => self.first = page,
            None => mem::swap(&mut self.first, &mut self.last),
        }
    }

    /// Moves all tasks of `other` to the end of this queue.
    pub(crate) fn append(&mut self, other: &mut TaskList<S>) {
        if self.len == 0 {
            return mem::swap(self, other);
        }
        let TaskList { first, full, last, len } = mem::replace(other, TaskList::new());
        let last = mem::replace(&mut self.last, last);
        self.keep(last);
        self.keep(first);
        self.full.extend(full);
        self.len += len;
    }

    fn keep(&mut self, page: Page<S>) {
        if !page.is_empty() {
            self.full.push_back(page);
        }
    }
}

impl<S: Schedule> Extend<Notified<S>> for TaskList<S> {
    fn extend<I: IntoIterator<Item = Notified<S>>>(&mut self, tasks: I) {
        tasks.into_iter().for_each(|task| self.push(task));
    }
}
