//! Programs with one thing wrong with each, and programs with nothing wrong.

pub mod healthy;
pub mod sick;

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{JoinHandle, yield_now};
use heist::trace::{Config, Trace};
use heist_cli::doctor::{Diagnosis, examine};
use rustix::time::{ClockId, clock_gettime};
use std::hint;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A program: its runtime and what it does there.
pub struct Program {
    pub name: &'static str,
    /// What the runtime is to be like, beside two workers and a recorder.
    pub build: fn(&mut Builder),
    pub run: fn(&Runtime),
    /// Something of it goes on until this is called.
    pub end: fn(),
}

impl Program {
    pub const fn new(name: &'static str, run: fn(&Runtime)) -> Self {
        Program { name, build: |_| (), run, end: || () }
    }

    /// Runs it, alone, and gives back what was recorded: what is wrong with a program shows in how long things take.
    pub fn record(&self) -> Vec<u8> {
        static STAGE: Mutex<()> = Mutex::new(());
        let _alone = STAGE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().trace(Config::new().capacity(4 << 20));
        (self.build)(&mut builder);
        let runtime = builder.build().expect("a runtime starts");
        (self.run)(&runtime);
        let mut bytes = Vec::new();
        runtime.handle().dump_trace_to(&mut bytes).expect("memory can be written to");
        (self.end)();
        bytes
    }

    pub fn trace(&self) -> Trace {
        Trace::from_bytes(self.record()).expect("what was written can be read")
    }
}

/// Computes for so many microseconds of CPU time: on a busy machine, too, it is as much as elsewhere.
pub fn burn(micros: u64) {
    let on_cpu = || {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
    };
    let begun = on_cpu();
    while on_cpu() - begun < Duration::from_micros(micros) {
        hint::spin_loop();
    }
}

/// So often at most it is tried to make a runtime see something.
const ROUNDS: usize = 500;

/// Goes on until the runtime has seen that its workers are stuck, several times: whoever watches them may get no
/// core for long.
pub async fn until_seen(mut sick: impl FnMut()) {
    for _ in 0..ROUNDS {
        if Handle::current().metrics().stall_count() >= 4 {
            return;
        }
        sick();
        yield_now().await;
    }
}

pub async fn all<T>(tasks: Vec<JoinHandle<T>>) {
    for task in tasks {
        task.await.expect("it neither panics nor is aborted");
    }
}

fn examined(program: &Program) -> (Diagnosis, Vec<&'static str>) {
    let diagnosis = examine(&program.trace()).expect("a trace of one's own can be read");
    let ids = diagnosis.findings.iter().map(|finding| finding.id).collect();
    (diagnosis, ids)
}

/// Examines the program: the finding `id` has to be there, and none but those that may `follow`.
pub fn expect(program: &Program, id: &str, follow: &[&str]) {
    let (diagnosis, found) = examined(program);
    assert!(found.contains(&id), "{}: {diagnosis:#?}", program.name);
    let others: Vec<_> = found.iter().filter(|&&f| f != id && !follow.contains(&f)).collect();
    assert!(others.is_empty(), "{}: also {others:?}: {diagnosis:#?}", program.name);
}

/// What is found in place of tasks that are too short where spawns are not optimised: that they take longer.
pub const SLOW_SPAWNS: &str = slow("imbalance-one-spawner");
/// What is found in place of pressure on the inject queue where polls are not optimised: that they are what there is to share.
pub const SLOW_POLLS: &str = slow("imbalance-too-short");

/// What no finding is called, where all is optimised.
const fn slow(id: &'static str) -> &'static str {
    if cfg!(debug_assertions) { id } else { "" }
}

/// Examines the program, which is about how long something takes that the runtime does: one of these has to be found, and nothing
/// else. Where the runtime is not optimised that takes several times as long: there it is enough that nothing else is found.
pub fn expect_if_fast(program: &Program, ids: &[&str]) {
    let (diagnosis, found) = examined(program);
    let is_right = found.iter().all(|id| ids.contains(id));
    assert!(is_right, "{}: {diagnosis:#?}", program.name);
    assert!(!found.is_empty() || cfg!(debug_assertions), "{}: {diagnosis:#?}", program.name);
}

/// Examines the program: nothing must be found.
pub fn expect_nothing(program: &Program) {
    let (diagnosis, found) = examined(program);
    assert!(found.is_empty(), "{}: {diagnosis:#?}", program.name);
}
