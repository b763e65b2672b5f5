//! The blocking threads: those that exist, that sleep, and that come for closures.
//!
//! The accounting is behind one lock, which is held for a few instructions and never while foreign
//! code runs. It is taken when threads come, sleep or end. A thread that goes from one closure to
//! the next, or spawns one while another thread is coming, reads one word instead. `README.md`
//! has the protocol, and says why no closure is forgotten.

use super::queue::Queue;
use crate::canary;
use heist_sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, fence};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The number of a thread of the runtime. Never reused.
pub(super) type Number = u64;

/// A closure that one thread, named by its number, is called to run.
pub(super) type Call = Box<dyn FnOnce() + Send>;

pub(super) struct Roster<T> {
    /// The closures that wait for a thread.
    queue: Queue<T>,
    /// Whether a thread could be called for the queue. Written with the lock of the members, in
    /// `settle`; a thread that reads `true` checks again with the lock.
    is_callable: AtomicBool,
    members: Mutex<Members>,
    /// Notified when a thread has ended during the shutdown.
    all_ended: Condvar,
    limits: Limits,
}

/// How many threads there may be, and how long one sleeps before it ends.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) threads: usize,
    pub(crate) keep_alive: Duration,
}

struct Members {
    /// The number of threads: each counts from the decision to start it until it has ended.
    threads: usize,
    /// Threads that sleep and were not woken. The last one is woken first, so that threads that are
    /// not needed sleep on and end. For a call it is the last one on the caller's core, if there is
    /// one.
    idle: Vec<Sleeper>,
    /// The one thread that was woken or started for what is in the queue and has not looked yet.
    coming: Option<Number>,
    /// Calls, each with the thread that was woken or started for it and has not taken it yet.
    calls: Vec<(Number, Call)>,
    next_number: Number,
    is_closed: bool,
}

/// A thread, as it knows itself and as it is in the list of sleepers.
#[derive(Clone)]
pub(super) struct Sleeper {
    number: Number,
    bell: Arc<Condvar>,
    /// The core on which it went to sleep.
    core: Core,
}

/// The number of a core. A thread usually wakes up where it went to sleep.
pub(super) type Core = usize;

impl Sleeper {
    pub(super) fn new(number: Number) -> Self {
        Sleeper { number, bell: Arc::new(Condvar::new()), core: 0 }
    }
}

/// What to do, once the lock is free, so that waiting closures get a thread.
#[must_use]
pub(super) enum Summon {
    /// Nothing: no closure waits, a thread is coming, or all threads that the limit allows are
    /// busy.
    Nobody,
    /// Wake this thread, which sleeps.
    Wake(Arc<Condvar>),
    /// Start a thread with this number; it already counts.
    Start(Number),
}

/// What a thread has taken.
pub(super) enum Taken<T> {
    Closure(T),
    Call(Call),
}

/// What is left when the runtime goes down.
pub(super) struct Left<T> {
    /// Closures that would have to wait for a thread.
    pub(super) cancelled: VecDeque<T>,
    /// Mandatory closures, if there is no thread at all.
    pub(super) mandatory: VecDeque<T>,
    /// Calls that have not begun.
    pub(super) calls: Vec<Call>,
}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Left { cancelled: VecDeque::new(), mandatory: VecDeque::new(), calls: Vec::new() }
    }
}

/// A snapshot of the threads and the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Census {
    pub(crate) threads: usize,
    pub(crate) idle: usize,
    pub(crate) queued: usize,
}

impl<T> Roster<T> {
    pub(super) fn new(limits: Limits, shards: usize) -> Self {
        let members = Members {
            threads: 0,
            idle: Vec::new(),
            coming: None,
            calls: Vec::new(),
            next_number: 0,
            is_closed: false,
        };
        Roster {
            queue: Queue::new(shards),
            is_callable: AtomicBool::new(true),
            members: Mutex::new(members),
            all_ended: Condvar::new(),
            limits,
        }
    }

