//! Timers in every interleaving that loom can find: owners beside wheels, and registrations beside
//! sleeps (I1, T11).

use super::*;
use crate::canary;
use heist_sync::AtomicUsize;
use loom::thread;
use std::task::Wake;
use std::time::Duration;

/// Counts how often it is woken.
struct WakeCounter(AtomicUsize);

impl WakeCounter {
    fn new() -> Arc<WakeCounter> {
        let counter = Arc::new(WakeCounter(AtomicUsize::new(0)));
        // A mistake may drop a waker twice, and must be found.
        std::mem::forget(counter.clone());
        counter
    }

    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn millis(millis: u64) -> Time {
    Time::ORIGIN.plus(Duration::from_millis(millis))
}

fn wait_in(timers: &Arc<Timers>, timer: Pin<&mut Timer>, waker: Waker, at: u64) {
    let registered = timers.register(timer, waker, millis(at));
    assert!(matches!(registered, Registered::Waiting { interrupt: false }), "{registered:?}");
}

fn advance(timers: &Timers, to: u64) {
    let mut wakers = Vec::new();
    timers.advance(millis(to), 8, &mut wakers);
    wakers.into_iter().for_each(Waker::wake);
}

fn close(timers: &Timers) {
    let mut wakers = Vec::new();
    timers.close(&mut wakers);
    wakers.into_iter().for_each(Waker::wake);
}

/// A timer and the wheel that it waits in, until 10 ms.
struct Scene {
    timers: Arc<Timers>,
    timer: Pin<Box<Timer>>,
    counter: Arc<WakeCounter>,
}

impl Scene {
    fn new() -> Scene {
        let (timers, counter) = (Arc::new(Timers::new(Time::ORIGIN)), WakeCounter::new());
        let mut timer = Box::pin(Timer::new());
        wait_in(&timers, timer.as_mut(), counter.clone().into(), 10);
        Scene { timers, timer, counter }
    }

    /// What `Sleep::reset` does.
    fn reset(&mut self, to: u64) {
        let Some(waker) = self.timer.as_mut().reset(millis(to)) else { return };
        match self.timers.register(self.timer.as_mut(), waker, millis(to)) {
            Registered::Waiting { .. } => {}
            Registered::Elapsed(waker) => {
                self.timer.as_mut().fire();
                waker.wake();
            }
            Registered::Closed(waker) => waker.wake(),
        }
    }

