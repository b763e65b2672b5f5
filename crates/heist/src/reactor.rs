//! Reactors, which wake tasks that wait for I/O or time. Each seat has one, with its own poller and
//! timer wheel, and any thread may use it. `reactor/README.md` specifies the protocol.
//!
//! A reactor never touches a run queue: it only calls wakers.

mod guard;
pub(crate) mod io;
#[cfg(feature = "test-util")]
mod moved_clock;
mod parker_sleep;
mod poller;
mod reaction;
mod shut_down;
pub(crate) mod timers;

pub(crate) use reaction::Reaction;
pub(crate) use shut_down::ShutDown;

use crate::env::Parker;
use crate::task::is_prompt;
use crate::trace::{self, EventKind};
use crate::tuning::RECHECK;
use crossbeam_utils::CachePadded;
use guard::{Guard, Vacancy};
use heist_sync::AdaptiveBarrier;
use io::Sources;
use parker_sleep::ParkerSleep;
use poller::{Events, HARVEST, Poller};
use std::cell::Cell;
use std::fmt;
use std::io as std_io;
use std::marker::PhantomData;
use std::ops::Index;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;
use std::time::Duration;
use timers::{Clock, Registered, Time, Timer, Timers};

/// The reactors of a runtime, one per seat.
pub(crate) struct Reactors {
    reactors: Box<[CachePadded<Reactor>]>,
    guard: Option<Guard>,
    barrier: AdaptiveBarrier,
    pub(crate) clock: Arc<Clock>,
    /// Counts upwards, to choose a seat for sources and timers of threads that have none.
    next: AtomicUsize,
    has_io: bool,
    has_time: bool,
}

/// The settings that a runtime's builder chooses.
pub(crate) struct Config {
    pub(crate) seats: usize,
    pub(crate) is_guarded: bool,
    pub(crate) has_io: bool,
    pub(crate) has_time: bool,
    pub(crate) clock: Clock,
}

/// The reactor of a seat.
pub(crate) struct Reactor {
    poller: Poller,
    sources: Sources,
    timers: Arc<Timers>,
    clock: Arc<Clock>,
    /// When it was polled last.
    turned_at: AtomicU64,
    vacancy: Vacancy,
    /// For the thread that polls it without sleeping.
    turn: Mutex<Turn>,
    /// For the worker that sleeps in it.
    sleeper_turn: Mutex<Turn>,
    is_slept_in: AtomicBool,
    /// The parker of its seat: the thread that sleeps in the reactor sleeps on the seat's parker.
    parker: Arc<CachePadded<Parker>>,
    parker_sleep: ParkerSleep,
}

/// The buffers for polling.
#[derive(Default)]
struct Turn {
    events: Events,
    wakers: Vec<Waker>,
}

thread_local! {
    /// The reactors of this thread's worker, and its seat.
    static HERE: Cell<(*const Reactors, usize)> = const { Cell::new((ptr::null(), 0)) };
}

/// A guard: the calling thread's worker has this seat, or none.
pub(crate) struct Sits<'a> {
    outer: (*const Reactors, usize),
    _reactors: PhantomData<&'a Reactors>,
}

impl Drop for Sits<'_> {
    fn drop(&mut self) {
        HERE.set(self.outer);
    }
}

impl Reactors {
    /// Creates one reactor per seat. Workers may leave their seats only if the reactors are
    /// guarded.
    ///
    /// # Errors
    /// If the process has too many open files.
    pub(crate) fn new(config: Config) -> std_io::Result<Self> {
        let Config { seats, is_guarded, has_io, has_time, clock } = config;
        let clock = Arc::new(clock);
        let reactor = |_| Reactor::new(Arc::clone(&clock)).map(CachePadded::new);
        let reactors = (0..seats).map(reactor).collect::<std_io::Result<Box<[_]>>>()?;
        let guard = || Guard::new(reactors.iter().map(|reactor| &**reactor));
        let guard = is_guarded.then(guard).transpose()?;
        let (barrier, next) = (AdaptiveBarrier::detect(), AtomicUsize::new(0));
        Ok(Reactors { reactors, guard, barrier, clock, next, has_io, has_time })
    }

