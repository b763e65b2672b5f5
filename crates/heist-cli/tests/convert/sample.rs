//! Traces of a made-up program: a server on four seats with a spare worker. Everything that a trace
//! can tell happens in it, and its tasks have hostile names.

use heist::trace::{
    Event, EventKind, Header, Lane, OffWorker, Outcome, PollSource, Resource, StallKind, StringId,
    TaskId, Writer,
};
use heist_testing::Rng;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

pub const SEATS: u16 = 4;
pub const SPARE: u16 = 4;
pub const HOSTILE: &str =
    "</script><script>window.stolen = 1</script> \"quoted\" \u{2028} <!-- \u{1F980}";

/// Where tasks come from, how long their polls take in nanoseconds, and how often a task is one of
/// them.
const PLACES: [(&str, u64, u64); 5] = [
    ("src/connection.rs:41:14", 18_000, 55),
    ("src/cache/evict.rs:120:9", 90_000, 20),
    ("src/listener.rs:77:18", 3_000, 15),
    ("src/image/resize.rs:203:22", 900_000, 8),
    ("src/main.rs:12:5", 300, 2),
];

struct Task {
    id: TaskId,
    place: usize,
    /// Since when it is ready.
    ready: u64,
}

struct Program<W> {
    writer: Writer<W>,
    rng: Rng,
    places: Vec<StringId>,
    /// What time it is for each worker.
    now: Vec<u64>,
    queues: Vec<VecDeque<Task>>,
    spawned: u64,
    outside: u64,
}

/// A trace of `length` nanoseconds or a little more.
pub fn write<W: Write>(out: W, seed: u64, length: u64) -> io::Result<W> {
    let header = Header {
        started: SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000),
        program: format!("image-server {HOSTILE}"),
        pid: 4711,
        workers: SEATS + 1,
        seats: SEATS,
    };
    let mut writer = Writer::new(out, &header)?;
    let mut places = Vec::new();
    for (place, ..) in PLACES {
        places.push(writer.string(place)?);
    }
    let mut program = Program {
        writer,
        rng: Rng::new(seed),
        places,
        now: vec![1_000; usize::from(SEATS) + 1],
        queues: (0..=SEATS).map(|_| VecDeque::new()).collect(),
        spawned: 0,
        outside: 0,
    };
    program.run(length)?;
    program.writer.finish()
}

/// Asleep for 40 µs, and three times up in between.
pub const ROUNDS: EventKind =
    EventKind::IdleRounds { rounds: 3, searches: 2, seat: None, nanos: 30_000, awake_nanos: 5_000 };

impl<W: Write> Program<W> {
    fn event(&mut self, worker: u16, is_exact: bool, kind: EventKind) -> io::Result<()> {
        let at = Duration::from_nanos(self.now[usize::from(worker)]);
        self.writer.event(&Event { at, is_exact, lane: Lane::Worker(worker), kind })
    }

    fn outside(&mut self, at: u64, kind: EventKind) -> io::Result<()> {
        self.outside = self.outside.max(at);
        let at = Duration::from_nanos(self.outside);
        self.writer.event(&Event { at, is_exact: true, lane: Lane::Outside, kind })
    }

    fn run(&mut self, length: u64) -> io::Result<()> {
        let mut has_stalled = false;
        // The spare sleeps until it gets a seat.
        self.event(SPARE, true, EventKind::Park)?;
        self.writer.lost(Lane::Worker(1), 123_456)?;
        loop {
            let Some(worker) = (0..SEATS).min_by_key(|worker| self.now[usize::from(*worker)])
            else {
                return Ok(());
            };
            let now = self.now[usize::from(worker)];
            if now > length {
                self.event(0, true, EventKind::SearchFailed)?;
                return self.outside(now, EventKind::Dumped);
            }
            if now > length / 2 && !has_stalled && worker == 2 {
                has_stalled = true;
                self.stall(length / 10)?;
            }
            self.step(worker)?;
        }
    }

