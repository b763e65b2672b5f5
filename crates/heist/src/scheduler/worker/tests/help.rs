//! When a worker calls another for the tasks in its ring, and when it holds back (I1, L1).

use super::*;
use crate::env::StoppedClock;
use crate::tuning::{PATIENCE, TICK_INTERVAL};

thread_local! {
    static CLOCK: RefCell<Option<StoppedClock>> = const { RefCell::new(None) };
}

/// Time passes on this thread.
fn pass(time: Duration) {
    CLOCK.with_borrow(|clock| clock.as_ref().expect("it was stopped").advance(time));
}

/// Two workers that sleep. The clock stands still.
fn sleeping_stage() -> Rc<Stage> {
    CLOCK.take();
    CLOCK.set(Some(StoppedClock::stop()));
    let stage = Stage::new(2, Some(u32::MAX), 7);
    stage.run();
    assert_eq!(stage.counts(), (0, 2));
    stage
}

/// A worker runs `f` in a task, and has nothing else to do. The other sleeps. Returns which it is.
fn in_task(stage: &Stage, f: impl FnOnce() + Send + 'static) -> usize {
    stage.spawn(async move { f() });
    let worker = (0..2).find(|index| stage.is_woken(*index)).expect("one is woken from outside");
    assert_eq!(stage.step(worker), Step::Ran);
    worker
}

/// Spawns tasks that take `time` each, all but the last of which are in the ring afterwards.
fn spawn_tasks(count: usize, time: Duration) {
    (0..count).for_each(|_| drop(stage().spawn(async move { pass(time) })));
}

fn is_any_woken(stage: &Stage) -> bool {
    (0..stage.players.len()).any(|index| stage.is_woken(index))
}

const SHORT: Duration = Duration::from_micros(1);

/// I1: a worker that comes to all of its tasks soon wakes nobody for them.
#[test]
fn i1_nobody_is_woken_for_a_few_short_tasks() {
    let stage = sleeping_stage();
    let worker = in_task(&stage, || spawn_tasks(10, SHORT));
    assert_eq!(stage.ring_len(worker), 9);
    while stage.ring_len(worker) > 0 {
        assert!(!is_any_woken(&stage));
        stage.step(worker);
    }
    stage.run();
    assert_eq!(stage.counts(), (0, 2));
}

/// L1: nobody knows when a poll ends that has lasted for long; so what it spawns is for others.
#[test]
fn l1_a_long_poll_wakes_another_worker() {
    let stage = sleeping_stage();
    in_task(&stage, || {
        pass(PATIENCE);
        spawn_tasks(1, SHORT);
        assert!(!is_any_woken(&super::stage()), "it is in the slot (W3)");
        spawn_tasks(1, SHORT);
        assert!(is_any_woken(&super::stage()));
    });
}

/// L1: tasks take longer than the worker expected. When it comes to know, it calls for help.
#[test]
fn l1_tasks_that_wait_for_too_long_wake_another_worker() {
    let stage = sleeping_stage();
    let worker = in_task(&stage, || spawn_tasks(10, PATIENCE / 2));
    assert_eq!([is_any_woken(&stage), stage.step(worker) == Step::Idle], [false, false]);
    assert_eq!([is_any_woken(&stage), stage.step(worker) == Step::Idle], [false, false]);
    // Two have taken half of it each.
    stage.step(worker);
    assert!(is_any_woken(&stage));
    assert!(stage.ring_len(worker) > 0);
}

/// L1: tasks that always come back keep their worker busy. Each of them waits for a short time
/// only, and yet they are shared.
#[test]
fn l1_a_ring_that_is_never_empty_wakes_another_worker() {
    for (tasks, is_woken) in [(1, false), (2, true), (3, true)] {
        let stage = sleeping_stage();
        let worker = in_task(&stage, move || {
            for _ in 0..tasks {
                drop(super::stage().spawn(async {
                    for _ in 0..1000 {
                        pass(SHORT);
                        yield_once().await;
                    }
                }));
            }
        });
        let steps = 2 * PATIENCE.as_micros();
        (0..steps).for_each(|_| assert_eq!(stage.step(worker), Step::Ran));
        assert_eq!(is_any_woken(&stage), is_woken, "{tasks} tasks");
        stage.run();
    }
}

