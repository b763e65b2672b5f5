//! Readiness, waiters, and registrations in every interleaving that loom can find. A
//! wake-up or an event that is lost is a deadlock.
//!
//! Scenes are leaked: when a model deadlocks, loom's objects can no longer be dropped.

use super::registration::{Places, Registration};
use super::source::{Source, Wait};
use super::sources::{Key, Sources};
use super::{Direction, Interest, Ready};
use crate::canary;
use crate::env::Parker;
use heist_sync::{Mutex, UnsafeCell};
use loom::thread;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

fn leak<T>(scene: T) -> &'static T {
    Box::leak(Box::new(scene))
}

struct Sleeper(&'static Parker);

impl Wake for Sleeper {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until it is over, and sleeps in between.
fn block_on<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let parker = leak(Parker::new());
    let waker = Waker::from(Arc::new(Sleeper(parker)));
    loop {
        match poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => parker.park(),
        }
    }
}

/// Wakes whom `collect` says.
fn wake(collect: impl FnOnce(&mut Vec<Waker>)) {
    let mut wakers = Vec::new();
    collect(&mut wakers);
    wakers.into_iter().for_each(Waker::wake);
}

/// A descriptor, as the system sees it: what can be read, and the pollers of two seats.
struct Kernel(Mutex<Descriptor>);

#[derive(Default)]
struct Descriptor {
    bytes: usize,
    /// No poller can watch any more.
    is_full: bool,
    /// Pollers do not say what there is when they begin to watch.
    is_silent: bool,
    /// For each poller by which key it knows the descriptor, and whether that is ready to be told
    /// of.
    pollers: [Option<(u64, bool)>; 2],
}

impl Kernel {
    fn new() -> Self {
        Kernel(Mutex::new(Descriptor::default()))
    }

    fn send(&self) {
        let mut descriptor = self.0.lock().unwrap();
        descriptor.bytes += 1;
        descriptor.pollers.iter_mut().flatten().for_each(|(_, is_ready)| *is_ready = true);
    }

    /// Whether there was something.
    fn read(&self) -> bool {
        let mut descriptor = self.0.lock().unwrap();
        let was_there = descriptor.bytes > 0;
        descriptor.bytes -= usize::from(was_there);
        was_there
    }

    /// What a look at a poller brings.
    fn harvest(&self, seat: usize) -> Option<(u64, Ready)> {
        let mut descriptor = self.0.lock().unwrap();
        let is_readable = descriptor.bytes > 0;
        let (key, is_ready) = descriptor.pollers[seat].as_mut()?;
        (std::mem::take(is_ready) && is_readable).then_some((*key, Ready::READABLE))
    }
}

/// Two seats, their reactors, and one descriptor. All worker threads sit on the same seat.
struct Model {
    kernel: Kernel,
    sources: [Sources; 2],
    here: usize,
    /// Whether reactors of other seats are neglected: then the next wait moves the source.
    is_neglected: bool,
}

impl Model {
    fn new(here: usize) -> Self {
        let sources = [Sources::new(), Sources::new()];
        Model { kernel: Kernel::new(), sources, here, is_neglected: false }
    }

    fn turn(&self, seat: usize) {
        let harvest = self.kernel.harvest(seat);
        wake(|wakers| self.sources[seat].dispatch(harvest.into_iter(), wakers));
    }
}

impl Places for Model {
    fn here(&self) -> Option<usize> {
        Some(self.here)
    }

    fn here_or_any(&self) -> usize {
        self.here
    }

    fn sources(&self, seat: usize) -> &Sources {
        &self.sources[seat]
    }

    fn is_neglected(&self, _: usize) -> bool {
        self.is_neglected
    }

    fn watch(&self, seat: usize, _: BorrowedFd<'_>, key: u64, _: Interest) -> io::Result<()> {
        let mut descriptor = self.kernel.0.lock().unwrap();
        if descriptor.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        descriptor.pollers[seat] = Some((key, descriptor.bytes > 0 && !descriptor.is_silent));
        Ok(())
    }