    /// Appends to the queue, or gives the item back if the runtime is down.
    pub(super) fn submit(&self, producer: usize, item: T) -> Result<Summon, T> {
        self.queue.push(producer, item)?;
        if !canary::BLOCKING_NO_SUBMIT_FENCE.sings() {
            // SeqCst: pairs with the fence in settle().
            fence(Ordering::SeqCst);
        }
        Ok(self.summon())
    }

    /// The rule of the README, for a thread that has changed only the queue.
    fn summon(&self) -> Summon {
        // Relaxed: ordered after a push by the fence there.
        if !self.is_callable.load(Ordering::Relaxed) {
            return Summon::Nobody;
        }
        self.settle(&mut self.lock())
    }

    /// The rule of the README, and the last step of each change to the members: if closures wait
    /// and no thread is coming, a sleeper or a new thread is called.
    fn settle(&self, members: &mut Members) -> Summon {
        let is_callable = members.is_callable(&self.limits);
        if !self.announce(is_callable) || self.queue.is_empty() {
            return Summon::Nobody;
        }
        self.announce(false);
        members.call_one()
    }

    /// A thread that announces that one can be called looks at the queue afterwards: a submitter
    /// that was too early to see the announcement relies on that.
    fn announce(&self, is_callable: bool) -> bool {
        // Relaxed: `false` may be seen late, and `true` is followed by a fence.
        self.is_callable.store(is_callable, Ordering::Relaxed);
        if is_callable && !canary::BLOCKING_NO_SETTLE_FENCE.sings() {
            // SeqCst: pairs with the fence in submit().
            fence(Ordering::SeqCst);
        }
        is_callable
    }

    /// Finds a thread for a call from `core`. Returns the call if there is none.
    pub(super) fn call(&self, call: Call, core: Core) -> Result<Summon, Call> {
        let mut members = self.lock();
        if members.is_closed {
            return Err(call);
        }
        // Afterwards fewer threads can be called for the queue. A thread that still reads `true`
        // checks again.
        members.hand(call, core).or_else(|call| members.start_for(call, &self.limits))
    }

    /// Called if the thread for a call could not be started. If a thread sleeps by now, it gets the
    /// call; otherwise the call is returned, unless a shutdown has dropped it. Closures that waited
    /// while this thread counted get another thread.
    pub(super) fn call_failed(
        &self,
        number: Number,
        core: Core,
    ) -> (Result<Summon, Option<Call>>, Summon) {
        let mut members = self.lock();
        members.threads -= 1;
        let handed = match members.call_of(number) {
            Some(call) => members.hand(call, core).map_err(Some),
            None => Err(None),
        };
        let forgets = canary::BLOCKING_CALL_FAILURE_FORGETS.sings();
        let summon = if forgets { Summon::Nobody } else { self.settle(&mut members) };
        self.tell_end(&members);
        (handed, summon)
    }

    /// The first look of a thread: for its call, or else at the queue.
    pub(super) fn arrive(&self, me: &Sleeper) -> (Option<Taken<T>>, Summon) {
        let mut members = self.lock();
        let taken = self.take(&mut members, me);
        (taken, self.settle_taken(&mut members))
    }

    /// The next closure, taken without the roster's lock if the queue is not empty. While it is
    /// empty, the thread sleeps, on the core that `core` returns. Returns `None` if the thread must
    /// end, because it was not needed for long or because the runtime shuts down.
    pub(super) fn next(&self, me: &Sleeper, core: impl Fn() -> Core) -> Option<(Taken<T>, Summon)> {
        if let Some((item, has_more)) = self.queue.pop() {
            let summon = if has_more { self.summon() } else { Summon::Nobody };
            return Some((Taken::Closure(item), summon));
        }
        let mut members = self.lock();
        loop {
            if let Some(taken) = self.take(&mut members, me) {
                return Some((taken, self.settle_taken(&mut members)));
            }
            if members.is_closed {
                return None;
            }
            members.idle.push(Sleeper { core: core(), ..me.clone() });
            if !canary::BLOCKING_SLEEP_UNSETTLED.sings() {
                // This calls this very thread, the last of the idle ones.
                let _ = self.settle(&mut members);
            }
            members = self.sleep(members, me)?;
        }
    }

