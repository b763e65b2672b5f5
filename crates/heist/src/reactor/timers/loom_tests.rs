//! Timers in every interleaving that loom can find: owners beside wheels, and registrations beside
//! sleeps (I1).

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
        Arc::new(WakeCounter(AtomicUsize::new(0)))
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

/// A timer and the wheel that it waits in, until 10 ms.
struct Scene {
    timers: Timers,
    timer: Arc<Timer>,
    counter: Arc<WakeCounter>,
}

impl Scene {
    fn new() -> Arc<Scene> {
        let counter = WakeCounter::new();
        let timer = Arc::new(Timer::new(counter.clone().into()));
        let scene = Scene { timers: Timers::new(Time::ORIGIN), timer, counter };
        scene.register(10);
        Arc::new(scene)
    }

    fn register(&self, at: u64) {
        let waits = Registered::Waiting { interrupt: false };
        assert_eq!(self.timers.register(&self.timer, millis(at), EntryOf::Known), waits);
    }

    fn advance(&self, to: u64) {
        let mut wakers = Vec::new();
        self.timers.advance(millis(to), 8, &mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Runs `owner` beside a wheel that goes on to `now`.
fn beside_wheel(now: u64, owner: impl FnOnce(&Scene)) -> Arc<Scene> {
    let scene = Scene::new();
    let wheel = {
        let scene = scene.clone();
        thread::spawn(move || scene.advance(now))
    };
    owner(&scene);
    wheel.join().unwrap();
    scene
}

/// A task that is told to wait is woken.
fn poll_beside_fire() {
    let counter = WakeCounter::new();
    let waker = Waker::from(counter.clone());
    let mut polled = Polled::Fired;
    beside_wheel(10, |scene| polled = scene.timer.poll(&waker));
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
fn loom_canary_poll_unchecked() {
    canary::TIMER_POLL_UNCHECKED.model(poll_beside_fire);
}

/// A timer that is moved away is not early, and not lost.
#[test]
fn loom_i1_a_reset_to_later_beside_the_wheel() {
    loom::model(|| {
        let scene = beside_wheel(20, |scene| assert!(!scene.timer.reset(millis(30))));
        if scene.timer.poll(Waker::noop()) == Polled::Resting {
            scene.register(30);
        }
        scene.advance(29);
        assert!(!scene.timer.has_fired(), "early");
        scene.advance(30);
        assert!(scene.timer.has_fired(), "lost");
    });
}

/// A timer that is moved here fires once for each time that it was to, and not again.
#[test]
fn loom_i1_a_reset_to_earlier_beside_the_wheel() {
    loom::model(|| {
        let scene = beside_wheel(20, |scene| {
            if scene.timer.reset(millis(5)) {
                let registered = scene.timers.register(&scene.timer, millis(5), EntryOf::Known);
                if registered == Registered::Elapsed {
                    scene.timer.fire().into_iter().for_each(Waker::wake);
                }
            }
        });
        // Unless it fired before it was reset.
        let rests = scene.timer.poll(Waker::noop()) == Polled::Resting;
        scene.advance(20);
        assert!(scene.timer.has_fired() || rests, "lost");
        assert_eq!(scene.counter.wakes(), 1, "the waiter is woken, once");
    });
}

/// A timer that is cancelled, and then used again for a later time.
fn cancel_beside_fire() {
    let scene = beside_wheel(20, |scene| {
        scene.timer.cancel();
        match scene.timer.poll(Waker::noop()) {
            Polled::Resting => scene.register(30),
            polled => panic!("early: {polled:?}"),
        }
    });
    scene.advance(29);
    assert!(!scene.timer.has_fired(), "early");
    assert!(scene.counter.wakes() <= 1);
    scene.advance(30);
    assert!(scene.timer.has_fired(), "lost");
}

#[test]
fn loom_i1_a_cancel_beside_the_wheel() {
    loom::model(cancel_beside_fire);
}

#[test]
#[should_panic(expected = "early")]
fn loom_canary_visit_dead() {
    canary::TIMER_VISIT_DEAD.model(cancel_beside_fire);
}

/// No worker sleeps past a timer without being interrupted.
fn register_beside_sleeper() {
    let scene = Scene::new();
    let sleeper = {
        let scene = scene.clone();
        thread::spawn(move || scene.timers.begin_sleep().unwrap())
    };
    let other = Arc::new(Timer::new(Waker::noop().clone()));
    let registered = scene.timers.register(&other, millis(5), EntryOf::Known);
    let until = sleeper.join().unwrap();
    let is_interrupted = registered == Registered::Waiting { interrupt: true };
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
    let scene = Scene::new();
    let closer = {
        let scene = scene.clone();
        thread::spawn(move || {
            let mut wakers = Vec::new();
            scene.timers.close(&mut wakers);
            wakers.into_iter().for_each(Waker::wake);
        })
    };
    let counter = WakeCounter::new();
    let late = Arc::new(Timer::new(counter.clone().into()));
    let registered = scene.timers.register(&late, millis(20), EntryOf::Known);
    closer.join().unwrap();
    assert_eq!(scene.counter.wakes(), 1);
    assert_eq!(scene.timer.poll(Waker::noop()), Polled::Closed);
    if registered != Registered::Closed {
        assert_eq!(counter.wakes(), 1, "the waiter is told");
        assert_eq!(late.poll(Waker::noop()), Polled::Closed);
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
fn poll_beside_close() {
    let scene = Scene::new();
    let closer = {
        let scene = scene.clone();
        thread::spawn(move || {
            let mut wakers = Vec::new();
            scene.timers.close(&mut wakers);
            wakers.into_iter().for_each(Waker::wake);
        })
    };
    let (counter, elsewhere) = (WakeCounter::new(), Timers::new(Time::ORIGIN));
    let waker = Waker::from(counter.clone());
    let mut polled = scene.timer.poll(&waker);
    closer.join().unwrap();
    if polled == Polled::Waiting {
        assert_eq!(counter.wakes(), 1, "the waiter is told");
        polled = scene.timer.poll(&waker);
    }
    assert_eq!(polled, Polled::Closed);
    let wakes = counter.wakes();
    let waits = Registered::Waiting { interrupt: false };
    assert_eq!(elsewhere.register(&scene.timer, millis(10), EntryOf::Known), waits);
    let mut wakers = Vec::new();
    elsewhere.advance(millis(10), 8, &mut wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert!(scene.timer.has_fired());
    assert_eq!(counter.wakes(), wakes + 1, "the waiter elsewhere is woken");
}

#[test]
fn loom_i1_a_poll_beside_the_end() {
    loom::model(poll_beside_close);
}

#[test]
#[should_panic(expected = "the waiter elsewhere is woken")]
fn loom_canary_closed_forgets() {
    canary::TIMER_CLOSED_FORGETS.model(poll_beside_close);
}

/// A timer that is made for its first entry, beside a wheel that comes to it at once, or has been
/// there.
#[test]
fn loom_i1_a_new_timer_beside_the_wheel() {
    loom::model(|| {
        let counter = WakeCounter::new();
        let timer = Arc::new(Timer::entered(counter.clone().into(), millis(15)));
        let mut registered = Registered::Closed;
        let scene = beside_wheel(20, |scene| {
            registered = scene.timers.register(&timer, millis(15), EntryOf::New);
            if registered == Registered::Elapsed {
                timer.fire().into_iter().for_each(Waker::wake);
            }
        });
        assert_ne!(registered, Registered::Closed);
        scene.advance(20);
        assert_eq!(timer.poll(Waker::noop()), Polled::Fired, "lost");
        assert_eq!(counter.wakes(), 1, "the waiter is woken, once");
    });
}

/// The same, given up meanwhile: it may be used again.
#[test]
fn loom_i1_a_new_timer_that_is_given_up_beside_the_wheel() {
    loom::model(|| {
        let scene = Scene::new();
        let timer = Arc::new(Timer::entered(Waker::noop().clone(), millis(15)));
        let waits = Registered::Waiting { interrupt: false };
        assert_eq!(scene.timers.register(&timer, millis(15), EntryOf::New), waits);
        let wheel = {
            let scene = scene.clone();
            thread::spawn(move || scene.advance(20))
        };
        timer.cancel();
        assert_eq!(timer.poll(Waker::noop()), Polled::Resting);
        assert_eq!(scene.timers.register(&timer, millis(30), EntryOf::Known), waits);
        wheel.join().unwrap();
        scene.advance(29);
        assert!(!timer.has_fired(), "early");
        scene.advance(30);
        assert!(timer.has_fired(), "lost");
    });
}

/// A timer that is moved here while its runtime goes down, as `Sleep::reset` does it: who waits is
/// told.
#[test]
fn loom_i1_a_reset_beside_the_end() {
    loom::model(|| {
        let scene = Scene::new();
        let closer = {
            let scene = scene.clone();
            thread::spawn(move || {
                let mut wakers = Vec::new();
                scene.timers.close(&mut wakers);
                wakers.into_iter().for_each(Waker::wake);
            })
        };
        if scene.timer.reset(millis(5)) {
            let registered = scene.timers.register(&scene.timer, millis(5), EntryOf::Known);
            if registered == Registered::Closed {
                scene.timer.rest().into_iter().for_each(Waker::wake);
            }
        }
        closer.join().unwrap();
        assert_eq!(scene.counter.wakes(), 1, "the waiter is told");
    });
}
