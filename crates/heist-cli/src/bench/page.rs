//! The report as one HTML page, which needs nothing else.

use std::fmt::Write;

use super::markdown;
use super::origin::Origin;
use super::plot::{self, Place, colour, escape};
use super::results::{Bench, HEIST, Ratio, Results, Standing, number};

const STRING: &str = "a String takes everything";

/// The whole page.
pub fn page(results: &Results, origin: &Origin) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>heist beside its peers</title>\n<style>\n{}{}</style>\n</head>\n<body>\n\
         <h1>heist beside its peers</h1>\n<p>{}</p>\n",
        include_str!("page.css"),
        plot::STYLE,
        escape(&markdown::introduction(results, origin))
    );
    cards(&mut out, &results.standings());
    out.push_str(
        "<input id=\"filter\" type=\"search\" placeholder=\"filter by name\" \
         aria-label=\"filter by name\"/>\n",
    );
    for (runtimes, benches) in results.families() {
        let peers = runtimes.iter().copied().filter(|&runtime| runtime != HEIST);
        writeln!(out, "<h2>Beside {}</h2>", escape(&markdown::list(peers))).expect(STRING);
        out.push_str("<div class=\"pair\">\n");
        if let Some(svg) = plot::overview(&runtimes, &benches, Place::Page) {
            writeln!(out, "<figure>{svg}</figure>").expect(STRING);
        }
        table(&mut out, &runtimes, &benches);
        out.push_str("</div>\n<div class=\"plots\">\n");
        for bench in benches {
            let (name, svg) = (escape(&bench.name), plot::bench(bench, Place::Page));
            writeln!(out, "<figure data-bench=\"{name}\">{svg}</figure>").expect(STRING);
        }
        out.push_str("</div>\n");
    }
    write!(out, "<script>\n{}</script>\n</body>\n</html>\n", include_str!("page.js"))
        .expect(STRING);
    out
}

fn cards(out: &mut String, standings: &[Standing<'_>]) {
    out.push_str("<div class=\"cards\">\n");
    for standing in standings {
        let text = |value| Ratio { value, is_clear: true }.text();
        let mean = Ratio { value: standing.mean(), is_clear: true };
        let ((high, best), (low, worst)) = (standing.highest(), standing.lowest());
        let count = standing.ratios.len();
        writeln!(
            out,
            "<div class=\"card\">{}<b class=\"{}\">{}</b><small>geometric mean of {count}</small>\
             <small>best {} {}</small><small>worst {} {}</small></div>",
            escape(standing.peer),
            colour(mean),
            mean.text(),
            text(high),
            escape(best),
            text(low),
            escape(worst)
        )
        .expect(STRING);
    }
    out.push_str("</div>\n");
}

fn table(out: &mut String, runtimes: &[&str], benches: &[&Bench]) {
    out.push_str("<div class=\"scroll\"><table>\n<tr><th>bench</th><th class=\"unit\">unit</th>");
    for runtime in runtimes {
        write!(out, "<th>{}</th>", escape(runtime)).expect(STRING);
    }
    out.push_str("</tr>\n");
    for bench in benches {
        let name = escape(&bench.name);
        let arrow = if bench.higher_is_better() { "↑" } else { "↓" };
        write!(
            out,
            "<tr data-bench=\"{name}\"><td>{name}</td><td class=\"unit\">{} {arrow}</td>",
            escape(&bench.unit)
        )
        .expect(STRING);
        for runtime in runtimes {
            cell(out, bench, runtime);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n<p>↑ higher is better, ↓ lower is better</p></div>\n");
}

fn cell(out: &mut String, bench: &Bench, runtime: &str) {
    let Some(side) = bench.side(runtime) else {
        out.push_str("<td></td>");
        return;
    };
    let class = if runtime == HEIST { " class=\"own\"" } else { "" };
    let [median, p10, p90] = [side.median, side.p10, side.p90].map(number);
    write!(out, "<td{class} title=\"p10 {p10}, p90 {p90}\">{median}").expect(STRING);
    if let Some(ratio) = bench.ratio(runtime) {
        let (class, text) = (colour(ratio), ratio.text());
        write!(out, "<span class=\"ratio {class}\">{text}</span>").expect(STRING);
    }
    out.push_str("</td>");
}
