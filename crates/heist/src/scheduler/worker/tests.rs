//! Workers without threads: a test steps them, one at a time, and sleeping is a flag.
//!
//! A task may step other workers while it is polled. For everybody else its worker is then in the
//! middle of a poll, as it would be if it had a thread of its own.

mod closing;
mod help;
mod lenders;
mod order;
mod reactors;
mod simulation;
mod sleeps;

use super::park::Parking;
use super::*;
use crate::scheduler::blocking::{self, Limits, NoThread};
use crate::scheduler::run_loop::Step;
use crate::scheduler::seats::Back;
use crate::scheduler::shared::{Config, RuntimeFlavor, Staffing};
use crate::scheduler::{Id, Identity};
use crate::task::{self, JoinHandle};
use std::cell::RefCell;
use std::panic::Location;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

struct Stage {
    scheduler: Scheduler,
    players: Vec<Player>,
    /// Whose steps are going on, the innermost last.
    stepping: RefCell<Vec<usize>>,
    /// Seats for which spares have been called that have not come yet.
    calls: RefCell<Vec<usize>>,
    /// A spare was called for, and none was to be had.
    was_spare_missing: Cell<bool>,
}

struct Player {
    worker: Worker,
    /// It has found nothing to do, and will lie down next. Until it does others may go on.
    is_tired: Cell<bool>,
    /// It has lain down, and has not got up since.
    lying: RefCell<Option<Parking>>,
    /// It has lost its seat, or never had one.
    is_unseated: Cell<bool>,
}

/// For `workers` base workers and at most `spares` spare ones.
fn config_of(workers: usize, spares: usize, tick_interval: Option<u32>) -> Config {
    let limits = Limits { threads: spares.max(1), keep_alive: Duration::ZERO };
    let blocking = blocking::Config { limits, threads: crate::env::ThreadSpec::new() };
    Config {
        identity: Identity { id: Id::next(), name: None },
        flavor: RuntimeFlavor::MultiThread,
        workers,
        tick_interval,
        ticks_per_look: 1,
        blocking,
        poll_times: None,
        staffing: Staffing::Lending,
        stall: crate::stall::StallConfig::default(),
        console: None,
        tracker: None,
        recorder: None,
        reactors: None,
        within: |_, act| act(),
        outside_of_tasks: |drop| drop(),
        call_spare: |_, seat| stage().call_spare(seat).then_some(()).ok_or(NoThread::AllBusy),
        start_thread: |_, _| false,
    }
}

thread_local! {
    static STAGE: RefCell<Weak<Stage>> = const { RefCell::new(Weak::new()) };
}

/// The stage of this thread, for tasks on it.
fn stage() -> Rc<Stage> {
    STAGE.with_borrow(Weak::upgrade).expect("tasks are polled by a stage")
}

impl Stage {
    /// A stage of workers that are all awake; `seed` decides from whom they steal.
    fn new(workers: usize, tick_interval: Option<u32>, seed: u64) -> Rc<Stage> {
        Stage::with_spares(workers, 0, tick_interval, seed)
    }

    /// With `spares` spare workers, which come when they are called.
    fn with_spares(
        workers: usize,
        spares: usize,
        tick_interval: Option<u32>,
        seed: u64,
    ) -> Rc<Stage> {
        let (scheduler, mut workers) = Scheduler::new(config_of(workers, spares, tick_interval));
        workers.extend((0..spares).map(|_| scheduler.spares.take(&scheduler).unwrap().1));
        for worker in &workers {
            worker.search.reseed(seed ^ worker.index() as u64);
        }
        let player = |worker: Worker| Player {
            is_unseated: Cell::new(worker.is_spare()),
            worker,
            is_tired: Cell::default(),
            lying: RefCell::default(),
        };
        let players = workers.into_iter().map(player).collect();
        let (stepping, calls, was_spare_missing) = Default::default();
        let stage = Rc::new(Stage { scheduler, players, stepping, calls, was_spare_missing });
        STAGE.set(Rc::downgrade(&stage));
        stage
    }

