//! Programs with one thing wrong with each, and programs with nothing wrong.

pub mod healthy;
pub mod sick;

use heist::runtime::{Builder, Runtime};
use heist::task::JoinHandle;
use heist::trace::{Config, Trace};
use std::hint;
use std::time::{Duration, Instant};

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

    /// Runs it, and gives back what was recorded.
    pub fn record(&self) -> Vec<u8> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).enable_all().trace(Config::new().capacity(4 << 20));
        (self.build)(&mut builder);
        let runtime = builder.build().expect("a runtime starts");
        (self.run)(&runtime);
        let mut bytes = Vec::new();
        runtime.handle().dump_trace_to(&mut bytes).expect("memory can be written to");
        (self.end)();
        if let Some(d) = std::env::var_os("DUMPDIR") {
            std::fs::write(std::path::Path::new(&d).join(self.name.replace(' ', "_")), &bytes)
                .unwrap();
        }
        bytes
    }

    pub fn trace(&self) -> Trace {
        Trace::from_bytes(self.record()).expect("what was written can be read")
    }
}

/// Computes for so many microseconds.
fn burn(micros: u64) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_micros(micros) {
        hint::spin_loop();
    }
}

async fn all<T>(tasks: Vec<JoinHandle<T>>) {
    for task in tasks {
        task.await.expect("it neither panics nor is aborted");
    }
}
