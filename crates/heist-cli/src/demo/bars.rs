//! How busy the workers are: the share of time in tasks and jobs. A worker that is awake and
//! searches is not busy.
//!
//! While a phase runs its workers are asked again and again what they do. In the end its trace has
//! been examined, and the bars show what that has found.

use crate::style::{Colour, Style};
use heist::runtime::{RuntimeMetrics, WorkerState};
use std::io::{self, Write};

/// Bars are as long as this, or shorter.
const LONGEST: usize = 40;
/// What stands beside a bar: the worker, the share, steals.
const BESIDE: usize = 43;
/// Shorter ones say nothing.
const SHORTEST: usize = 4;

/// A bar for each worker, drawn again and again at the same place on a terminal; a table in the
/// end.
pub(super) struct Bars {
    metrics: RuntimeMetrics,
    style: Style,
    /// How often each worker was asked since the last picture, and was busy.
    asked: u32,
    busy: Vec<u32>,
    /// The number of lines to be overwritten.
    lines: usize,
}

impl Bars {
    pub(super) fn new(metrics: RuntimeMetrics, seats: usize, style: Style) -> Self {
        Bars { metrics, style, asked: 0, busy: vec![0; seats], lines: 0 }
    }

    /// Asks each worker whether it is busy.
    pub(super) fn ask(&mut self) {
        self.asked += 1;
        for (worker, busy) in self.busy.iter_mut().enumerate() {
            *busy += u32::from(self.metrics.worker_state(worker) == WorkerState::Busy);
        }
    }

    /// Draws what has been since the last time; nothing where it could not be written over.
    pub(super) fn draw(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.style.is_terminal {
            return Ok(());
        }
        let share = |busy: &u32| f64::from(*busy) / f64::from(self.asked.max(1));
        let shares: Vec<f64> = self.busy.iter().map(share).collect();
        self.asked = 0;
        self.busy.fill(0);
        self.write(out, &shares)
    }

    /// The whole time, for good: how busy each worker was.
    pub(super) fn finish(mut self, out: &mut impl Write, busy: &[f64]) -> io::Result<()> {
        let seats = self.busy.len();
        let shares = busy.iter().copied().chain(std::iter::repeat(0.0)).take(seats);
        self.write(out, &shares.collect::<Vec<_>>())
    }

    fn write(&mut self, out: &mut impl Write, shares: &[f64]) -> io::Result<()> {
        let mut picture = self.back_to_the_top();
        for (worker, share) in shares.iter().enumerate() {
            picture += &self.line(worker, share.min(1.0));
        }
        self.lines = shares.len();
        // In one piece, or it flickers.
        out.write_all(picture.as_bytes())?;
        out.flush()
    }

    fn back_to_the_top(&self) -> String {
        match self.lines {
            0 => String::new(),
            // Up, and everything from there on is cleared.
            lines => format!("\x1b[{lines}A\r\x1b[J"),
        }
    }

    fn line(&self, worker: usize, share: f64) -> String {
        let metrics = &self.metrics;
        let room = self.style.width.saturating_sub(BESIDE).min(LONGEST);
        let bar = if room < SHORTEST { String::new() } else { bar(share, room) };
        let text = format!(
            "   {worker:>2} {:>4.0} % {bar}{}{:>9} polls {:>6} steals",
            share * 100.0,
            if bar.is_empty() { "" } else { " " },
            metrics.worker_poll_count(worker),
            metrics.worker_steal_operations(worker),
        );
        // A line that is wrapped could not be written over.
        let text: String = text.chars().take(self.style.width).collect();
        let colour = if share > 0.5 { Colour::Green } else { Colour::Yellow };
        let coloured = text.replacen(&bar, &self.style.colour(colour, &bar), 1);
        if bar.is_empty() { text + "\n" } else { coloured + "\n" }
    }
}

fn bar(share: f64, room: usize) -> String {
    let full = (share * room as f64).round() as usize;
    "█".repeat(full) + &"░".repeat(room - full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heist::runtime::Builder;

    fn bars(width: usize, is_terminal: bool) -> Bars {
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let style = Style { has_colours: false, width, is_terminal };
        Bars::new(runtime.metrics(), 2, style)
    }

    #[test]
    fn a_bar_is_as_long_as_its_room() {
        assert_eq!(bar(0.0, 4), "░░░░");
        assert_eq!(bar(0.5, 4), "██░░");
        assert_eq!(bar(1.0, 4), "████");
    }

    #[test]
    fn lines_fit_into_narrow_terminals() {
        for width in [20, 30, 42, 50, 80, 100] {
            for share in [0.0, 0.3, 1.0] {
                let line = bars(width, true).line(0, share);
                assert!(line.trim_end().chars().count() <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn on_a_terminal_bars_are_written_over_and_elsewhere_there_is_a_table_in_the_end() {
        let draw_twice = |is_terminal| {
            let (mut bars, mut out) = (bars(80, is_terminal), Vec::new());
            bars.draw(&mut out).unwrap();
            bars.draw(&mut out).unwrap();
            bars.finish(&mut out, &[0.49, 0.514]).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(draw_twice(true).matches("\x1b[2A").count(), 2);
        let plain = draw_twice(false);
        assert!(!plain.contains('\x1b'));
        assert_eq!(plain.lines().count(), 2);
        assert!(plain.contains("0   49 % ") && plain.contains("1   51 % "), "{plain}");
    }

    /// Nobody runs anything, though a worker may be awake.
    #[test]
    fn a_worker_without_tasks_is_not_busy() {
        let mut bars = bars(80, true);
        (0..100).for_each(|_| bars.ask());
        let mut out = Vec::new();
        bars.draw(&mut out).unwrap();
        let picture = String::from_utf8(out).unwrap();
        assert_eq!(picture.matches("   0 % ").count(), 2, "{picture}");
        assert_eq!((bars.asked, bars.busy), (0, vec![0, 0]));
    }

    #[test]
    fn a_worker_in_a_task_is_busy() {
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let style = Style { has_colours: false, width: 80, is_terminal: true };
        let mut bars = Bars::new(runtime.metrics(), 2, style);
        let task = runtime.spawn(async move {
            bars.ask();
            bars
        });
        let bars = runtime.block_on(task).unwrap();
        assert_eq!(bars.busy.iter().sum::<u32>(), 1);
    }
}