    /// Whether I/O is enabled.
    pub(crate) fn has_io(&self) -> bool {
        self.has_io
    }

    /// Whether timers are enabled.
    pub(crate) fn has_time(&self) -> bool {
        self.has_time
    }

    pub(crate) fn len(&self) -> usize {
        self.reactors.len()
    }

    /// Marks that the calling thread's worker has this seat.
    pub(crate) fn sit(&self, seat: usize) -> Sits<'_> {
        Sits { outer: HERE.replace((self, seat)), _reactors: PhantomData }
    }

    /// Marks that the calling thread's worker has given its seat away.
    pub(crate) fn sit_nowhere() -> Sits<'static> {
        Sits { outer: HERE.replace((ptr::null(), 0)), _reactors: PhantomData }
    }

    /// The seat that the calling thread's worker has, or had when its poll began, if it belongs to
    /// these reactors.
    #[inline]
    pub(crate) fn here(&self) -> Option<usize> {
        let (reactors, seat) = HERE.try_with(Cell::get).ok()?;
        ptr::eq(reactors, self).then_some(seat)
    }

    /// Calls `f` with the reactors and the seat of the calling thread's worker, if it is a worker;
    /// see [`here`](Self::here).
    #[inline]
    pub(crate) fn with_here<R>(f: impl FnOnce(&Reactors, usize) -> R) -> Option<R> {
        let (reactors, seat) = HERE.try_with(Cell::get).ok()?;
        // SAFETY: (type) it comes from a `Sits`, which borrows the reactors, stays on its thread,
        // and restores the previous value when it is dropped, after `f` has returned.
        let reactors = unsafe { reactors.as_ref() }?;
        Some(f(reactors, seat))
    }

    /// The seat of the calling worker, or for other threads the seats in turn.
    pub(crate) fn here_or_any(&self) -> usize {
        // Relaxed: the numbers only have to differ.
        self.here().unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed) % self.len())
    }

    /// Registers a timer that calls `waker` at `deadline` with the reactor of this seat.
    pub(crate) fn register(
        &self,
        seat: usize,
        timer: Pin<&mut Timer>,
        waker: Waker,
        deadline: Time,
    ) -> Registered {
        let registered = self[seat].timers.register(timer, waker, deadline);
        if let Registered::Waiting { interrupt } = registered {
            if interrupt {
                self[seat].interrupt();
            }
            self.added_timer(seat);
        }
        registered
    }

    /// Closes all reactors at shutdown: new tasks are refused. Returns the wakers of all that wait,
    /// which the caller wakes.
    #[must_use]
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for reactor in &self.reactors {
            reactor.sources.close(&mut wakers);
            reactor.timers.close(&mut wakers);
        }
        wakers
    }
}

impl fmt::Debug for Reactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactors").field("seats", &self.len()).finish_non_exhaustive()
    }
}

impl Index<usize> for Reactors {
    type Output = Reactor;

    #[inline]
    fn index(&self, seat: usize) -> &Reactor {
        &self.reactors[seat]
    }
}

impl Reactor {
    fn new(clock: Arc<Clock>) -> std_io::Result<Self> {
        Ok(Reactor {
            poller: Poller::new()?,
            sources: Sources::new(),
            timers: Arc::new(Timers::new(clock.now())),
            clock,
            turned_at: AtomicU64::new(0),
            vacancy: Vacancy::new(),
            turn: Mutex::default(),
            sleeper_turn: Mutex::default(),
            is_slept_in: AtomicBool::new(false),
            parker: Arc::new(CachePadded::new(Parker::new())),
            parker_sleep: ParkerSleep::new(),
        })
    }

    /// Whether there are sources or timers, so that it must be polled.
    fn is_in_use(&self) -> bool {
        self.sources.len() > 0 || self.timers.next() != Time::NEVER
    }

    /// Whether it has not been polled for at least `limit`. A thread that sleeps in it does not
    /// poll.
    pub(crate) fn is_stale(&self, now: Time, limit: Duration) -> bool {
        let turned_at = || Time::from_nanos(self.turned_at.load(Ordering::Relaxed));
        self.is_in_use() && turned_at().until(now) >= limit
    }

