//! Columns that are there as long as there is room for them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthChar;

use crate::top::words::clean;

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub title: &'static str,
    pub width: u16,
    /// The maximum number of columns by which it may grow.
    pub grows: u16,
    /// The lower, the longer it stays when room gets scarce.
    pub rank: u8,
    pub align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

impl Column {
    pub const fn left(title: &'static str, width: u16, rank: u8) -> Column {
        Column { title, width, grows: 0, rank, align: Align::Left }
    }

    pub const fn right(title: &'static str, width: u16, rank: u8) -> Column {
        Column { title, width, grows: 0, rank, align: Align::Right }
    }

    pub const fn growing(self, grows: u16) -> Column {
        Column { grows, ..self }
    }
}

/// A column that is shown, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub index: usize,
    pub x: u16,
    pub width: u16,
}

/// Which columns fit into `area`, with a space between them; what is left makes some of them wider,
/// in turn.
pub fn fit(columns: &[Column], area: Rect) -> Vec<Place> {
    let mut by_rank: Vec<usize> = (0..columns.len()).collect();
    by_rank.sort_by_key(|index| columns[*index].rank);
    let mut used = 0;
    let mut chosen: Vec<(usize, u16)> = Vec::new();
    for index in by_rank {
        let wanted = columns[index].width + u16::from(!chosen.is_empty());
        if used + wanted > area.width {
            break;
        }
        used += wanted;
        chosen.push((index, columns[index].width));
    }
    chosen.sort();
    let mut left = area.width - used;
    loop {
        let before = left;
        for (index, width) in &mut chosen {
            let column = &columns[*index];
            if left > 0 && *width < column.width.saturating_add(column.grows) {
                *width += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    let mut x = area.x;
    let place = |(index, width)| {
        let place = Place { index, x, width };
        x += width + 1;
        place
    };
    chosen.into_iter().map(place).collect()
}

/// Writes a line into its column.
pub fn cell(line: Line<'_>, column: &Column, place: Place, y: u16, buffer: &mut Buffer) {
    let width = line.width().min(usize::from(place.width)) as u16;
    let x = if column.align == Align::Right { place.x + place.width - width } else { place.x };
    buffer.set_line(x, y, &line, place.width);
}

/// A style over a whole line.
pub fn highlight(area: Rect, y: u16, style: Style, buffer: &mut Buffer) {
    for x in area.left()..area.right() {
        if let Some(cell) = buffer.cell_mut(Position { x, y }) {
            cell.set_style(style);
        }
    }
}

/// Cuts a text at its end, with an ellipsis.
pub fn cut(text: &str, width: u16) -> String {
    let text = clean(text);
    if columns_of(&text) <= usize::from(width) {
        return text;
    }
    let mut out = String::new();
    let mut room = usize::from(width).saturating_sub(1);
    for c in text.chars() {
        let Some(rest) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        room = rest;
        out.push(c);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Cuts a text at its beginning, with an ellipsis: the end of a location says the most.
pub fn cut_front(text: &str, width: u16) -> String {
    let reversed: String = clean(text).chars().rev().collect();
    cut(&reversed, width).chars().rev().collect()
}

fn columns_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}
