//! A line a task.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Scene;
use super::columns::{Column, cell, cut, cut_front, fit, highlight};
use crate::live::TaskState;
use crate::top::app::{Panel, Row, Sort};
use crate::top::theme::Theme;
use crate::top::units::{count, grouped, percent, time};
use crate::top::words::{clean, task_state};

const COLUMNS: [Column; 13] = [
    Column::right("id", 6, 3),
    Column::left("state", 9, 4),
    Column::left("name", 10, 0).growing(30),
    Column::left("spawned at", 16, 5).growing(30),
    Column::right("now", 5, 2),
    Column::right("busy", 6, 1),
    Column::right("polls", 6, 6),
    Column::right("polls/s", 7, 9),
    Column::right("longest", 7, 8),
    Column::right("delay", 6, 7),
    Column::right("worst", 6, 12),
    Column::right("woken", 6, 10),
    Column::right("age", 6, 11),
];

fn sorted(sort: Sort) -> &'static str {
    match sort {
        Sort::Now => "now",
        Sort::Busy => "busy",
        Sort::Polls => "polls",
        Sort::Delay => "delay",
        Sort::Id => "id",
    }
}

/// Draws the panel; returns for how many tasks there is room.
pub fn draw(scene: &Scene<'_>, area: Rect, buffer: &mut Buffer) -> usize {
    let rows = scene.app.tasks();
    let inner = scene.frame(Panel::Tasks, title(scene, rows.len()), area, buffer);
    let places = fit(&COLUMNS, inner);
    let Some(room) = usize::from(inner.height).checked_sub(1) else { return 1 };
    for place in &places {
        let column = &COLUMNS[place.index];
        let is_sorted = column.title == sorted(scene.app.wish.sort);
        let style = if is_sorted { scene.theme.sorted() } else { scene.theme.soft() };
        cell(Line::styled(column.title, style), column, *place, inner.y, buffer);
    }
    let first = scene.first(Panel::Tasks, rows.len(), room);
    for (line, (index, row)) in rows.iter().enumerate().skip(first).take(room).enumerate() {
        let y = inner.y + 1 + line as u16;
        for place in &places {
            let content = content(row, place.index, place.width, scene.theme);
            cell(content, &COLUMNS[place.index], *place, y, buffer);
        }
        if scene.app.panel == Panel::Tasks && scene.app.place() == index {
            highlight(inner, y, scene.theme.selected(), buffer);
        }
    }
    room
}

/// How many there are, and of how many the program says nothing.
fn title(scene: &Scene<'_>, shown: usize) -> Line<'static> {
    let now = &scene.picture.now;
    let mut text = grouped(shown as u64);
    if now.tasks_matched > shown as u64 && scene.app.typed.is_none() {
        text += &format!(" of {}", grouped(now.tasks_matched));
    }
    if !scene.app.filter().is_empty() {
        text += &format!(", with \"{}\"", clean(scene.app.filter()));
    }
    if now.tasks_untracked > 0 {
        text += &format!(", {} more not tracked", grouped(now.tasks_untracked));
    }
    let arrow = if scene.app.is_reversed { "▴" } else { "▾" };
    Line::from(vec![
        Span::styled(" tasks ", scene.theme.title()),
        Span::styled(format!("{text} "), scene.theme.soft()),
        Span::styled(format!("{arrow} {} ", scene.app.wish.sort.name()), scene.theme.accent()),
    ])
}

fn content((task, rates): &Row<'_>, column: usize, width: u16, theme: Theme) -> Line<'static> {
    let soft = |text: String| Line::styled(text, theme.soft());
    let unknown = || Line::styled("–", theme.soft());
    match COLUMNS[column].title {
        "id" => soft(task.id.to_string()),
        "state" => state(task.state, theme),
        "name" => match &task.name {
            Some(name) => Line::raw(cut(name, width)),
            None => soft(cut(&format!("task {}", task.id), width)),
        },
        "spawned at" => soft(cut_front(&task.spawned_at, width)),
        "now" => match rates {
            Some(rates) if rates.busy > 0.0 => {
                Line::styled(percent(rates.busy), theme.load(rates.busy))
            }
            Some(_) => soft("0%".to_owned()),
            None => unknown(),
        },
        "busy" => Line::raw(time(task.busy_ns)),
        "polls" => Line::raw(count(task.polls as f64)),
        "polls/s" => rates.map_or_else(unknown, |rates| Line::raw(count(rates.polls))),
        "longest" => Line::styled(time(task.longest_poll_ns), theme.length(task.longest_poll_ns)),
        "delay" => Line::raw(time(task.delay_ns)),
        "worst" => Line::styled(time(task.longest_delay_ns), theme.length(task.longest_delay_ns)),
        "woken" => soft(time(task.last_wake_ns)),
        _ => soft(time(task.age_ns)),
    }
}

fn state(state: TaskState, theme: Theme) -> Line<'static> {
    let (mark, style) = match state {
        TaskState::Running => ("●", theme.good()),
        TaskState::Queued => ("◐", theme.warning()),
        TaskState::Waiting => ("○", theme.soft()),
        TaskState::Other => (" ", theme.soft()),
    };
    Line::styled(format!("{mark} {}", task_state(state)), style)
}
