//! How sysmon sleeps, in every interleaving that loom can find (I5, L2).

use super::Alarm;
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
        alarm.sleep(None, are_all_idle);
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
