//! The files of a report.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::Error;
use super::origin::Origin;
use super::plot::{self, Place};
use super::results::Results;
use super::{create, markdown, page};

/// Writes the report of `results` into `directory`.
pub fn write(directory: &Path, results: &Results, origin: &Origin) -> Result<Written, Error> {
    let save = |name: &str, text: String| {
        let path = directory.join(name);
        fs::write(&path, text).map_err(Error::write(&path))
    };
    create(&directory.join("plots"))?;
    let mut plots = 0;
    for bench in &results.benches {
        save(&markdown::plot_file(&bench.name), plot::bench(bench, Place::Alone))?;
        plots += 1;
    }
    for (number, (runtimes, benches)) in results.families().iter().enumerate() {
        if let Some(svg) = plot::overview(runtimes, benches, Place::Alone) {
            save(&format!("plots/overview-{}.svg", number + 1), svg)?;
            plots += 1;
        }
    }
    save("results.md", markdown::report(results, origin))?;
    save("index.html", page::page(results, origin))?;
    Ok(Written { directory: directory.to_owned(), plots })
}

/// What was written.
#[derive(Debug)]
pub struct Written {
    directory: PathBuf,
    plots: usize,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = |name| self.directory.join(name).display().to_string();
        writeln!(f, "{}  page with table and plots", path("index.html"))?;
        writeln!(f, "{}  table", path("results.md"))?;
        write!(f, "{}  {} plots", path("plots/"), self.plots)
    }
}
