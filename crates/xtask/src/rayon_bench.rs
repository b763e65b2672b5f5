//! `rayon-bench`: programs on rayon, with rayon's own rayon-core and with heist's, side by side.
//!
//! No program can have both: cargo sees to it. So there are two, made of one source with two
//! manifests below `target`, and they are asked in turns.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use heist_testing::stats::{Interval, Stats};

/// Measures rayon on heist's workers beside rayon on its own, program by program
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only these programs
    programs: Vec<String>,
    /// How often each runs on each side
    #[arg(long, default_value_t = 40)]
    samples: usize,
    /// Rayon on its own in the place of heist, too: how far from 1 the ratios of equals are
    #[arg(long)]
    control: bool,
    /// Aligns functions and loops on both sides, so that the ratio does not depend on where the
    /// linker puts them. Without it both sides are built as users build them
    #[arg(long)]
    aligned: bool,
}

/// Samples of one process. Some of what makes it fast or slow is drawn by lot when it
/// starts, as where its memory lies: each of a hundred samples in a row was 4 % off in one process,
/// and none in the next. So each batch counts once in what is sure.
const BATCH: usize = 5;

pub fn main(args: &Args) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rayon-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    ensure!(args.samples > 0, "--samples must be 1 or more");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().context("cannot find the repository")?;
    let names = sides(args.control);
    let programs = [build(&root, names[0], args.aligned)?, build(&root, names[1], args.aligned)?];
    let start = || -> Result<[Side; 2]> {
        Ok([Side::start(names[0], &programs[0])?, Side::start(names[1], &programs[1])?])
    };
    let chosen = match args.programs.as_slice() {
        [] => start()?[0].ask("?")?.split(' ').map(str::to_owned).collect(),
        chosen => chosen.to_vec(),
    };
    let [first, second] = names;
    println!(
        "{} samples a side, interleaved; a ratio above 1 means the first is better",
        args.samples
    );
    println!(
        "{:<22}{first:>12}{:>22}{second:>12}{:>22}{:>9}{:>14}",
        "", "p10-p90", "p10-p90", "ratio", "95 % sure"
    );
    for name in chosen {
        let mut times = [vec![], vec![]];
        for batch in 0..args.samples.div_ceil(BATCH) {
            let left = args.samples - batch * BATCH;
            measure(&mut start()?, &name, left.min(BATCH), &mut times)?;
        }
        let (ratio, sure) = ratio(&times);
        let [heist, rayon] = times.map(|times| shown(&Stats::of(&times)));
        println!("{name:<22}{heist}{rayon}{ratio:>8.2}x{sure:>14}");
    }
    Ok(())
}

/// The rayon-core of each of the two programs.
fn sides(is_control: bool) -> [&'static str; 2] {
    [if is_control { "rayon" } else { "heist" }, "rayon"]
}

/// Asks both sides in turns. Each goes first as often as the other.
fn measure(
    sides: &mut [Side; 2],
    program: &str,
    samples: usize,
    times: &mut [Vec<f64>; 2],
) -> Result<()> {
    for sample in 0..=samples {
        let first = times[0].len() % 2;
        for turn in [first, 1 - first] {
            let time = sides[turn].time(program)?;
            // The first is for caches and threads.
            if sample > 0 {
                times[turn].push(time);
            }
        }
    }
    Ok(())
}

/// The programs, with one rayon-core.
struct Side {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Side {
    fn start(name: &'static str, program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start the programs on {name}"))?;
        let input = child.stdin.take().expect("it was asked for");
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        Ok(Side { name, child, input, output })
    }

    fn ask(&mut self, question: &str) -> Result<String> {
        writeln!(self.input, "{question}").with_context(|| self.has_ended())?;
        let mut answer = String::new();
        let read = self.output.read_line(&mut answer).with_context(|| self.has_ended())?;
        ensure!(read > 0, self.has_ended());
        Ok(answer.trim().to_owned())
    }

    /// Runs a program once and returns its time in nanoseconds.
    fn time(&mut self, program: &str) -> Result<f64> {
        let answer = self.ask(program)?;
        match answer.parse() {
            Ok(nanos) => Ok(nanos),
            Err(_) => bail!("there is no program {program:?}; there are {answer}"),
        }
    }

