//! The report as Markdown.

use std::fmt::Write;

use super::origin::Origin;
use super::results::{Bench, HEIST, Ratio, Results, number, range};

/// The whole report; plots are beside it, in `plots/`.
pub fn report(results: &Results, origin: &Origin) -> String {
    let mut out = String::from("# heist beside its peers\n\n");
    writeln!(out, "{}\n", introduction(results, origin)).expect(STRING);
    standings(&mut out, results);
    for (runtimes, benches) in results.families() {
        comparison(&mut out, &runtimes, &benches);
    }
    figures(&mut out, results);
    out
}

const STRING: &str = "a String takes everything";

/// Says how to read the figures.
pub fn introduction(results: &Results, origin: &Origin) -> String {
    format!(
        "{} workers, {} samples a side, {}. A ratio says how many times better heist is: above 1 \
         heist wins, whatever the unit. With a ~ the ranges from p10 to p90 overlap: it may be chance.",
        range(&results.workers),
        range(&results.samples),
        origin.text()
    )
}

fn standings(out: &mut String, results: &Results) {
    let standings = results.standings();
    if standings.is_empty() {
        return;
    }
    out.push_str("| peer | geometric mean | benches | best | worst |\n|---|--:|--:|---|---|\n");
    for standing in standings {
        let ratio = |value| Ratio { value, is_clear: true }.text();
        let ((high, best), (low, worst)) = (standing.highest(), standing.lowest());
        writeln!(
            out,
            "| {} | **{}** | {} | {} `{best}` | {} `{worst}` |",
            cell(standing.peer),
            ratio(standing.mean()),
            standing.ratios.len(),
            ratio(high),
            ratio(low)
        )
        .expect(STRING);
    }
    out.push('\n');
}

/// A line a bench, a column a runtime.
fn comparison(out: &mut String, runtimes: &[&str], benches: &[&Bench]) {
    let peers = runtimes.iter().copied().filter(|&runtime| runtime != HEIST);
    writeln!(out, "## heist beside {}\n", list(peers)).expect(STRING);
    let header: String = runtimes.iter().map(|runtime| format!(" {} |", cell(runtime))).collect();
    writeln!(out, "| bench | unit |{header}").expect(STRING);
    writeln!(out, "|---|---|{}", "--:|".repeat(runtimes.len())).expect(STRING);
    for bench in benches {
        let arrow = if bench.higher_is_better() { "↑" } else { "↓" };
        write!(out, "| `{}` | {} {arrow} |", cell(&bench.name), cell(&bench.unit)).expect(STRING);
        for runtime in runtimes {
            let text = match (bench.side(runtime), bench.ratio(runtime)) {
                (Some(side), Some(ratio)) => {
                    format!("{} ({})", number(side.median), ratio.text())
                }
                (Some(side), None) => number(side.median),
                (None, _) => String::new(),
            };
            write!(out, " {text} |").expect(STRING);
        }
        out.push('\n');
    }
    out.push_str("\n↑ higher is better, ↓ lower is better\n\n");
}

/// All there is, to the last number.
fn figures(out: &mut String, results: &Results) {
    out.push_str("## All figures\n\n| bench | runtime | median | p10 | p90 | unit | ratio | |\n");
    out.push_str("|---|---|--:|--:|--:|---|--:|---|\n");
    for bench in &results.benches {
        for (line, side) in bench.sides.iter().enumerate() {
            let ratio = bench.ratio(&side.runtime).map(Ratio::text).unwrap_or_default();
            let [median, p10, p90] = [side.median, side.p10, side.p90].map(number);
            let (name, plot) = if line == 0 {
                let file = plot_file(&bench.name);
                (format!("`{}`", cell(&bench.name)), format!("[plot]({file})"))
            } else {
                (String::new(), String::new())
            };
            let (runtime, unit) = (cell(&side.runtime), cell(&bench.unit));
            writeln!(
                out,
                "| {name} | {runtime} | {median} | {p10} | {p90} | {unit} | {ratio} | {plot} |"
            )
            .expect(STRING);
        }
    }
}

/// Where a bench's plot is, seen from the report: the name, whatever is in it, makes one file.
pub fn plot_file(bench: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    format!("plots/{}.svg", bench.chars().map(safe).collect::<String>())
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    match &items[..] {
        [] => "nobody".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Text that does not end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_make_plain_files_and_stay_in_their_cells() {
        assert_eq!(plot_file("echo_tcp_1x64"), "plots/echo_tcp_1x64.svg");
        assert_eq!(plot_file("../a b"), "plots/___a_b.svg");
        assert_eq!(cell("a|b\nc"), "a\\|b c");
    }

    #[test]
    fn lists_read_as_people_say_them() {
        assert_eq!(list(["a"]), "a");
        assert_eq!(list(["a", "b"]), "a and b");
        assert_eq!(list(["a", "b", "c"]), "a, b and c");
    }
}
