//! Who is there: the blocking threads, those of them that sleep, and the closures that wait.
//!
//! Everything is behind one lock, which is held for a few instructions and never while code of
//! others runs. The protocol, and why no closure is forgotten, is told in `README.md`.

use crate::canary;
use heist_sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Tells the threads of a runtime apart; never given out twice.
pub(super) type Number = u64;

pub(super) struct Roster<T> {
    state: Mutex<State<T>>,
    /// For who waits until the threads have ended.
    all_ended: Condvar,
    limits: Limits,
}

/// How many threads there may be, and how long one sleeps before it ends.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) threads: usize,
    pub(crate) keep_alive: Duration,
}

struct State<T> {
    /// What waits for a thread, first in first out.
    queue: VecDeque<T>,
    /// Threads that there are: from the decision to start one until it has ended.
    threads: usize,
    /// Threads that sleep and that nobody has woken; the last one is woken first, so that those
    /// that are not needed sleep on and end.
    idle: Vec<Sleeper>,
    /// The one thread that was woken or started for what is in the queue and has not looked yet.
    coming: Option<Number>,
    next_number: Number,
    is_closed: bool,
}

/// A thread, to itself and in the list of those that sleep.
#[derive(Clone)]
pub(super) struct Sleeper {
    number: Number,
    bell: Arc<Condvar>,
}

impl Sleeper {
    pub(super) fn new(number: Number) -> Self {
        Sleeper { number, bell: Arc::new(Condvar::new()) }
    }
}

/// What has to be done, once the lock is free, so that what is in the queue finds a thread.
#[must_use]
pub(super) enum Summon {
    /// Nothing: nothing waits, a thread is coming, or all there may be are busy.
    Nobody,
    /// This thread sleeps.
    Wake(Arc<Condvar>),
    /// There is no thread of this number yet; it already counts.
    Start(Number),
}

/// What waits for a thread, seen from the outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) threads: usize,
    pub(crate) idle: usize,
    pub(crate) queued: usize,
}

impl<T> Roster<T> {
    pub(super) fn new(limits: Limits) -> Self {
        let state = State {
            queue: VecDeque::new(),
            threads: 0,
            idle: Vec::new(),
            coming: None,
            next_number: 0,
            is_closed: false,
        };
        Roster { state: Mutex::new(state), all_ended: Condvar::new(), limits }
    }

