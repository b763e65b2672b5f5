//! `heist demo`: a tour on this machine, a few seconds long. Each phase runs on a runtime of its
//! own, is recorded in memory, and is looked at by the same code as `heist doctor`.
//!
//! | module | what |
//! |---|---|
//! | `phases` | what is shown |
//! | `bars` | how busy the workers are: bars on a terminal, a table in the end |
//! | `interrupt` | Ctrl-C |

mod bars;
mod interrupt;
mod phases;

use crate::doctor::{self, Diagnosis};
use crate::style::{Colour, Style, unless_nobody_reads};
use bars::Bars;
use heist::runtime::{Builder, Runtime};
use heist::trace::{self, Trace};
use interrupt::Interrupt;
use phases::{PHASES, Phase, Plan};
use std::error::Error;
use std::io::{self, Write};
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two pictures of the bars.
const FRAME: Duration = Duration::from_millis(50);
/// The number of times that workers are sampled between two frames. Guessed: enough for a bar.
const SAMPLES_PER_FRAME: u32 = 25;
/// One worker has no victim to steal from, and more than eight do not fit on a screen.
const WORKERS: std::ops::RangeInclusive<usize> = 2..=8;
/// The exit code that shells expect of a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

/// What it is asked for.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// How many workers; as many as there are cores unless said otherwise, from 2 to 8.
    #[arg(long, value_parser = clap::value_parser!(u16).range(2..=64))]
    workers: Option<u16>,
}

/// Shows everything.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Box<dyn Error>> {
    let interrupt = Interrupt::new()?;
    let mut out = io::stdout().lock();
    let style = Style::of_stdout();
    let seats = args.workers.map_or_else(cores, usize::from);
    let mut tour = Tour { out: &mut out, style, seats, interrupt: &interrupt };
    let toured = tour.all();
    match toured {
        Err(error) => match error.downcast::<io::Error>() {
            Ok(error) => unless_nobody_reads(Err(*error))?,
            Err(error) => return Err(error),
        },
        Ok(()) if interrupt.is_there() => return Ok(ExitCode::from(INTERRUPTED)),
        Ok(()) => {}
    }
    Ok(ExitCode::SUCCESS)
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, NonZero::get).clamp(*WORKERS.start(), *WORKERS.end())
}

struct Tour<'a, W> {
    out: &'a mut W,
    style: Style,
    seats: usize,
    interrupt: &'a Interrupt,
}

impl<W: Write> Tour<'_, W> {
    fn all(&mut self) -> Result<(), Box<dyn Error>> {
        let welcome = format!(
            "heist on this machine: {} workers, {} phases, a few seconds.",
            self.seats,
            PHASES.len()
        );
        self.style.wrap(self.out, "", "", &welcome)?;
        for (number, phase) in PHASES.iter().enumerate() {
            if self.interrupt.is_there() {
                break;
            }
            self.phase(number + 1, phase)?;
        }
        writeln!(self.out)?;
        if self.interrupt.is_there() {
            writeln!(self.out, "Interrupted.")?;
            return Ok(());
        }
        let next = "Next: run your own program with HEIST_TRACE=out.trace and ask `heist doctor \
                    out.trace`; `heist --help` has the rest.";
        Ok(self.style.wrap(self.out, "", "", next)?)
    }

    fn phase(&mut self, number: usize, phase: &Phase) -> Result<(), Box<dyn Error>> {
        writeln!(self.out)?;
        let title = format!("{number}. {}", phase.title);
        writeln!(self.out, "{}", self.style.bold(&title))?;
        self.style.wrap(self.out, "   ", "   ", phase.story)?;
        self.out.flush()?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(self.seats)
            .enable_all()
            .trace(trace::Config::new())
            .build()?;
        let (remark, bars) = self.play(&runtime, phase)?;
        let diagnosis = diagnose(&runtime)?;
        bars.finish(self.out, &diagnosis.basis.busy)?;
        drop(runtime);
        if let Some(remark) = remark {
            self.style.wrap(self.out, "   ", "   ", &remark)?;
        }
        writeln!(self.out, "   {}", self.style.colour(Colour::Blue, "doctor:"))?;
        doctor::print_findings(self.out, self.style, "   ", &diagnosis)?;
        Ok(self.out.flush()?)
    }

    /// The phase runs on a thread beside this one, which draws.
    fn play(
        &mut self,
        runtime: &Runtime,
        phase: &Phase,
    ) -> Result<(Option<String>, Bars), Box<dyn Error>> {
        let plan = Plan::new(self.seats, phase.length, self.interrupt.clone());
        let mut bars = Bars::new(runtime.metrics(), self.seats, self.style);
        let (play, end) = (phase.play, plan.end());
        let ended = thread::scope(|scope| {
            let player = scope.spawn(|| runtime.block_on(play(plan)));
            let drawn = loop {
                watch(&mut bars, self.style, end);
                if player.is_finished() {
                    break Ok(());
                }
                if let Err(error) = bars.draw(self.out) {
                    // Nobody looks any more: the phase has no reason to go on.
                    self.interrupt.raise();
                    break Err(error);
                }
                if Instant::now() >= end {
                    thread::sleep(FRAME / 10);
                }
            };
            player.join().map(|remark| drawn.map(|()| remark))
        });
        let remark = ended.map_err(|_| "a phase of the demo panicked; please report that")??;
        Ok((remark, bars))
    }
}

/// Waits for the next picture, and looks what workers do meanwhile if it will be drawn.
fn watch(bars: &mut Bars, style: Style, end: Instant) {
    let frame = FRAME.min(end.saturating_duration_since(Instant::now()));
    if !style.is_terminal {
        return thread::sleep(frame);
    }
    for _ in 0..SAMPLES_PER_FRAME {
        thread::sleep(frame / SAMPLES_PER_FRAME);
        bars.ask();
    }
}

fn diagnose(runtime: &Runtime) -> Result<Diagnosis, Box<dyn Error>> {
    let mut bytes = Vec::new();
    runtime.handle().dump_trace_to(&mut bytes)?;
    Ok(doctor::examine(&Trace::from_bytes(bytes)?)?)
}
