//! How busy the workers are.

use crate::style::{Colour, Style};
use heist::runtime::RuntimeMetrics;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Bars are as long as this, or shorter.
const LONGEST: usize = 40;
/// What stands beside a bar: the worker, the share, steals.
const BESIDE: usize = 43;
/// Shorter ones say nothing.
const SHORTEST: usize = 4;

/// A bar for each worker, drawn again and again at the same place on a terminal; a table in the end.
pub(super) struct Bars {
    metrics: RuntimeMetrics,
    seats: usize,
    style: Style,
    begun: Instant,
    drawn: Instant,
    /// Awake for so long, at the time of the last picture.
    awake: Vec<Duration>,
    /// So many lines are to be written over.
    lines: usize,
}

impl Bars {
    pub(super) fn new(metrics: RuntimeMetrics, seats: usize, style: Style) -> Self {
        let now = Instant::now();
        let awake = (0..seats).map(|worker| metrics.worker_total_busy_duration(worker)).collect();
        Bars { metrics, seats, style, begun: now, drawn: now, awake, lines: 0 }
    }

    /// Draws what has been since the last time; nothing where it could not be written over.
    pub(super) fn draw(&mut self, out: &mut impl Write) -> io::Result<()> {
        if !self.style.is_terminal {
            return Ok(());
        }
        let passed = self.drawn.elapsed();
        self.drawn = Instant::now();
        let mut picture = self.back_to_the_top();
        for worker in 0..self.seats {
            let awake = self.metrics.worker_total_busy_duration(worker);
            let share = share(awake.saturating_sub(self.awake[worker]), passed);
            self.awake[worker] = awake;
            picture += &self.line(worker, share);
        }
        self.lines = self.seats;
        // In one piece, or it flickers.
        out.write_all(picture.as_bytes())?;
        out.flush()
    }

    /// The whole time, for good.
    pub(super) fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        let passed = self.begun.elapsed();
        let mut picture = self.back_to_the_top();
        for worker in 0..self.seats {
            let awake = self.metrics.worker_total_busy_duration(worker);
            picture += &self.line(worker, share(awake, passed));
        }
        self.lines = 0;
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

fn share(part: Duration, whole: Duration) -> f64 {
    (part.as_secs_f64() / whole.as_secs_f64().max(1e-9)).min(1.0)
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
            bars.finish(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(draw_twice(true).matches("\x1b[2A").count(), 2);
        let plain = draw_twice(false);
        assert!(!plain.contains('\x1b'));
        assert_eq!(plain.lines().count(), 2);
    }
}
