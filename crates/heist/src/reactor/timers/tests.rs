//! Timers beside a plain model, and in great numbers.

use super::*;
use heist_testing::{Rng, scaled, seed};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;
use std::time::Duration;

/// Counts how often it is woken.
#[derive(Default)]
struct WakeCounter(AtomicUsize);

impl Wake for WakeCounter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl WakeCounter {
    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn millis(millis: u64) -> Time {
    Time::ORIGIN.plus(Duration::from_millis(millis))
}

#[derive(Debug, Clone)]
enum Op {
    Start(u64),
    Reset(usize, u64),
    Cancel(usize),
    Advance(u64),
    /// With room for this many only.
    AdvanceLimited(u64, usize),
    Sleep,
}

/// Spans from nothing to centuries, all magnitudes alike.
fn span() -> impl Strategy<Value = u64> {
    (0u32..64, any::<u64>()).prop_map(|(bits, random)| random >> bits)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => span().prop_map(Op::Start),
        3 => (any::<usize>(), span()).prop_map(|(which, to)| Op::Reset(which, to)),
        2 => any::<usize>().prop_map(Op::Cancel),
        4 => span().prop_map(|by| Op::Advance(by >> 8)),
        2 => (span(), 0usize..3).prop_map(|(by, limit)| Op::AdvanceLimited(by >> 8, limit)),
        1 => Just(Op::Sleep),
    ]
}

struct Sleeper {
    timer: Pin<Box<Timer>>,
    counter: Arc<WakeCounter>,
    deadline: Time,
}

/// Timers beside a model of them: those that have not fired yet.
struct Scene {
    timers: Arc<Timers>,
    now: Time,
    waiting: BTreeMap<usize, Sleeper>,
    started: usize,
    asleep: bool,
}

impl Scene {
    fn new() -> Self {
        let timers = Arc::new(Timers::new(Time::ORIGIN));
        Scene { timers, now: Time::ORIGIN, waiting: BTreeMap::new(), started: 0, asleep: false }
    }

    fn later(&self, by: u64) -> Time {
        self.now.plus(Duration::from_nanos(by))
    }

    fn apply(&mut self, op: Op) {
        match op {
            Op::Start(by) => self.start(self.later(by)),
            Op::Reset(which, by) => self.reset(which, self.later(by)),
            Op::Cancel(which) => {
                if let Some(key) = self.key(which) {
                    let mut sleeper = self.waiting.remove(&key).unwrap();
                    // Or it is dropped, which cancels it.
                    if which % 2 == 0 {
                        sleeper.timer.as_mut().cancel();
                        assert_eq!(Arc::strong_count(&sleeper.counter), 1, "its waker is dropped");
                    }
                }
            }
            Op::Advance(by) => {
                self.now = self.later(by);
                self.advance(usize::MAX);
            }
            Op::AdvanceLimited(by, limit) => {
                self.now = self.later(by);
                self.advance(limit);
            }
            Op::Sleep => {
                let until = self.timers.begin_sleep();
                let first = self.waiting.values().map(|sleeper| sleeper.deadline).min();
                let latest = first.map_or(Time::NEVER, |first| time::Millis::after(first).time());
                assert!(until.unwrap_or(Time::NEVER) <= latest, "sleeps past a deadline");
                self.asleep = true;
            }
        }
    }

    fn start(&mut self, deadline: Time) {
        let (mut timer, counter) = (Box::pin(Timer::new()), Arc::new(WakeCounter::default()));
        if self.register(timer.as_mut(), counter.clone().into(), deadline) {
            self.waiting.insert(self.started, Sleeper { timer, counter, deadline });
            self.started += 1;
        }
    }

    /// Whether a timer that has been registered waits.
    fn register(&mut self, timer: Pin<&mut Timer>, waker: Waker, deadline: Time) -> bool {
        let until = self.timers.asleep_until.load(Ordering::Relaxed);
        match self.timers.register(timer, waker, deadline) {
            Registered::Waiting { interrupt } => {
                let longer = until > time::Millis::after(deadline).time().as_nanos();
                assert_eq!(interrupt, self.asleep && longer);
                self.asleep &= !interrupt;
                true
            }
            Registered::Elapsed(_) => {
                assert!(deadline <= self.now, "said to have passed, and has not");
                false
            }
            Registered::Closed(_) => unreachable!(),
        }
    }

    fn reset(&mut self, which: usize, deadline: Time) {
        let Some(key) = self.key(which) else { return };
        let mut sleeper = self.waiting.remove(&key).unwrap();
        sleeper.deadline = deadline;
        let waits = match sleeper.timer.as_mut().reset(deadline) {
            Some(waker) => self.register(sleeper.timer.as_mut(), waker, deadline),
            None => true,
        };
        if waits {
            self.waiting.insert(key, sleeper);
        }
    }

