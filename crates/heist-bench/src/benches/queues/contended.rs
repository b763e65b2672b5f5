//! One owner that pushes and pops in bursts, and one to three thieves that never stop.
//!
//! All sides do the same work. The owner's bursts have random lengths, the same for each
//! sample. It pops half of what it pushes; when the queue is full, which it is on all sides at
//! [`DEPTH`](super::DEPTH) items, it waits for the thieves. So at least half of the items have
//! to be stolen. Without that rule the share of the thieves was anything from none to two
//! thirds, as the system happened to run them, and the time per item followed it: items that
//! stay on one core are cheap, and a queue that starves its thieves would have won.
//!
//! Thieves take one item at a time from a deque; from a ring half, which they then drain.
//! A thief that gets nothing spins for a while, then yields: with fewer cores than threads, waiting
//! must not keep the others from running.
//!
//! The clock starts when all thieves are up and stops when the last item has been received,
//! not when the last thief has noticed.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::sides::{
    Bounded, CrossbeamFifo, CrossbeamLifo, HeistDeque, HeistRing, St3Fifo, St3Lifo,
};
use super::{Attempt, Queue};
use crate::bench::{Bench, Fault, Pace, Runtime, Sample, Setup};
use crate::received::{Mismatch, Received};
use crate::unit::Unit;
use heist_testing::Rng;

/// Per number of thieves.
const ITEMS: u64 = 200_000;

/// The longest bursts.
const PUSHES: u64 = 32;
const POPS: u64 = 16;

const SEED: u64 = 0x00C0_FFEE;

/// Guessed: about a microsecond of spinning.
const SPINS: u32 = 64;

/// Thousands of times longer than any sample.
const GIVE_UP: Duration = Duration::from_secs(60);

pub fn benches() -> Vec<Bench> {
    let deque = bench::<Bounded<HeistDeque>, Bounded<CrossbeamLifo>, St3Lifo>;
    let ring = bench::<HeistRing, Bounded<CrossbeamFifo>, St3Fifo>;
    vec![
        deque("deque_contended", "LIFO owner, 1, then 2, then 3 thieves; per item", &[1, 2, 3]),
        deque("deque_contended_t1", "LIFO owner, 1 thief that steals one; per item", &[1]),
        deque("deque_contended_t2", "LIFO owner, 2 thieves that steal one; per item", &[2]),
        deque("deque_contended_t3", "LIFO owner, 3 thieves that steal one; per item", &[3]),
        ring("ring_contended", "FIFO owner, 1, then 2, then 3 thieves; per item", &[1, 2, 3]),
        ring("ring_contended_t1", "FIFO owner, 1 thief that steals half; per item", &[1]),
        ring("ring_contended_t2", "FIFO owner, 2 thieves that steal half; per item", &[2]),
        ring("ring_contended_t3", "FIFO owner, 3 thieves that steal half; per item", &[3]),
    ]
}

/// One sample runs all of `cases`, each a number of thieves, one after another.
fn bench<H: Queue, C: Queue, S: Queue>(
    name: &'static str,
    about: &'static str,
    cases: &'static [usize],
) -> Bench {
    Bench::new(name, about, Unit::Ns, Pace::Once)
        .side(Runtime::Heist, |setup| Ok(subject::<H>(cases, setup)))
        .side(Runtime::Crossbeam, |setup| Ok(subject::<C>(cases, setup)))
        .side(Runtime::St3, |setup| Ok(subject::<S>(cases, setup)))
}

fn subject<Q: Queue>(
    cases: &[usize],
    setup: &Setup,
) -> impl FnMut(u64) -> Result<Sample, Fault> + use<Q> {
    let items = setup.scaled(ITEMS);
    let mut heists: Vec<Heist<Q>> = cases.iter().map(|thieves| Heist::new(*thieves)).collect();
    move |iterations| {
        let mut elapsed = Duration::ZERO;
        for _ in 0..iterations {
            for heist in &mut heists {
                elapsed += heist.run(items)?;
            }
        }
        Ok(Sample::Timed { elapsed, operations: iterations * items * heists.len() as u64 })
    }
}

