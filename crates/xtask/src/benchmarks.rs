//! `benchmarks`: writes the tables of BENCHMARKS.md from the results in `docs/benchmarks/`.
//!
//! The page has marks such as `<!-- table tasks -->`, each followed by a command that runs
//! heist-bench and by a table. `--run` runs the command and writes the results to
//! `docs/benchmarks/tasks.json`; the table is made of that file. Without the file the table stays
//! as it is.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// Writes the tables of BENCHMARKS.md from docs/benchmarks/*.json
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only check that the page is what the results say
    #[arg(long, conflicts_with = "run")]
    check: bool,

    /// First run the benchmarks of these tables, or of all
    #[arg(long, value_name = "TABLE", num_args = 0..)]
    run: Option<Vec<String>>,
}

const PAGE: &str = "BENCHMARKS.md";
const RESULTS: &str = "docs/benchmarks";
const HEIST: &str = "heist";
/// The beginning of a command.
const COMMAND: &str = "cargo run --release -p heist-bench -- ";

/// A line of heist-bench's file.
#[derive(Debug, Clone, Deserialize)]
struct Row {
    bench: String,
    runtime: String,
    workers: usize,
    unit: String,
    median: f64,
    samples: usize,
    #[serde(default)]
    sure: Option<[f64; 2]>,
}

pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("benchmarks: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let root = root()?;
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    if let Some(tables) = &args.run {
        measure(&root, &page, tables)?;
    }
    let new = rewritten(&page, |name| results(&root, name))?;
    if args.check {
        ensure!(
            new == page,
            "{PAGE} is not what {RESULTS} says: run `cargo run -p xtask -- benchmarks`"
        );
        return Ok(());
    }
    fs::write(&path, new).with_context(|| format!("cannot write {PAGE}"))
}

fn root() -> Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().context("cannot find the repository")
}

/// Runs heist-bench for these tables, or for all that have a command.
fn measure(root: &Path, page: &str, tables: &[String]) -> Result<()> {
    let commands = commands(page);
    for table in tables {
        let is_known = commands.iter().any(|(name, _)| name == table);
        ensure!(is_known, "{PAGE} has no table {table} with a command for heist-bench");
    }
    fs::create_dir_all(root.join(RESULTS)).with_context(|| format!("cannot create {RESULTS}"))?;
    let is_wanted = |name: &str| tables.is_empty() || tables.iter().any(|table| table == name);
    for (name, arguments) in commands.iter().filter(|(name, _)| is_wanted(name)) {
        let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["run", "--release", "--quiet", "-p", "heist-bench", "--"])
            .args(arguments)
            .args(["--json", &format!("{RESULTS}/{name}.json")])
            .current_dir(root)
            .status()
            .context("cannot run cargo")?;
        ensure!(status.success(), "heist-bench failed for {name}");
    }
    Ok(())
}

/// The tables that have a command, each with the arguments for heist-bench.
fn commands(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut found = Vec::new();
    let mut table = None;
    for line in page.lines() {
        if line.starts_with('|') {
            table = None;
        }
        table = mark(line).or(table);
        if let (Some(name), Some(arguments)) = (table, line.strip_prefix(COMMAND)) {
            found.push((name, arguments.split_whitespace().collect()));
        }
    }
    found
}

/// The results of this name; `None` if they were never written.
fn results(root: &Path, name: &str) -> Result<Option<Vec<Row>>> {
    let path = root.join(RESULTS).join(format!("{name}.json"));
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}.json"))?;
    let rows: Vec<Row> =
        serde_json::from_str(&text).with_context(|| format!("cannot understand {name}.json"))?;
    ensure!(rows.iter().any(|row| row.runtime == HEIST), "{name}.json has no row of heist");
    Ok(Some(rows))
}

/// The page with the table after each mark made anew.
fn rewritten(page: &str, results: impl Fn(&str) -> Result<Option<Vec<Row>>>) -> Result<String> {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += line;
        out.push('\n');
        let Some(name) = mark(line) else { continue };
        let Some(rows) = results(name)? else { continue };
        while let Some(between) = lines.next_if(|line| !line.starts_with(['|', '#'])) {
            out += between;
            out.push('\n');
        }
        if lines.peek().is_none_or(|line| !line.starts_with('|')) {
            bail!("there is no table after `{line}`");
        }
        while lines.next_if(|line| line.starts_with('|')).is_some() {}
        out += &table(&rows);
    }
    Ok(out)
}

/// The name in a line such as `<!-- table tasks -->`.
fn mark(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<!-- table ")?.strip_suffix(" -->")
}

/// A row for each bench, a column for each runtime, heist first.
fn table(rows: &[Row]) -> String {
    let mut peers: Vec<&str> = Vec::new();
    let mut benches: Vec<&str> = Vec::new();
    for row in rows {
        if row.runtime != HEIST && !peers.contains(&row.runtime.as_str()) {
            peers.push(&row.runtime);
        }
        if !benches.contains(&row.bench.as_str()) {
            benches.push(&row.bench);
        }
    }
    let mut out = String::from("| benchmark | samples | workers | heist |");
    peers.iter().for_each(|peer| write!(out, " against {peer} |").expect(STRING));
    out += "\n|---|---:|---:|---:|";
    out += &"---:|".repeat(peers.len());
    out.push('\n');
    for bench in benches {
        let of =
            |runtime: &str| rows.iter().find(|row| row.bench == bench && row.runtime == runtime);
        let Some(heist) = of(HEIST) else { continue };
        let (samples, workers) = (heist.samples, heist.workers);
        write!(out, "| `{bench}` | {samples} | {workers} | {} |", value(heist)).expect(STRING);
        for peer in &peers {
            let cell = of(peer).and_then(|peer| ratio(heist, peer)).unwrap_or_default();
            write!(out, " {cell} |").expect(STRING);
        }
        out.push('\n');
    }
    out
}