    fn step(&mut self, worker: u16) -> io::Result<()> {
        let own = usize::from(worker);
        if let Some(task) = self.queues[own].pop_front() {
            let source =
                if self.rng.below(4) == 0 { PollSource::LifoSlot } else { PollSource::Ring };
            return self.poll(worker, task, source);
        }
        let richest = (0..SEATS).max_by_key(|other| self.queues[usize::from(*other)].len());
        if let Some(victim) = richest.filter(|other| self.queues[usize::from(*other)].len() > 1) {
            let half = self.queues[usize::from(victim)].len() / 2;
            self.now[own] += 300;
            self.event(worker, true, EventKind::Steal { victim, tasks: half as u32 })?;
            self.now[own] += 200;
            let stolen: Vec<Task> = self.queues[usize::from(victim)].drain(..half).collect();
            self.queues[own].extend(stolen);
            let Some(task) = self.queues[own].pop_front() else { return Ok(()) };
            return self.poll(worker, task, PollSource::Stolen);
        }
        self.now[own] += 500;
        self.event(worker, true, EventKind::SearchFailed)?;
        match self.rng.below(3) {
            _ if self.rng.below(10) == 0 => self.closures(worker),
            0 => self.yields(worker),
            1 => self.jobs(worker),
            _ => self.sleep(worker),
        }
    }

    fn sleep(&mut self, worker: u16) -> io::Result<()> {
        let own = usize::from(worker);
        self.event(worker, true, EventKind::Park)?;
        self.now[own] += 20_000 + self.rng.below(400_000);
        if self.now[own] % 4 == 0 {
            self.event(worker, true, ROUNDS)?;
            self.now[own] += 40_000;
        }
        self.event(worker, true, EventKind::Unpark { by_itself: true })?;
        self.event(worker, true, EventKind::IoHarvest { events: 3 })?;
        for _ in 0..=self.rng.below(6) {
            self.spawn(worker)?;
        }
        self.event(worker, true, EventKind::TimersFired { timers: 1 })?;
        let (at, worker) = (self.now[own], (worker + 1) % SEATS);
        self.outside(at, EventKind::WakeWorker { worker })
    }

    fn spawn(&mut self, worker: u16) -> io::Result<()> {
        let own = usize::from(worker);
        self.spawned += 1;
        let id = TaskId(self.spawned);
        let mut choice = self.rng.below(100);
        let place = PLACES.iter().position(|(.., share)| {
            let is_chosen = choice < *share;
            choice = choice.saturating_sub(*share);
            is_chosen
        });
        let place = place.unwrap_or(0);
        match self.spawned {
            7 => self.writer.name(id, HOSTILE)?,
            number if number % 50 == 0 => self.writer.name(id, &format!("session {number}"))?,
            _ => {}
        }
        self.event(worker, false, EventKind::Spawn { task: id })?;
        let location = self.places[place];
        self.event(worker, false, EventKind::SpawnedAt { task: id, location })?;
        self.queues[own].push_back(Task { id, place, ready: self.now[own] });
        Ok(())
    }

    fn poll(&mut self, worker: u16, task: Task, source: PollSource) -> io::Result<()> {
        let own = usize::from(worker);
        self.now[own] = self.now[own].max(task.ready) + 60 + self.rng.below(80);
        let (id, (_, usual, _)) = (task.id, PLACES[task.place]);
        let mut length = usual / 2 + self.rng.below(usual);
        if self.rng.below(60) == 0 {
            length *= 6;
        }
        let is_exact = length > 2000;
        self.event(worker, is_exact, EventKind::PollStart { task: id, source })?;
        self.now[own] += length / 2;
        let waker = self.queues[own].front().map(|task| task.id);
        if let Some(other) = waker.filter(|_| self.rng.below(3) == 0) {
            self.event(worker, false, EventKind::Wake { task: other })?;
        }
        if self.rng.below(5) < 2 {
            self.spawn(worker)?;
        }
        self.now[own] += length / 2;
        let outcome = match self.rng.below(4) {
            0 => Outcome::Again,
            1 => Outcome::Waits,
            _ => Outcome::Done,
        };
        if outcome == Outcome::Again {
            self.event(
                worker,
                false,
                EventKind::BudgetExhausted { task: id, resource: Resource::Other },
            )?;
        }
        self.event(worker, is_exact, EventKind::PollEnd { task: id, outcome })?;
        let ready = self.now[own];
        match outcome {
            Outcome::Again => self.queues[own].push_back(Task { ready, ..task }),
            Outcome::Waits => {
                self.outside(ready + 3_000, EventKind::Wake { task: id })?;
                let ready = self.outside;
                self.queues[own].push_back(Task { ready, ..task });
            }
            _ => {}
        }
        Ok(())
    }