async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(move |cx| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// I1: where tasks are known to take long, a few of them are enough.
#[test]
fn i1_a_backlog_that_is_known_to_take_long_wakes_another_worker() {
    let stage = sleeping_stage();
    let long = PATIENCE / 4;
    // Steps are timed from the first task on that comes to the ring.
    let worker = in_task(&stage, move || spawn_tasks(3, long));
    while stage.step(worker) == Step::Ran {}
    stage.run();
    for (tasks, is_woken) in [(3, false), (20, true)] {
        in_task(&stage, move || {
            spawn_tasks(tasks, long);
            assert_eq!(is_any_woken(&super::stage()), is_woken, "{tasks} tasks");
        });
        stage.run();
    }
}

/// I1, F3: a worker that begins a job comes to no task for as long as that lasts.
#[test]
fn i1_a_job_wakes_another_worker_for_the_tasks_that_wait() {
    let stage = sleeping_stage();
    let handle = crate::runtime::Handle::of_worker(&stage.players[0].worker);
    let worker = in_task(&stage, move || {
        spawn_tasks(200, SHORT / 100);
        assert!(!is_any_woken(&super::stage()));
        handle.spawn_detached(|| assert!(is_any_woken(&super::stage())));
    });
    while !is_any_woken(&stage) {
        assert_eq!(stage.step(worker), Step::Ran);
        assert!(stage.ring_len(worker) > 0, "the job has its turn before the last task (F3)");
    }
    stage.run();
}

/// L1: a worker without a seat comes to nothing.
#[test]
fn l1_a_worker_that_steps_aside_leaves_its_tasks_to_others() {
    let stage = sleeping_stage();
    in_task(&stage, || {
        spawn_tasks(3, SHORT);
        assert!(!is_any_woken(&super::stage()));
        let aside = step_aside();
        assert!(super::stage().counts().0 > 0, "somebody comes");
        drop(aside);
    });
    stage.run();
}

/// I2: a thief that has found the last searcher's find leaves alone what others come to soon.
#[test]
fn i2_a_lone_task_wakes_one_worker() {
    let stage = sleeping_stage();
    let worker = in_task(&stage, || {
        pass(PATIENCE);
        spawn_tasks(2, SHORT);
    });
    let thief = 1 - worker;
    assert!(stage.is_woken(thief));
    stage.step(thief);
    assert_eq!(stage.ring_len(worker), 0, "it has taken the task from the ring");
    stage.run();
}

/// L1: tasks that a job has made are in the ring, and nobody has called for them before. Their
/// worker comes to know how long they take when it runs them, whether it times its steps, has never
/// done so, or has ceased.
#[test]
fn l1_tasks_of_a_job_that_wait_for_too_long_wake_another_worker() {
    for steps_before in [None, Some(0), Some(TICK_INTERVAL)] {
        CLOCK.take();
        CLOCK.set(Some(StoppedClock::stop()));
        let stage = Stage::new(3, Some(u32::MAX), 7);
        stage.run();
        let woken = || (0..3).find(|index| stage.is_woken(*index)).expect("one is called");
        let in_task = |f: fn()| {
            let worker = in_task(&stage, f);
            stage.run();
            worker
        };
        let timed = steps_before.map(|steps| {
            let worker = in_task(|| spawn_tasks(2, SHORT));
            (0..steps).for_each(|_| assert_eq!(in_task(|| ()), worker));
            worker
        });
        let handle = crate::runtime::Handle::of_worker(&stage.players[0].worker);
        handle.spawn_detached(|| spawn_tasks(20, PATIENCE));
        let worker = woken();
        assert!(timed.is_none_or(|timed| timed == worker));
        // The job, and the first of its tasks.
        (0..2).for_each(|_| assert_eq!(stage.step(worker), Step::Ran));
        // Another was woken for them. It takes half of the others, and is in a poll then.
        assert_eq!(stage.step(woken()), Step::Ran);
        (0..3).for_each(|_| assert_eq!(stage.step(worker), Step::Ran));
        assert!(stage.ring_len(worker) > 0);
        assert!(is_any_woken(&stage), "the third sleeps");
        stage.run();
    }
}
