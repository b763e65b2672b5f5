//! Reactors: what wakes tasks that wait for I/O or for time. There is one for each seat, with a poller
//! and a timer wheel of its own, and any thread may use it. The protocol is told in `reactor/README.md`.
//!
//! A reactor never touches a run queue: it calls wakers.

mod apart;
mod errand;
mod guard;
pub(crate) mod io;
#[cfg(feature = "test-util")]
mod moved_clock;
mod poller;
mod shut_down;
pub(crate) mod timers;

pub(crate) use errand::Errand;
pub(crate) use shut_down::ShutDown;

use crate::env::Parker;
use crate::trace::{self, EventKind};
use apart::Apart;
use crossbeam_utils::CachePadded;
use guard::{Guard, Post};
use heist_sync::AdaptiveBarrier;
use io::Sources;
use poller::{Events, Poller};
use std::cell::Cell;
use std::fmt;
use std::io as std_io;
use std::marker::PhantomData;
use std::ops::Index;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::Waker;
use std::time::Duration;
use timers::{Clock, EntryOf, Registered, Time, Timer, Timers};

/// The reactors of a runtime, one a seat.
pub(crate) struct Reactors {
    reactors: Box<[CachePadded<Reactor>]>,
    guard: Option<Guard>,
    barrier: AdaptiveBarrier,
    pub(crate) clock: Arc<Clock>,
    /// Who gets the next source or timer that comes from no seat; counts on and on.
    next: AtomicUsize,
    has_io: bool,
    has_time: bool,
}

/// What a runtime's builder decides about them.
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
    timers: Timers,
    clock: Arc<Clock>,
    /// When it was looked at last.
    turned_at: AtomicU64,
    post: Post,
    /// For whoever looks.
    turn: Mutex<Turn>,
    /// For whoever sleeps in it.
    night: Mutex<Turn>,
    is_slept_in: AtomicBool,
    /// That of its seat: who sleeps here sleeps there.
    parker: Arc<CachePadded<Parker>>,
    apart: Apart,
}

/// What is needed for looking.
#[derive(Default)]
struct Turn {
    events: Events,
    wakers: Vec<Waker>,
}

/// How many timers one turn fires at most, for the same reason as there is a limit on events: the rest
/// comes with the next.
const TIMERS_PER_TURN: usize = 128;

/// How long it takes until it is looked again whether a clock that stands still may jump. Guessed; it is
/// real time, in tests.
const JUMP_LOOKS: Duration = Duration::from_millis(1);

thread_local! {
    /// The reactors whose seat this thread's worker sits on, and which seat that is.
    static HERE: Cell<(*const Reactors, usize)> = const { Cell::new((ptr::null(), 0)) };
}

