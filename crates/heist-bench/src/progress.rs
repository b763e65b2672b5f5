//! Shows on the standard error how far a run has come.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on a terminal, else one line a bench.
///
/// The bar is redrawn between samples only, by the thread that measures: a thread that
/// redraws it on its own time would take a core from the bench.
pub struct Progress {
    bar: Option<ProgressBar>,
    benches: usize,
    begun: usize,
}

impl Progress {
    /// Starts a display for this number of benches and samples.
    pub fn new(benches: usize, samples: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(
                Some(samples as u64),
                ProgressDrawTarget::stderr_with_hz(5),
            );
            let style = ProgressStyle::with_template("{bar:30} {percent:>3}% {eta:>4} left  {msg}")
                .expect("the template is a constant and valid");
            bar.with_style(style)
        });
        Progress { bar, benches, begun: 0 }
    }

    pub fn begin(&mut self, bench: &'static str) {
        self.begun += 1;
        match &self.bar {
            Some(bar) => bar.set_message(bench),
            None => eprintln!("[{}/{}] {bench}", self.begun, self.benches),
        }
    }

    pub fn step(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes the bar away while `print` writes to the same terminal.
    pub fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