    fn has_ended(&self) -> String {
        format!("the programs on {} have ended", self.name)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Functions begin at cache lines, and blocks that are only jumped to at multiples of 32 bytes.
///
/// `par_sort_unstable` spends its time in a few short loops. With the same number of instructions
/// on both sides, and one worker, its ratio is up to 2 % off, in a direction that any change of
/// either side can turn.
const ALIGNED: &str =
    "-C llvm-args=-align-all-functions=6 -C llvm-args=-align-all-nofallthru-blocks=5";

/// Builds the programs and returns the path of the executable.
fn build(root: &Path, side: &str, is_aligned: bool) -> Result<PathBuf> {
    let place = root.join("target/rayon-bench").join(side);
    fs::create_dir_all(&place).with_context(|| format!("cannot create {}", place.display()))?;
    let manifest = place.join("Cargo.toml");
    let text = manifest_of(root, side);
    if fs::read_to_string(&manifest).ok().as_deref() != Some(&text) {
        fs::write(&manifest, text)
            .with_context(|| format!("cannot write {}", manifest.display()))?;
    }
    let target = place.join(if is_aligned { "aligned" } else { "target" });
    let aligned = || format!("{} {ALIGNED}", std::env::var("RUSTFLAGS").unwrap_or_default());
    let status = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--quiet", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .envs(is_aligned.then(aligned).map(|flags| ("RUSTFLAGS", flags)))
        .status()
        .context("cannot run cargo")?;
    ensure!(status.success(), "cargo cannot build the programs on {side}");
    Ok(target.join("release/rayon-programs"))
}

fn manifest_of(root: &Path, side: &str) -> String {
    let main = root.join("compat/rayon-programs/main.rs");
    let patch = match side {
        "heist" => {
            let path = root.join("compat/rayon-core");
            format!(
                "[patch.crates-io]\nrayon-core = {{ path = {:?} }}\n",
                path.display().to_string()
            )
        }
        _ => String::new(),
    };
    format!(
        "[package]\nname = \"rayon-programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[[bin]]\n\
         name = \"rayon-programs\"\npath = {:?}\n\n[dependencies]\nrayon = \"1\"\n\n[workspace]\n\n\
         [profile.release]\nlto = \"thin\"\ncodegen-units = 1\n\n{patch}",
        main.display().to_string()
    )
}

/// Formats statistics of nanoseconds.
fn shown(stats: &Stats) -> String {
    let [median, p10, p90] = [stats.median, stats.p10, stats.p90].map(|nanos| nanos / 1e6);
    format!("{median:>9.3} ms{:>22}", format!("{p10:.3}-{p90:.3} ms"))
}

/// How many times as fast heist is, and between which ratios it is with 95 % confidence: by the
/// medians of batches, of the ratios of samples that were taken one right after the other, which
/// the moods of the machine do not touch.
fn ratio([heist, rayon]: &[Vec<f64>; 2]) -> (f64, String) {
    let ratios: Vec<f64> = heist.iter().zip(rayon).map(|(heist, rayon)| rayon / heist).collect();
    let batches: Vec<f64> = ratios.chunks(BATCH).map(|batch| Stats::of(batch).median).collect();
    let sure = Interval::of_median(&batches);
    let sure = sure.map(|sure| format!("{:.3}-{:.3}", sure.low, sure.high)).unwrap_or_default();
    (Stats::of(rayon).median / Stats::of(heist).median, sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides differ in the patch alone, and the programs are where the manifests say.
    #[test]
    fn the_sides_differ_in_the_patch() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let [heist, rayon] = ["heist", "rayon"].map(|side| manifest_of(&root, side));
        let patch = heist.strip_prefix(&rayon).expect("the rest is the same");
        assert!(patch.starts_with("[patch.crates-io]\nrayon-core"), "{patch}");
        let manifest: toml::Table = heist.parse().unwrap();
        let main = manifest["bin"][0]["path"].as_str().unwrap();
        assert!(Path::new(main).is_file(), "{main}");
    }

    #[test]
    fn a_control_has_no_patch_on_either_side() {
        let root = Path::new(".");
        let has_patch = |side: &str| manifest_of(root, side).contains("[patch");
        assert_eq!(sides(false).map(has_patch), [true, false]);
        assert_eq!(sides(true).map(has_patch), [false, false]);
    }

    #[test]
    fn the_interval_of_a_ratio_comes_from_pairs_in_batches() {
        let heist: Vec<f64> = (0..30).map(|sample| f64::from(1 + sample % 3)).collect();
        let rayon: Vec<f64> = heist.iter().map(|time| time * 1.5).collect();
        let few = [heist[..29 - BATCH].to_vec(), rayon[..29 - BATCH].to_vec()];
        assert_eq!(ratio(&[heist, rayon]), (1.5, "1.500-1.500".to_owned()));
        assert_eq!(ratio(&few), (1.5, String::new()), "five batches are too few");
        assert_eq!(ratio(&[vec![1.0], vec![2.0]]), (2.0, String::new()));
    }
}
