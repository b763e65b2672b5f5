//! What lies over the panels: the help, or all about a task.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Padding, Paragraph, Widget};

use super::columns::cut_front;
use crate::live::TaskState;
use crate::top::app::{App, Popup, Row};
use crate::top::keys;
use crate::top::theme::Theme;
use crate::top::units::{grouped, percent, time};
use crate::top::words::clean;

/// Draws it, if there is one.
pub fn draw(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(popup) = app.popup else { return };
    let (title, pairs): (&str, Vec<(&str, String)>) = match popup {
        Popup::Help => {
            (" keys ", keys::HELP.iter().map(|(key, text)| (*key, (*text).to_owned())).collect())
        }
        Popup::Task(id) => match app.task(id) {
            Some(row) => (" task ", facts(&row, area.width)),
            None => {
                let text = "has ended, or is no longer among those that are shown".to_owned();
                (" task ", vec![("", text)])
            }
        },
    };
    let widest = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, text): &(&str, String)| {
        let gap = " ".repeat(widest - name.chars().count() + 2);
        Line::from(vec![
            Span::styled((*name).to_owned(), theme.accent()),
            Span::raw(gap),
            Span::raw(text.clone()),
        ])
    };
    let lines: Vec<Line<'_>> = pairs.iter().map(line).collect();
    let width = lines.iter().map(Line::width).max().unwrap_or(0) as u16 + 4;
    let area = centred(area, width, lines.len() as u16 + 2);
    Clear.render(area, buffer);
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.accent())
        .padding(Padding::horizontal(1))
        .title(Span::styled(title, theme.title()));
    Paragraph::new(lines).block(block).render(area, buffer);
}

fn facts((task, rates): &Row<'_>, width: u16) -> Vec<(&'static str, String)> {
    let mean = |total: u64| total.checked_div(task.polls).map_or_else(|| "–".to_owned(), time);
    let state = match task.state {
        TaskState::Running => "running",
        TaskState::Queued => "queued: could run",
        TaskState::Waiting => "waiting for a wake-up",
        TaskState::Other => "unknown",
    };
    let now = rates.map_or_else(
        || "–".to_owned(),
        |rates| format!("{} of a worker, {:.0} polls/s", percent(rates.busy), rates.polls),
    );
    vec![
        ("id", task.id.to_string()),
        ("name", clean(task.name.as_deref().unwrap_or("none"))),
        ("spawned at", cut_front(&task.spawned_at, width.saturating_sub(20))),
        ("spawned", format!("{} ago", time(task.age_ns))),
        ("state", state.to_owned()),
        ("last woken", format!("{} ago", time(task.last_wake_ns))),
        ("now", now),
        ("polls", grouped(task.polls)),
        ("busy", time(task.busy_ns)),
        (
            "a poll",
            format!("{} on average, at most {}", mean(task.busy_ns), time(task.longest_poll_ns)),
        ),
        ("delay", time(task.delay_ns)),
        (
            "a delay",
            format!("{} on average, at most {}", mean(task.delay_ns), time(task.longest_delay_ns)),
        ),
    ]
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}