const STRING: &str = "a String takes everything";

/// A median in the unit that suits its size.
fn value(row: &Row) -> String {
    let scales: &[(f64, &str)] = match row.unit.as_str() {
        "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
        "us" => &[(1e6, "s"), (1e3, "ms"), (1.0, "µs")],
        "ms" => &[(1e3, "s"), (1.0, "ms"), (1e-3, "µs")],
        _ => &[],
    };
    let scale = scales.iter().find(|(size, _)| row.median >= *size).or(scales.last());
    let (size, unit) = scale.copied().unwrap_or((1.0, &row.unit));
    format!("{} {unit}", number(row.median / size))
}

/// A number with three digits, or all digits of a larger one.
fn number(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The factor by which heist is better, with its 95 % confidence interval.
fn ratio(heist: &Row, peer: &Row) -> Option<String> {
    let more_is_better = heist.unit.ends_with("/s") || heist.unit == "%";
    let (heist, other) = (heist.median, peer.median);
    let ratio = if more_is_better { heist / other } else { other / heist };
    let sure = |[low, high]: [f64; 2]| format!(" ({}–{})", number(low), number(high));
    let is_one = ratio.is_finite() && ratio > 0.0;
    is_one.then(|| format!("{}×{}", number(ratio), peer.sure.map(sure).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bench: &str, runtime: &str, unit: &str, median: f64, sure: Option<[f64; 2]>) -> Row {
        let (bench, runtime, unit) = (bench.to_owned(), runtime.to_owned(), unit.to_owned());
        Row { bench, runtime, unit, median, workers: 2, samples: 21, sure }
    }

    fn rows() -> Vec<Row> {
        vec![
            row("spawn", "heist", "ns", 1234.0, None),
            row("spawn", "tokio", "ns", 2468.0, Some([1.5, 2.25])),
            row("echo", "heist", "req/s", 1000.0, None),
            row("echo", "smol", "req/s", 500.0, None),
            row("idle", "heist", "csw", 0.0, None),
            row("idle", "tokio", "csw", 0.0, None),
        ]
    }

    const TABLE: &str = "\
        | benchmark | samples | workers | heist | against tokio | against smol |\n\
        |---|---:|---:|---:|---:|---:|\n\
        | `spawn` | 21 | 2 | 1.23 µs | 2.00× (1.50–2.25) |  |\n\
        | `echo` | 21 | 2 | 1000 req/s |  | 2.00× |\n\
        | `idle` | 21 | 2 | 0.00 csw |  |  |\n";

    #[test]
    fn a_table_is_made_of_results() {
        assert_eq!(table(&rows()), TABLE);
    }

    #[test]
    fn values_have_the_unit_that_is_read_best() {
        let text = |unit, median| value(&row("a", "heist", unit, median, None));
        assert_eq!(text("ns", 0.5), "0.50 ns");
        assert_eq!(text("ns", 2.5e6), "2.50 ms");
        assert_eq!(text("us", 12.34), "12.3 µs");
        assert_eq!(text("ms", 0.5), "500 µs");
        assert_eq!(text("B", 120.0), "120 B");
    }

    #[test]
    fn tables_with_results_are_replaced() {
        let page = "# A\n\n<!-- table tasks -->\n\ncommand\n\n| old |\n|---|\n| x |\n\ntext\n";
        let results = |name: &str| Ok((name == "tasks").then(rows));
        let expected = format!("# A\n\n<!-- table tasks -->\n\ncommand\n\n{TABLE}\ntext\n");
        assert_eq!(rewritten(page, results).unwrap(), expected);
        assert_eq!(rewritten(&expected, results).unwrap(), expected);
    }

    #[test]
    fn tables_without_results_stay() {
        let page = "<!-- table other -->\n\n| old |\n|---|\n";
        assert_eq!(rewritten(page, |_| Ok(None)).unwrap(), page);
    }

    #[test]
    fn a_mark_without_a_table_is_an_error() {
        let error = rewritten("<!-- table tasks -->\n\ntext\n", |_| Ok(Some(rows()))).unwrap_err();
        assert!(error.to_string().contains("there is no table"), "{error}");
    }

    #[test]
    fn commands_belong_to_the_table_after_them() {
        let command = format!("{COMMAND}spawn --peers tokio");
        let page = format!(
            "{COMMAND}a\n<!-- table tasks -->\n```sh\n{command}\n```\n|x|\n{COMMAND}b\n<!-- table io -->"
        );
        assert_eq!(commands(&page), [("tasks", vec!["spawn", "--peers", "tokio"])]);
    }

    #[test]
    fn all_tables_with_a_mark_have_a_command() {
        let page = fs::read_to_string(root().unwrap().join(PAGE)).unwrap();
        let names: Vec<&str> = page.lines().filter_map(mark).collect();
        let commands: Vec<&str> = commands(&page).into_iter().map(|(name, _)| name).collect();
        assert_eq!(commands, names);
    }

    #[test]
    fn the_page_says_what_the_results_say() {
        run(&Args { check: true, run: None }).unwrap();
    }

    #[test]
    fn all_results_are_on_the_page() {
        let root = root().unwrap();
        let page = fs::read_to_string(root.join(PAGE)).unwrap();
        let names = fs::read_dir(root.join(RESULTS)).into_iter().flatten();
        for name in names.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
            let name = name.strip_suffix(".json").unwrap_or(&name);
            assert!(page.lines().any(|line| mark(line) == Some(name)), "no table of {name}");
        }
    }
}
