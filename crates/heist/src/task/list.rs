//! Runnable tasks in a row.

use super::{Notified, Schedule};
use std::collections::VecDeque;

/// How many tasks a page has. Guessed: it holds half a ring, which is what comes at once if a lot does.
const PAGE: usize = if cfg!(test) { 4 } else { 128 };

/// Runnable tasks, first in first out.
///
/// They lie on pages and are not linked through their headers: who takes a hundred of them, to run them one after the
/// other, need not wait for the memory of each before it knows the next. And a long list does not move when it grows.
pub(crate) struct TaskList<S: Schedule> {
    /// Tasks are pushed to the last, and popped from the first, which is empty only if all are.
    pages: VecDeque<VecDeque<Notified<S>>>,
    len: usize,
}

impl<S: Schedule> TaskList<S> {
    pub(crate) const fn new() -> Self {
        TaskList { pages: VecDeque::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn push(&mut self, task: Notified<S>) {
        match self.pages.back_mut() {
            Some(page) if page.len() < page.capacity() => page.push_back(task),
            _ => self.push_to_new_page(task),
        }
        self.len += 1;
    }

    #[cold]
    fn push_to_new_page(&mut self, task: Notified<S>) {
        let mut page = VecDeque::with_capacity(PAGE);
        page.push_back(task);
        self.pages.push_back(page);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Notified<S>> {
        let page = self.pages.front_mut()?;
        let task = page.pop_front()?;
        self.len -= 1;
        // The last one stays for what comes next.
        if page.is_empty() && self.pages.len() > 1 {
            self.pages.pop_front();
        }
        Some(task)
    }

    /// Moves everything of `other` to the end of this list.
    pub(crate) fn append(&mut self, other: &mut TaskList<S>) {
        if self.len == 0 {
            return std::mem::swap(self, other);
        }
        if other.len > 0 {
            self.pages.append(&mut other.pages);
            self.len += std::mem::take(&mut other.len);
        }
    }
}

impl<S: Schedule> Extend<Notified<S>> for TaskList<S> {
    fn extend<I: IntoIterator<Item = Notified<S>>>(&mut self, tasks: I) {
        tasks.into_iter().for_each(|task| self.push(task));
    }
}