    /// The first poll after a reset, as `Sleep` does it.
    fn poll_to(&mut self, to: u64) {
        match self.timer.as_mut().poll(Waker::noop()) {
            Polled::Resting => {
                wait_in(&self.timers, self.timer.as_mut(), Waker::noop().clone(), to)
            }
            Polled::Waiting => {}
            polled => panic!("early: {polled:?}"),
        }
    }
}

/// Runs `owner` beside `other`, which has the wheel.
fn beside(other: impl FnOnce(&Timers) + Send + 'static, owner: impl FnOnce(&mut Scene)) -> Scene {
    let mut scene = Scene::new();
    let timers = scene.timers.clone();
    let other = thread::spawn(move || other(&timers));
    owner(&mut scene);
    other.join().unwrap();
    scene
}

/// A task that is told to wait is woken.
fn poll_beside_fire() {
    let counter = WakeCounter::new();
    let waker = Waker::from(counter.clone());
    let mut polled = Polled::Fired;
    beside(|timers| advance(timers, 10), |scene| polled = scene.timer.as_mut().poll(&waker));
    match polled {
        Polled::Fired => {}
        Polled::Waiting => assert_eq!(counter.wakes(), 1, "the waiter is woken"),
        Polled::Resting | Polled::Closed | Polled::Told => panic!("it is registered, and open"),
    }
}

#[test]
fn loom_i1_a_poll_beside_the_wheel() {
    loom::model(poll_beside_fire);
}

#[test]
#[should_panic(expected = "the waiter is woken")]
fn loom_canary_owner_unchecked() {
    canary::TIMER_OWNER_UNCHECKED.model(poll_beside_fire);
}

/// A task that polls again with the waker that is there needs no lock.
#[test]
fn loom_i1_a_poll_with_the_same_waker_beside_the_wheel() {
    loom::model(|| {
        let mut polled = Polled::Resting;
        let scene = beside(
            |timers| advance(timers, 10),
            |scene| polled = scene.timer.as_mut().poll(&scene.counter.clone().into()),
        );
        assert!(matches!(polled, Polled::Waiting | Polled::Fired));
        assert_eq!(scene.counter.wakes(), 1, "the waiter is woken, once");
    });
}

/// A timer that has fired is its owner's, who may register it in another runtime, or free it.
fn reuse_beside_fire() {
    let elsewhere = Arc::new(Timers::new(Time::ORIGIN));
    let mut scene = beside(
        |timers| advance(timers, 10),
        |scene| {
            if scene.timer.has_fired() {
                assert!(scene.timer.as_mut().reset(millis(20)).is_none());
                wait_in(&elsewhere, scene.timer.as_mut(), Waker::noop().clone(), 20);
            }
        },
    );
    scene.timer.as_mut().cancel();
}

#[test]
fn loom_t11_a_timer_that_has_fired_is_used_again() {
    loom::model(reuse_beside_fire);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_canary_end_relaxed() {
    canary::TIMER_END_RELAXED.model(reuse_beside_fire);
}

/// A timer that is moved away is not early, and not lost.
#[test]
fn loom_i1_a_reset_to_later_beside_the_wheel() {
    loom::model(|| {
        let mut scene = beside(|timers| advance(timers, 20), |scene| scene.reset(30));
        scene.poll_to(30);
        advance(&scene.timers, 29);
        assert!(!scene.timer.has_fired(), "early");
        advance(&scene.timers, 30);
        assert!(scene.timer.has_fired(), "lost");
    });
}

/// A timer that is moved here fires once for each time that it was to, and not again.
#[test]
fn loom_i1_a_reset_to_earlier_beside_the_wheel() {
    loom::model(|| {
        let mut scene = beside(|timers| advance(timers, 20), |scene| scene.reset(5));
        // Unless it fired before it was reset.
        let rests = scene.timer.as_mut().poll(Waker::noop()) == Polled::Resting;
        advance(&scene.timers, 20);
        assert!(scene.timer.has_fired() || rests, "lost");
        assert_eq!(scene.counter.wakes(), 1, "the waiter is woken, once");
    });
}

/// A timer that is cancelled, and then used again for a later time.
#[test]
fn loom_i1_a_cancel_beside_the_wheel() {
    loom::model(|| {
        let scene = beside(
            |timers| advance(timers, 20),
            |scene| {
                scene.timer.as_mut().cancel();
                scene.poll_to(30);
            },
        );
        advance(&scene.timers, 29);
        assert!(!scene.timer.has_fired(), "early");
        assert!(scene.counter.wakes() <= 1);
        advance(&scene.timers, 30);
        assert!(scene.timer.has_fired(), "lost");
    });
}

/// A timer that is freed is not in the wheel, and one that stays there is.
#[test]
fn loom_t11_a_drop_beside_the_wheel() {
    loom::model(|| {
        let counter = WakeCounter::new();
        let mut other = Box::pin(Timer::new());
        let scene = beside(
            |timers| advance(timers, 10),
            |scene| {
                wait_in(&scene.timers, other.as_mut(), counter.clone().into(), 30);
                scene.timer = Box::pin(Timer::new());
            },
        );
        assert!(scene.counter.wakes() <= 1);
        advance(&scene.timers, 30);
        assert_eq!(counter.wakes(), 1, "lost");
    });
}

/// No worker sleeps past a timer without being interrupted.
fn register_beside_sleeper() {
    let scene = Scene::new();
    let sleeper = {
        let timers = scene.timers.clone();
        thread::spawn(move || timers.begin_sleep().unwrap())
    };
    let mut other = Box::pin(Timer::new());
    let registered = scene.timers.register(other.as_mut(), Waker::noop().clone(), millis(5));
    let until = sleeper.join().unwrap();
    let is_interrupted = matches!(registered, Registered::Waiting { interrupt: true });
    assert!(is_interrupted || until <= millis(5), "sleeps past a timer");
}

#[test]
fn loom_i1_a_registration_beside_a_sleeper() {
    loom::model(register_beside_sleeper);
}

#[test]
#[should_panic(expected = "sleeps past a timer")]
fn loom_canary_sleep_unlocked() {
    canary::TIMERS_SLEEP_UNLOCKED.model(register_beside_sleeper);
}

/// A timer that comes while the runtime goes down is refused, or its owner told.
fn register_beside_close() {
    let counter = WakeCounter::new();
    let mut late = Box::pin(Timer::new());
    let mut is_refused = false;
    let mut scene = beside(close, |scene| {
        let waker = counter.clone().into();
        let registered = scene.timers.register(late.as_mut(), waker, millis(20));
        is_refused = matches!(registered, Registered::Closed(_));
    });
    assert_eq!(scene.counter.wakes(), 1);
    assert_eq!(scene.timer.as_mut().poll(Waker::noop()), Polled::Closed);
    if !is_refused {
        assert_eq!(counter.wakes(), 1, "the waiter is told");
        assert_eq!(late.as_mut().poll(Waker::noop()), Polled::Closed);
    }
}

#[test]
fn loom_i1_a_registration_beside_the_end() {
    loom::model(register_beside_close);
}

#[test]
#[should_panic(expected = "the waiter is told")]
fn loom_canary_close_unseen() {
    canary::TIMERS_CLOSE_UNSEEN.model(register_beside_close);
}

/// A timer whose runtime goes down while another task waits for it, which has it registered in
/// another: that one wakes him.
#[test]
fn loom_i1_a_poll_beside_the_end() {
    loom::model(|| {
        let (counter, elsewhere) = (WakeCounter::new(), Arc::new(Timers::new(Time::ORIGIN)));
        let waker = Waker::from(counter.clone());
        let mut polled = Polled::Resting;
        let mut scene = beside(close, |scene| polled = scene.timer.as_mut().poll(&waker));
        if polled == Polled::Waiting {
            assert_eq!(counter.wakes(), 1, "the waiter is told");
            polled = scene.timer.as_mut().poll(&waker);
        }
        assert_eq!(polled, Polled::Closed);
        let wakes = counter.wakes();
        wait_in(&elsewhere, scene.timer.as_mut(), waker, 10);
        advance(&elsewhere, 10);
        assert!(scene.timer.has_fired());
        assert_eq!(counter.wakes(), wakes + 1, "the waiter elsewhere is woken");
    });
}

/// A timer that is moved here while its runtime goes down: the waiter is told.
#[test]
fn loom_i1_a_reset_beside_the_end() {
    loom::model(|| {
        let scene = beside(close, |scene| scene.reset(5));
        assert_eq!(scene.counter.wakes(), 1, "the waiter is told");
    });
}
