//! Plots, as SVG: what a bench came to, and the ratios of many benches at a glance.

mod overview;
mod scale;

use std::cmp::Ordering;
use std::fmt::Write;

pub use self::overview::overview;
use super::results::{Bench, HEIST, Ratio, number};

/// The style of all plots. A page with several needs it once.
pub const STYLE: &str = include_str!("plot.css");

/// Whether a plot brings its style along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A file of its own.
    Alone,
    /// Part of a page that has the style.
    Page,
}

const WIDTH: f64 = 680.0;
/// Names of runtimes, on the left.
const NAMES: f64 = 130.0;
/// Figures, on the right of the longest bar.
const FIGURES: f64 = 160.0;
const ROW: f64 = 26.0;
const BAR: f64 = 16.0;
const TOP: f64 = 56.0;

/// A bar a runtime: the median, and a line from p10 to p90; figure and ratio beside it.
pub fn bench(bench: &Bench, place: Place) -> String {
    let longest = bench.sides.iter().map(|side| side.p90.max(side.median)).fold(0.0, f64::max);
    let scale = scale::Linear::new(longest, NAMES, WIDTH - FIGURES);
    let bottom = TOP + ROW * bench.sides.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 28.0, &bench.name, place);
    svg.text(0.0, 16.0, "title", Anchor::Start, &bench.name);
    let better = if bench.higher_is_better() { "higher is better" } else { "lower is better" };
    svg.text(0.0, 36.0, "soft", Anchor::Start, &format!("{}, {better}", bench.unit));
    for tick in scale.ticks() {
        let x = scale.x(tick);
        svg.line("rule", (x, TOP - 6.0), (x, bottom));
        svg.text(x, bottom + 16.0, "soft", Anchor::Middle, &scale::label(tick));
    }
    for (row, side) in bench.sides.iter().enumerate() {
        let y = TOP + ROW * row as f64 + (ROW - BAR) / 2.0;
        let middle = y + BAR / 2.0;
        let own = side.runtime == HEIST;
        let (name, bar) = if own { ("own-name", "bar own") } else { ("", "bar") };
        svg.text(NAMES - 10.0, middle + 4.5, name, Anchor::End, &side.runtime);
        svg.rectangle(bar, (scale.x(0.0), y), (scale.x(side.median) - scale.x(0.0), BAR));
        let (low, high) = (scale.x(side.p10), scale.x(side.p90));
        let path = format!(
            "M{low:.1} {middle:.1}H{high:.1}M{low:.1} {:.1}v8M{high:.1} {:.1}v8",
            middle - 4.0,
            middle - 4.0
        );
        svg.path("spread", &path);
        let x = high.max(scale.x(side.median)) + 10.0;
        let figure = number(side.median);
        svg.text(x, middle + 4.5, name, Anchor::Start, &figure);
        if let Some(ratio) = bench.ratio(&side.runtime) {
            let x = x + 8.0 * figure.len() as f64 + 10.0;
            svg.text(x, middle + 4.5, colour(ratio), Anchor::Start, &ratio.text());
        }
    }
    svg.finish()
}

/// The class of a ratio's text.
pub fn colour(ratio: Ratio) -> &'static str {
    match ratio.verdict() {
        Ordering::Greater => "good",
        Ordering::Less => "bad",
        Ordering::Equal => "soft",
    }
}

#[derive(Debug, Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// A picture in the making.
struct Svg(String);

impl Svg {
    fn new(width: f64, height: f64, title: &str, place: Place) -> Svg {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heist\" role=\"img\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
             <title>{}</title>\n",
            escape(title)
        );
        if place == Place::Alone {
            write!(out, "<style>\n{STYLE}</style>\n").expect(STRING);
        }
        Svg(out)
    }

    fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (class, text) = (attribute(class), escape(text));
        writeln!(self.0, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>")
            .expect(STRING);
    }

    fn rectangle(&mut self, class: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let class = attribute(class);
        writeln!(
            self.0,
            "<rect{class} x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"2\"/>",
            width.max(0.0)
        )
        .expect(STRING);
    }

    fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let class = attribute(class);
        writeln!(
            self.0,
            "<line{class} x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
        )
        .expect(STRING);
    }

    fn path(&mut self, class: &str, path: &str) {
        writeln!(self.0, "<path{} d=\"{path}\"/>", attribute(class)).expect(STRING);
    }

    /// A dot that says what it stands for.
    fn dot(&mut self, class: &str, (x, y): (f64, f64), title: &str) {
        let (class, title) = (attribute(class), escape(title));
        writeln!(
            self.0,
            "<circle{class} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"><title>{title}</title></circle>"
        )
        .expect(STRING);
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

const STRING: &str = "a String takes everything";

fn attribute(class: &str) -> String {
    if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") }
}

/// Text as XML and HTML want it, also within quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Control characters have no place in XML, not even as a reference.
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
