//! Descriptors of this process, with reactors that are turned by hand. Here: which tasks wait, and
//! which reactor watches; reading and writing is in `operations`.

mod operations;

use super::source::Source;
use super::sources::Sources;
use super::{Direction, Evented, Interest, Ready};
use crate::env::{Activity, Probe};
use crate::reactor::timers::Clock;
use crate::reactor::{Config, Reactors};
use crate::tuning::MOVE_AFTER;
use std::fs::File;
use std::future::Future;
use std::io::{self, Write};
use std::iter;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Counts how often it is woken.
#[derive(Default)]
struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl WakeCounter {
    fn new() -> (Arc<WakeCounter>, Waker) {
        let counter = Arc::new(WakeCounter::default());
        (counter.clone(), counter.into())
    }

    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn reactors(seats: usize) -> Arc<Reactors> {
    let config = Config {
        seats,
        is_guarded: false,
        has_io: true,
        has_time: false,
        clock: Clock::new(false),
    };
    Arc::new(Reactors::new(config).unwrap())
}

fn pair() -> (UnixStream, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    far.set_nonblocking(true).unwrap();
    (near, far)
}

/// Two ends; the near one is assumed to be ready for nothing, so that each wait asks the reactor.
fn watched(reactors: &Arc<Reactors>) -> (Evented<UnixStream>, UnixStream) {
    let (near, far) = pair();
    (Evented::assumed(reactors.clone(), near, BOTH, Ready::EMPTY), far)
}

/// A wait for reading from this seat; `true` if it is over.
fn waits_from(reactors: &Reactors, seat: usize, source: &Evented<UnixStream>) -> bool {
    let _sits = reactors.sit(seat);
    let mut cx = Context::from_waker(Waker::noop());
    source.poll_ready(&mut cx, Direction::Read).is_ready()
}

#[test]
fn a_source_is_registered_where_it_is_first_waited_for() {
    let reactors = reactors(3);
    let (source, _far) = watched(&reactors);
    assert_eq!(source.registration.seat(), None);
    assert!(!waits_from(&reactors, 2, &source));
    assert_eq!(source.registration.seat(), Some(2));
    assert_eq!([0, 1, 2].map(|seat| reactors[seat].sources.len()), [0, 0, 1]);
}

#[test]
fn those_without_a_seat_take_turns() {
    let reactors = reactors(3);
    let sources: Vec<_> = (0..6).map(|_| watched(&reactors)).collect();
    let mut cx = Context::from_waker(Waker::noop());
    for (source, _) in &sources {
        assert!(source.poll_ready(&mut cx, Direction::Read).is_pending());
    }
    assert_eq!([0, 1, 2].map(|seat| reactors[seat].sources.len()), [2, 2, 2]);
}

#[test]
fn what_comes_before_the_registration_is_not_lost() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    far.write_all(b"early").unwrap();
    assert!(!waits_from(&reactors, 0, &source));
    reactors[0].turn(Waker::wake);
    assert!(waits_from(&reactors, 0, &source));
}

/// A sleep that does not begin, because of a wake-up or an interruption, returns no events, not
/// even those of the last sleep.
#[test]
fn what_has_come_in_a_sleep_comes_once() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    assert!(!waits_from(&reactors, 0, &source));
    far.write_all(b"late").unwrap();
    let slept = reactors[0].sleep(|| false);
    assert!(!slept.is_woken);
    assert!(slept.harvest.expect("it is readable").deliver(Waker::wake));
    reactors[0].parker().unpark();
    let slept = reactors[0].sleep(|| false);
    assert!(slept.is_woken && slept.harvest.is_none());
    reactors[0].parker().interrupt();
    let slept = reactors[0].sleep(|| false);
    assert!(!slept.is_woken && slept.harvest.is_none());
}

/// L3: a worker that sleeps while there is no source is interrupted by the first one, and sleeps
/// where that is heard.
#[test]
fn l3_the_first_source_is_heard_by_who_sleeps_already() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let reactors = &reactors;
        let sleeper = scope.spawn(move || {
            tell.send(Probe::of_this_thread()).unwrap();
            let slept = iter::repeat_with(|| reactors[0].sleep(|| false));
            slept.map(|slept| slept.harvest.is_some()).take_while(|brings| !brings).count()
        });
        let sleeper_thread = told.recv().unwrap();
        // Where nothing is known of threads it lies down, most often.
        while sleeper_thread.sample().is_some_and(|now| now.activity() != Activity::Blocked) {
            thread::yield_now();
        }
        assert!(!waits_from(reactors, 0, &source));
        far.write_all(b"late").unwrap();
        sleeper.join().unwrap();
    });
}

