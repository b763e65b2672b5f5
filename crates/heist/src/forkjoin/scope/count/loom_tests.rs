//! The count of a scope in every interleaving.

use super::*;
use crate::env::Parker;
use heist_sync::UnsafeCell;
use std::sync::Arc;

struct Scope {
    count: Count,
    parker: Parker,
    /// What each job has written, for the owner to see (J2).
    traces: [UnsafeCell<u32>; 2],
}

// SAFETY: (J2) as in ScopeBase: the cells are the owner's, and each trace is that of one job.
unsafe impl Sync for Scope {}

impl Scope {
    fn new() -> Arc<Scope> {
        let traces = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Arc::new(Scope { count: Count::new(), parker: Parker::new(), traces })
    }

    /// A job, on a thread that is not the owner's.
    fn run_elsewhere(&self, number: usize) {
        // SAFETY: (J2) the owner reads it when the job has ended.
        self.traces[number].with_mut(|trace| unsafe { *trace = 1 });
        // SAFETY: (J2) not by the owner.
        if unsafe { self.count.done(false) } {
            self.count.set(|| self.parker.unpark());
        }
    }

    /// Waits; checks the count first, or sleeps at once.
    fn wait(&self, looks_first: bool) {
        // SAFETY: (J2) the owner's thread.
        let is_over = || unsafe { self.count.is_over() };
        if looks_first && is_over() {
            return;
        }
        // SAFETY: (J2) the owner's thread.
        unsafe { self.count.merge() };
        self.count.latch().fall_asleep();
        while !is_over() {
            self.parker.park();
        }
    }

    fn sum(&self) -> u32 {
        // SAFETY: (J2) all jobs have ended.
        self.traces.iter().map(|trace| trace.with(|trace| unsafe { *trace })).sum()
    }
}

/// The owner spawns two jobs. One is stolen and ends on another thread, one the owner runs itself.
fn one_is_stolen(looks_first: bool) {
    let scope = Scope::new();
    // SAFETY: (J2) the owner's thread.
    unsafe { scope.count.add(true) };
    // SAFETY: (J2) as above.
    unsafe { scope.count.add(true) };
    let thief = {
        let scope = Arc::clone(&scope);
        loom::thread::spawn(move || scope.run_elsewhere(0))
    };
    // SAFETY: (J2) as above.
    let is_last = unsafe { scope.count.done(true) };
    assert!(!is_last, "the owner finds that out by itself");
    scope.wait(looks_first);
    assert_eq!(scope.sum(), 1);
    thief.join().unwrap();
}

/// A stolen job spawns another one, and both end on that thread: the word returns to where it
/// began.
fn a_stolen_job_spawns() {
    let scope = Scope::new();
    // SAFETY: (J2) the owner's thread.
    unsafe { scope.count.add(true) };
    let thief = {
        let scope = Arc::clone(&scope);
        loom::thread::spawn(move || {
            // SAFETY: (J2) not by the owner.
            unsafe { scope.count.add(false) };
            scope.run_elsewhere(0);
            scope.run_elsewhere(1);
        })
    };
    scope.wait(true);
    assert_eq!(scope.sum(), 2);
    thief.join().unwrap();
}

/// A thief counts ahead, and subtracts at its end what is left. The job that it spawns is stolen
/// too, and ends before or after that.
fn a_thief_counts_ahead() {
    let scope = Scope::new();
    // SAFETY: (J2) the owner's thread.
    unsafe { scope.count.add(true) };
    let thief = {
        let scope = Arc::clone(&scope);
        loom::thread::spawn(move || {
            scope.count.add_ahead(3);
            let other = {
                let scope = Arc::clone(&scope);
                loom::thread::spawn(move || scope.run_elsewhere(1))
            };
            // SAFETY: (J2) the owner reads it when the job has ended.
            scope.traces[0].with_mut(|trace| unsafe { *trace = 1 });
            // The two that were not spawned, and this one.
            if scope.count.done_all(3) {
                scope.count.set(|| scope.parker.unpark());
            }
            other.join().unwrap();
        })
    };
    scope.wait(true);
    assert_eq!(scope.sum(), 2);
    thief.join().unwrap();
}

#[test]
fn j2_the_owner_waits_for_what_was_counted_ahead() {
    loom::model(a_thief_counts_ahead);
}

#[test]
#[should_panic]
fn canary_ahead_forgotten() {
    canary::COUNT_AHEAD_FORGOTTEN.model(a_thief_counts_ahead);
}

#[test]
fn j2_the_owner_waits_for_what_was_stolen() {
    loom::model(|| one_is_stolen(true));
    loom::model(|| one_is_stolen(false));
}

#[test]
fn j2_the_owner_waits_for_what_stolen_jobs_spawn() {
    loom::model(a_stolen_job_spawns);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_done_relaxed() {
    canary::COUNT_DONE_RELAXED.model(|| one_is_stolen(true));
}

#[test]
#[should_panic(expected = "deadlock")]
fn canary_merge_blind() {
    canary::COUNT_MERGE_BLIND.model(|| one_is_stolen(false));
}

#[test]
#[should_panic]
fn canary_unbiased() {
    canary::COUNT_UNBIASED.model(a_stolen_job_spawns);
}
