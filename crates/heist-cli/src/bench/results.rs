//! What heist-bench has measured.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::error::Error;

/// The side that all others are compared with.
pub const HEIST: &str = "heist";

/// A line of heist-bench's file.
#[derive(Debug, Deserialize)]
struct Row {
    bench: String,
    runtime: String,
    workers: usize,
    unit: String,
    median: f64,
    p10: f64,
    p90: f64,
    samples: usize,
}

/// All benches of a run.
#[derive(Debug)]
pub struct Results {
    pub benches: Vec<Bench>,
    pub workers: BTreeSet<usize>,
    pub samples: BTreeSet<usize>,
}

/// A bench: heist and its peers.
#[derive(Debug, Clone)]
pub struct Bench {
    pub name: String,
    pub unit: String,
    pub sides: Vec<Side>,
}

/// What a runtime came to in a bench.
#[derive(Debug, Clone)]
pub struct Side {
    pub runtime: String,
    pub median: f64,
    pub p10: f64,
    pub p90: f64,
}

/// How many times better heist is than a peer: above 1 heist wins, whatever the unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub value: f64,
    /// The ranges from p10 to p90 have no value in common.
    pub is_clear: bool,
}

impl Ratio {
    /// `6.05×`, with a `~` if it is not clear.
    pub fn text(self) -> String {
        let value = self.value;
        let doubt = if self.is_clear { "" } else { "~" };
        match value {
            100.0.. => format!("{doubt}{value:.0}×"),
            10.0.. => format!("{doubt}{value:.1}×"),
            _ => format!("{doubt}{value:.2}×"),
        }
    }

    /// Which of the two is better; equal if that is not clear.
    pub fn verdict(self) -> Ordering {
        if self.is_clear { self.value.total_cmp(&1.0) } else { Ordering::Equal }
    }
}

impl Results {
    /// Reads what heist-bench has written.
    pub fn read(path: &Path) -> Result<Results, Error> {
        let text = fs::read_to_string(path)
            .map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let results = Results::parse(&text)
            .map_err(|source| Error::NotResults { path: path.to_owned(), source })?;
        if results.benches.is_empty() {
            return Err(Error::NoResults { path: path.to_owned() });
        }
        Ok(results)
    }

    pub fn parse(text: &str) -> Result<Results, serde_json::Error> {
        let rows: Vec<Row> = serde_json::from_str(text)?;
        let workers = rows.iter().map(|row| row.workers).collect();
        let samples = rows.iter().map(|row| row.samples).collect();
        let mut benches = Vec::<Bench>::new();
        for Row { bench, runtime, unit, median, p10, p90, .. } in rows {
            let side = Side { runtime, median, p10, p90 };
            match benches.iter_mut().find(|known| known.name == bench) {
                Some(known) => known.sides.push(side),
                None => benches.push(Bench { name: bench, unit, sides: vec![side] }),
            }
        }
        Ok(Results { benches, workers, samples })
    }

    /// Benches with the same peers, or with some of them: what goes well into one table. With each,
    /// the runtimes that have part, in the order of the benches.
    pub fn families(&self) -> Vec<(Vec<&str>, Vec<&Bench>)> {
        let sets: Vec<Vec<&str>> = self.benches.iter().map(Bench::runtimes).collect();
        let within = |a: &[&str], b: &[&str]| a.iter().all(|runtime| b.contains(runtime));
        let mut families = Vec::<(Vec<&str>, Vec<&Bench>)>::new();
        for set in &sets {
            let is_largest = sets.iter().all(|other| within(other, set) || !within(set, other));
            let is_new = families.iter().all(|(known, _)| !within(set, known));
            if is_largest && is_new {
                families.push((set.clone(), Vec::new()));
            }
        }
        for (bench, set) in self.benches.iter().zip(&sets) {
            let home = families.iter_mut().find(|(runtimes, _)| within(set, runtimes));
            home.expect("each set is within a largest one").1.push(bench);
        }
        families
    }

    /// Per peer, in the order of their first appearance; peers without a single ratio are left out.
    pub fn standings(&self) -> Vec<Standing<'_>> {
        let mut standings = Vec::<Standing<'_>>::new();
        for bench in &self.benches {
            for side in &bench.sides {
                let Some(ratio) = bench.ratio(&side.runtime) else { continue };
                let entry = (ratio.value, bench.name.as_str());
                match standings.iter_mut().find(|known| known.peer == side.runtime) {
                    Some(known) => known.ratios.push(entry),
                    None => standings.push(Standing { peer: &side.runtime, ratios: vec![entry] }),
                }
            }
        }
        standings
    }
}

impl Bench {
    pub fn runtimes(&self) -> Vec<&str> {
        self.sides.iter().map(|side| side.runtime.as_str()).collect()
    }

    pub fn side(&self, runtime: &str) -> Option<&Side> {
        self.sides.iter().find(|side| side.runtime == runtime)
    }

    pub fn higher_is_better(&self) -> bool {
        self.unit.ends_with("/s") || self.unit == "%"
    }

    /// None for heist itself, and if there is no such number: with a peer that needs 0 bytes.
    pub fn ratio(&self, peer: &str) -> Option<Ratio> {
        let (heist, other) = (self.side(HEIST)?, self.side(peer)?);
        let (better, than) = if self.higher_is_better() { (heist, other) } else { (other, heist) };
        let value = better.median / than.median;
        let is_clear = heist.p90 < other.p10 || other.p90 < heist.p10;
        let is_number = value.is_finite() && value > 0.0 && peer != HEIST;
        is_number.then_some(Ratio { value, is_clear })
    }
}