/// The calling thread's worker sits on a seat, or on none, as long as this lives.
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
    /// One for each of so many seats, which may be left if they are guarded.
    ///
    /// # Errors
    /// If the process has too many files open.
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

    /// Whether tasks may wait for I/O.
    pub(crate) fn has_io(&self) -> bool {
        self.has_io
    }

    /// Whether tasks may wait for time.
    pub(crate) fn has_time(&self) -> bool {
        self.has_time
    }

    pub(crate) fn len(&self) -> usize {
        self.reactors.len()
    }

    /// The calling thread's worker sits on this seat.
    pub(crate) fn sit(&self, seat: usize) -> Sits<'_> {
        Sits { outer: HERE.replace((self, seat)), _reactors: PhantomData }
    }

    /// The calling thread has no worker's seat, as long as this lives: its worker has stepped aside.
    pub(crate) fn sit_nowhere() -> Sits<'static> {
        Sits { outer: HERE.replace((ptr::null(), 0)), _reactors: PhantomData }
    }

    /// The seat that the calling thread's worker sits on, or sat on when its poll began, if it is one of
    /// these.
    #[inline]
    pub(crate) fn here(&self) -> Option<usize> {
        let (reactors, seat) = HERE.try_with(Cell::get).ok()?;
        ptr::eq(reactors, self).then_some(seat)
    }

    /// Calls `f` with the reactors of the calling thread's worker and its seat, as [`here`](Self::here) has
    /// it, if the thread has a worker.
    #[inline]
    pub(crate) fn with_here<R>(f: impl FnOnce(&Reactors, usize) -> R) -> Option<R> {
        let (reactors, seat) = HERE.try_with(Cell::get).ok()?;
        // SAFETY: (type) it comes from a `Sits`, which borrows the reactors, stays on its thread, and puts
        // back what was there before when it is dropped. Whatever `f` does, it does so before that.
        let reactors = unsafe { reactors.as_ref() }?;
        Some(f(reactors, seat))
    }

    /// That seat; for one who has none, one after the other.
    pub(crate) fn here_or_any(&self) -> usize {
        // Relaxed: that the numbers differ is all that is asked of them.
        self.here().unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed) % self.len())
    }

    /// The timer waits for `deadline`, at the reactor of this seat.
    pub(crate) fn register(
        &self,
        seat: usize,
        timer: &Arc<Timer>,
        deadline: Time,
        entry: EntryOf,
    ) -> Registered {
        let registered = self[seat].timers.register(timer, deadline, entry);
        self.registered(seat, registered);
        registered
    }

    /// A timer that is made for it waits for `deadline`, at the reactor of this seat.
    pub(crate) fn register_new(
        &self,
        seat: usize,
        waker: Waker,
        deadline: Time,
    ) -> (Arc<Timer>, Registered) {
        let (timer, registered) = self[seat].timers.register_new(waker, deadline);
        self.registered(seat, registered);
        (timer, registered)
    }

    fn registered(&self, seat: usize, registered: Registered) {
        if let Registered::Waiting { rouse } = registered {
            if rouse {
                self[seat].rouse();
            }
            self.added_timer(seat);
        }
    }

    /// The runtime goes down: whoever waits is woken, and nobody waits any more.
    pub(crate) fn close(&self) {
        for reactor in &self.reactors {
            let mut wakers = Vec::new();
            reactor.sources.close(&mut wakers);
            reactor.timers.close(&mut wakers);
            wakers.into_iter().for_each(wake);
        }
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
            timers: Timers::new(clock.now()),
            clock,
            turned_at: AtomicU64::new(0),
            post: Post::new(),
            turn: Mutex::default(),
            night: Mutex::default(),
            is_slept_in: AtomicBool::new(false),
            parker: Arc::new(CachePadded::new(Parker::new())),
            apart: Apart::new(),
        })
    }

    /// Whether anybody waits for it. If not, there is no need to look.
    fn is_in_use(&self) -> bool {
        self.sources.len() > 0 || self.timers.next() != Time::NEVER
    }

    /// Whether nobody has looked at it for so long. Who sleeps in it does not look.
    pub(crate) fn is_stale(&self, now: Time, limit: Duration) -> bool {
        let turned_at = || Time::from_nanos(self.turned_at.load(Ordering::Relaxed));
        self.is_in_use() && turned_at().until(now) >= limit
    }

    /// Looks without waiting; whether anybody was woken. If somebody else is looking, that is enough.
    pub(crate) fn turn(&self) -> bool {
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
        harvest.pass_on_bell();
        harvest.deliver()
    }

    /// Where who sits on its seat sleeps, in the reactor or not.
    pub(crate) fn parker(&self) -> &Arc<CachePadded<Parker>> {
        &self.parker
    }

    /// For who sits on its seat: sleeps until that is woken, there is something to deliver, or the reactor is roused. It may wake up for
    /// nothing. A clock that stands still is moved on to the next timer instead, if it `may_jump`.
    pub(crate) fn sleep(&self, may_jump: impl FnOnce() -> bool) -> Slept<'_> {
        let marks = Marks(self);
        // Who moves a clock on that stands still looks at the poller.
        let is_apart = !self.clock.is_stopped() && self.apart.lie_down(|| self.sources.len() > 0);
        if is_apart {
            return self.sleep_apart(marks);
        }
        // Who has slept in it before has the lock until it has delivered.
        let turn = self.night.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: made known by the parker. From now on others who hear the bell ring it again; so the parker says after this that there is
        // somebody to be roused.
        self.is_slept_in.store(true, Ordering::Relaxed);
        let mut harvest = Harvest::new(self, &self.night, turn);
        let is_woken = self.parker.park_in(|| harvest.sleep(may_jump));
        drop(marks);
        Slept { is_woken, harvest: (!harvest.is_empty()).then_some(harvest) }
    }

    fn sleep_apart(&self, marks: Marks<'_>) -> Slept<'_> {
        let until = self.timers.lie_down();
        let is_woken = self.parker.park_lightly(until.map(|until| self.clock.now().until(until)));
        drop(marks);
        self.timers.rise();
        let now = self.clock.now();
        self.turned_at.store(now.as_nanos(), Ordering::Relaxed);
        let harvest = || {
            let turn = self.night.lock().unwrap_or_else(PoisonError::into_inner);
            Harvest::new(self, &self.night, turn)
        };
        Slept { is_woken, harvest: (self.timers.next() <= now).then(harvest) }
    }

    /// Ends the sleep of who sleeps in it, or of the next one to do so.
    pub(crate) fn rouse(&self) {
        if !self.apart.rouse(&self.parker) {
            self.poller.wake();
        }
    }
}

