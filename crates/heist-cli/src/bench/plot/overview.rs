//! The ratios of many benches at a glance.

use super::scale::{Logarithmic, label};
use super::{Anchor, Place, Svg};
use crate::bench::results::{Bench, HEIST};

const WIDTH: f64 = 680.0;
const NAMES: f64 = 190.0;
const ROW: f64 = 22.0;
const TOP: f64 = 72.0;
/// The number of colours for peers in the style; further peers reuse them.
const COLOURS: usize = 6;

/// A line a bench, a dot a peer: on the right of 1 heist is better, on a logarithmic scale.
///
/// None if no bench has a ratio.
pub fn overview(runtimes: &[&str], benches: &[&Bench], place: Place) -> Option<String> {
    let peers: Vec<&str> = runtimes.iter().copied().filter(|&it| it != HEIST).collect();
    let ratios = |bench: &Bench| -> Vec<(usize, f64)> {
        let ratio = |(peer, name): (usize, &&str)| Some((peer, bench.ratio(name)?.value));
        peers.iter().enumerate().filter_map(ratio).collect()
    };
    let all: Vec<f64> = benches.iter().flat_map(|it| ratios(it)).map(|(_, ratio)| ratio).collect();
    if all.is_empty() {
        return None;
    }
    let scale = Logarithmic::new(&all, NAMES, WIDTH - 20.0);
    let bottom = TOP + ROW * benches.len() as f64;
    let mut svg = Svg::new(WIDTH, bottom + 28.0, "ratios", place);
    legend(&mut svg, &peers);
    svg.text(scale.x(1.0) + 8.0, TOP - 12.0, "soft", Anchor::Start, "heist better →");
    svg.text(scale.x(1.0) - 8.0, TOP - 12.0, "soft", Anchor::End, "← peer better");
    for tick in scale.ticks() {
        let (x, class) = (scale.x(tick), if tick == 1.0 { "one" } else { "rule" });
        svg.line(class, (x, TOP - 6.0), (x, bottom));
        svg.text(x, bottom + 16.0, "soft", Anchor::Middle, &format!("{}×", label(tick)));
    }
    for (row, bench) in benches.iter().enumerate() {
        let y = TOP + ROW * (row as f64 + 0.5);
        svg.text(NAMES - 12.0, y + 4.5, "", Anchor::End, &bench.name);
        let ratios = ratios(bench);
        let places = ratios.iter().map(|(_, ratio)| scale.x(*ratio));
        let low = places.clone().fold(f64::INFINITY, f64::min);
        let high = places.fold(f64::NEG_INFINITY, f64::max);
        if low < high {
            svg.line("link", (low, y), (high, y));
        }
        for (peer, ratio) in ratios {
            let title = format!("{}, {}: {ratio:.2}×", bench.name, peers[peer]);
            svg.dot(&format!("c{}", peer % COLOURS), (scale.x(ratio), y), &title);
        }
    }
    Some(svg.finish())
}

fn legend(svg: &mut Svg, peers: &[&str]) {
    svg.text(0.0, 16.0, "title", Anchor::Start, "How many times better heist is");
    let mut x = 6.0;
    for (peer, name) in peers.iter().enumerate() {
        svg.dot(&format!("c{}", peer % COLOURS), (x, 36.0), name);
        svg.text(x + 10.0, 40.5, "", Anchor::Start, name);
        x += 34.0 + 7.5 * name.chars().count() as f64;
    }
}
