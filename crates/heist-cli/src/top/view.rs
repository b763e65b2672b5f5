//! From the state to a picture: a function without a memory.

mod columns;
mod header;
mod histogram;
mod popup;
mod stalls;
mod tasks;
#[cfg(test)]
pub mod tests;
mod workers;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Widget};

use super::app::{App, Link, Panel};
use super::rates::{Picture, Which};
use super::theme::Theme;

/// The minimum size for all panels together.
const LARGE: (u16, u16) = (96, 30);
/// The minimum height for the workers beside any other panel.
const MEDIUM: u16 = 18;
/// Below this there is no room for a panel.
const TINY: (u16, u16) = (24, 6);
/// The height of the lowest panels in a large picture.
const CHARTS: u16 = 11;

/// Draws all of it; returns the lines that a page of the panel with the focus has.
pub fn draw(frame: &mut Frame<'_>, app: &App, theme: Theme) -> usize {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    if area.width < TINY.0 || area.height < TINY.1 {
        header::tiny(app, theme, area, buffer);
        return 1;
    }
    let head = if area.height >= MEDIUM { 2 } else { 1 };
    let parts = [Constraint::Length(head), Constraint::Min(0), Constraint::Length(1)];
    let [top, body, bottom] = Layout::vertical(parts).areas(area);
    header::draw(app, theme, top, buffer);
    let page = match &app.picture {
        Some(picture) => panels(app, picture, theme, body, buffer),
        None => {
            waiting(app, theme, body, buffer);
            1
        }
    };
    header::keys(app, theme, bottom, buffer);
    popup::draw(app, theme, body, buffer);
    if let Some(typed) = &app.typed {
        let x = bottom.x + header::PROMPT.len() as u16 + Span::raw(typed.as_str()).width() as u16;
        frame.set_cursor_position((x.min(bottom.right() - 1), bottom.y));
    }
    page
}

/// Nothing has come yet.
fn waiting(app: &App, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let text = match &app.link {
        Link::Lost(reason) => format!("{}: {reason}; retrying", app.target),
        _ => format!("connecting to {} …", app.target),
    };
    let line = Line::styled(text, theme.soft()).centered();
    let middle = Rect { y: area.y + area.height / 2, height: area.height.min(1), ..area };
    line.render(middle, buffer);
}

fn panels(app: &App, picture: &Picture, theme: Theme, area: Rect, buffer: &mut Buffer) -> usize {
    let scene = Scene { app, picture, theme };
    if area.width >= LARGE.0 && area.height + 3 >= LARGE.1 {
        return scene.large(area, buffer);
    }
    let [tabs, area] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    header::tabs(app, theme, tabs, buffer);
    if area.height + 4 < MEDIUM || app.panel == Panel::Workers {
        return scene.panel(app.panel, area, buffer);
    }
    let wanted = picture.now.workers.len() as u16 + 3;
    let parts = [Constraint::Length(wanted.min(area.height * 2 / 5)), Constraint::Min(0)];
    let [upper, lower] = Layout::vertical(parts).areas(area);
    workers::draw(&scene, upper, buffer);
    scene.panel(app.panel, lower, buffer)
}

/// What all panels look at.
struct Scene<'a> {
    app: &'a App,
    picture: &'a Picture,
    theme: Theme,
}

impl Scene<'_> {
    /// All panels, one below the other.
    fn large(&self, area: Rect, buffer: &mut Buffer) -> usize {
        let wanted = self.picture.now.workers.len() as u16 + 3;
        let parts = [
            Constraint::Length(wanted.min((area.height - CHARTS) / 2)),
            Constraint::Min(0),
            Constraint::Length(CHARTS),
        ];
        let [upper, middle, lower] = Layout::vertical(parts).areas(area);
        let parts = [Constraint::Ratio(2, 7), Constraint::Ratio(2, 7), Constraint::Min(0)];
        let [poll_time, delay, stalls] = Layout::horizontal(parts).areas(lower);
        let lines = [
            (Panel::Workers, workers::draw(self, upper, buffer)),
            (Panel::Tasks, tasks::draw(self, middle, buffer)),
            (Panel::Histograms, histogram::draw(self, Which::PollTime, poll_time, buffer)),
            (Panel::Stalls, stalls::draw(self, stalls, buffer)),
        ];
        histogram::draw(self, Which::Delay, delay, buffer);
        lines.into_iter().find(|(panel, _)| *panel == self.app.panel).map_or(1, |(_, lines)| lines)
    }

    fn panel(&self, panel: Panel, area: Rect, buffer: &mut Buffer) -> usize {
        match panel {
            Panel::Tasks => tasks::draw(self, area, buffer),
            Panel::Workers => workers::draw(self, area, buffer),
            Panel::Stalls => stalls::draw(self, area, buffer),
            Panel::Histograms => {
                let parts = [Constraint::Ratio(1, 2), Constraint::Ratio(1, 2)];
                let layout = if area.width >= LARGE.0 {
                    Layout::horizontal(parts)
                } else {
                    Layout::vertical(parts)
                };
                let [first, second] = layout.areas(area);
                histogram::draw(self, Which::PollTime, first, buffer);
                histogram::draw(self, Which::Delay, second, buffer)
            }
        }
    }

    /// A frame with a title; returns what is within.
    fn frame(&self, panel: Panel, title: Line<'_>, area: Rect, buffer: &mut Buffer) -> Rect {
        let border = if self.app.panel == panel { self.theme.accent() } else { self.theme.soft() };
        let block =
            Block::bordered().border_type(BorderType::Rounded).border_style(border).title(title);
        let inner = block.inner(area);
        block.render(area, buffer);
        inner
    }

    /// The first of `lines` lines that is shown where there is room for `room`: the line that the
    /// panel stands at is in the middle, unless that would leave room at an end.
    fn first(&self, panel: Panel, lines: usize, room: usize) -> usize {
        let place = self.app.place_of(panel);
        place.saturating_sub(room / 2).min(lines.saturating_sub(room))
    }
}
