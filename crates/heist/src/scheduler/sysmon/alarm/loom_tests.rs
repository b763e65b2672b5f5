//! How sysmon sleeps, in every interleaving that loom can find (I5, L2).

use super::{Alarm, Until};
use crate::canary;
use heist_sync::{AtomicUsize, Ordering};
use loom::thread;

/// Sysmon goes to sleep while a seat is woken. A sysmon that sleeps on shows as a deadlock.
fn a_seat_is_woken() {
    let alarm: &'static Alarm = Box::leak(Box::new(Alarm::new(true, None)));
    let idle: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(1)));
    let waker = thread::spawn(move || {
        idle.store(0, Ordering::Relaxed);
        alarm.seat_woken();
    });
    while idle.load(Ordering::Relaxed) == 1 {
        let are_all_idle = || idle.load(Ordering::Relaxed) == 1;
        // If it has slept it knows why it does not any more.
        assert_ne!(alarm.sleep(Until::Seats, None, are_all_idle, |_| false), Some(false));
    }
    waker.join().unwrap();
}

#[test]
fn loom_l2_sysmon_wakes_with_the_first_seat() {
    loom::model(a_seat_is_woken);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_light_barrier() {
    canary::ALARM_NO_LIGHT_BARRIER.model(a_seat_is_woken);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_no_heavy_barrier() {
    canary::ALARM_NO_HEAVY_BARRIER.model(a_seat_is_woken);
}

/// Sysmon goes to sleep for long while a worker begins with tasks.
fn tasks_are_begun() {
    let alarm: &'static Alarm = Box::leak(Box::new(Alarm::new(true, None)));
    let tick: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(1)));
    let worker = thread::spawn(move || {
        // To find something it is woken, perhaps: for that sysmon does not get up.
        alarm.seat_woken();
        tick.store(2, Ordering::Relaxed);
        alarm.tasks_begun();
    });
    let is_nobody_in_task = || tick.load(Ordering::Relaxed) == 1;
    while is_nobody_in_task() {
        assert_ne!(alarm.sleep(Until::Tasks, None, is_nobody_in_task, |_| false), Some(false));
    }
    worker.join().unwrap();
}

#[test]
fn loom_l2_sysmon_wakes_with_the_first_task() {
    loom::model(tasks_are_begun);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_tasks_no_light_barrier() {
    canary::ALARM_NO_LIGHT_BARRIER.model(tasks_are_begun);
}

#[test]
#[should_panic(expected = "deadlock")]
fn loom_canary_tasks_no_heavy_barrier() {
    canary::ALARM_NO_HEAVY_BARRIER.model(tasks_are_begun);
}