/// One queue, its owner and its thieves; empty between samples.
struct Heist<Q: Queue> {
    owner: Q,
    thieves: Vec<Thief<Q>>,
}

struct Thief<Q: Queue> {
    victim: Q::Stealer,
    own: Q,
}

impl<Q: Queue> Heist<Q> {
    fn new(thieves: usize) -> Self {
        let owner = Q::new();
        let thief = || Thief { victim: owner.stealer(), own: Q::new() };
        let thieves = std::iter::repeat_with(thief).take(thieves).collect();
        Heist { owner, thieves }
    }

    /// Sends `items` through the queue; returns how long it took until all were received.
    ///
    /// Threads are started anew each time, before the clock is: no side's threads are around
    /// while another one is measured.
    fn run(&mut self, items: u64) -> Result<Duration, Fault> {
        let Heist { owner, thieves } = self;
        let scene = Scene::new(thieves.len());
        let (elapsed, found) = thread::scope(|scope| {
            let alarm = Alarm(&scene.over);
            let mut threads = Vec::with_capacity(thieves.len());
            for (thief, loot) in thieves.iter_mut().zip(&scene.loot) {
                let run = || thief.run(&scene, loot);
                let thread = thread::Builder::new().spawn_scoped(scope, run);
                threads.push(thread.map_err(Fault::Setup)?);
            }
            scene.wait_for_thieves()?;

            let start = Instant::now();
            let mut found = push_and_pop(owner, items)?;
            drop(alarm);
            let gone = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
            scene.wait_for_loot(items - found.count().min(items), gone)?;
            let elapsed = start.elapsed();

            for thread in threads {
                let loot = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                found.merge(loot?);
            }
            Ok::<_, Fault>((elapsed, found))
        })?;
        Mismatch::check(Received::of_all(items), found)?;
        Ok(elapsed)
    }
}

impl<Q: Queue> Thief<Q> {
    fn run(&mut self, scene: &Scene, loot: &Loot) -> Result<Received, Fault> {
        let mut found = Received::default();
        // The first attempt of a new thread may set up what is per thread, before the clock
        // starts.
        self.steal(&mut found);
        scene.ready.fetch_add(1, Ordering::Relaxed);
        let mut patience = Patience::default();
        loop {
            // Before the attempt: a queue found empty after the owner has left stays empty.
            // Acquire: pairs with the Release in Alarm::drop, all pushes come before it.
            let over = scene.over.load(Ordering::Acquire);
            match self.steal(&mut found) {
                Attempt::Took(_) => {
                    loot.0.store(found.count(), Ordering::Relaxed);
                    patience = Patience::default();
                }
                Attempt::Empty if over => return Ok(found),
                Attempt::Empty | Attempt::Retry => patience.pause()?,
            }
        }
    }

    #[inline]
    fn steal(&mut self, found: &mut Received) -> Attempt {
        let attempt = Q::steal(&self.victim, &mut self.own);
        if let Attempt::Took(item) = attempt {
            found.add(item);
            if Q::STEALS_MANY {
                while let Some(item) = self.own.pop() {
                    found.add(item);
                }
            }
        }
        attempt
    }
}

/// The owner's part, until the queue is empty; returns what it popped itself.
#[inline(never)]
fn push_and_pop<Q: Queue>(queue: &mut Q, items: u64) -> Result<Received, Fault> {
    let mut rng = Rng::new(SEED);
    let mut found = Received::default();
    let mut next = 0;
    while next < items {
        let burst = (1 + rng.below(PUSHES)).min(items - next);
        for item in next..next + burst {
            push_or_wait(queue, item)?;
        }
        next += burst;
        for _ in 0..rng.below(POPS + 1) {
            let Some(item) = queue.pop() else { break };
            found.add(item);
        }
    }
    while let Some(item) = queue.pop() {
        found.add(item);
    }
    Ok(found)
}

#[inline]
fn push_or_wait<Q: Queue>(queue: &mut Q, item: u64) -> Result<(), Fault> {
    let mut patience = Patience::default();
    while queue.push(item).is_err() {
        patience.pause()?;
    }
    Ok(())
}