    /// Appends to the queue, or gives the item back if the runtime is down.
    pub(super) fn submit(&self, item: T) -> Result<Summon, T> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(item);
        }
        state.queue.push_back(item);
        Ok(state.summon(&self.limits))
    }

    /// Takes the first of the queue, without waiting. Whoever takes one has the next thread
    /// called for what is left, before it runs what it took.
    pub(super) fn take(&self, me: &Sleeper) -> Option<(T, Summon)> {
        self.lock().take(me, &self.limits)
    }

    /// As [`take`](Self::take), but sleeps while there is nothing. `None`: the thread must end,
    /// because it was not needed for long or because the runtime goes down.
    pub(super) fn next(&self, me: &Sleeper) -> Option<(T, Summon)> {
        let mut state = self.lock();
        loop {
            if let Some(taken) = state.take(me, &self.limits) {
                return Some(taken);
            }
            if state.is_closed {
                return None;
            }
            state.idle.push(me.clone());
            state = self.sleep(state, me)?;
        }
    }

    /// Sleeps until this thread is called for, or the runtime goes down. `None`: it slept too
    /// long, and is not in the list of sleepers any more.
    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State<T>>,
        me: &Sleeper,
    ) -> Option<MutexGuard<'a, State<T>>> {
        loop {
            let (locked, is_over) =
                me.bell.wait_timeout(&self.state, state, self.limits.keep_alive);
            state = locked;
            // Before the time: a thread that was called for comes, however late it is.
            let is_called = state.coming == Some(me.number) || state.is_closed;
            if is_called && !(is_over && canary::BLOCKING_EXPIRE_UNCHECKED.sings()) {
                return Some(state);
            }
            if is_over {
                state.idle.retain(|sleeper| sleeper.number != me.number);
                return None;
            }
        }
    }

    /// The thread could not be started. If there is no other, nobody would ever look at the
    /// queue: what is in it is the caller's to answer for.
    pub(super) fn not_started(&self) -> Result<Summon, VecDeque<T>> {
        let mut state = self.lock();
        state.threads -= 1;
        state.coming = None;
        self.tell_end(&state);
        if canary::BLOCKING_FAILURE_FORGETS.sings() {
            return Ok(Summon::Nobody);
        }
        if !state.queue.is_empty() {
            // While the start was tried nobody else was called.
            if let Some(wake) = state.wake() {
                return Ok(wake);
            }
            if state.threads == 0 {
                return Err(std::mem::take(&mut state.queue));
            }
        }
        Ok(Summon::Nobody)
    }

    /// A thread has ended, as far as it can tell. What came since it last looked, while it still
    /// counted, gets another one.
    pub(super) fn ended(&self) -> Summon {
        let mut state = self.lock();
        state.threads -= 1;
        self.tell_end(&state);
        if canary::BLOCKING_END_FORGETS.sings() {
            return Summon::Nobody;
        }
        state.summon(&self.limits)
    }

    fn tell_end(&self, state: &State<T>) {
        if state.is_closed {
            self.all_ended.notify_all();
        }
    }

    /// Takes no more, and gives back what would have to wait for a thread. What does not is run;
    /// threads end when nothing is left.
    pub(super) fn close(&self) -> VecDeque<T> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_closed, true) {
            return VecDeque::new();
        }
        let free = state.free(&self.limits);
        for sleeper in std::mem::take(&mut state.idle) {
            if !canary::BLOCKING_CLOSE_SILENT.sings() {
                sleeper.bell.notify_one();
            }
        }
        let first_to_wait = free.min(state.queue.len());
        state.queue.split_off(first_to_wait)
    }

    /// After [`close`](Self::close): waits until all threads but so many have ended.
    pub(super) fn wait_until_ended(&self, but: usize) {
        let mut state = self.lock();
        debug_assert!(state.is_closed);
        while state.threads > but {
            state = self.all_ended.wait(state);
        }
    }

    pub(super) fn census(&self) -> Census {
        let state = self.lock();
        Census { threads: state.threads, idle: state.idle.len(), queued: state.queue.len() }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing panics with the lock held.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T> State<T> {
    fn take(&mut self, me: &Sleeper, limits: &Limits) -> Option<(T, Summon)> {
        if self.coming == Some(me.number) {
            self.coming = None;
        }
        let item = self.queue.pop_front()?;
        let summon =
            if canary::BLOCKING_NO_CHAIN.sings() { Summon::Nobody } else { self.summon(limits) };
        Some((item, summon))
    }

    /// The rule: if something waits and nobody is coming, a sleeper comes, or a new thread.
    fn summon(&mut self, limits: &Limits) -> Summon {
        if self.queue.is_empty() || self.coming.is_some() {
            return Summon::Nobody;
        }
        if let Some(wake) = self.wake() {
            return wake;
        }
        if self.threads >= limits.threads {
            return Summon::Nobody;
        }
        self.threads += 1;
        self.next_number += 1;
        self.coming = Some(self.next_number);
        Summon::Start(self.next_number)
    }

    /// How many of the queue get a thread without waiting for a closure to end: if one is coming,
    /// as many as there may be threads beside the busy ones. If none is, the queue is empty or
    /// waits for those.
    fn free(&self, limits: &Limits) -> usize {
        if self.coming.is_none() || canary::BLOCKING_CLOSE_TAKES_ALL.sings() {
            return 0;
        }
        let busy = self.threads - self.idle.len() - 1;
        limits.threads - busy
    }

    fn wake(&mut self) -> Option<Summon> {
        let sleeper = self.idle.pop()?;
        self.coming = Some(sleeper.number);
        Some(Summon::Wake(sleeper.bell))
    }
}