/// How heist stands beside a peer, over all benches of a run.
#[derive(Debug)]
pub struct Standing<'a> {
    pub peer: &'a str,
    /// The ratios with their benches.
    pub ratios: Vec<(f64, &'a str)>,
}

impl<'a> Standing<'a> {
    /// The geometric mean: half as fast and twice as fast make 1.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.ratios.iter().map(|(ratio, _)| ratio.ln()).sum();
        (sum / self.ratios.len() as f64).exp()
    }

    pub fn lowest(&self) -> (f64, &'a str) {
        let by_ratio = |a: &&(f64, &str), b: &&(f64, &str)| a.0.total_cmp(&b.0);
        *self.ratios.iter().min_by(by_ratio).expect("a standing has ratios")
    }

    pub fn highest(&self) -> (f64, &'a str) {
        let by_ratio = |a: &&(f64, &str), b: &&(f64, &str)| a.0.total_cmp(&b.0);
        *self.ratios.iter().max_by(by_ratio).expect("a standing has ratios")
    }
}

/// Three digits or so: more would claim a precision the samples do not have.
pub fn number(value: f64) -> String {
    match value.abs() {
        1000.0.. => format!("{value:.0}"),
        100.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `5`, or `5 to 21` where runs were put together.
pub fn range(values: &BTreeSet<usize>) -> String {
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(only), _) => only.to_string(),
        (None, _) => "no".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(runtime: &str, median: f64) -> Side {
        Side { runtime: runtime.to_owned(), median, p10: median * 0.9, p90: median * 1.1 }
    }

    fn bench(name: &str, unit: &str, sides: &[(&str, f64)]) -> Bench {
        let sides = sides.iter().map(|(runtime, median)| side(runtime, *median)).collect();
        Bench { name: name.to_owned(), unit: unit.to_owned(), sides }
    }

    fn results(benches: Vec<Bench>) -> Results {
        Results { benches, workers: [2].into(), samples: [5].into() }
    }

    #[test]
    fn above_one_heist_is_better_whatever_the_unit() {
        let value = |unit| {
            let bench = bench("b", unit, &[("heist", 10.0), ("tokio", 25.0)]);
            bench.ratio("tokio").unwrap().value
        };
        for unit in ["ns", "us", "ms", "MiB", "B", "csw"] {
            assert_eq!(value(unit), 2.5, "{unit}");
        }
        for unit in ["req/s", "%"] {
            assert_eq!(value(unit), 0.4, "{unit}");
        }
    }

    #[test]
    fn a_ratio_is_clear_if_the_ranges_are_apart() {
        let bench = bench("b", "ns", &[("heist", 10.0), ("near", 11.0), ("far", 13.0)]);
        let near = bench.ratio("near").unwrap();
        assert_eq!((near.text().as_str(), near.verdict()), ("~1.10×", Ordering::Equal));
        let far = bench.ratio("far").unwrap();
        assert_eq!((far.text().as_str(), far.verdict()), ("1.30×", Ordering::Greater));
    }

    #[test]
    fn there_is_no_ratio_with_zero_with_heist_or_without_heist() {
        let zero = bench("b", "B", &[("heist", 10.0), ("tokio", 0.0)]);
        assert_eq!(zero.ratio("tokio"), None);
        assert_eq!(zero.ratio("heist"), None);
        assert_eq!(bench("b", "B", &[("tokio", 1.0)]).ratio("tokio"), None);
    }

    #[test]
    fn a_family_has_the_benches_with_the_same_peers_or_fewer() {
        let results = results(vec![
            bench("few", "ns", &[("heist", 1.0), ("tokio", 1.0)]),
            bench("queue", "ns", &[("heist", 1.0), ("st3", 1.0)]),
            bench("all", "ns", &[("heist", 1.0), ("tokio", 1.0), ("smol", 1.0)]),
        ]);
        let families: Vec<(Vec<&str>, Vec<&str>)> = results
            .families()
            .into_iter()
            .map(|(runtimes, benches)| (runtimes, benches.iter().map(|b| &*b.name).collect()))
            .collect();
        assert_eq!(
            families,
            [
                (vec!["heist", "st3"], vec!["queue"]),
                (vec!["heist", "tokio", "smol"], vec!["few", "all"]),
            ]
        );
    }

    #[test]
    fn a_standing_has_the_geometric_mean() {
        let results = results(vec![
            bench("a", "ns", &[("heist", 1.0), ("tokio", 8.0)]),
            bench("b", "req/s", &[("heist", 1.0), ("tokio", 2.0)]),
        ]);
        let standings = results.standings();
        let [tokio] = &standings[..] else { panic!("{standings:?}") };
        assert!((tokio.mean() - 2.0).abs() < 1e-9);
        assert_eq!((tokio.lowest(), tokio.highest()), ((0.5, "b"), (8.0, "a")));
    }

    #[test]
    fn what_is_no_result_is_refused() {
        for text in ["", "{}", "[1]", r#"[{"bench": "a"}]"#] {
            assert!(Results::parse(text).is_err(), "{text}");
        }
        assert!(Results::parse("[]").unwrap().benches.is_empty());
    }
}