/// What owner and thieves share besides the queue.
struct Scene {
    /// How many thieves are up.
    ready: AtomicUsize,
    /// The owner has pushed all items and found the queue empty.
    over: AtomicBool,
    /// Per thief, how many items it has received so far.
    loot: Vec<Loot>,
}

/// A thief's count, on cache lines of its own: thieves must meet in the queue only.
#[derive(Default)]
#[repr(align(128))]
struct Loot(AtomicU64);

/// Lets the thieves go, also if the owner leaves early because something went wrong.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in Thief::run().
        self.0.store(true, Ordering::Release);
    }
}

impl Scene {
    fn new(thieves: usize) -> Self {
        Scene {
            ready: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            loot: std::iter::repeat_with(Loot::default).take(thieves).collect(),
        }
    }

    fn wait_for_thieves(&self) -> Result<(), Fault> {
        let mut patience = Patience::default();
        while self.ready.load(Ordering::Relaxed) < self.loot.len() {
            patience.pause()?;
        }
        Ok(())
    }

    /// Waits until thieves have received `items`, or all of them are `gone` and no more can come.
    fn wait_for_loot(&self, items: u64, gone: impl Fn() -> bool) -> Result<(), Fault> {
        let received = || self.loot.iter().map(|loot| loot.0.load(Ordering::Relaxed)).sum::<u64>();
        let mut patience = Patience::default();
        while received() < items && !gone() {
            patience.pause()?;
        }
        Ok(())
    }
}

/// Waiting, the same for all sides: spin, then yield, at last give up.
#[derive(Default)]
struct Patience {
    pauses: u32,
    yielding_since: Option<Instant>,
}

impl Patience {
    #[inline]
    fn pause(&mut self) -> Result<(), Fault> {
        if self.pauses < SPINS {
            self.pauses += 1;
            std::hint::spin_loop();
            return Ok(());
        }
        let since = *self.yielding_since.get_or_insert_with(Instant::now);
        if since.elapsed() > GIVE_UP {
            return Err(Fault::Stuck { waited: GIVE_UP });
        }
        thread::yield_now();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    const SOUND: u64 = 0;
    const LOSES: u64 = 1;
    const DOUBLES: u64 = 2;

    /// A locked queue with a defect that shows at one item only.
    struct Locked<const DEFECT: u64>(Arc<Mutex<VecDeque<u64>>>);

    const DEFECTIVE_ITEM: u64 = 1234;

    impl<const DEFECT: u64> Queue for Locked<DEFECT> {
        type Stealer = Arc<Mutex<VecDeque<u64>>>;
        const STEALS_MANY: bool = false;

        fn new() -> Self {
            Locked(Arc::default())
        }

        fn push(&mut self, item: u64) -> Result<(), u64> {
            let mut queue = self.0.lock().unwrap();
            match (DEFECT, item) {
                (LOSES, DEFECTIVE_ITEM) => (),
                (DOUBLES, DEFECTIVE_ITEM) => queue.extend([item; 2]),
                _ => queue.push_back(item),
            }
            Ok(())
        }

        fn pop(&mut self) -> Option<u64> {
            self.0.lock().unwrap().pop_front()
        }

        fn stealer(&self) -> Self::Stealer {
            Arc::clone(&self.0)
        }

        fn steal(victim: &Self::Stealer, _own: &mut Self) -> Attempt {
            victim.lock().unwrap().pop_front().map_or(Attempt::Empty, Attempt::Took)
        }
    }

    fn outcome<const DEFECT: u64>() -> Result<(), String> {
        for thieves in 1..=3 {
            Heist::<Locked<DEFECT>>::new(thieves).run(5000).map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }

    #[test]
    fn a_sound_queue_passes() {
        assert_eq!(outcome::<SOUND>(), Ok(()));
    }

    #[test]
    fn a_lost_item_is_found() {
        assert_eq!(outcome::<LOSES>(), Err("1 of 5000 items lost".to_owned()));
    }

    #[test]
    fn a_doubled_item_is_found() {
        assert_eq!(outcome::<DOUBLES>(), Err("1 items too many, 5000 went in".to_owned()));
    }
}
