//! How long polls take, and how long tasks wait for them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Scene;
use crate::live::Bucket;
use crate::top::app::Panel;
use crate::top::rates::{Quantile, Which, Window};
use crate::top::units::{count, time};

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the panel. There is nothing to scroll.
pub fn draw(scene: &Scene<'_>, which: Which, area: Rect, buffer: &mut Buffer) -> usize {
    let buckets = scene.picture.histogram(which, scene.app.window);
    let inner = scene.frame(Panel::Histograms, title(scene, which, &buckets, area), area, buffer);
    let bars = merged(trimmed(&buckets), usize::from(inner.width));
    if bars.is_empty() || inner.height < 2 {
        let line = Line::styled(" nothing yet", scene.theme.soft());
        buffer.set_line(inner.x, inner.y, &line, inner.width);
        return 1;
    }
    // Not so wide that they look like walls.
    let width = (bars.len() as u16).saturating_mul(5).min(inner.width);
    let edge = |index: usize| inner.x + (index * usize::from(width) / bars.len()) as u16;
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    let chart = Rect { height: inner.height - 1, ..inner };
    for (index, bar) in bars.iter().enumerate() {
        let room = Rect { x: edge(index), width: edge(index + 1) - edge(index), ..chart };
        column(scene, room, bar, most, buffer);
    }
    let places = bars.iter().enumerate().map(|(index, bar)| (edge(index), bar));
    axis(scene, places, inner, buffer);
    1
}

fn title(scene: &Scene<'_>, which: Which, buckets: &[Bucket], area: Rect) -> Line<'static> {
    let name = match which {
        Which::PollTime => " poll time ",
        Which::Delay => " delay ",
    };
    let mut line = Line::from(vec![Span::styled(name, scene.theme.title())]);
    let mut add = |part: Line<'static>| {
        // The corners of the frame.
        if line.width() + part.width() + 2 <= usize::from(area.width) {
            line.extend(part.spans);
        }
    };
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("max", 1.0)] {
        let Some(quantile) = Quantile::of(buckets, share) else { continue };
        let style = scene.theme.length(quantile.bound());
        add(Line::from(vec![
            Span::styled(format!("{name} "), scene.theme.soft()),
            Span::styled(format!("{quantile} "), style),
        ]));
    }
    let total: u64 = buckets.iter().map(|bucket| bucket.count).sum();
    let window = match scene.app.window {
        Window::All => "in all",
        Window::Last => "lately",
    };
    add(Line::from(Span::styled(format!("{} {window} ", count(total as f64)), scene.theme.soft())));
    line
}

/// The buckets from the first non-empty one to the last.
fn trimmed(buckets: &[Bucket]) -> &[Bucket] {
    let is_full = |bucket: &Bucket| bucket.count > 0;
    match (buckets.iter().position(is_full), buckets.iter().rposition(is_full)) {
        (Some(first), Some(last)) => &buckets[first..=last],
        _ => &[],
    }
}

/// At most `room` buckets, by merging neighbours.
fn merged(buckets: &[Bucket], room: usize) -> Vec<Bucket> {
    let together = buckets.len().div_ceil(room.max(1)).max(1);
    let merge = |group: &[Bucket]| Bucket {
        le_ns: group.last().and_then(|bucket| bucket.le_ns),
        count: group.iter().map(|bucket| bucket.count).sum(),
    };
    buckets.chunks(together).map(merge).collect()
}

/// A bar. Its height is logarithmic: one slow poll in a million has to be seen.
fn column(scene: &Scene<'_>, area: Rect, bar: &Bucket, most: u64, buffer: &mut Buffer) {
    if bar.count == 0 {
        return;
    }
    let share = ((bar.count + 1) as f64).ln() / ((most + 1) as f64).ln();
    let eighths = ((share * f64::from(area.height) * 8.0).round() as u16).max(1);
    let bound = bar.le_ns.unwrap_or(u64::MAX);
    // What ends at a bound is all below it.
    let style = match bound {
        ..=1_100_000 => scene.theme.good(),
        _ => scene.theme.length(bound),
    };
    // A space between bars that are wide enough.
    let drawn = usize::from(if area.width > 2 { area.width - 1 } else { area.width });
    for level in 0..area.height {
        let part = eighths.saturating_sub(level * 8).min(8);
        if part == 0 {
            break;
        }
        let text = HEIGHTS[usize::from(part) - 1].to_string().repeat(drawn);
        buffer.set_string(area.x, area.bottom() - 1 - level, text, style);
    }
}

/// Up to what times the bars are, as many as can be read.
fn axis<'a>(
    scene: &Scene<'_>,
    bars: impl Iterator<Item = (u16, &'a Bucket)>,
    area: Rect,
    buffer: &mut Buffer,
) {
    let y = area.bottom() - 1;
    let mut free = area.x;
    for (x, bar) in bars {
        let text = bar.le_ns.map_or_else(|| "more".to_owned(), time);
        let length = text.chars().count() as u16;
        if x >= free && x + length <= area.right() {
            buffer.set_string(x, y, &text, scene.theme.soft());
            free = x + length + 1;
        }
    }
}