    fn unwatch(&self, seat: usize, _: BorrowedFd<'_>) -> io::Result<()> {
        self.kernel.0.lock().unwrap().pollers[seat] = None;
        Ok(())
    }
}

fn registration(model: Model) -> &'static Registration<Model> {
    leak(Registration::new(Arc::new(model), Interest::READABLE, Ready::EMPTY))
}

/// Any descriptor: the model has but one.
fn fd() -> BorrowedFd<'static> {
    static STDIN: std::sync::OnceLock<io::Stdin> = std::sync::OnceLock::new();
    STDIN.get_or_init(io::stdin).as_fd()
}

/// Waits by polling in a direction.
fn wait(source: &Source) -> super::ReadyEvent {
    block_on(|cx| match source.look(Direction::Read.wanted()) {
        Some(event) => Poll::Ready(event),
        None => source.poll(Direction::Read, cx),
    })
}

/// A source, and something that an event tells of.
struct Message {
    source: Source,
    text: UnsafeCell<u32>,
}

// SAFETY: (T8) that the accesses are ordered is what the model checks.
unsafe impl Sync for Message {}

/// A task waits while an event comes, and sees what led to it.
fn an_event_beside_a_wait() {
    let scene = leak(Message { source: Source::new(Ready::EMPTY), text: UnsafeCell::new(0) });
    let reactor = thread::spawn(move || {
        // SAFETY: (T8) read after the event.
        scene.text.with_mut(|text| unsafe { *text = 5 });
        wake(|wakers| scene.source.event(Ready::READABLE, wakers));
    });
    let event = wait(&scene.source);
    assert!(event.ready.is_readable());
    // SAFETY: (T8) written before the event.
    assert_eq!(scene.text.with(|text| unsafe { *text }), 5);
    reactor.join().unwrap();
}

