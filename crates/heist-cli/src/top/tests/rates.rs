use super::fixture::snapshot;
use crate::live::Bucket;
use crate::top::rates::{Picture, Quantile, Which, Window};

fn picture(times: &[f64]) -> Picture {
    let mut picture = Picture::first(snapshot(times[0]));
    for seconds in &times[1..] {
        picture.advance(snapshot(*seconds));
    }
    picture
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.02 * b.abs().max(1e-3)
}

#[test]
fn rates_are_per_second_whatever_the_interval() {
    for times in [[10.0, 11.0], [10.0, 10.5], [10.0, 15.0]] {
        let picture = picture(&times);
        let rates = picture.worker(&picture.now.workers[0]).unwrap();
        assert!(close(rates.busy, 0.98) && close(rates.polls, 980_000.0), "{rates:?}");
        let totals = picture.totals().unwrap();
        assert!(close(totals.spawned, 4000.0) && close(totals.steals, 200.0), "{totals:?}");
        assert!(close(totals.busy, (0.98 + 0.72 + 0.25 + 0.031) / 4.0), "{totals:?}");
        let (_, rates) = picture.tasks()[0];
        assert!(close(rates.unwrap().busy, 0.6) && close(rates.unwrap().polls, 1000.0));
    }
}

#[test]
fn one_snapshot_has_no_rates() {
    let picture = picture(&[10.0]);
    assert_eq!(picture.worker(&picture.now.workers[0]), None);
    assert_eq!(picture.totals(), None);
    assert!(picture.tasks().iter().all(|(_, rates)| rates.is_none()));
}

#[test]
fn a_snapshot_that_follows_at_once_keeps_the_window() {
    let picture = picture(&[10.0, 11.0, 11.001]);
    let rates = picture.worker(&picture.now.workers[0]).unwrap();
    assert!(close(rates.polls, 980_000.0), "{rates:?}");
    assert_eq!(picture.history(0).len(), 1);
}

#[test]
fn another_program_begins_anew() {
    for change in [
        |next: &mut crate::live::Snapshot| next.pid = 4243,
        |next: &mut crate::live::Snapshot| next.runtime.id = 2,
        |next: &mut crate::live::Snapshot| next.uptime_ns = 1,
    ] {
        let mut picture = picture(&[10.0, 11.0]);
        let mut next = snapshot(12.0);
        change(&mut next);
        picture.advance(next);
        assert_eq!(picture.totals(), None);
        assert_eq!(picture.history(0).len(), 0);
    }
}

#[test]
fn of_a_task_that_was_not_shown_before_only_a_new_one_has_rates() {
    let mut picture = Picture::first(crate::live::Snapshot { tasks: vec![], ..snapshot(10.0) });
    let mut next = snapshot(11.0);
    next.tasks[1].age_ns = 500_000_000;
    next.tasks[1].polls = 70;
    picture.advance(next);
    let tasks = picture.tasks();
    assert_eq!(tasks[0].1, None);
    assert!(close(tasks[1].1.unwrap().polls, 70.0));
}

#[test]
fn a_worker_that_was_not_there_before_has_no_rates() {
    let mut first = snapshot(10.0);
    first.workers.pop();
    let mut picture = Picture::first(first);
    picture.advance(snapshot(11.0));
    let rates: Vec<bool> =
        picture.now.workers.iter().map(|worker| picture.worker(worker).is_some()).collect();
    assert_eq!(rates, [true, true, true, true, false]);
    assert!(close(picture.totals().unwrap().steals, 120.0));
}

#[test]
fn numbers_that_go_backwards_are_no_rates() {
    let mut picture = picture(&[10.0]);
    let mut next = snapshot(11.0);
    next.workers[0].polls = 0;
    next.workers[0].busy_ns = u64::MAX;
    picture.advance(next);
    let rates = picture.worker(&picture.now.workers[0]).unwrap();
    assert_eq!((rates.polls, rates.busy), (0.0, 1.0));
}

#[test]
fn the_past_of_a_worker_has_the_newest_last_and_an_end() {
    let times: Vec<f64> = (0..400).map(f64::from).collect();
    let mut picture = picture(&times);
    let mut idle = snapshot(400.0);
    idle.workers[0].busy_ns = snapshot(399.0).workers[0].busy_ns;
    picture.advance(idle);
    let past: Vec<f64> = picture.history(0).collect();
    assert_eq!((past.len(), *past.last().unwrap()), (160, 0.0));
    assert!(past[..159].iter().all(|share| close(*share, 0.98)));
    assert_eq!(picture.history(99).len(), 0);
}

#[test]
fn a_histogram_is_of_all_or_of_the_last_window() {
    let picture = picture(&[10.0, 11.0]);
    let count = |window| picture.histogram(Which::PollTime, window)[3].count;
    assert_eq!((count(Window::All), count(Window::Last)), (440_000, 40_000));
}

#[test]
fn quantiles_are_bounds_of_buckets() {
    let bucket = |le_ns, count| Bucket { le_ns, count };
    let buckets = [bucket(Some(10), 90), bucket(Some(20), 9), bucket(None, 1)];
    let of = |share| Quantile::of(&buckets, share).unwrap();
    assert_eq!([0.0, 0.5, 0.9].map(of), [Quantile::AtMost(10); 3]);
    assert_eq!([0.91, 0.99].map(of), [Quantile::AtMost(20); 2]);
    assert_eq!(of(1.0), Quantile::Above(20));
    assert_eq!(Quantile::of(&[bucket(Some(10), 0)], 0.5), None);
    assert_eq!(Quantile::of(&[], 0.5), None);
}

#[test]
fn a_stall_that_has_ended_is_there_once_and_the_newest_first() {
    let picture = picture(&[10.0]);
    let stalls: Vec<_> =
        picture.stalls().iter().map(|it| (it.worker, it.duration_ns / 1_000_000)).collect();
    assert_eq!(stalls, [(2, 180), (0, 61)]);
}
