//! Timers beside a plain model, and in great numbers.

use super::*;
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

fn idle_timer() -> Arc<Timer> {
    Arc::new(Timer::new(Waker::noop().clone()))
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
    timer: Arc<Timer>,
    counter: Arc<WakeCounter>,
    deadline: Time,
}

/// Timers beside a model of them: those that have not fired yet.
struct Scene {
    timers: Timers,
    now: Time,
    waiting: BTreeMap<usize, Sleeper>,
    started: usize,
    asleep: bool,
}

impl Scene {
    fn new() -> Self {
        let timers = Timers::new(Time::ORIGIN);
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
                    let sleeper = self.waiting.remove(&key).unwrap();
                    sleeper.timer.cancel();
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
        let counter = Arc::new(WakeCounter::default());
        let until = self.timers.asleep_until.load(Ordering::Relaxed);
        let (timer, registered) = self.timers.register_new(counter.clone().into(), deadline);
        if self.waits(deadline, until, registered) {
            self.waiting.insert(self.started, Sleeper { timer, counter, deadline });
            self.started += 1;
        }
    }

    fn register(&mut self, timer: &Arc<Timer>, deadline: Time) -> bool {
        let until = self.timers.asleep_until.load(Ordering::Relaxed);
        let registered = self.timers.register(timer, deadline, EntryOf::Known);
        self.waits(deadline, until, registered)
    }

    /// Whether a timer that has been registered waits. Before that a worker slept until `until`.
    fn waits(&mut self, deadline: Time, until: u64, registered: Registered) -> bool {
        match registered {
            Registered::Waiting { interrupt } => {
                let longer = until > time::Millis::after(deadline).time().as_nanos();
                assert_eq!(interrupt, self.asleep && longer);
                self.asleep &= !interrupt;
                true
            }
            Registered::Elapsed => {
                assert!(deadline <= self.now, "said to have passed, and has not");
                false
            }
            Registered::Closed => unreachable!(),
        }
    }

    fn reset(&mut self, which: usize, deadline: Time) {
        let Some(key) = self.key(which) else { return };
        let mut sleeper = self.waiting.remove(&key).unwrap();
        sleeper.deadline = deadline;
        let waits = !sleeper.timer.reset(deadline) || self.register(&sleeper.timer, deadline);
        if waits {
            self.waiting.insert(key, sleeper);
        } else {
            sleeper.timer.cancel();
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
        let late = scene.timers.register(&idle_timer(), Time::NEVER, EntryOf::Known);
        prop_assert_eq!(late, Registered::Closed);
    }
}
