//! The lines above and below the panels.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::columns::cut;
use super::workers;
use crate::top::app::{App, Link, Panel};
use crate::top::rates::Picture;
use crate::top::theme::Theme;
use crate::top::units::{count, grouped, percent, time};
use crate::top::words::clean;

/// Stands before the filter while it is typed.
pub const PROMPT: &str = " filter: ";

/// The program, its state, and the totals of its runtime.
pub fn draw(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let status = status(app, theme);
    let room = area.width.saturating_sub(status.width() as u16 + 1);
    let first = Rect { height: 1, ..area };
    // Where there is little room, the program's name matters more.
    let own = if room >= 50 { " heist top " } else { "" };
    let mut parts = vec![vec![Span::styled(own, theme.accent())]];
    match &app.picture {
        Some(picture) => parts.extend(identity(picture, theme)),
        None => parts.push(vec![Span::raw(clean(&app.target))]),
    }
    flow(parts, Rect { width: room, ..first }, buffer);
    status.right_aligned().render(first, buffer);
    if let (Some(picture), true) = (&app.picture, area.height > 1) {
        let second = Rect { y: area.y + 1, height: 1, ..area };
        flow(figures(picture, theme), second, buffer);
    }
}

/// All that fits where no panel does.
pub fn tiny(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let busy = app.picture.as_ref().and_then(Picture::totals).map(|totals| totals.busy);
    let busy = busy.map_or_else(|| "–".to_owned(), percent);
    let name = app.picture.as_ref().map_or(app.target.as_str(), |it| &it.now.program);
    let lines = [
        Line::styled(cut(name, area.width), theme.title()),
        Line::raw(cut(&format!("{busy} busy"), area.width)),
        status(app, theme),
        Line::styled(cut("too small; q quits", area.width), theme.soft()),
    ];
    for (row, line) in area.rows().zip(lines) {
        line.render(row, buffer);
    }
}

fn identity(picture: &Picture, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let now = &picture.now;
    let mut parts = vec![
        vec![Span::styled(clean(&now.program), theme.title())],
        labelled("pid", now.pid.to_string(), theme),
    ];
    if let Some(name) = &now.runtime.name {
        parts.push(labelled("runtime", clean(name), theme));
    }
    parts.push(labelled("up", time(now.uptime_ns), theme));
    parts.push(labelled("workers", now.runtime.num_workers.to_string(), theme));
    parts
}

fn figures(picture: &Picture, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let runtime = &picture.now.runtime;
    let totals = picture.totals();
    let rate = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |it| count(it) + "/s");
    let mut busy = vec![Span::raw(" ")];
    busy.extend(workers::bar(totals.map(|it| it.busy), 20, theme));
    let mut parts = vec![
        busy,
        labelled("tasks", grouped(runtime.alive_tasks), theme),
        labelled("polls", rate(totals.map(|it| it.polls)), theme),
        labelled("steals", rate(totals.map(|it| it.steals)), theme),
        labelled("spawns", rate(totals.map(|it| it.spawned)), theme),
        labelled("injected", grouped(runtime.inject_depth), theme),
    ];
    let mut stalls = labelled("stalls", grouped(runtime.stalls), theme);
    if runtime.stalls > 0 {
        let style = theme.length(runtime.longest_stall_ns);
        stalls.push(Span::styled(format!(" ≤{}", time(runtime.longest_stall_ns)), style));
    }
    parts.push(stalls);
    let at_work = runtime.blocking_threads.saturating_sub(runtime.idle_blocking_threads);
    parts.push(labelled("blocking", format!("{at_work}/{}", runtime.blocking_threads), theme));
    parts.push(labelled("waiting", grouped(runtime.blocking_queue_depth), theme));
    parts.push(labelled("spares", grouped(runtime.spares), theme));
    parts
}

fn labelled(label: &str, value: String, theme: Theme) -> Vec<Span<'static>> {
    vec![Span::styled(format!("{label} "), theme.soft()), Span::raw(value)]
}

/// One part after the other, as long as they fit.
fn flow(parts: Vec<Vec<Span<'static>>>, area: Rect, buffer: &mut Buffer) {
    let mut line = Line::default();
    for part in parts {
        let gap = if line.spans.is_empty() { "" } else { "  " };
        let part = Line::from(part);
        if line.width() + gap.len() + part.width() > usize::from(area.width) {
            break;
        }
        line.push_span(gap);
        line.extend(part.spans);
    }
    line.render(area, buffer);
}

fn status(app: &App, theme: Theme) -> Line<'static> {
    let (text, style): (String, Style) = match &app.link {
        Link::Lost(_) => ("✗ connection lost, retrying ".to_owned(), theme.bad()),
        _ if app.wish.is_paused => ("‖ paused ".to_owned(), theme.warning()),
        _ if app.is_late() => {
            let silence = time(app.silence.as_nanos() as u64);
            (format!("… no answer for {silence} "), theme.warning())
        }
        Link::Connecting => ("… connecting ".to_owned(), theme.soft()),
        Link::Live => (format!("● every {} s ", app.wish.interval.as_secs_f64()), theme.good()),
    };
    Line::styled(text, style)
}

/// Which panels there are, where not all are shown.
pub fn tabs(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let mut line = Line::default();
    for panel in Panel::ALL {
        let style = if panel == app.panel { theme.selected() } else { theme.soft() };
        line.push_span(Span::styled(format!(" {} ", panel.name()), style));
    }
    line.render(area, buffer);
}

/// What can be done; or what is typed, or why there is nothing new.
pub fn keys(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    if let Some(typed) = &app.typed {
        let mut line = Line::from(vec![Span::styled(PROMPT, theme.accent())]);
        line.push_span(clean(typed));
        line.push_span(Span::styled("   Enter accepts, Esc cancels", theme.soft()));
        line.render(area, buffer);
        return;
    }
    if let Link::Lost(reason) = &app.link {
        let text = cut(&format!(" {reason}"), area.width);
        Line::styled(text, theme.bad()).render(area, buffer);
        return;
    }
    let order = if app.is_reversed { "reversed" } else { "reverse" };
    let pause = if app.wish.is_paused { "resume" } else { "pause" };
    let sort = format!("sort: {}", app.wish.sort.name());
    let filter = match app.filter() {
        "" => "filter".to_owned(),
        text => format!("filter: {}", clean(text)),
    };
    let hints = [
        ("q", "quit"),
        ("?", "help"),
        ("s", &sort),
        ("r", order),
        ("/", &filter),
        ("space", pause),
        ("tab", "panel"),
        ("enter", "task"),
        ("+-", "interval"),
        ("h", "histograms"),
    ];
    let part = |(key, text): (&str, &str)| {
        vec![
            Span::styled(format!(" {key}"), theme.accent()),
            Span::styled(format!(" {text}"), theme.soft()),
        ]
    };
    flow(hints.into_iter().map(part).collect(), area, buffer);
}
