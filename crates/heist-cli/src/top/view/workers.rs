//! A line a worker.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Scene;
use super::columns::{Column, cell, cut, cut_front, fit, highlight};
use crate::live::{Worker, WorkerState};
use crate::top::app::Panel;
use crate::top::rates::WorkerRates;
use crate::top::theme::Theme;
use crate::top::units::{count, percent};
use crate::top::words::worker_state;

const COLUMNS: [Column; 14] = [
    Column::right("#", 3, 0),
    Column::right("seat", 4, 6),
    Column::left("state", 9, 1),
    Column::left("busy", 13, 2).growing(16),
    Column::left("past", 8, 9).growing(52),
    Column::right("polls/s", 7, 4),
    Column::right("steals/s", 8, 5),
    Column::right("stolen/s", 8, 10),
    Column::right("lifo/s", 6, 12),
    Column::right("parks/s", 7, 11),
    Column::right("jobs/s", 6, 13),
    Column::right("queue", 5, 3),
    Column::left("runs", 12, 7).growing(16),
    Column::left("spawned at", 14, 8).growing(20),
];

/// Draws the panel; returns for how many workers there is room.
pub fn draw(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) -> usize {
    let workers = &scene.picture.now.workers;
    let title = Line::from(vec![
        Span::styled(" workers ", scene.theme.title()),
        Span::styled(summary(workers), scene.theme.soft()),
    ]);
    let inner = scene.frame(Panel::Workers, title, area, buffer);
    let places = fit(&COLUMNS, inner);
    let Some(room) = usize::from(inner.height).checked_sub(1) else { return 1 };
    for place in &places {
        let column = &COLUMNS[place.index];
        let title = Line::styled(column.title, scene.theme.soft());
        cell(title, column, *place, inner.y, buffer);
    }
    let first = scene.first(Panel::Workers, workers.len(), room);
    for (row, index) in (first..workers.len()).take(room).enumerate() {
        let y = inner.y + 1 + row as u16;
        let rates = scene.picture.worker(&workers[index]);
        for place in &places {
            let line = content(scene, index, rates, place.index, place.width);
            cell(line, &COLUMNS[place.index], *place, y, buffer);
        }
        if scene.app.panel == Panel::Workers && scene.app.place() == index {
            highlight(inner, y, scene.theme.selected(), buffer);
        }
    }
    room
}

fn summary(workers: &[Worker]) -> String {
    let states = [WorkerState::Busy, WorkerState::Idle, WorkerState::Parked, WorkerState::Blocked];
    let part = |state: WorkerState| {
        let number = workers.iter().filter(|worker| worker.state == state).count();
        (number > 0).then(|| format!("{number} {} ", worker_state(state)))
    };
    states.into_iter().filter_map(part).collect()
}

fn content(
    scene: &Scene<'_>,
    index: usize,
    rates: Option<WorkerRates>,
    column: usize,
    width: u16,
) -> Line<'static> {
    let worker = &scene.picture.now.workers[index];
    let theme = scene.theme;
    let rate = |part: fn(&WorkerRates) -> f64| match rates.map(|rates| part(&rates)) {
        None => Line::styled("–", theme.soft()),
        Some(0.0) => Line::styled("0", theme.soft()),
        Some(value) => Line::raw(count(value)),
    };
    match COLUMNS[column].title {
        "#" if worker.is_spare => Line::styled(format!("+{}", worker.worker), theme.soft()),
        "#" => Line::raw(worker.worker.to_string()),
        "seat" => match worker.seat {
            Some(seat) => Line::raw(seat.to_string()),
            None => Line::styled("–", theme.soft()),
        },
        "state" => state(worker.state, theme),
        "busy" => Line::from(bar(rates.map(|it| it.busy), width, theme)),
        "past" => past(scene, index, width),
        "polls/s" => rate(|it| it.polls),
        "steals/s" => rate(|it| it.steals),
        "stolen/s" => rate(|it| it.stolen_tasks),
        "lifo/s" => rate(|it| it.lifo_hits),
        "parks/s" => rate(|it| it.parks),
        "jobs/s" => rate(|it| it.jobs),
        "queue" => queue(worker, theme),
        "runs" => Line::raw(cut(&runs(worker), width)),
        _ => {
            let place = worker.running.as_ref().map(|it| it.spawned_at.as_str());
            Line::styled(cut_front(place.unwrap_or(""), width), theme.soft())
        }
    }
}

fn state(state: WorkerState, theme: Theme) -> Line<'static> {
    let (mark, style) = match state {
        WorkerState::Busy => ("●", theme.good()),
        WorkerState::Idle => ("◌", theme.calm()),
        WorkerState::Parked => ("○", theme.soft()),
        WorkerState::Blocked => ("■", theme.bad()),
        WorkerState::Other => (" ", theme.soft()),
    };
    Line::styled(format!("{mark} {}", worker_state(state)), style)
}

fn queue(worker: &Worker, theme: Theme) -> Line<'static> {
    let depth = worker.queue_depth + worker.job_queue_depth;
    let style = match depth {
        0 => theme.soft(),
        // A ring has 256 places; what is above its half will soon go to the inject queue.
        128.. => theme.warning(),
        _ => Style::new(),
    };
    Line::styled(count(depth as f64), style)
}

fn runs(worker: &Worker) -> String {
    match &worker.running {
        Some(running) => running.name.clone().unwrap_or_else(|| format!("task {}", running.task)),
        None => String::new(),
    }
}

const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar with its figure at the end, `width` columns in all.
pub fn bar(share: Option<f64>, width: u16, theme: Theme) -> Vec<Span<'static>> {
    let length = usize::from(width.saturating_sub(5));
    let Some(share) = share else {
        return vec![Span::styled(format!("{}    –", "·".repeat(length)), theme.soft())];
    };
    let eighths = ((share * length as f64 * 8.0).round() as usize).min(length * 8);
    let mut full = "█".repeat(eighths / 8);
    if eighths % 8 > 0 {
        full.push(EIGHTHS[eighths % 8]);
    }
    let rest = "·".repeat(length - eighths.div_ceil(8));
    vec![
        Span::styled(full, theme.load(share)),
        Span::styled(rest, theme.soft()),
        Span::raw(format!("{:>5}", percent(share))),
    ]
}

const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How busy it was, the newest on the right.
fn past(scene: &Scene<'_>, index: usize, width: u16) -> Line<'static> {
    let history = scene.picture.history(index);
    let skipped = history.len().saturating_sub(usize::from(width));
    let missing = usize::from(width).saturating_sub(history.len());
    let mut line = Line::raw(" ".repeat(missing));
    for share in history.skip(skipped) {
        let height = ((share * HEIGHTS.len() as f64) as usize).min(HEIGHTS.len() - 1);
        let style = if share == 0.0 { scene.theme.soft() } else { scene.theme.load(share) };
        line.push_span(Span::styled(HEIGHTS[height].to_string(), style));
    }
    line
}