/// Reactors that count as polled all the time, until they are [`neglected`].
fn polled_reactors(seats: usize) -> Arc<Reactors> {
    let reactors = reactors(seats);
    (0..seats).for_each(|seat| reactors[seat].turned_at.store(u64::MAX, Ordering::Relaxed));
    reactors
}

/// From now on nobody has polled this reactor since the beginning of time.
fn neglect(reactors: &Reactors, seat: usize) {
    reactors[seat].turned_at.store(0, Ordering::Relaxed);
    while !reactors[seat].is_neglected(reactors.clock.now()) {
        thread::yield_now();
    }
}

#[test]
fn a_registration_moves_to_whoever_waits_for_long() {
    let reactors = polled_reactors(3);
    let (source, mut far) = watched(&reactors);
    let seat_after = |waits: &[(usize, u8)]| {
        for (seat, times) in waits {
            (0..*times).for_each(|_| assert!(!waits_from(&reactors, *seat, &source)));
        }
        source.registration.seat().unwrap()
    };
    let few = MOVE_AFTER - 1;
    assert_eq!(seat_after(&[(0, 1), (1, few)]), 0);
    assert_eq!(seat_after(&[(0, 1), (1, few)]), 0, "its own seat comes in between");
    assert_eq!(seat_after(&[(2, 1), (1, few)]), 0, "another does");
    assert_eq!(seat_after(&[(1, 1)]), 1);
    assert_eq!([0, 1, 2].map(|seat| reactors[seat].sources.len()), [0, 1, 0]);

    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert!(!waits_from(&reactors, 1, &source), "the old reactor knows nothing of it");
    reactors[1].turn(Waker::wake);
    assert!(waits_from(&reactors, 1, &source));
    drop(source);
    assert_eq!(reactors[1].sources.len(), 0, "it is deregistered where it is");
}

/// L3: a source leaves a reactor that nobody polls, at the second wait from the same seat. One in
/// which a worker sleeps is polled.
#[test]
fn l3_a_registration_leaves_a_neglected_reactor() {
    let reactors = polled_reactors(2);
    let (source, _far) = watched(&reactors);
    let seat_after = |seat| {
        assert!(!waits_from(&reactors, seat, &source));
        source.registration.seat().unwrap()
    };
    assert_eq!([seat_after(0), seat_after(1)], [0, 0]);
    neglect(&reactors, 0);
    reactors[0].is_slept_in.store(true, Ordering::Relaxed);
    assert_eq!([seat_after(1), seat_after(0)], [0, 0]);
    assert_eq!([seat_after(1), seat_after(1)], [0, 0]);
    reactors[0].is_slept_in.store(false, Ordering::Relaxed);
    assert_eq!([seat_after(1), seat_after(0)], [0, 0]);
    assert_eq!([seat_after(1), seat_after(1), seat_after(0)], [0, 1, 1]);
}

#[test]
fn what_came_before_a_move_is_told_by_the_new_reactor() {
    let reactors = polled_reactors(2);
    let (source, mut far) = watched(&reactors);
    assert!(!waits_from(&reactors, 0, &source));
    far.write_all(b"ping").unwrap();
    neglect(&reactors, 0);
    (0..2).for_each(|_| assert!(!waits_from(&reactors, 1, &source)));
    assert_eq!(source.registration.seat(), Some(1));
    reactors[1].turn(Waker::wake);
    assert!(waits_from(&reactors, 1, &source));
}

#[test]
fn a_move_that_fails_changes_nothing() {
    let reactors = reactors(2);
    let (source, mut far) = watched(&reactors);
    assert!(!waits_from(&reactors, 0, &source));
    // No poller watches a descriptor twice.
    reactors[1].poller.add(source.as_fd(), 77, BOTH).unwrap();
    neglect(&reactors, 0);
    (0..8).for_each(|_| assert!(!waits_from(&reactors, 1, &source)));
    assert_eq!(source.registration.seat(), Some(0));
    assert_eq!(reactors[1].sources.len(), 0);
    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert!(waits_from(&reactors, 1, &source));
}

#[test]
fn a_descriptor_that_cannot_be_watched_is_an_error() {
    let reactors = reactors(1);
    let file = || File::open("/proc/self/exe").unwrap();
    let source = Evented::assumed(reactors.clone(), file(), BOTH, Ready::EMPTY);
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(Err(error)) = source.poll_ready(&mut cx, Direction::Read) else {
        panic!("files cannot be waited for")
    };
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    let Err((file, error)) = Evented::registered(reactors.clone(), file(), BOTH) else {
        panic!("files cannot be waited for")
    };
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert!(file.metadata().is_ok(), "it is given back");
    assert_eq!(reactors[0].sources.len(), 0);
}

