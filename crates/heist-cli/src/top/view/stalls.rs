//! The panel of stalls: what kept a worker for too long.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Widget, Wrap};

use super::Scene;
use super::columns::{Column, cell, cut, cut_front, fit, highlight};
use crate::live::Stall;
use crate::top::app::Panel;
use crate::top::theme::Theme;
use crate::top::units::{grouped, time};
use crate::top::words::{cause, clean};

const COLUMNS: [Column; 6] = [
    Column::right("ago", 6, 2),
    Column::right("lasted", 7, 0),
    Column::left("cause", 8, 3).growing(8),
    Column::right("#", 3, 4),
    Column::left("task", 8, 1).growing(24),
    Column::left("spawned at", 14, 5).growing(60),
];

/// The lines of a sentence.
const SENTENCE: u16 = 3;

/// Draws the panel; returns for how many stalls there is room.
pub fn draw(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) -> usize {
    let stalls = scene.picture.stalls();
    let text = format!("{} in all ", grouped(scene.picture.now.runtime.stalls));
    let title = Line::from(vec![
        Span::styled(" stalls ", scene.theme.title()),
        Span::styled(text, scene.theme.soft()),
    ]);
    let mut inner = scene.frame(Panel::Stalls, title, area, buffer);
    if stalls.is_empty() {
        let line = Line::styled(" none: no task has kept a worker for long", scene.theme.soft());
        buffer.set_line(inner.x, inner.y, &line, inner.width);
        return 1;
    }
    if scene.app.panel == Panel::Stalls && inner.height > SENTENCE + 2 {
        inner.height -= SENTENCE;
        let below = Rect { y: inner.bottom(), height: SENTENCE, ..inner };
        sentence(stalls[scene.app.place()], scene.theme, below, buffer);
    }
    let places = fit(&COLUMNS, inner);
    let Some(room) = usize::from(inner.height).checked_sub(1) else { return 1 };
    for place in &places {
        let column = &COLUMNS[place.index];
        let title = Line::styled(column.title, scene.theme.soft());
        cell(title, column, *place, inner.y, buffer);
    }
    let first = scene.first(Panel::Stalls, stalls.len(), room);
    for (line, (index, stall)) in stalls.iter().enumerate().skip(first).take(room).enumerate() {
        let y = inner.y + 1 + line as u16;
        for place in &places {
            let content = content(stall, place.index, place.width, scene.theme);
            cell(content, &COLUMNS[place.index], *place, y, buffer);
        }
        if scene.app.panel == Panel::Stalls && scene.app.place() == index {
            highlight(inner, y, scene.theme.selected(), buffer);
        }
    }
    room
}

fn sentence(stall: &Stall, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let text = Text::styled(clean(&stall.sentence), theme.warning());
    Paragraph::new(text).wrap(Wrap { trim: true }).render(area, buffer);
}

fn content(stall: &Stall, column: usize, width: u16, theme: Theme) -> Line<'static> {
    match COLUMNS[column].title {
        "ago" if !stall.is_over => Line::styled("now", theme.bad()),
        "ago" => Line::styled(time(stall.ago_ns), theme.soft()),
        "lasted" => Line::styled(time(stall.duration_ns), theme.length(stall.duration_ns)),
        "cause" => Line::raw(cut(&cause(stall), width)),
        "#" => Line::raw(stall.worker.to_string()),
        "task" => {
            let name = stall.name.clone();
            let name = name.or_else(|| stall.task.map(|task| format!("task {task}")));
            Line::raw(cut(name.as_deref().unwrap_or("–"), width))
        }
        _ => {
            let place = stall.spawned_at.as_deref().unwrap_or("");
            Line::styled(cut_front(place, width), theme.soft())
        }
    }
}
