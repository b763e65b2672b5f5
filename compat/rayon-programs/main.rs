//! Programs on rayon, timed. Built twice by `cargo run -p xtask -- rayon-bench`, with rayon's own
//! rayon-core and with heist's, and run side by side.
//!
//! Reads the name of a program from each line of its input, runs it once, and answers with the
//! nanoseconds that it took. Anything else is answered with the names.

use rayon::prelude::*;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// A program makes its input, and says how long the rest took.
type Program = fn() -> Duration;

const PROGRAMS: [(&str, Program); 12] = [
    ("par_iter_sum", par_iter_sum),
    ("par_iter_map_collect", par_iter_map_collect),
    ("par_sort_unstable", par_sort_unstable),
    ("par_sort", par_sort),
    ("par_bridge", par_bridge),
    ("par_chunks_mut", par_chunks_mut),
    ("par_iter_small", par_iter_small),
    ("flat_map_iter", flat_map_iter),
    ("join_fib", join_fib),
    ("scope_spawn", scope_spawn),
    ("nested_par_iter", nested_par_iter),
    ("install_small", install_small),
];

fn main() -> io::Result<()> {
    let mut output = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let program = PROGRAMS.iter().find(|(name, _)| *name == line);
        match program {
            Some((_, program)) => writeln!(output, "{}", program().as_nanos())?,
            None => writeln!(output, "{}", PROGRAMS.map(|(name, _)| name).join(" "))?,
        }
        output.flush()?;
    }
    Ok(())
}

fn time<R>(f: impl FnOnce() -> R) -> Duration {
    let start = Instant::now();
    black_box(f());
    start.elapsed()
}

/// Numbers that look random, always the same.
fn numbers(count: u64) -> impl Iterator<Item = u32> {
    let mut state = 1u64;
    (0..count).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    })
}

fn par_iter_sum() -> Duration {
    let numbers: Vec<u32> = numbers(8_000_000).collect();
    time(|| numbers.par_iter().map(|number| u64::from(*number)).sum::<u64>())
}

fn par_iter_map_collect() -> Duration {
    let numbers: Vec<u32> = numbers(2_000_000).collect();
    time(|| numbers.par_iter().map(|number| f64::from(*number).sqrt()).collect::<Vec<_>>())
}

fn par_sort_unstable() -> Duration {
    let mut numbers: Vec<u32> = numbers(2_000_000).collect();
    time(|| numbers.par_sort_unstable())
}

fn par_sort() -> Duration {
    let mut numbers: Vec<u32> = numbers(1_000_000).collect();
    time(|| numbers.par_sort())
}

/// An iterator that is not parallel, under a lock.
fn par_bridge() -> Duration {
    let numbers = numbers(100_000);
    time(|| numbers.par_bridge().map(|number| collatz(u64::from(number % 1000 + 1))).sum::<u64>())
}

fn par_chunks_mut() -> Duration {
    let mut numbers: Vec<u32> = numbers(4_000_000).collect();
    time(|| {
        numbers
            .par_chunks_mut(1024)
            .for_each(|chunk| chunk.iter_mut().for_each(|number| *number ^= 7))
    })
}

/// Many loops over little.
fn par_iter_small() -> Duration {
    let numbers: Vec<u32> = numbers(1000).collect();
    time(|| {
        (0..2000).map(|_| numbers.par_iter().map(|number| u64::from(*number)).sum::<u64>()).max()
    })
}

fn flat_map_iter() -> Duration {
    time(|| {
        (0..20_000u64)
            .into_par_iter()
            .flat_map_iter(|number| number..number + number % 100)
            .sum::<u64>()
    })
}

fn join_fib() -> Duration {
    fn fib(n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    time(|| fib(25))
}

fn scope_spawn() -> Duration {
    time(|| {
        rayon::scope(|scope| {
            (0..100_000u64).for_each(|number| scope.spawn(move |_| _ = black_box(number)))
        });
    })
}

/// Loops in loops, of different length.
fn nested_par_iter() -> Duration {
    let row = |row: u64| (0..row).into_par_iter().map(|number| collatz(number + 1)).sum::<u64>();
    time(|| (0..300u64).into_par_iter().map(row).sum::<u64>())
}

/// From outside, again and again.
fn install_small() -> Duration {
    time(|| (0..5000u64).map(|number| rayon::join(|| number, || number + 1).1).sum::<u64>())
}

fn collatz(mut number: u64) -> u64 {
    let mut steps = 0;
    while number > 1 {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}