/// For tests of what happens beside a look.
#[cfg(all(test, not(loom)))]
impl Reactor {
    /// A look, and something else in the middle of it.
    pub(crate) fn turn_beside(&self, meanwhile: impl FnOnce()) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut harvest = Harvest::new(self, &self.turn, turn);
        meanwhile();
        harvest.wait(Some(Duration::ZERO));
        harvest.pass_on_bell();
        harvest.deliver();
    }
}

/// What tells others where somebody sleeps, taken back however that ends.
struct Marks<'a>(&'a Reactor);

impl Drop for Marks<'_> {
    fn drop(&mut self) {
        self.0.apart.rise();
        // Relaxed: who still sees it rings once more, for nothing.
        self.0.is_slept_in.store(false, Ordering::Relaxed);
    }
}

/// How a sleep in a reactor has ended.
pub(crate) struct Slept<'a> {
    /// The seat was woken.
    pub(crate) is_woken: bool,
    /// What there is to deliver, if anything.
    pub(crate) harvest: Option<Harvest<'a>>,
}

/// What a look has brought, and has not been delivered yet.
#[must_use = "somebody waits for it"]
pub(crate) struct Harvest<'a> {
    reactor: &'a Reactor,
    lock: &'a Mutex<Turn>,
    turn: MutexGuard<'a, Turn>,
    now: Time,
}

impl<'a> Harvest<'a> {
    fn new(reactor: &'a Reactor, lock: &'a Mutex<Turn>, mut turn: MutexGuard<'a, Turn>) -> Self {
        // What was there before has been delivered.
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

    /// Until there is something to deliver, or the reactor is roused.
    fn sleep(&mut self, may_jump: impl FnOnce() -> bool) {
        let reactor = self.reactor;
        match reactor.timers.lie_down() {
            Some(until) if reactor.clock.is_stopped() => self.wait_or_jump(until, may_jump),
            until => self.wait(until.map(|until| self.now.until(until))),
        }
        reactor.timers.rise();
        self.now = reactor.clock.now();
        self.turned();
    }

    fn turned(&self) {
        self.reactor.turned_at.store(self.now.as_nanos(), Ordering::Relaxed);
    }

    /// A look has heard the bell, once and for all: it was rung for who sleeps, if anybody does.
    fn pass_on_bell(&self) {
        // Relaxed: set before anybody knew that he must ring.
        if self.turn.events.has_rung() && self.reactor.is_slept_in.load(Ordering::Relaxed) {
            self.reactor.rouse();
        }
    }

    /// The clock stands still. Unless something has come, or others do something that may bring it, it jumps
    /// to `until`.
    fn wait_or_jump(&mut self, until: Time, may_jump: impl FnOnce() -> bool) {
        // First this look, then the other: who is done has rung before.
        let may_jump = may_jump();
        let timeout = if may_jump { Duration::ZERO } else { JUMP_LOOKS };
        let Reactor { poller, clock, .. } = self.reactor;
        let has_come = poller.wait(&mut self.turn.events, Some(timeout));
        if may_jump && !has_come {
            clock.jump(until);
        }
    }

    /// Whether there is nobody to wake.
    pub(crate) fn is_empty(&self) -> bool {
        self.turn.events.is_empty() && self.reactor.timers.next() > self.now
    }

    /// Wakes who has waited for it; whether there was anybody.
    pub(crate) fn deliver(mut self) -> bool {
        let Turn { events, wakers } = &mut *self.turn;
        self.reactor.sources.dispatch(events.iter(), wakers);
        let sources = wakers.len() as u32;
        if self.reactor.timers.next() <= self.now {
            self.reactor.timers.advance(self.now, TIMERS_PER_TURN, wakers);
        }
        if wakers.is_empty() {
            return false;
        }
        if !events.is_empty() {
            trace::record_here(EventKind::IoHarvest { events: events.iter().count() as u32 });
        }
        if wakers.len() as u32 > sources {
            trace::record_here(EventKind::TimersFired { timers: wakers.len() as u32 - sources });
        }
        // A waker may be anybody's code. It finds nothing locked here.
        let mut wakers = std::mem::take(wakers);
        let lock = self.lock;
        drop(self);
        wakers.drain(..).for_each(wake);
        if let Ok(mut turn) = lock.try_lock() {
            turn.wakers = wakers;
        }
        true
    }
}

/// A panic of one waker is nobody's, and least of all that of the others.
fn wake(waker: Waker) {
    crate::env::quietly(|| waker.wake());
}
