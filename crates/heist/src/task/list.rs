//! Runnable tasks in a row.

use super::{Notified, Schedule};
use std::collections::VecDeque;
use std::mem;

/// How many tasks a page has: half a ring, and the one that did not fit into it, which come at once if a lot does.
const PAGE: usize = if cfg!(test) { 4 } else { 129 };

/// Runnable tasks, first in first out.
///
/// They lie on pages and are not linked through their headers: who takes a hundred of them, to run them one after the
/// other, need not wait for the memory of each before it knows the next. And a long list does not move when it grows.
pub(crate) struct TaskList<S: Schedule> {
    /// Where tasks are popped. When it is empty the next page takes its place, and it becomes the last one if that was all
    /// there was: a short list has two pages, in turns.
    first: Page<S>,
    /// Those in between; none is empty.
    full: VecDeque<Page<S>>,
    /// Where tasks are pushed.
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

    /// Moves everything of `other` to the end of this list.
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
