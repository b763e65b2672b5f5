//! What workers run, in which order and in what portions, step by step (W1–W4, W6, I2, L4, L5, F3,
//! Q5).

use super::*;
use crate::env::StoppedClock;
use crate::runtime::Handle;
use crate::scheduler::jobs::{self, Origin};
use std::sync::{Arc, Mutex};

/// Which task ran on which worker, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(usize, u32)>>>);

impl Log {
    fn ran(&self, number: u32) {
        self.0.lock().unwrap().push((stage().worker().unwrap(), number));
    }

    /// A task that is done in its first poll.
    fn task(&self, number: u32) -> impl Future<Output = ()> + Send + use<> {
        let log = self.clone();
        async move { log.ran(number) }
    }

    /// The tasks that ran since the last call.
    fn tasks(&self) -> Vec<u32> {
        self.take().into_iter().map(|(_, number)| number).collect()
    }

    fn take(&self) -> Vec<(usize, u32)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Runs `f` inside of a task on worker 0, in one step of it.
fn on_worker(stage: &Stage, f: impl FnOnce() + Send + 'static) {
    stage.spawn(async move { f() });
    assert_eq!(stage.step(0), Step::Ran);
}

/// An interval that never ends, after the look that every worker begins with.
fn stage_without_looks(workers: usize) -> Rc<Stage> {
    let stage = Stage::new(workers, Some(u32::MAX), 7);
    on_worker(&stage, || {});
    stage
}

/// W1: the LIFO slot, then the ring, then the inject queue.
#[test]
fn w1_own_tasks_come_first() {
    let (stage, log) = (stage_without_looks(1), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        (0..3).for_each(|number| drop(super::stage().spawn(at.task(number))))
    });
    stage.spawn(log.task(10));
    stage.run();
    assert_eq!(log.tasks(), [2, 0, 1, 10]);
}

/// W1, L4: each interval ends with a look, and the inject queue comes first then.
#[test]
fn w1_l4_a_look_comes_first_and_in_time() {
    for interval in [1, 2, 5] {
        let (stage, log) = (Stage::new(1, Some(interval), 7), Log::default());
        let at = log.clone();
        // The first step is a look, whatever the interval.
        on_worker(&stage, move || {
            (0..10).for_each(|number| drop(super::stage().spawn(at.task(number))));
        });
        stage.spawn(log.task(10));
        stage.run();
        let place = log.tasks().iter().position(|number| *number == 10);
        assert_eq!(place, Some(interval as usize - 1));
    }
}

/// L4: with an interval that is found by itself too, and tasks that never end, in the ring, the
/// slot or both.
#[test]
fn l4_at_least_every_127_ticks() {
    fn chain() -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async { drop(super::stage().spawn(chain())) })
    }
    for (yielders, has_chain) in [(200, false), (200, true), (0, true)] {
        let clock = crate::env::StoppedClock::stop();
        let (stage, log) = (Stage::new(1, None, 7), Log::default());
        on_worker(&stage, move || {
            for _ in 0..yielders {
                super::stage().spawn(async {
                    loop {
                        task::yield_now().await;
                    }
                });
            }
            if has_chain {
                super::stage().spawn(chain());
            }
        });
        for _ in 0..20 {
            (0..100).for_each(|_| assert_eq!(stage.step(0), Step::Ran));
            stage.spawn(log.task(0));
            let ticks = (1..1000).find(|_| {
                clock.advance(Duration::from_nanos(10));
                stage.step(0);
                !log.tasks().is_empty()
            });
            assert!(ticks.is_some_and(|ticks| ticks <= 127), "{ticks:?}");
        }
    }
}

/// W2: a spawn on a worker stays there; one from outside goes to the inject queue.
#[test]
fn w2_a_spawn_goes_to_its_worker() {
    let stage = stage_without_looks(2);
    on_worker(&stage, || drop(super::stage().spawn(async {})));
    assert!(stage.has_lifo(0));
    assert_eq!((stage.ring_len(0), stage.inject_len()), (0, 0));
    stage.spawn(async {});
    assert_eq!((stage.ring_len(0), stage.inject_len()), (0, 1));
}

/// W3, F2: each of these puts the next into the slot. After three in a row the ring has its turn,
/// and what is in the slot waits behind it.
#[test]
fn w3_the_ring_has_its_turn_after_three() {
    fn chain(log: Log, number: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            log.ran(number);
            if number < 7 {
                super::stage().spawn(chain(log.clone(), number + 1));
            }
        })
    }
    let (stage, log) = (stage_without_looks(1), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        super::stage().spawn(at.task(100));
        super::stage().spawn(at.task(101));
        super::stage().spawn(chain(at, 0));
    });
    stage.run();
    assert_eq!(log.tasks(), [0, 1, 2, 100, 101, 3, 4, 5, 6, 7]);
}

