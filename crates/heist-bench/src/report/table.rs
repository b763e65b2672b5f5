//! The results as a table, printed bench by bench, and a summary per peer.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::alloc;
use crate::bench::{Bench, Runtime};
use crate::run::{Measured, Plan, Side};
use heist_testing::stats::{Stats, geometric_mean};

/// The widths of the columns of names, which are known before the first result is.
pub struct Table {
    name_width: usize,
    runtime_width: usize,
}

/// The minimum width of the column of names, so that most tables look alike.
const RUNTIME_WIDTH: usize = 10;

impl Table {
    pub fn new(benches: &[Bench]) -> Self {
        let names = benches.iter().flat_map(|bench| &bench.rows).map(|row| row.name.len());
        let runtimes = benches.iter().flat_map(Bench::runtimes).map(|it| it.name().len());
        Table {
            name_width: names.max().unwrap_or(0).max("bench".len()),
            runtime_width: runtimes.max().unwrap_or(0).max(RUNTIME_WIDTH),
        }
    }

    pub fn header(&self, out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
        writeln!(
            out,
            "{} samples a side, interleaved, {} workers, {} allocator; \
             a ratio above 1 means heist is better",
            plan.samples,
            plan.setup.workers,
            alloc::NAME
        )?;
        writeln!(
            out,
            "\n{:width$}  {:<runtimes$} {:>10} {:<6} {:>21}  {:>7}  {:>11}",
            "bench",
            "runtime",
            "median",
            "",
            "p10–p90",
            "ratio",
            "95 % sure",
            width = self.name_width,
            runtimes = self.runtime_width
        )
    }

    pub fn rows(&self, out: &mut dyn Write, measured: &Measured) -> io::Result<()> {
        for (line, Side { runtime, stats, sure }) in measured.sides.iter().enumerate() {
            let name = if line == 0 { measured.bench } else { "" };
            let ratio = match measured.ratio(*runtime) {
                Some(ratio) => format!("{ratio:.2}x"),
                None if *runtime == Runtime::Heist => String::new(),
                None => "–".to_owned(),
            };
            let sure = sure.map(|sure| format!("{:.2}–{:.2}", sure.low, sure.high));
            let row = format!(
                "{name:width$}  {runtime:<runtimes$} {:>10} {:<6} {:>21}  {ratio:>7}  {:>11}",
                number(stats.median),
                measured.unit,
                spread(stats),
                sure.unwrap_or_default(),
                width = self.name_width,
                runtimes = self.runtime_width
            );
            writeln!(out, "{}", row.trim_end())?;
        }
        out.flush()
    }

    /// Over all benches of the run, and where heist stands worst.
    pub fn summary(&self, out: &mut dyn Write, results: &[Measured]) -> io::Result<()> {
        let standings = standings(results);
        if standings.is_empty() {
            return Ok(());
        }
        writeln!(out, "\ngeometric mean of the ratios, and the lowest of them")?;
        for (peer, standing) in standings {
            let (mean, count) = (standing.mean, standing.benches);
            let (lowest, bench) = standing.lowest;
            let benches = if count == 1 { "bench" } else { "benches" };
            writeln!(
                out,
                "  {peer:<width$} {mean:>6.2}x  over {count} {benches}; {lowest:.2}x in {bench}",
                width = self.runtime_width
            )?;
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq)]
struct Standing {
    mean: f64,
    benches: usize,
    lowest: (f64, &'static str),
}

/// Peers without a single ratio do not appear.
fn standings(results: &[Measured]) -> Vec<(Runtime, Standing)> {
    let mut ratios = BTreeMap::<Runtime, Vec<(f64, &'static str)>>::new();
    for measured in results {
        for Side { runtime, .. } in &measured.sides {
            if let Some(ratio) = measured.ratio(*runtime) {
                ratios.entry(*runtime).or_default().push((ratio, measured.bench));
            }
        }
    }
    let standing = |(peer, ratios): (Runtime, Vec<(f64, &'static str)>)| {
        let values: Vec<f64> = ratios.iter().map(|(ratio, _)| *ratio).collect();
        let mean = geometric_mean(&values)?;
        let lowest = *ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((peer, Standing { mean, benches: ratios.len(), lowest }))
    };
    ratios.into_iter().filter_map(standing).collect()
}

fn spread(stats: &Stats) -> String {
    format!("{}–{}", number(stats.p10), number(stats.p90))
}

/// Three digits or so: more would claim a precision the samples do not have.
fn number(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude >= 1000.0 => format!("{value:.0}"),
        magnitude if magnitude >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// One line per row: its name, a description, its sides.
pub fn list(out: &mut dyn Write, benches: &[Bench]) -> io::Result<()> {
    let width = Table::new(benches).name_width;
    for bench in benches {
        let runtimes: Vec<_> = bench.runtimes().map(Runtime::name).collect();
        for row in &bench.rows {
            writeln!(out, "{:width$}  {} [{}]", row.name, row.about, runtimes.join(", "))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Unit;
    use heist_testing::stats::Interval;

    fn measured(bench: &'static str, unit: Unit, medians: &[(Runtime, f64)]) -> Measured {
        let side = |&(runtime, median): &(Runtime, f64)| {
            let stats = Stats { median, p10: median - 0.5, p90: median + 0.5, samples: 3 };
            let sure = Interval { low: 0.9, high: 1.1 };
            Side { runtime, stats, sure: (runtime == Runtime::Crossbeam).then_some(sure) }
        };
        Measured { bench, unit, sides: medians.iter().map(side).collect() }
    }

    fn results() -> [Measured; 2] {
        use Runtime::{Crossbeam, Heist, St3};
        [
            measured("a", Unit::Ns, &[(Heist, 2.0), (Crossbeam, 8.0), (St3, 3.0)]),
            measured("b", Unit::Rate("items/s"), &[(Heist, 5.0), (Crossbeam, 5.0)]),
        ]
    }

    #[test]
    fn rows_have_median_spread_and_ratio() {
        let mut out = Vec::new();
        Table { name_width: 5, runtime_width: 10 }.rows(&mut out, &results()[0]).unwrap();
        let text = String::from_utf8(out).unwrap();
        let fields: Vec<Vec<_>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(
            fields,
            [
                vec!["a", "heist", "2.00", "ns", "1.50–2.50"],
                vec!["crossbeam", "8.00", "ns", "7.50–8.50", "4.00x", "0.90–1.10"],
                vec!["st3", "3.00", "ns", "2.50–3.50", "1.50x"],
            ]
        );
    }

    #[test]
    fn a_peer_stands_for_the_benches_it_takes_part_in() {
        let standings = standings(&results());
        let standing = |peer| standings.iter().find(|(runtime, _)| *runtime == peer).unwrap();
        let (_, crossbeam) = standing(Runtime::Crossbeam);
        assert!((crossbeam.mean - 2.0).abs() < 1e-9);
        assert_eq!((crossbeam.benches, crossbeam.lowest), (2, (1.0, "b")));
        let (_, st3) = standing(Runtime::St3);
        assert_eq!((st3.benches, st3.lowest), (1, (1.5, "a")));
        assert_eq!(standings.len(), 2);
    }

    #[test]
    fn numbers_keep_about_three_digits() {
        assert_eq!([3.256, 325.62, 3256.2].map(number), ["3.26", "325.6", "3256"]);
    }
}
