//! Programs with one thing wrong with each, and programs with nothing wrong.

pub mod healthy;
mod machine;
pub mod sick;

use heist::runtime::{Builder, Handle, Runtime};
use heist::task::{JoinHandle, yield_now};
use heist::trace::{Config, Trace};
use heist_cli::doctor::{Basis, Diagnosis, examine};
pub use machine::judge_undisturbed;
use rustix::time::{ClockId, clock_gettime};
use std::hint;
use std::sync::{Mutex, MutexGuard, PoisonError};
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

    /// Runs it, alone, and gives back what was recorded.
    pub fn record(&self) -> Vec<u8> {
        let _stage = alone();
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

/// Until this is dropped no other program of these tests runs: what is wrong with one shows in how
/// long things take.
pub fn alone() -> MutexGuard<'static, ()> {
    static STAGE: Mutex<()> = Mutex::new(());
    STAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Computes for this much CPU time, which is the same amount of work on a busy machine.
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

/// The maximal number of attempts to make a runtime see something.
const ROUNDS: usize = 500;

/// Repeats `sick` until the runtime has reported several stalls. Sysmon may wait long for a core.
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

/// Runs the program and examines it: all that is found has to be right.
fn judge(program: &Program, is_right: impl Fn(&[&str], &Basis) -> bool) {
    let judge = || {
        let trace = program.trace();
        // To examine a trace is work for a core, which the next program may need.
        let _stage = alone();
        let diagnosis = examine(&trace).expect("a trace of one's own can be read");
        let found: Vec<_> = diagnosis.findings.iter().map(|finding| finding.id).collect();
        if is_right(&found, &diagnosis.basis) { Ok(()) } else { Err(Box::new(diagnosis)) }
    };
    let judged: Result<(), Box<Diagnosis>> = judge_undisturbed(program.name, judge);
    judged.unwrap_or_else(|diagnosis| panic!("{}: {diagnosis:#?}", program.name));
}

/// Examines the program: the finding `id` has to be there, and none but those that may `follow`.
pub fn expect(program: &Program, id: &str, follow: &[&str]) {
    judge(program, |found, _| {
        found.contains(&id) && found.iter().all(|f| *f == id || follow.contains(f))
    });
}

/// Examines a program in which one worker has the work, and burns this much CPU time in it. The
/// finding `id` has to be there if that worker had a core for most of the time. With less than a
/// fifth of a core doctor cannot tell computing from waiting: then it is enough that nothing is
/// found but `id` and those that may `follow`.
pub fn expect_if_on_core(program: &Program, burnt: Duration, id: &str, follow: &[&str]) {
    judge(program, |found, basis| {
        let had_core = burnt.as_secs_f64() >= 0.5 * basis.seconds;
        let is_right = found.iter().all(|f| *f == id || follow.contains(f));
        is_right && (!had_core || found.contains(&id))
    });
}

/// What is found in place of tasks that are too short where spawns are not optimised: that they
/// take longer.
pub const SLOW_SPAWNS: &str = slow("imbalance-one-spawner");
/// What is found in place of pressure on the inject queue where polls are not optimised: that they
/// are what there is to share.
pub const SLOW_POLLS: &str = slow("imbalance-too-short");

/// What is found beside or in place of other findings about tiny tasks, where nothing is optimised.
pub const SLOW_TINY: &str = slow("tiny-tasks");

/// What no finding is called, where all is optimised.
pub const fn slow(id: &'static str) -> &'static str {
    if cfg!(debug_assertions) { id } else { "" }
}

/// Examines a program whose fault depends on the speed of the runtime: one of these findings has to
/// be made, and no other. If the runtime is not optimised, it is enough that no other is made.
pub fn expect_if_fast(program: &Program, ids: &[&str]) {
    let may_be_nothing = cfg!(debug_assertions);
    judge(program, |found, _| {
        found.iter().all(|id| ids.contains(id)) && (may_be_nothing || !found.is_empty())
    });
}

/// Examines the program: nothing must be found.
pub fn expect_nothing(program: &Program) {
    judge(program, |found, _| found.is_empty());
}