/// W3: a streak ends when the ring has had its turn for want of anything in the slot.
#[test]
fn w3_a_streak_is_in_a_row() {
    fn chain(log: Log, number: u32, last: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            log.ran(number);
            if number < last {
                super::stage().spawn(chain(log.clone(), number + 1, last));
            }
        })
    }
    let (stage, log) = (stage_without_looks(1), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        super::stage().spawn(chain(at.clone(), 10, 13));
        super::stage().spawn(at.task(100));
        super::stage().spawn(chain(at, 0, 1));
    });
    stage.run();
    assert_eq!(log.tasks(), [0, 1, 10, 11, 12, 13, 100]);
}

/// W3: a task that is woken goes to the slot, and what was there to the end of the ring.
#[test]
fn w3_the_slot_holds_what_was_woken_last() {
    let (stage, log) = (stage_without_looks(1), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        (0..4).for_each(|number| drop(super::stage().spawn(at.task(number))))
    });
    assert!(stage.has_lifo(0));
    assert_eq!(stage.ring_len(0), 3);
    stage.run();
    assert_eq!(log.tasks(), [3, 0, 1, 2]);
}

/// W3, F2: a worker that takes some of many goes on with what the first has spawned, before it
/// takes more: else the first would be the last to be done.
#[test]
fn f2_what_was_begun_is_not_behind_what_comes_from_outside() {
    let (stage, log) = (Stage::new(2, None, 7), Log::default());
    for number in 0..8 {
        let log = log.clone();
        drop(stage.spawn(async move {
            log.ran(number);
            super::stage().spawn(log.task(number + 100));
        }));
    }
    (0..16).for_each(|_| assert_eq!(stage.step(0), Step::Ran));
    let pairs: Vec<_> = log.tasks().chunks(2).map(|pair| (pair[0], pair[1])).collect();
    assert!(pairs.iter().all(|(first, second)| first + 100 == *second), "{pairs:?}");
}

/// The number of tasks that one step takes from the inject queue.
fn batch(stage: &Stage, injected: u32) -> usize {
    (0..injected).for_each(|_| drop(stage.spawn(async {})));
    let before = stage.inject_len();
    assert_eq!(stage.step(0), Step::Ran);
    before - stage.inject_len()
}

/// W4: on a tick `min(len/N + 1, 32)`.
#[test]
fn w4_a_look_takes_a_share() {
    for (workers, injected, taken) in
        [(1, 1, 1), (1, 2, 2), (1, 31, 31), (1, 500, 32), (4, 3, 1), (4, 40, 11), (4, 500, 32)]
    {
        // Its first step is a look.
        let stage = Stage::new(workers, Some(u32::MAX), 7);
        assert_eq!(batch(&stage, injected), taken, "{injected} for {workers}");
        assert_eq!(stage.ring_len(0), taken - 1);
    }
}

/// W4: with an empty ring up to half a ring.
#[test]
fn w4_an_empty_ring_takes_up_to_half_a_ring() {
    for (workers, injected, taken) in [(1, 100, 100), (1, 500, 128), (2, 100, 51), (2, 500, 128)] {
        let stage = stage_without_looks(workers);
        assert_eq!(batch(&stage, injected), taken, "{injected} for {workers}");
        assert_eq!(stage.ring_len(0), taken - 1);
    }
}

/// W4: no more than there is room for; and at least one, though there is none.
#[test]
fn w4_a_share_fits_the_ring() {
    for (own, taken) in [(250, 6), (255, 1), (256, 1)] {
        let stage = Stage::new(1, Some(1), 7);
        on_worker(&stage, move || (0..=own).for_each(|_| drop(super::stage().spawn(async {}))));
        assert_eq!(stage.ring_len(0), own);
        assert_eq!(batch(&stage, 500), taken);
        assert_eq!(stage.ring_len(0), own + taken - 1);
    }
}

/// Q5, Q8: the newer half of a full ring and the new one go to the inject queue, in order; nothing
/// is lost.
#[test]
fn q5_an_overflow_keeps_its_order() {
    let (stage, log) = (stage_without_looks(1), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        (0..258).for_each(|number| drop(super::stage().spawn(at.task(number))));
    });
    assert_eq!((stage.ring_len(0), stage.inject_len()), (128, 129));
    stage.run();
    // The one in the slot first; then as they were spawned.
    assert_eq!(log.tasks(), [257].into_iter().chain(0..257).collect::<Vec<_>>());
}

