//! `heist top`: a running program, live.
//!
//! | module | what |
//! |---|---|
//! | `app` | the state, and how it changes |
//! | `rates` | from two snapshots to what went on between them |
//! | `keys` | which key asks for what |
//! | `view` | from the state to a picture |
//! | `fetch` | the thread that asks the program |
//! | `screen` | the terminal, and that it is left as it was |
//! | `once` | a plain table in place of all that |

mod app;
mod fetch;
mod keys;
mod once;
mod rates;
mod screen;
#[cfg(test)]
mod tests;
mod theme;
mod units;
mod view;
mod words;

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ratatui::crossterm::event::KeyEvent;

use self::app::{App, Flow, Sort, Wish};
use self::fetch::Fetcher;
use self::screen::Screen;
use self::theme::Theme;
use crate::live::{Endpoint, Query, Snapshot};
use crate::style::Style;

/// The number of tasks that are requested: more than a user scrolls through.
const TASKS: usize = 500;
/// The time before the screen says that there is no answer yet. A connection that fails earlier is
/// reported without switching screens. Guessed.
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval at which the picture is redrawn without new data, to show how old it is.
const REDRAW: Duration = Duration::from_millis(500);

const EXAMPLES: &str = "\
Start the program with HEIST_CONSOLE=1, or give its runtime a console: Builder::console.

Examples:
  heist top                          the only program with a console
  heist top 4242                     by its pid
  heist top /run/user/1000/heist/4242.sock
  heist top 127.0.0.1:9100 --once    a table, for scripts";

/// Show what a running program does, live.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A pid, the path of a console's socket, or its address; without it, the only one there is
    #[arg(value_name = "PID|SOCKET")]
    target: Option<String>,

    /// Seconds between two readings
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    interval: Duration,

    /// The order of the tasks
    #[arg(short, long, value_name = "BY", default_value = "now")]
    sort: Sort,

    /// Show only tasks whose name or spawn location contains this
    #[arg(short, long, value_name = "TEXT", default_value = "")]
    filter: String,

    /// Print a table and end; needs no terminal
    #[arg(long)]
    once: bool,

    /// With --once, list this many tasks
    #[arg(long, value_name = "N", default_value_t = 20, requires = "once")]
    tasks: usize,
}

fn interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    if !(0.1..=3600.0).contains(&seconds) {
        return Err("from 0.1 to 3600 seconds, please".to_owned());
    }
    Ok(Duration::from_secs_f64(seconds))
}

impl Args {
    /// Does what it was asked for.
    pub fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        let style = Style::of_stdout();
        if !self.once && !style.is_terminal {
            let sentence = "top draws on a terminal, and the standard output is none; \
                            --once prints a table instead";
            return Err(sentence.into());
        }
        let endpoint = Endpoint::find(self.target.as_deref())?;
        let wish = Wish {
            sort: self.sort,
            filter: self.filter,
            interval: self.interval,
            is_paused: false,
        };
        if self.once {
            once::print(&endpoint, wish, self.tasks)?;
            return Ok(ExitCode::SUCCESS);
        }
        show(endpoint, wish, if style.has_colours { Theme::Coloured } else { Theme::Plain })
    }
}

/// What the main thread is told.
#[derive(Debug)]
enum Message {
    Key(KeyEvent),
    /// The terminal has another size.
    Resized,
    Read(Box<Snapshot>),
    Lost(String),
    /// A signal that ends programs has come.
    Signal(i32),
    /// The terminal is gone.
    Hangup,
    /// A thread has panicked; the terminal is restored already.
    Broken,
}

fn query(wish: &Wish, tasks: usize) -> Query {
    Query { tasks, sort: wish.sort.in_query(), filter: wish.filter.clone() }
}

fn show(endpoint: Endpoint, wish: Wish, theme: Theme) -> Result<ExitCode, Box<dyn Error>> {
    let mut app = App::new(endpoint.to_string(), wish);
    let (sender, messages) = mpsc::channel();
    let source = move |wish: &Wish| {
        endpoint.snapshot(&query(wish, TASKS)).map_err(|error| error.to_string())
    };
    let fetcher = Fetcher::start(source, app.wish.clone(), sender.clone())?;
    match messages.recv_timeout(PATIENCE) {
        Ok(Message::Lost(reason)) => return Err(reason.into()),
        Ok(Message::Read(snapshot)) => app.receive(*snapshot),
        _ => (),
    }
    screen::watch_signals(sender.clone())?;
    let mut screen = Screen::open()?;
    screen::read_keys(sender)?;
    let end =
        Session { app, fetcher, messages, read_at: Instant::now() }.run(&mut screen, theme)?;
    drop(screen);
    match end {
        End::Quit => Ok(ExitCode::SUCCESS),
        // As shells count.
        End::Signal(signal) => Ok(ExitCode::from(128u8.saturating_add(signal as u8))),
        End::Broken => Err("a thread of top has panicked; its message is above".into()),
    }
}

/// Why it is over.
enum End {
    Quit,
    Signal(i32),
    Broken,
}

struct Session {
    app: App,
    fetcher: Fetcher,
    messages: Receiver<Message>,
    /// When the last snapshot came.
    read_at: Instant,
}

impl Session {
    fn run(mut self, screen: &mut Screen, theme: Theme) -> io::Result<End> {
        loop {
            self.app.silence = self.read_at.elapsed();
            self.app.page = screen.draw(&self.app, theme)?;
            let mut next = match self.messages.recv_timeout(REDRAW) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Quit),
            };
            // What has come together is drawn together.
            while let Some(message) = next {
                if let Some(end) = self.receive(message, screen)? {
                    return Ok(end);
                }
                next = self.messages.try_recv().ok();
            }
            self.fetcher.wish(&self.app.wish);
        }
    }

    fn receive(&mut self, message: Message, screen: &mut Screen) -> io::Result<Option<End>> {
        match message {
            Message::Read(snapshot) => {
                self.read_at = Instant::now();
                self.app.receive(*snapshot);
            }
            Message::Lost(reason) => self.app.lose(reason),
            Message::Resized => (),
            Message::Key(key) => {
                let flow = keys::action(&self.app, key).map(|action| self.app.apply(action));
                match flow {
                    Some(Flow::Quit) => return Ok(Some(End::Quit)),
                    Some(Flow::Suspend) => screen.suspend()?,
                    Some(Flow::Continue) | None => (),
                }
            }
            Message::Signal(signal) => return Ok(Some(End::Signal(signal))),
            Message::Hangup => return Ok(Some(End::Quit)),
            Message::Broken => return Ok(Some(End::Broken)),
        }
        Ok(None)
    }
}