#[test]
fn a_ready_future_waits_for_an_event() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);

    let mut ready = pin!(source.ready(Interest::READABLE));
    assert!(ready.as_mut().poll(&mut cx).is_pending());
    reactors[0].turn(Waker::wake);
    assert_eq!(counter.wakes(), 0, "it is writable only");
    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!(counter.wakes(), 1);
    let Poll::Ready(Ok(event)) = ready.poll(&mut cx) else { panic!("it is ready") };
    assert_eq!(event.ready, Ready::READABLE);
}

#[test]
fn one_event_wakes_all_futures_that_it_concerns() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    let mut futures: Vec<_> = (0..3).map(|_| Box::pin(source.ready(Interest::READABLE))).collect();
    let (urgent_counter, urgent_waker) = WakeCounter::new();
    let mut urgent = pin!(source.ready(Interest::PRIORITY));
    assert!(urgent.as_mut().poll(&mut Context::from_waker(&urgent_waker)).is_pending());
    for future in &mut futures {
        assert!(future.as_mut().poll(&mut cx).is_pending());
    }
    drop(futures.pop());
    assert_eq!(source.registration.source().futures(), 3, "a dropped future leaves");

    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!((counter.wakes(), urgent_counter.wakes()), (2, 0));
    for mut future in futures {
        let Poll::Ready(Ok(event)) = future.as_mut().poll(&mut cx) else { panic!("it is ready") };
        // The second is told, though the first takes it back.
        source.clear_ready(event);
    }
    assert_eq!(source.registration.source().futures(), 1);
}

#[test]
fn the_last_to_poll_in_a_direction_is_woken() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let ((first, first_waker), (last, last_waker)) = (WakeCounter::new(), WakeCounter::new());
    for waker in [&first_waker, &last_waker] {
        let mut cx = Context::from_waker(waker);
        assert!(source.poll_ready(&mut cx, Direction::Read).is_pending());
    }
    drop(first_waker);
    assert_eq!(Arc::strong_count(&first), 1, "the replaced waker is dropped");
    reactors[0].turn(Waker::wake);
    assert_eq!(last.wakes(), 0, "it is writable only");
    far.write_all(b"ping").unwrap();
    reactors[0].turn(Waker::wake);
    assert_eq!((first.wakes(), last.wakes()), (0, 1));
}

#[test]
fn clearing_takes_back_what_was_seen_and_nothing_newer() {
    let source = Source::new(Ready::EMPTY);
    let mut wakers = Vec::new();
    source.event(Ready::READABLE | Ready::WRITABLE, &mut wakers);
    let seen = source.look(Direction::Read.wanted()).unwrap();
    source.clear(seen);
    assert!(source.look(Direction::Read.wanted()).is_none());
    assert!(source.look(Direction::Write.wanted()).is_some());

    let seen = source.look(Direction::Write.wanted()).unwrap();
    source.event(Ready::WRITABLE, &mut wakers);
    source.clear(seen);
    assert!(source.look(Direction::Write.wanted()).is_some(), "it may be about what came since");
}

#[test]
fn both_directions_are_cleared_though_one_changes_the_word_of_the_other() {
    let source = Source::new(Ready::READABLE | Ready::WRITABLE);
    let [read, write] = [Direction::Read, Direction::Write].map(Direction::wanted);
    let (readable, writable) = (source.look(read).unwrap(), source.look(write).unwrap());
    source.clear(readable);
    source.clear(writable);
    assert!(source.look(read).is_none() && source.look(write).is_none());
}

#[test]
fn what_is_closed_stays_closed_unless_an_operation_proves_otherwise() {
    let source = Source::new(Ready::EMPTY);
    source.event(Ready::READABLE | Ready::READ_CLOSED, &mut Vec::new());
    source.clear(source.look(Direction::Read.wanted()).unwrap());
    let seen = source.look(Direction::Read.wanted()).unwrap();
    assert_eq!(seen.ready, Ready::READ_CLOSED);
    source.refute(seen);
    assert!(source.look(Direction::Read.wanted()).is_none());
}

#[test]
fn an_event_for_a_source_that_has_left_reaches_nobody() {
    let sources = Sources::new();
    let (old, new) = (Arc::new(Source::new(Ready::EMPTY)), Arc::new(Source::new(Ready::EMPTY)));
    let old_key = sources.insert(&old).unwrap();
    sources.remove(old_key);
    let new_key = sources.insert(&new).unwrap();
    assert_eq!(old_key.0 as u32, new_key.0 as u32, "the place is the same");
    sources.dispatch([(old_key.0, Ready::READABLE)].into_iter(), &mut Vec::new());
    let both = Ready::of(BOTH);
    assert!(old.look(both).is_none() && new.look(both).is_none());
    sources.remove(old_key);
    assert_eq!(sources.len(), 1, "and removing it once more removes no other");
    sources.dispatch([(new_key.0, Ready::READABLE)].into_iter(), &mut Vec::new());
    assert!(new.look(both).is_some());
}

