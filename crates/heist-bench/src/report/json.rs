//! The results as a JSON array, one object per bench and runtime.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::run::{Measured, Side};

#[derive(Debug, Serialize)]
struct Row {
    bench: &'static str,
    runtime: &'static str,
    workers: usize,
    unit: &'static str,
    median: f64,
    p10: f64,
    p90: f64,
    samples: usize,
    /// Where the ratio of heist to this side lies with 95 % confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    sure: Option<[f64; 2]>,
}

fn rows(results: &[Measured], workers: usize) -> Vec<Row> {
    let rows_of = |measured: &Measured| {
        let (bench, unit) = (measured.bench, measured.unit.name());
        let row = move |Side { runtime, stats, sure }: &Side| Row {
            bench,
            runtime: runtime.name(),
            workers,
            unit,
            median: stats.median,
            p10: stats.p10,
            p90: stats.p90,
            samples: stats.samples,
            sure: sure.map(|sure| [sure.low, sure.high]),
        };
        measured.sides.iter().map(row).collect::<Vec<_>>()
    };
    results.iter().flat_map(rows_of).collect()
}

/// The file the results go to.
///
/// Opened before the first bench, so that a path that cannot be written is found at once and
/// not after minutes of measuring; emptied only when there is something to write, so that a run
/// that is interrupted leaves an earlier result alone.
pub struct JsonFile {
    path: PathBuf,
    file: File,
}

impl JsonFile {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|source| Error::JsonOpen { path: path.to_owned(), source })?;
        Ok(JsonFile { path: path.to_owned(), file })
    }

    pub fn write(self, results: &[Measured], workers: usize) -> Result<(), Error> {
        let write = || {
            // A pipe or a device has no length to set.
            if self.file.metadata()?.is_file() {
                self.file.set_len(0)?;
            }
            let mut writer = BufWriter::new(&self.file);
            serde_json::to_writer_pretty(&mut writer, &rows(results, workers))?;
            writeln!(writer)?;
            writer.flush()
        };
        write().map_err(|source| Error::JsonWrite { path: self.path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Runtime;
    use crate::unit::Unit;
    use heist_testing::stats::{Interval, Stats};

    #[test]
    fn a_row_has_these_keys_and_no_others() {
        let stats = Stats { median: 2.5, p10: 2.0, p90: 3.0, samples: 21 };
        let measured = Measured {
            bench: "ring_push_pop",
            unit: Unit::Ns,
            sides: vec![
                Side { runtime: Runtime::Heist, stats, sure: None },
                Side { runtime: Runtime::St3, stats, sure: Some(Interval { low: 0.5, high: 1.5 }) },
            ],
        };
        let json = serde_json::to_value(rows(&[measured], 4)).unwrap();
        let row = |runtime: &str| {
            serde_json::json!({
                "bench": "ring_push_pop", "runtime": runtime, "workers": 4, "unit": "ns",
                "median": 2.5, "p10": 2.0, "p90": 3.0, "samples": 21,
            })
        };
        let mut st3 = row("st3");
        st3["sure"] = serde_json::json!([0.5, 1.5]);
        assert_eq!(json, serde_json::json!([row("heist"), st3]));
    }

    #[test]
    fn no_results_are_an_empty_array() {
        assert_eq!(serde_json::to_value(rows(&[], 1)).unwrap(), serde_json::json!([]));
    }
}