#[test]
fn loom_t8_an_event_beside_a_wait() {
    loom::model(an_event_beside_a_wait);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_readiness_relaxed() {
    canary::READINESS_RELAXED.model(an_event_beside_a_wait);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_second_look() {
    canary::SOURCE_NO_SECOND_LOOK.model(an_event_beside_a_wait);
}

/// Bytes come, each with its event, while a task reads until there is nothing, says so, and
/// waits.
fn events_beside_a_clear(bytes: usize) {
    let scene: &'static (Kernel, Source) = leak((Kernel::new(), Source::new(Ready::READABLE)));
    let (kernel, source) = scene;
    let reactor = thread::spawn(move || {
        for _ in 0..bytes {
            kernel.send();
            wake(|wakers| source.event(Ready::READABLE, wakers));
        }
    });
    let mut left = bytes;
    while left > 0 {
        let event = wait(source);
        match kernel.read() {
            true => left -= 1,
            false => source.clear(event),
        }
    }
    reactor.join().unwrap();
}

#[test]
fn loom_t8_two_events_beside_clears() {
    loom::model(|| events_beside_a_clear(2));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_stale_clear() {
    canary::READINESS_STALE_CLEAR.model(|| events_beside_a_clear(1));
}

/// A datagram finds no receiver, which is an error that comes alone, and then one arrives: the
/// receiver gets both.
fn an_error_beside_a_receive() {
    let scene: &'static (Mutex<[bool; 2]>, Source) =
        leak((Mutex::new([false; 2]), Source::new(Ready::READABLE)));
    let (there, source) = scene;
    let reactor = thread::spawn(move || {
        let events = [Ready::ERROR | Ready::WRITABLE | Ready::WRITE_CLOSED, Ready::READABLE];
        for (number, event) in events.into_iter().enumerate() {
            there.lock().unwrap()[number] = true;
            wake(|wakers| source.event(event, wakers));
        }
    });
    let mut left = 2;
    while left > 0 {
        let event = block_on(|cx| match source.look(Direction::Receive.wanted()) {
            Some(event) => Poll::Ready(event),
            None => source.poll(Direction::Receive, cx),
        });
        let found =
            there.lock().unwrap().iter_mut().find(|is_there| **is_there).map(std::mem::take);
        match found {
            Some(_) => left -= 1,
            None => source.refute(event),
        }
    }
    reactor.join().unwrap();
}

#[test]
fn loom_t8_an_error_beside_a_receive() {
    loom::model(an_error_beside_a_receive);
}

/// Alone it wakes the receiver.
fn an_error_alone() {
    let source = leak(Source::new(Ready::EMPTY));
    let reactor = thread::spawn(move || wake(|wakers| source.event(Ready::ERROR, wakers)));
    let event = block_on(|cx| source.poll(Direction::Receive, cx));
    assert!(event.ready.is_error());
    reactor.join().unwrap();
}

#[test]
fn loom_t8_an_error_alone() {
    loom::model(an_error_alone);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_error_untold() {
    canary::SOURCE_ERROR_UNTOLD.model(an_error_alone);
}

/// Another task takes over the wait while an event comes: it is told, whichever of the two was
/// woken.
#[test]
fn loom_t8_a_waker_replaced_beside_an_event() {
    loom::model(|| {
        let source = leak(Source::new(Ready::EMPTY));
        let reactor = thread::spawn(move || wake(|wakers| source.event(Ready::READABLE, wakers)));
        let _ = source.poll(Direction::Read, &mut Context::from_waker(Waker::noop()));
        assert!(block_on(|cx| source.poll(Direction::Read, cx)).ready.is_readable());
        reactor.join().unwrap();
    });
}

/// One future gives up while an event comes; another goes on waiting.
#[test]
fn loom_t8_a_future_given_up_beside_an_event() {
    loom::model(|| {
        let source = leak(Source::new(Ready::EMPTY));
        let reactor = thread::spawn(move || wake(|wakers| source.event(Ready::READABLE, wakers)));
        let mut given_up = Wait::new(source, Interest::READABLE);
        let _ = given_up.poll(&mut Context::from_waker(Waker::noop()));
        let mut other = Wait::new(source, Interest::READABLE);
        let mut given_up = Some(given_up);
        block_on(|cx| {
            let event = other.poll(cx);
            drop(given_up.take());
            event
        });
        reactor.join().unwrap();
        drop(other);
        assert_eq!(source.futures(), 0, "no future is left behind");
    });
}

/// Two futures wait; one event wakes both, and both are told, though the first takes it back.
#[test]
fn loom_t8_two_futures_are_told() {
    loom::model(|| {
        let source = leak(Source::new(Ready::EMPTY));
        let other = thread::spawn(move || {
            let mut wait = Wait::new(source, Interest::READABLE);
            source.clear(block_on(|cx| wait.poll(cx)));
        });
        let mut wait = Wait::new(source, Interest::READABLE);
        let first = wait.poll(&mut Context::from_waker(Waker::noop()));
        assert!(first.is_pending());
        wake(|wakers| source.event(Ready::READABLE, wakers));
        let again = wait.poll(&mut Context::from_waker(Waker::noop()));
        assert!(again.is_ready(), "the woken task is told");
        // Once more, for a waiter that came after that.
        wake(|wakers| source.event(Ready::READABLE, wakers));
        other.join().unwrap();
    });
}

/// The runtime goes down while a task registers and waits.
fn a_wait_beside_the_end() {
    let registration = registration(Model::new(0));
    let end = thread::spawn(move || {
        wake(|wakers| registration.places().sources[0].close(wakers));
    });
    let result = block_on(|cx| registration.poll_ready(fd(), Direction::Read, cx));
    assert!(result.is_err(), "there is nothing to read");
    end.join().unwrap();
}

#[test]
fn loom_t8_a_wait_beside_the_end() {
    loom::model(a_wait_beside_the_end);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_shut_down_silent() {
    canary::SOURCE_SHUT_DOWN_SILENT.model(a_wait_beside_the_end);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_close_unseen() {
    canary::SOURCES_CLOSE_UNSEEN.model(a_wait_beside_the_end);
}

/// Two wait for a source that cannot be registered: both find out.
fn two_waits_that_fail() {
    let registration = registration(Model::new(0));
    registration.places().kernel.0.lock().unwrap().is_full = true;
    let wait = move |direction| {
        assert!(block_on(|cx| registration.poll_ready(fd(), direction, cx)).is_err());
    };
    let other = thread::spawn(move || wait(Direction::Write));
    wait(Direction::Read);
    other.join().unwrap();
}

#[test]
fn loom_t8_two_waits_that_fail() {
    loom::model(two_waits_that_fail);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_registration_early() {
    canary::REGISTRATION_EARLY.model(two_waits_that_fail);
}

/// The first wait registers while a byte comes.
fn an_event_beside_the_first_wait(is_silent: bool) {
    let registration = registration(Model::new(0));
    let model = &**registration.places();
    model.kernel.0.lock().unwrap().is_silent = is_silent;
    let sender = thread::spawn(move || {
        model.kernel.send();
        model.turn(0);
    });
    read_one(registration, 0);
    sender.join().unwrap();
}

#[test]
fn loom_t8_an_event_beside_the_first_wait() {
    loom::model(|| an_event_beside_the_first_wait(false));
}

/// That `EPOLL_CTL_ADD` reports what there is, is what registering late leans on.
#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_first_wait_with_a_silent_poller() {
    loom::model(|| an_event_beside_the_first_wait(true));
}

/// Reads a byte on this seat: a worker with nothing to do looks at its own reactor.
fn read_one(registration: &Registration<Model>, seat: usize) {
    let model = &**registration.places();
    block_on(|cx| {
        while let Poll::Ready(event) = registration.poll_ready(fd(), Direction::Read, cx) {
            match model.kernel.read() {
                true => return Poll::Ready(()),
                false => registration.source().clear(event.unwrap()),
            }
        }
        model.turn(seat);
        Poll::Pending
    });
}

/// A registration moves from seat 0 to seat 1 while a byte comes; reactor 0 has the event already,
/// or gets it.
fn an_event_beside_a_move(is_silent: bool) {
    // The next wait moves it.
    let registration = registration(Model { is_neglected: true, ..Model::new(1) });
    registration.register_at(0, fd());
    registration.has_waited_from(1);
    let model = &**registration.places();
    model.kernel.0.lock().unwrap().is_silent = is_silent;
    let sender = thread::spawn(move || {
        model.kernel.send();
        model.turn(0);
        model.turn(1);
    });
    read_one(registration, 1);
    sender.join().unwrap();
}

#[test]
fn loom_l3_an_event_beside_a_move() {
    loom::model(|| an_event_beside_a_move(false));
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_a_move_to_a_silent_poller() {
    loom::model(|| an_event_beside_a_move(true));
}

/// An event is under way when its source leaves and another takes its place.
fn a_late_event() {
    let sources = leak(Sources::new());
    let old = Arc::new(Source::new(Ready::EMPTY));
    let Key(key) = sources.insert(&old).unwrap();
    let reactor = thread::spawn(move || {
        wake(|wakers| sources.dispatch([(key, Ready::READABLE)].into_iter(), wakers));
    });
    sources.remove(Key(key));
    let new = Arc::new(Source::new(Ready::EMPTY));
    let new_key = sources.insert(&new).unwrap();
    reactor.join().unwrap();
    assert!(new.look(Direction::Read.wanted()).is_none(), "an event reaches its own source only");
    sources.remove(new_key);
}

#[test]
fn loom_t8_a_late_event() {
    loom::model(a_late_event);
}

#[test]
#[should_panic(expected = "an event reaches its own source only")]
fn loom_canary_any_generation() {
    canary::SOURCES_ANY_GENERATION.model(a_late_event);
}