    fn take(&self, members: &mut Members, me: &Sleeper) -> Option<Taken<T>> {
        if members.coming == Some(me.number) {
            members.coming = None;
        }
        if let Some(call) = members.call_of(me.number) {
            return Some(Taken::Call(call));
        }
        self.queue.pop().map(|(item, _)| Taken::Closure(item))
    }

    /// The chain: a thread that has come calls the next one before it runs what it took.
    fn settle_taken(&self, members: &mut Members) -> Summon {
        if canary::BLOCKING_NO_CHAIN.sings() { Summon::Nobody } else { self.settle(members) }
    }

    /// Sleeps until this thread is called, or the runtime shuts down. Returns `None` if it has
    /// slept too long; then it is no longer in the list of sleepers.
    fn sleep<'a>(
        &'a self,
        mut members: MutexGuard<'a, Members>,
        me: &Sleeper,
    ) -> Option<MutexGuard<'a, Members>> {
        let mut is_over = false;
        loop {
            // Before the check of the time: a thread that was called comes, however late it is.
            let is_called = members.is_called(me.number) || members.is_closed;
            if is_called && !(is_over && canary::BLOCKING_EXPIRE_UNCHECKED.sings()) {
                return Some(members);
            }
            if is_over {
                members.idle.retain(|sleeper| sleeper.number != me.number);
                return None;
            }
            (members, is_over) =
                me.bell.wait_timeout(&self.members, members, self.limits.keep_alive);
        }
    }

    /// Called if the thread could not be started. If there is no other, no thread would ever look
    /// at the queue: so the caller gets the first closure, and asks for the
    /// [next](Self::next_orphan).
    pub(super) fn not_started(&self) -> Result<Summon, T> {
        let mut members = self.lock();
        members.threads -= 1;
        members.coming = None;
        self.tell_end(&members);
        if canary::BLOCKING_FAILURE_FORGETS.sings() {
            return Ok(Summon::Nobody);
        }
        self.announce(true);
        self.wake_or_take(&mut members)
    }

    /// Called after the closure from the queue has failed. Meanwhile any thread could call a thread
    /// for the rest, because the drop of the failed closure may wait for it.
    pub(super) fn next_orphan(&self) -> Result<Summon, T> {
        self.wake_or_take(&mut self.lock())
    }

    /// What becomes of the queue after a failed start.
    fn wake_or_take(&self, members: &mut Members) -> Result<Summon, T> {
        if members.coming.is_some() || self.queue.is_empty() {
            return Ok(Summon::Nobody);
        }
        if let Some(wake) = members.wake() {
            self.announce(false);
            return Ok(wake);
        }
        if members.threads > 0 {
            return Ok(Summon::Nobody);
        }
        self.queue.pop().map_or(Ok(Summon::Nobody), |(orphan, _)| Err(orphan))
    }

    /// Called by a thread that is about to end. Closures that came since it last looked, while it
    /// still counted, get another thread.
    pub(super) fn ended(&self) -> Summon {
        let mut members = self.lock();
        members.threads -= 1;
        self.tell_end(&members);
        if canary::BLOCKING_END_FORGETS.sings() {
            return Summon::Nobody;
        }
        self.settle(&mut members)
    }

    fn tell_end(&self, members: &Members) {
        if members.is_closed {
            self.all_ended.notify_all();
        }
    }

    /// Closes the queue, and returns the closures without a thread. The others are run; threads end
    /// when none is left.
    pub(super) fn close(&self, is_mandatory: impl Fn(&T) -> bool) -> Left<T> {
        let mut members = self.lock();
        if std::mem::replace(&mut members.is_closed, true) {
            return Left::default();
        }
        let free = members.free(&self.limits);
        for sleeper in std::mem::take(&mut members.idle) {
            if !canary::BLOCKING_CLOSE_SILENT.sings() {
                sleeper.bell.notify_one();
            }
        }
        let calls = members.calls.drain(..).map(|(_, call)| call).collect();
        let cancelled = self.queue.close(free, is_mandatory);
        // The spawning threads have not called a thread yet, and no thread would wait for one that
        // they call now.
        let deserted = members.threads == 0 && !canary::BLOCKING_CLOSE_DESERTS.sings();
        let mandatory = if deserted { self.queue.take_all() } else { VecDeque::new() };
        Left { cancelled, mandatory, calls }
    }

    /// After [`close`](Self::close): waits until at most `but` threads are left.
    pub(super) fn wait_until_ended(&self, but: usize) {
        let mut members = self.lock();
        debug_assert!(members.is_closed);
        while members.threads > but {
            members = self.all_ended.wait(members);
        }
    }

    pub(super) fn census(&self) -> Census {
        let members = self.lock();
        Census { threads: members.threads, idle: members.idle.len(), queued: self.queue.len() }
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        // Nothing panics with the lock held.
        self.members.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Members {
    /// Whether no thread is coming for the queue, and one could be called.
    fn is_callable(&self, limits: &Limits) -> bool {
        self.coming.is_none() && (!self.idle.is_empty() || self.threads < limits.threads)
    }

    /// If a thread [could come](Self::is_callable): calls the last of the idle threads, or a new
    /// one.
    fn call_one(&mut self) -> Summon {
        self.wake().unwrap_or_else(|| {
            let number = self.add_thread();
            self.coming = Some(number);
            Summon::Start(number)
        })
    }

    fn wake(&mut self) -> Option<Summon> {
        let sleeper = self.idle.pop()?;
        self.coming = Some(sleeper.number);
        Some(Summon::Wake(sleeper.bell))
    }

    /// Has the last thread that went to sleep on this core run a call, or else the last of all idle
    /// ones.
    fn hand(&mut self, call: Call, core: Core) -> Result<Summon, Call> {
        let near = self.idle.iter().rposition(|sleeper| sleeper.core == core);
        let Some(place) = near.or(self.idle.len().checked_sub(1)) else { return Err(call) };
        let sleeper = self.idle.remove(place);
        self.calls.push((sleeper.number, call));
        Ok(Summon::Wake(sleeper.bell))
    }

    /// Has a new thread run a call.
    fn start_for(&mut self, call: Call, limits: &Limits) -> Result<Summon, Call> {
        if self.threads >= limits.threads {
            return Err(call);
        }
        let number = self.add_thread();
        self.calls.push((number, call));
        Ok(Summon::Start(number))
    }

    fn add_thread(&mut self) -> Number {
        self.threads += 1;
        self.next_number += 1;
        self.next_number
    }

    fn call_of(&mut self, number: Number) -> Option<Call> {
        let index = self.calls.iter().position(|(thread, _)| *thread == number)?;
        Some(self.calls.swap_remove(index).1)
    }

    fn is_called(&self, number: Number) -> bool {
        self.coming == Some(number) || self.calls.iter().any(|(thread, _)| *thread == number)
    }

    /// The number of closures in the queue that get a thread without waiting for another closure to
    /// end. If a thread is coming, this is the limit minus the busy threads; otherwise the queue is
    /// empty or waits for busy threads.
    fn free(&self, limits: &Limits) -> usize {
        if self.coming.is_none() || canary::BLOCKING_CLOSE_TAKES_ALL.sings() {
            return 0;
        }
        let busy = self.threads - self.idle.len() - 1;
        limits.threads - busy
    }
}