struct Counted(Arc<Mutex<usize>>);

impl Drop for Counted {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

/// T6: a task that waits for the first time when the runtime is down is cancelled.
#[test]
fn t6_a_first_wait_after_the_shutdown_is_the_last() {
    let (stage, drops) = (stage_without_looks(1), Arc::new(Mutex::new(0)));
    let held = Counted(drops.clone());
    stage.spawn(std::future::poll_fn(move |_| -> Poll<()> {
        let _held = &held;
        let _is_first = super::stage().scheduler.close();
        Poll::Pending
    }));
    assert_eq!(stage.step(0), Step::Ran);
    assert_eq!(*drops.lock().unwrap(), 1);
}

/// T6: tasks that wait are cancelled by the shutdown, whatever thread they have waited on.
#[test]
fn t6_all_that_wait_are_found() {
    let drops = Arc::new(Mutex::new(0));
    for _ in 0..64 {
        let held = Counted(drops.clone());
        let one = std::thread::spawn(move || {
            let stage = stage_without_looks(1);
            stage.spawn(async move {
                let _held = held;
                std::future::pending::<()>().await;
            });
            assert_eq!(stage.step(0), Step::Ran);
        });
        one.join().unwrap();
    }
    assert_eq!(*drops.lock().unwrap(), 64);
}

/// Q5, T6: what overflows when the inject queue is closed already is cancelled, every task of it.
#[test]
fn t6_an_overflow_beside_a_shutdown_is_cancelled() {
    let (stage, drops) = (stage_without_looks(1), Arc::new(Mutex::new(0)));
    let at = drops.clone();
    on_worker(&stage, move || {
        let stage = super::stage();
        let is_first = stage.scheduler.close();
        stage.scheduler.cancel_all(is_first);
        for _ in 0..600 {
            let held = Counted(at.clone());
            stage.spawn(async move { drop(held) });
        }
    });
    stage.shut_down();
    assert_eq!(*drops.lock().unwrap(), 600);
}

/// W6, T1: while worker 0 is in a poll, worker 1 takes from the inject queue, then from the ring,
/// and from the slot last. It finds half of the ring in one go.
#[test]
fn w6_the_slot_is_robbed_last() {
    let (stage, log) = (Stage::new(2, Some(u32::MAX), 7), Log::default());
    let at = log.clone();
    on_worker(&stage, move || {
        let stage = super::stage();
        (0..5).for_each(|number| drop(stage.spawn(at.task(number))));
        assert_eq!(stage.ring_len(0), 4);
        assert_eq!(stage.step(1), Step::Ran);
        assert_eq!((stage.ring_len(0), stage.ring_len(1)), (2, 1));
        while stage.can_step(1) {
            stage.step(1);
        }
        assert!(!stage.has_lifo(0));
    });
    assert_eq!(log.take(), [0, 1, 2, 3, 4].map(|number| (1, number)));
    assert!(stage.is_asleep(1));
}

/// W6: as long as there is a task in any ring, nothing is stolen from a slot. Workers 0 and 1 are
/// in polls, and both have something in their slots.
#[test]
fn w6_rings_come_before_slots() {
    for seed in 0..50 {
        let (stage, log) = (Stage::new(3, Some(u32::MAX), seed), Log::default());
        let at = log.clone();
        stage.spawn(async move {
            let stage = super::stage();
            stage.spawn(at.task(0));
            assert_eq!(stage.step(1), Step::Ran);
        });
        let at = log.clone();
        stage.spawn(async move {
            let stage = super::stage();
            (1..3).for_each(|number| drop(stage.spawn(at.task(number))));
            assert_eq!(stage.step(2), Step::Ran);
            assert_eq!(at.take(), [(2, 1)]);
            assert_eq!(stage.step(2), Step::Ran);
            assert_eq!(stage.step(2), Step::Ran);
        });
        assert_eq!(stage.step(0), Step::Ran);
        let mut stolen = log.take();
        stolen.sort_unstable();
        assert_eq!(stolen, [(2, 0), (2, 2)]);
    }
}

/// W6, Q1: a search takes what has come to the inject queue meanwhile: one task, and leaves the
/// rest.
#[test]
fn w6_a_search_takes_one_injected_task() {
    let (stage, log) = (stage_without_looks(2), Log::default());
    (0..3).for_each(|number| drop(stage.spawn(log.task(number))));
    let found = stage.in_step(1, Worker::search_others);
    assert!(found.is_some());
    stage.in_step(1, Worker::found);
    assert_eq!((stage.inject_len(), stage.ring_len(1)), (2, 0));
}

/// F1: whoever has the tasks, a searcher finds them.
#[test]
fn f1_every_victim_is_found() {
    for seed in 0..20 {
        for victim in 0..4 {
            let (stage, log) = (Stage::new(5, Some(u32::MAX), seed), Log::default());
            stage.spawn(log.task(0));
            assert_eq!(stage.step(victim), Step::Ran);
            let at = log.clone();
            stage.spawn(async move {
                (1..3).for_each(|number| drop(super::stage().spawn(at.task(number))));
                let stage = super::stage();
                assert_eq!(stage.step(4), Step::Ran);
            });
            stage.step(victim);
            assert_eq!(log.take(), [(victim, 0), (4, 1)]);
        }
    }
}

/// F1: worker 0 never runs dry, and all others are in polls that do not end. It looks at each of
/// them, and not again and again at one that has nothing.
#[test]
fn f1_a_busy_worker_looks_at_every_stuck_one() {
    const STUCK: usize = 8;
    /// Called in a poll of this worker.
    fn poll(worker: usize, log: Log) {
        let stage = super::stage();
        if worker < STUCK {
            let next = async move { poll(worker + 1, log) };
            super::super::outside(|| drop(stage.spawn(next)));
            assert_eq!(stage.step(worker + 1), Step::Ran);
            return;
        }
        stage.spawn(log.task(0));
        for _ in 0..1000 {
            assert_eq!(stage.step(0), Step::Ran);
        }
        assert_eq!(log.take(), [(0, 0)]);
    }
    for seed in 0..20 {
        let (stage, log) = (Stage::new(STUCK + 1, Some(2), seed), Log::default());
        stage.spawn(async {
            loop {
                task::yield_now().await;
            }
        });
        assert_eq!(stage.step(0), Step::Ran);
        stage.spawn(async move { poll(1, log) });
        assert_eq!(stage.step(1), Step::Ran);
    }
}

/// I1, I2: one is woken for the first task; before it runs that, it wakes the next, and so on.
#[test]
fn i2_the_last_searcher_wakes_another() {
    let stage = Stage::new(3, Some(u32::MAX), 7);
    stage.run();
    assert_eq!(stage.counts(), (0, 3));
    let woken = |stage: &Stage| (0..3).filter(|index| stage.is_woken(*index)).count();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..3 {
        let seen = seen.clone();
        stage.spawn(async move {
            let stage = super::stage();
            seen.lock().unwrap().push(woken(&stage));
            if let Some(next) = (0..3).find(|index| stage.is_woken(*index)) {
                stage.step(next);
            }
        });
        assert_eq!(woken(&stage), 1);
    }
    stage.run();
    assert_eq!(*seen.lock().unwrap(), [1, 1, 0]);
}

/// W1: who runs the jobs of another, one after the other, comes to one from outside before the next
/// of those.
#[test]
fn w1_a_job_from_outside_ends_a_run_of_stolen_ones() {
    let (stage, log) = (stage_without_looks(2), Log::default());
    let handle = crate::runtime::Handle::of_worker(&stage.players[0].worker);
    let detach = |number: u32, log: &Log| {
        let (log, outside) = (log.clone(), handle.clone());
        handle.spawn_detached(move || {
            log.ran(number);
            if number == 0 {
                let log = log.clone();
                super::super::outside(|| outside.spawn_detached(move || log.ran(10)));
            }
        });
    };
    {
        let _here = Here::enter(&stage.players[0].worker);
        (0..4).for_each(|number| detach(number, &log));
    }
    while log.0.lock().unwrap().len() < 5 {
        stage.step(1);
    }
    assert_eq!(log.take(), [0, 10, 1, 2, 3].map(|number| (1, number)));
}

/// The longest time, in ticks, for which only the others had a turn though there were some of this
/// kind.
fn longest_wait(ran: &[u32], kind: u32) -> usize {
    let last = ran.iter().rposition(|number| *number == kind).unwrap();
    ran[..last].split(|number| *number == kind).map(<[u32]>::len).max().unwrap()
}

/// F3: while both wait, tasks and jobs each get one of 61 ticks at least; also if the jobs are
/// those of another, who is stuck.
#[test]
fn f3_tasks_and_jobs_take_turns() {
    const TASK: u32 = 0;
    const JOB: u32 = 1;

    fn fork(log: &Log) {
        let handle = Handle::of_worker(&super::stage().players[0].worker);
        for _ in 0..200 {
            let log = log.clone();
            handle.spawn_detached(move || log.ran(JOB));
        }
    }

    fn spawn(log: &Log) {
        (0..200).for_each(|_| drop(super::stage().spawn(log.task(TASK))));
    }

    /// Steps one of them until it sleeps.
    fn run(worker: usize) {
        while super::stage().can_step(worker) {
            super::stage().step(worker);
        }
    }

    // Whose the tasks are. The jobs are those of worker 0, which is in a poll all the while if it
    // has nothing else.
    for owner in [0, 1] {
        let (stage, log) = (Stage::new(5, None, 7), Log::default());
        let (tasks, jobs) = (log.clone(), log.clone());
        stage.spawn(async move { spawn(&tasks) });
        assert_eq!(stage.step(owner), Step::Ran);
        on_worker(&stage, move || {
            fork(&jobs);
            if owner == 1 {
                run(1);
            }
        });
        run(0);
        let ran = log.tasks();
        assert_eq!(ran.len(), 400);
        for kind in [TASK, JOB] {
            let wait = longest_wait(&ran, kind);
            assert!(wait <= 60, "{kind} waits for {wait} others: {ran:?}");
        }
    }
}

/// T9: a job is refused, and what it has captured dropped, when all of the runtime is closed.
#[test]
fn t9_jobs_are_refused_when_all_is_closed() {
    use crate::scheduler::jobs::{Header, Job, VTable};

    thread_local! {
        static REFUSED: Cell<usize> = const { Cell::new(0) };
    }

    fn refuse() {
        REFUSED.set(REFUSED.get() + 1);
        let stage = super::stage();
        assert!(stage.scheduler.spares.take(&stage.scheduler).is_none());
        assert!(stage.scheduler.submit_job(job()).is_err());
        assert!(stage.spawn(async {}).is_finished(), "cancelled");
    }

    fn job() -> Job {
        static VTABLE: VTable = VTable {
            run: |_, _, _| {},
            refuse: Some(|_| refuse()),
            is_stack_job: false,
            scope: None,
            task: None,
        };
        static HEADER: Header = Header::new(&VTABLE);
        // SAFETY: (J1) it is static, and may be refused any number of times.
        unsafe { Job::new(ptr::NonNull::from(&HEADER)) }
    }

    let stage = Stage::new(2, None, 7);
    assert!(stage.scheduler.submit_job(job()).is_ok());
    stage.shut_down();
    assert_eq!(REFUSED.get(), 1);
}

/// W1: who holds back from stealing jobs goes back to what comes before them.
#[test]
fn w1_what_comes_before_jobs_ends_a_pause_of_thieves() {
    let (clock, stage) = (StoppedClock::stop(), Stage::new(2, None, 7));
    let stage = &*stage;
    stage.in_step(0, |local| {
        assert!(local.pause_before_search());
        local.steal_crumb(&clock);
        assert!(local.pause_before_search(), "nothing has come meanwhile");
        local.steal_crumb(&clock);
        // To its own slot.
        drop(stage.spawn(async {}));
        assert!(!local.pause_before_search());
        assert!(local.pause_before_search(), "once");
    });
}

/// In a run of stolen jobs nobody waits until it may steal again: there is something else to do
/// before.
#[test]
fn a_run_ends_where_its_thief_has_to_hold_back() {
    let (clock, stage) = (StoppedClock::stop(), Stage::new(2, None, 7));
    stage.in_step(1, |local| local.with_deque(|deque| deque.push(jobs::empty_job())));
    stage.in_step(0, |local| {
        local.steal_crumb(&clock);
        assert!(local.steal_next_of(1).is_none());
        assert!(local.pause_before_search());
        let job = local.steal_next_of(1).unwrap();
        local.run_job(job, Origin::Stolen(1));
    });
}

/// L2: a thread that polls a reactor while the runtime is closed calls no waker of other code, nor
/// drops the task that calls it: it may be sysmon's, and wakers may wait.
#[test]
fn l2_a_waker_of_other_code_is_left_to_others_at_the_close() {
    struct Counts(Mutex<usize>);
    impl std::task::Wake for Counts {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
        }
    }
    let stage = Stage::new(1, None, 7);
    let counts = Arc::new(Counts(Mutex::new(0)));
    let is_first = stage.scheduler.close();
    stage.scheduler.call_later(counts.clone().into());
    assert_eq!(*counts.0.lock().unwrap(), 0);
    stage.scheduler.cancel_all(is_first);
    assert_eq!(*counts.0.lock().unwrap(), 1);
}