    /// A task from whoever is stepping, or from outside. If it panics the test fails: what is
    /// asserted in it counts.
    fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let told = async {
            let _told = Told;
            future.await
        };
        let (task, join) = task::new(told, Location::caller());
        self.scheduler.submit(task);
        join
    }

    /// Whether a step would do anything: it is awake or has been woken, and in no step already; or
    /// it may get a seat.
    fn can_step(&self, index: usize) -> bool {
        if self.stepping.borrow().contains(&index) {
            return false;
        }
        let player = &self.players[index];
        match (player.is_unseated.get(), player.worker.is_spare()) {
            (true, true) => !self.calls.borrow().is_empty(),
            // Once it has asked for its seat it waits.
            (true, false) => !self.scheduler.seats[index].is_recalled(),
            (false, _) => !self.is_lying(index) || self.is_woken(index),
        }
    }

    /// A spare comes for each call; if there are not enough, none is to be had.
    fn call_spare(&self, seat: usize) -> bool {
        let is_free = |player: &&Player| player.worker.is_spare() && player.is_unseated.get();
        let free = self.players.iter().filter(is_free).count();
        let mut calls = self.calls.borrow_mut();
        // One whose poll is not over yet is not free.
        let stuck =
            self.stepping.borrow().iter().filter(|index| is_free(&&self.players[**index])).count();
        let is_had = calls.len() + stuck < free;
        if is_had {
            calls.push(seat);
        }
        self.was_spare_missing.set(self.was_spare_missing.get() || !is_had);
        is_had
    }

    fn is_lying(&self, index: usize) -> bool {
        self.players[index].lying.borrow().is_some()
    }

    /// Whether it has lain down and been unparked.
    fn is_woken(&self, index: usize) -> bool {
        self.is_lying(index) && self.players[index].worker.me.seat().is_woken()
    }

    fn is_asleep(&self, index: usize) -> bool {
        self.is_lying(index) && !self.is_woken(index)
    }

    /// Gets up if it was woken, and steps once; or lies down if its last step found nothing to do.
    fn step(&self, index: usize) -> Step {
        assert!(self.can_step(index), "worker {index} sleeps, or is in a step");
        let player = &self.players[index];
        let local = &player.worker;
        if let Some(lying) = player.lying.take() {
            assert!(local.me.seat().try_sleep());
            local.unparked(lying);
        }
        if player.is_unseated.get() {
            player.is_unseated.set(!self.takes_seat(index));
            return Step::Unseated;
        }
        if player.is_tired.take() {
            match local.is_spare() {
                true => _ = local.leave_seat(),
                false => drop(player.lying.replace(local.begin_parking(|| false))),
            }
            return Step::Idle;
        }
        let step = self.in_step(index, Worker::step);
        player.is_tired.set(step == Step::Idle);
        if step == Step::Unseated {
            player.is_unseated.set(true);
            if local.is_spare() {
                local.give_all_away();
            }
        }
        step
    }

    fn in_step<R>(&self, index: usize, step: impl FnOnce(&Worker) -> R) -> R {
        let local = &self.players[index].worker;
        self.stepping.borrow_mut().push(index);
        let result = {
            let _here = Here::enter(local);
            step(local)
        };
        self.stepping.borrow_mut().pop();
        result
    }

    /// As its thread would, without waiting.
    fn takes_seat(&self, index: usize) -> bool {
        let local = &self.players[index].worker;
        if local.is_spare() {
            return local.sit_down(self.calls.borrow_mut().remove(0));
        }
        let back = local.sit_again();
        if back == Back::Taken {
            assert!(local.me.seat().recall(), "nobody leaves meanwhile");
        }
        matches!(back, Back::Asleep | Back::Busy)
    }

    /// Steps everybody in turn until all are asleep.
    fn run(&self) {
        while let Some(index) = (0..self.players.len()).find(|index| self.can_step(*index)) {
            self.step(index);
        }
    }

    /// Whose step is going on.
    fn worker(&self) -> Option<usize> {
        self.stepping.borrow().last().copied()
    }

    fn remote(&self, index: usize) -> &Remote {
        &self.scheduler.remotes[index]
    }

    fn ring_len(&self, index: usize) -> usize {
        self.remote(index).stealer.len()
    }

    fn has_lifo(&self, index: usize) -> bool {
        self.remote(index).own.lifo.has_task()
    }

    fn inject_len(&self) -> usize {
        self.scheduler.inject.len()
    }

    /// How many workers search or have been woken to; and how many sleep (I1).
    fn counts(&self) -> (usize, usize) {
        self.scheduler.idle.counts()
    }

    fn is_searching(&self, index: usize) -> bool {
        self.players[index].worker.search.is_on()
    }

    /// Ends the runtime, as its threads would.
    fn shut_down(&self) {
        let is_first = self.scheduler.close();
        self.scheduler.cancel_all(is_first);
        for player in &self.players {
            let local = &player.worker;
            if !player.is_unseated.get() {
                assert_eq!(local.step(), Step::Down, "workers are told to end");
            } else if !local.is_spare() {
                assert!(!local.come_home(), "those that wait for their seats are told, too");
            }
            local.clear();
        }
    }
}

/// Makes a worker that of this thread, inside of a step of another perhaps.
struct Here(*const Worker);

impl Here {
    fn enter(local: &Worker) -> Self {
        // SAFETY: (W10) it is on the stage until the drop sets the one before.
        Here(unsafe { replace_here(local) })
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        // SAFETY: (W10) it was here before, and is on the stage.
        unsafe { replace_here(self.0) };
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.shut_down();
        assert!(!HAS_PANICKED.take() || thread::panicking(), "a task of this test has panicked");
    }
}

thread_local! {
    static HAS_PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Keeps in mind that a poll has panicked, which the task keeps to itself.
struct Told;

impl Drop for Told {
    fn drop(&mut self) {
        HAS_PANICKED.set(HAS_PANICKED.get() || thread::panicking());
    }
}