#[test]
fn a_descriptor_used_again_begins_anew() {
    let reactors = reactors(1);
    let (old, mut old_far) = watched(&reactors);
    let mut cx = Context::from_waker(Waker::noop());
    assert!(old.poll_ready(&mut cx, Direction::Read).is_pending());
    old_far.write_all(b"for the old one").unwrap();
    let number = old.as_raw_fd();
    let (near, _far) = pair();
    drop(old);
    // At the number that has become free; other tests take numbers, too.
    let near = rustix::io::fcntl_dupfd_cloexec(near, number).unwrap();
    let new = Evented::assumed(reactors.clone(), near, BOTH, Ready::EMPTY);
    assert!(new.poll_ready(&mut cx, Direction::Read).is_pending());
    reactors[0].turn(Waker::wake);
    assert!(new.poll_ready(&mut cx, Direction::Read).is_pending());
}

#[test]
fn who_waits_when_the_runtime_goes_down_finds_out() {
    let reactors = reactors(2);
    let (source, _far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    assert!(source.poll_ready(&mut cx, Direction::Read).is_pending());
    let mut ready = pin!(source.ready(Interest::READABLE));
    assert!(ready.as_mut().poll(&mut cx).is_pending());

    reactors.close().into_iter().for_each(Waker::wake);
    assert_eq!(counter.wakes(), 2);
    assert_eq!(Arc::strong_count(&counter), 2, "no waker is kept");
    let is_down = |result: Poll<io::Result<_>>| match result {
        Poll::Ready(Err(error)) => crate::runtime::is_rt_shutdown_err(&error),
        _ => false,
    };
    assert!(is_down(source.poll_ready(&mut cx, Direction::Read)));
    assert!(is_down(source.poll_ready(&mut cx, Direction::Write)), "whatever it is ready for");
    assert!(is_down(ready.poll(&mut cx)));

    let (late, _far) = watched(&reactors);
    assert!(is_down(late.poll_ready(&mut cx, Direction::Read)), "no reactor watches it");
    assert_eq!([0, 1].map(|seat| reactors[seat].sources.len()), [0, 0]);
}

#[test]
fn dropping_deregisters_and_wakes_nobody() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    let (counter, waker) = WakeCounter::new();
    let mut cx = Context::from_waker(&waker);
    assert!(source.poll_ready(&mut cx, Direction::Read).is_pending());
    assert!(source.poll_ready(&mut cx, Direction::Write).is_pending());
    assert_eq!(reactors[0].sources.len(), 1);
    drop(source);
    assert_eq!(reactors[0].sources.len(), 0);
    assert_eq!((counter.wakes(), Arc::strong_count(&counter)), (0, 2));
    assert_eq!(far.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe, "it is closed");
}

#[test]
fn taking_it_out_deregisters_and_does_not_close() {
    let reactors = reactors(1);
    let (source, mut far) = watched(&reactors);
    assert!(!waits_from(&reactors, 0, &source));
    let near = source.into_inner().unwrap();
    assert_eq!(reactors[0].sources.len(), 0);
    far.write_all(b"x").unwrap();
    let source = Evented::registered(reactors.clone(), near, BOTH).unwrap();
    reactors[0].turn(Waker::wake);
    assert!(waits_from(&reactors, 0, &source), "it can be registered again");
}

#[test]
fn what_is_registered_at_once_is_ready_for_nothing_before_an_event() {
    let reactors = reactors(1);
    let (near, _far) = pair();
    let source = Evented::registered(reactors.clone(), near, BOTH).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(source.poll_ready(&mut cx, Direction::Write).is_pending());
    reactors[0].turn(Waker::wake);
    assert!(source.poll_ready(&mut cx, Direction::Write).is_ready());
    assert!(source.poll_ready(&mut cx, Direction::Read).is_pending());
}

#[test]
fn a_source_is_small_and_sockets_can_be_caught() {
    // With the counts of its Arc; Tokio's is 256.
    assert!(mem::size_of::<Source>() + 16 <= 72, "{}", mem::size_of::<Source>());
    assert!(mem::size_of::<Evented<OwnedFd>>() <= 56, "{}", mem::size_of::<Evented<OwnedFd>>());
    fn is_safe<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    is_safe::<Evented<OwnedFd>>();
}

#[test]
fn readiness_is_shown_in_words() {
    assert_eq!(format!("{:?}", Interest::PRIORITY | Interest::ERROR), "PRIORITY | ERROR");
    let ready = format!("{:?}", Ready::READ_CLOSED);
    assert!(ready.starts_with("Ready { is_readable: true, is_writable: false, "), "{ready}");
}
