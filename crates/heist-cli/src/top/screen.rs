//! The terminal: what is drawn on it, what comes from it, and that it is left as it was.

use std::io::{self, stdout};
use std::sync::mpsc::Sender;

use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::Message;
use super::app::App;
use super::fetch::spawn;
use super::theme::Theme;
use super::view;

/// A terminal that is drawn on. When it is dropped, and before the message of a panic, the
/// terminal is as it was before.
pub struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    pub fn open() -> io::Result<Screen> {
        Ok(Screen { terminal: ratatui::try_init()? })
    }

    /// Returns the lines of a page.
    pub fn draw(&mut self, app: &App, theme: Theme) -> io::Result<usize> {
        let mut page = 1;
        self.terminal.draw(|frame| page = view::draw(frame, app, theme))?;
        Ok(page)
    }

    /// Stops this program, as Ctrl-Z does with others, until it is told to go on.
    pub fn suspend(&mut self) -> io::Result<()> {
        restore();
        signal_hook::low_level::raise(SIGTSTP)?;
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    ratatui::restore();
    // If the terminal is gone there is nothing to restore.
    let _ = execute!(stdout(), Show);
}

/// Starts a thread that passes on what comes from the terminal.
pub fn read_keys(messages: Sender<Message>) -> io::Result<()> {
    spawn("heist-top-keys", messages, |messages| {
        loop {
            let message = match event::read() {
                Ok(Event::Key(key)) => Message::Key(key),
                Ok(Event::Resize(..)) => Message::Resized,
                Ok(_) => continue,
                Err(_) => Message::Hangup,
            };
            let is_last = matches!(message, Message::Hangup);
            if messages.send(message).is_err() || is_last {
                return;
            }
        }
    })
}

/// Starts a thread that passes on the signals that would end this program, with the terminal as it
/// is at that moment.
pub fn watch_signals(messages: Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    spawn("heist-top-signals", messages, move |messages| {
        for signal in signals.forever() {
            if messages.send(Message::Signal(signal)).is_err() {
                return;
            }
        }
    })
}