    /// Whether its events wait for long: no thread sleeps in it, and none has polled it lately.
    fn is_neglected(&self, now: Time) -> bool {
        // Relaxed: it decides where a source is better off.
        !self.is_slept_in.load(Ordering::Relaxed) && self.is_stale(now, RECHECK)
    }

    /// Polls without waiting, and returns whether it woke a task. Does nothing if another thread
    /// polls. For `call_later`, see [`Harvest::deliver`].
    pub(crate) fn turn(&self, call_later: impl FnMut(Waker)) -> bool {
        if !self.is_in_use() {
            return false;
        }
        let turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let mut harvest = Harvest::new(self, &self.turn, turn);
        harvest.wait(Some(Duration::ZERO));
        harvest.pass_on_signal();
        harvest.deliver(call_later)
    }

    /// The parker on which the worker of its seat sleeps, in the reactor or outside.
    pub(crate) fn parker(&self) -> &Arc<CachePadded<Parker>> {
        &self.parker
    }

    /// Called by the worker of its seat: sleeps until the seat is woken, there are events to
    /// deliver, or the reactor is interrupted. It may return early. A stopped clock jumps to the
    /// next timer instead, if it `may_jump`.
    pub(crate) fn sleep(&self, may_jump: impl FnOnce() -> bool) -> Slept<'_> {
        let marks = Marks(self);
        // A thread that moves a stopped clock must look at the poller.
        let is_on_parker =
            !self.clock.is_stopped() && self.parker_sleep.begin_sleep(|| self.sources.len() > 0);
        if is_on_parker {
            return self.sleep_on_parker(marks);
        }
        // The thread that slept here before keeps the lock until it has delivered its events.
        let turn = self.sleeper_turn.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: published by the parker. From now on other threads that consume a signal send it
        // again, so the parker must announce the sleeper after this.
        self.is_slept_in.store(true, Ordering::Relaxed);
        let mut harvest = Harvest::new(self, &self.sleeper_turn, turn);
        let is_woken = self.parker.park_in(|| harvest.sleep(may_jump));
        drop(marks);
        Slept { is_woken, harvest: (!harvest.is_empty()).then_some(harvest) }
    }

    fn sleep_on_parker(&self, marks: Marks<'_>) -> Slept<'_> {
        let until = self.timers.begin_sleep();
        let is_woken = self.parker.park_lightly(until.map(|until| self.clock.now().until(until)));
        drop(marks);
        self.timers.end_sleep();
        let now = self.clock.now();
        self.turned_at.store(now.as_nanos(), Ordering::Relaxed);
        let harvest = || {
            let turn = self.sleeper_turn.lock().unwrap_or_else(PoisonError::into_inner);
            Harvest::new(self, &self.sleeper_turn, turn)
        };
        Slept { is_woken, harvest: (self.timers.next() <= now).then(harvest) }
    }

    /// Ends the current sleep in this reactor or, if there is none, the next one.
    pub(crate) fn interrupt(&self) {
        if !self.parker_sleep.interrupt(&self.parker) {
            self.poller.wake();
        }
    }
}

/// For tests of what happens during a poll.
#[cfg(all(test, not(loom)))]
impl Reactor {
    /// Polls, and calls `meanwhile` in the middle.
    pub(crate) fn turn_beside(&self, meanwhile: impl FnOnce()) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut harvest = Harvest::new(self, &self.turn, turn);
        meanwhile();
        harvest.wait(Some(Duration::ZERO));
        harvest.pass_on_signal();
        harvest.deliver(Waker::wake);
    }
}

/// Clears, on drop, the marks that tell other threads where a worker sleeps.
struct Marks<'a>(&'a Reactor);

impl Drop for Marks<'_> {
    fn drop(&mut self) {
        self.0.parker_sleep.end_sleep();
        // Relaxed: a thread that still sees it signals it once too often.
        self.0.is_slept_in.store(false, Ordering::Relaxed);
    }
}

