//! Which key asks for what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::{Action, App};

/// The keys as the help shows them.
pub const HELP: [(&str, &str); 14] = [
    ("q, Ctrl-C", "quit"),
    ("Esc", "close, drop the filter, or quit"),
    ("↑ ↓, j k", "move"),
    ("PgUp PgDn", "move by a page"),
    ("Home End, g G", "to the first, to the last"),
    ("Tab, Shift-Tab", "next panel, previous panel"),
    ("Enter", "all about a task"),
    ("s, S", "sort by the next column, the previous"),
    ("r", "reverse the order"),
    ("/", "show only tasks whose name or place contains a text"),
    ("Space, p", "pause"),
    ("+ -", "longer, shorter interval"),
    ("h", "histograms: since the start, or since the last reading"),
    ("?", "this help"),
];

/// What `key` asks for, if anything.
pub fn action(app: &App, key: KeyEvent) -> Option<Action> {
    if !matches!(key.kind, KeyEventKind::Press | KeyEventKind::Repeat) {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Action::Quit),
        KeyCode::Char('z') if control => Some(Action::Suspend),
        _ if app.typed.is_some() => typing(key.code, control),
        KeyCode::Char('f') if control => Some(Action::MovePages(1)),
        KeyCode::Char('b') if control => Some(Action::MovePages(-1)),
        _ if control => None,
        code => browsing(code),
    }
}

fn typing(code: KeyCode, control: bool) -> Option<Action> {
    match code {
        KeyCode::Char('u') if control => Some(Action::EraseAll),
        KeyCode::Char('h') if control => Some(Action::EraseCharacter),
        KeyCode::Char(_) if control => None,
        KeyCode::Char(character) => Some(Action::Type(character)),
        KeyCode::Backspace => Some(Action::EraseCharacter),
        KeyCode::Enter => Some(Action::AcceptFilter),
        KeyCode::Esc => Some(Action::Back),
        KeyCode::Up => Some(Action::Move(-1)),
        KeyCode::Down => Some(Action::Move(1)),
        _ => None,
    }
}

fn browsing(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Char('q' | 'Q') => Action::Quit,
        KeyCode::Esc => Action::Back,
        KeyCode::Up | KeyCode::Char('k') => Action::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Action::Move(1),
        KeyCode::PageUp => Action::MovePages(-1),
        KeyCode::PageDown => Action::MovePages(1),
        KeyCode::Home | KeyCode::Char('g') => Action::First,
        KeyCode::End | KeyCode::Char('G') => Action::Last,
        KeyCode::Tab | KeyCode::Right => Action::NextPanel,
        KeyCode::BackTab | KeyCode::Left => Action::PreviousPanel,
        KeyCode::Char('s') => Action::NextSort,
        KeyCode::Char('S') => Action::PreviousSort,
        KeyCode::Char('r') => Action::Reverse,
        KeyCode::Enter => Action::Details,
        KeyCode::Char('?') | KeyCode::F(1) => Action::Help,
        KeyCode::Char(' ' | 'p') => Action::Pause,
        KeyCode::Char('+' | '=') => Action::Slower,
        KeyCode::Char('-' | '_') => Action::Faster,
        KeyCode::Char('h') => Action::NextWindow,
        KeyCode::Char('/') => Action::EditFilter,
        _ => return None,
    })
}