    /// Two tasks that yield to each other: polls that the clock is not read for.
    fn yields(&mut self, worker: u16) -> io::Result<()> {
        let own = usize::from(worker);
        let tasks = [TaskId(1_000_000_001), TaskId(1_000_000_002)];
        for round in 0..400 {
            let task = tasks[round % 2];
            let source = PollSource::Ring;
            self.event(worker, round % 64 == 0, EventKind::PollStart { task, source })?;
            self.now[own] += 25;
            self.event(worker, false, EventKind::PollEnd { task, outcome: Outcome::Again })?;
            self.now[own] += 5;
        }
        self.event(worker, true, EventKind::InjectBatch { tasks: 2 })
    }

    /// Two closures at the same time, and one that never ends.
    fn closures(&mut self, worker: u16) -> io::Result<()> {
        let at = self.now[usize::from(worker)];
        let tasks: Vec<_> = (1..=2).map(|number| TaskId(self.spawned + number)).collect();
        self.spawned += 2;
        for &task in &tasks {
            self.event(worker, true, EventKind::OffWorkerSpawn { task, by: OffWorker::Closure })?;
            let location = self.places[0];
            self.event(worker, false, EventKind::SpawnedAt { task, location })?;
            self.outside(at + 5_000, EventKind::OffWorkerStart { task })?;
        }
        if self.spawned % 5 == 0 {
            return Ok(());
        }
        tasks.into_iter().try_for_each(|task| {
            self.outside(at + 90_000, EventKind::OffWorkerEnd { task, outcome: Outcome::Done })
        })
    }

    fn jobs(&mut self, worker: u16) -> io::Result<()> {
        let own = usize::from(worker);
        for depth in 0..3 {
            self.event(worker, true, EventKind::JobStart { is_stolen: depth == 0 })?;
            self.now[own] += 8_000;
        }
        for _ in 0..3 {
            self.now[own] += 12_000;
            self.event(worker, true, EventKind::JobEnd)?;
        }
        self.event(worker, true, EventKind::Overflow { tasks: 5 })
    }

    /// Worker 2 is stuck in a system call; its seat goes to the spare and comes back.
    fn stall(&mut self, length: u64) -> io::Result<()> {
        let task = TaskId(7);
        let call = self.writer.string("pread64")?;
        let start = self.now[2];
        let source = PollSource::Inject;
        self.event(2, true, EventKind::PollStart { task, source })?;
        let noticed = start + length / 10;
        let kind = StallKind::Blocked(call);
        self.outside(noticed, EventKind::Stall { worker: 2, task, kind })?;
        self.outside(noticed, EventKind::SeatRobbed { seat: 2, from: 2 })?;
        let spare = usize::from(SPARE);
        self.now[spare] = self.outside + 40_000;
        self.event(SPARE, true, EventKind::Unpark { by_itself: false })?;
        self.event(SPARE, true, EventKind::SeatTaken { seat: 2 })?;
        while self.now[spare] < start + length {
            self.spawn(SPARE)?;
            let Some(task) = self.queues[spare].pop_front() else { break };
            self.poll(SPARE, task, PollSource::Inject)?;
        }
        self.event(SPARE, true, EventKind::SeatLeft { seat: 2 })?;
        self.event(SPARE, true, EventKind::Park)?;
        self.now[2] = self.now[spare] + 10_000;
        self.event(2, true, EventKind::PollEnd { task, outcome: Outcome::Waits })?;
        self.event(2, true, EventKind::SeatTaken { seat: 2 })?;
        self.outside(self.now[2], EventKind::SpareShortage)
    }
}