/// The result of a sleep in a reactor.
pub(crate) struct Slept<'a> {
    /// Whether the seat was woken.
    pub(crate) is_woken: bool,
    /// Events to deliver, if there are any.
    pub(crate) harvest: Option<Harvest<'a>>,
}

/// The events of a poll that have not been delivered yet.
#[must_use = "tasks wait for these events"]
pub(crate) struct Harvest<'a> {
    reactor: &'a Reactor,
    lock: &'a Mutex<Turn>,
    turn: MutexGuard<'a, Turn>,
    now: Time,
}

impl<'a> Harvest<'a> {
    fn new(reactor: &'a Reactor, lock: &'a Mutex<Turn>, mut turn: MutexGuard<'a, Turn>) -> Self {
        // Earlier events have been delivered.
        turn.events.clear();
        Harvest { reactor, lock, turn, now: reactor.clock.now() }
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        let Reactor { poller, sources, .. } = self.reactor;
        if timeout != Some(Duration::ZERO) || sources.len() > 0 {
            poller.wait(&mut self.turn.events, timeout);
        }
        self.turned();
    }

    /// Waits until there are events or expired timers, or the reactor is interrupted.
    fn sleep(&mut self, may_jump: impl FnOnce() -> bool) {
        let reactor = self.reactor;
        match reactor.timers.begin_sleep() {
            Some(until) if reactor.clock.is_stopped() => self.wait_or_jump(until, may_jump),
            until => self.wait(until.map(|until| self.now.until(until))),
        }
        reactor.timers.end_sleep();
        self.now = reactor.clock.now();
        self.turned();
    }

    fn turned(&self) {
        self.reactor.turned_at.store(self.now.as_nanos(), Ordering::Relaxed);
    }

    /// Signals the eventfd again if this poll has consumed it, because it may have been meant for a
    /// sleeper.
    fn pass_on_signal(&self) {
        // Relaxed: set before any thread knew that it must signal.
        if self.reactor.is_slept_in.load(Ordering::Relaxed) && self.turn.events.is_signalled() {
            self.reactor.interrupt();
        }
    }

    /// Lets the stopped clock jump to `until`, unless there are events or other threads may cause
    /// some.
    fn wait_or_jump(&mut self, until: Time, may_jump: impl FnOnce() -> bool) {
        // This check first, then the poll: a thread that has finished signalled before.
        let may_jump = may_jump();
        let timeout = if may_jump { Duration::ZERO } else { RECHECK };
        let Reactor { poller, clock, .. } = self.reactor;
        let has_come = poller.wait(&mut self.turn.events, Some(timeout));
        if may_jump && !has_come {
            clock.jump(until);
        }
    }

    /// Whether there is no task to wake.
    pub(crate) fn is_empty(&self) -> bool {
        self.turn.events.is_empty() && self.reactor.timers.next() > self.now
    }

    /// Wakes the tasks that wait for these events, and returns whether there were any. Foreign
    /// wakers are left to `call_later`: they may wait, even for each other.
    pub(crate) fn deliver(mut self, mut call_later: impl FnMut(Waker)) -> bool {
        let Turn { events, wakers } = &mut *self.turn;
        self.reactor.sources.dispatch(events.iter(), wakers);
        let sources = wakers.len() as u32;
        if self.reactor.timers.next() <= self.now {
            self.reactor.timers.advance(self.now, HARVEST, wakers);
        }
        if wakers.is_empty() {
            return false;
        }
        if !events.is_empty() {
            trace::record_here(|| EventKind::IoHarvest { events: events.iter().count() as u32 });
        }
        let timers = wakers.len() as u32 - sources;
        if timers > 0 {
            trace::record_here(|| EventKind::TimersFired { timers });
        }
        // Waking a task may drop it, which runs foreign code, so no lock is held.
        let mut wakers = std::mem::take(wakers);
        let lock = self.lock;
        drop(self);
        for waker in wakers.drain(..) {
            if is_prompt(&waker) { waker.wake() } else { call_later(waker) }
        }
        if let Ok(mut turn) = lock.try_lock() {
            turn.wakers = wakers;
        }
        true
    }
}