    fn key(&self, which: usize) -> Option<usize> {
        let len = self.waiting.len();
        self.waiting.keys().nth(which.checked_rem(len)?).copied()
    }

    fn advance(&mut self, limit: usize) {
        self.asleep = false;
        self.timers.end_sleep();
        let mut wakers = Vec::new();
        let more = self.timers.advance(self.now, limit, &mut wakers);
        assert!(wakers.len() <= limit);
        wakers.into_iter().for_each(Waker::wake);
        let now = self.now;
        let due =
            |sleeper: &Sleeper| time::Millis::after(sleeper.deadline) <= time::Millis::before(now);
        for sleeper in self.waiting.values() {
            let fired = sleeper.timer.has_fired();
            assert_eq!(sleeper.counter.wakes(), usize::from(fired));
            assert!(!fired || sleeper.deadline <= now, "early");
            assert!(fired || more || !due(sleeper), "due, and has not fired");
        }
        self.waiting.retain(|_, sleeper| !sleeper.timer.has_fired());
        let first = self.waiting.values().map(|sleeper| sleeper.deadline).min();
        let latest = first.map_or(Time::NEVER, |first| time::Millis::after(first).time());
        assert!(self.timers.next() <= latest, "the hint is too late");
    }
}

proptest! {
    #[test]
    fn as_in_the_model(ops in proptest::collection::vec(op(), 1..200)) {
        let mut scene = Scene::new();
        ops.into_iter().for_each(|op| scene.apply(op));
        while scene.timers.next() < Time::NEVER {
            scene.now = scene.timers.next();
            scene.advance(2);
        }
        prop_assert!(scene.waiting.values().all(|sleeper| sleeper.deadline == Time::NEVER
            || time::Millis::after(sleeper.deadline).time() == Time::NEVER));
        scene.timers.close(&mut Vec::new());
        let mut late = Box::pin(Timer::new());
        let late = scene.timers.register(late.as_mut(), Waker::noop().clone(), Time::NEVER);
        prop_assert!(matches!(late, Registered::Closed(_)));
    }
}

/// Owners on three threads move, cancel, free and use their timers again, in two wheels that a
/// fourth turns (T11). What waits in the end is woken.
#[test]
fn owners_and_wheels_on_different_threads() {
    let wheels = [(); 2].map(|()| Arc::new(Timers::new(Time::ORIGIN)));
    let now = Arc::new(AtomicU64::new(0));
    let turn = |to: u64| {
        now.store(to, Ordering::SeqCst);
        let mut wakers = Vec::new();
        wheels.iter().for_each(|wheel| _ = wheel.advance(millis(to), 8, &mut wakers));
        wakers.into_iter().for_each(Waker::wake);
    };
    let owner = &|number: u64| {
        let mut rng = Rng::new(seed() + number);
        let mut timers: Vec<_> = (0..8).map(|_| Box::pin(Timer::new())).collect();
        for _ in 0..scaled(100_000) {
            let to = now.load(Ordering::SeqCst) + rng.below(100);
            let (wheel, timer) =
                (&wheels[rng.below(2) as usize], &mut timers[rng.below(8) as usize]);
            let waker = match rng.below(5) {
                0 => {
                    *timer = Box::pin(Timer::new());
                    None
                }
                1 => {
                    timer.as_mut().cancel();
                    None
                }
                2 => timer.as_mut().reset(millis(to)),
                _ => match timer.as_mut().poll(&Arc::new(WakeCounter::default()).into()) {
                    Polled::Resting => Some(Waker::noop().clone()),
                    Polled::Fired => timer.as_mut().reset(millis(to)),
                    _ => None,
                },
            };
            if let Some(waker) = waker {
                match wheel.register(timer.as_mut(), waker, millis(to)) {
                    Registered::Waiting { .. } => {}
                    Registered::Elapsed(_) => timer.as_mut().fire(),
                    Registered::Closed(_) => unreachable!("they are open"),
                }
            }
        }
        timers.into_iter().map(|timer| (timer, Arc::<WakeCounter>::default())).collect::<Vec<_>>()
    };
    let mut left: Vec<_> = std::thread::scope(|scope| {
        let owners: Vec<_> = (0..3).map(|number| scope.spawn(move || owner(number))).collect();
        let mut to = 0;
        while owners.iter().any(|owner| !owner.is_finished()) {
            to += 1;
            turn(to);
        }
        owners.into_iter().flat_map(|owner| owner.join().unwrap()).collect()
    });
    left.retain_mut(|(timer, counter)| {
        timer.as_mut().poll(&counter.clone().into()) == Polled::Waiting
    });
    let end = now.load(Ordering::SeqCst) + 1000;
    (0..100).for_each(|_| turn(end));
    assert!(left.iter().all(|(timer, counter)| timer.has_fired() && counter.wakes() == 1), "lost");
}
