//! What `heist top` knows, and how that changes.

use std::cmp::Reverse;
use std::time::Duration;

use super::rates::{Picture, TaskRates, Window};
use crate::live::{self, Snapshot, Task};

/// Between snapshots, from the shortest to the longest.
const INTERVALS_MS: [u64; 7] = [100, 250, 500, 1000, 2000, 5000, 10_000];

/// The order of the tasks: the largest first, except for ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// Share of a worker's time since the last reading
    Now,
    /// Time in polls
    Busy,
    /// Number of polls
    Polls,
    /// Time from wake-ups to polls
    Delay,
    /// The oldest first
    Id,
}

impl Sort {
    const ALL: [Sort; 5] = [Sort::Now, Sort::Busy, Sort::Polls, Sort::Delay, Sort::Id];

    pub fn name(self) -> &'static str {
        match self {
            Sort::Now => "busy now",
            Sort::Busy => "busy time",
            Sort::Polls => "polls",
            Sort::Delay => "delay",
            Sort::Id => "id",
        }
    }

    /// What the program is asked for: it knows no rates.
    pub fn in_query(self) -> live::Sort {
        match self {
            Sort::Now | Sort::Busy => live::Sort::Busy,
            Sort::Polls => live::Sort::Polls,
            Sort::Delay => live::Sort::Delay,
            Sort::Id => live::Sort::Id,
        }
    }

    fn step(self, by: usize) -> Sort {
        let place = Sort::ALL.iter().position(|it| *it == self).expect("all are in the list");
        Sort::ALL[(place + by) % Sort::ALL.len()]
    }
}

/// The panel that keys scroll, and that small terminals show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    Tasks,
    Workers,
    Histograms,
    Stalls,
}

impl Panel {
    pub const ALL: [Panel; 4] = [Panel::Tasks, Panel::Workers, Panel::Histograms, Panel::Stalls];

    pub fn name(self) -> &'static str {
        match self {
            Panel::Tasks => "tasks",
            Panel::Workers => "workers",
            Panel::Histograms => "histograms",
            Panel::Stalls => "stalls",
        }
    }

    fn place(self) -> usize {
        Panel::ALL.iter().position(|it| *it == self).expect("all are in the list")
    }
}

/// What lies over the panels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Popup {
    Help,
    /// All about one task.
    Task(u64),
}

/// What keys ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Quit,
    /// Takes away what lies on top; with nothing there, quits.
    Back,
    Suspend,
    Move(isize),
    MovePages(isize),
    First,
    Last,
    NextPanel,
    PreviousPanel,
    NextSort,
    PreviousSort,
    Reverse,
    Details,
    Help,
    Pause,
    Slower,
    Faster,
    NextWindow,
    EditFilter,
    Type(char),
    EraseCharacter,
    EraseAll,
    AcceptFilter,
}

/// What the program's main loop has to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Suspend,
    Quit,
}

/// How the program at the other end is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    Connecting,
    Live,
    Lost(String),
}

/// What is to be fetched; when it changes, the fetching thread is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    pub sort: Sort,
    pub filter: String,
    pub interval: Duration,
    pub is_paused: bool,
}

/// All there is to show.
#[derive(Debug)]
pub struct App {
    /// The address on which the program listens.
    pub target: String,
    pub picture: Option<Picture>,
    pub link: Link,
    pub wish: Wish,
    pub is_reversed: bool,
    /// What is being typed, while it is.
    pub typed: Option<String>,
    pub panel: Panel,
    pub popup: Option<Popup>,
    pub window: Window,
    /// The line each panel stands at.
    pub places: [usize; 4],
    /// How long ago the last snapshot came.
    pub silence: Duration,
    /// Lines of a page, as the view has found it.
    pub page: usize,
}

/// A task as it is shown.
pub type Row<'a> = (&'a Task, Option<TaskRates>);

impl App {
    pub fn new(target: String, wish: Wish) -> App {
        App {
            target,
            picture: None,
            link: Link::Connecting,
            wish,
            is_reversed: false,
            typed: None,
            panel: Panel::Tasks,
            popup: None,
            window: Window::All,
            places: [0; 4],
            silence: Duration::ZERO,
            page: 10,
        }
    }

    pub fn receive(&mut self, snapshot: Snapshot) {
        self.link = Link::Live;
        self.silence = Duration::ZERO;
        match &mut self.picture {
            Some(picture) => picture.advance(snapshot),
            None => self.picture = Some(Picture::first(snapshot)),
        }
        self.stay_within();
    }

    pub fn lose(&mut self, reason: String) {
        self.link = Link::Lost(reason);
    }

    /// Whether an answer is overdue, because the program is stopped or busy.
    pub fn is_late(&self) -> bool {
        !self.wish.is_paused && self.silence > self.wish.interval * 2 + Duration::from_secs(1)
    }

    pub fn apply(&mut self, action: Action) -> Flow {
        match action {
            Action::Quit => return Flow::Quit,
            Action::Suspend => return Flow::Suspend,
            Action::Back => return self.back(),
            Action::Move(by) => self.go(by),
            Action::MovePages(by) => self.go(by * self.page.max(1) as isize),
            Action::First => self.go(isize::MIN),
            Action::Last => self.go(isize::MAX),
            Action::NextPanel => self.turn(1),
            Action::PreviousPanel => self.turn(Panel::ALL.len() - 1),
            Action::NextSort => self.wish.sort = self.wish.sort.step(1),
            Action::PreviousSort => self.wish.sort = self.wish.sort.step(Sort::ALL.len() - 1),
            Action::Reverse => self.is_reversed = !self.is_reversed,
            Action::Details => self.open_task(),
            Action::Help => self.toggle_help(),
            Action::Pause => self.wish.is_paused = !self.wish.is_paused,
            Action::Slower => self.change_interval(true),
            Action::Faster => self.change_interval(false),
            Action::NextWindow => {
                self.window = if self.window == Window::All { Window::Last } else { Window::All };
            }
            Action::EditFilter => {
                self.popup = None;
                self.panel = Panel::Tasks;
                self.typed = Some(self.wish.filter.clone());
            }
            Action::Type(_) | Action::EraseCharacter | Action::EraseAll => self.edit(action),
            Action::AcceptFilter => {
                self.wish.filter = self.typed.take().unwrap_or_default();
                self.stay_within();
            }
        }
        Flow::Continue
    }

    fn back(&mut self) -> Flow {
        if self.typed.take().is_some() || self.popup.take().is_some() {
            return Flow::Continue;
        }
        if !self.wish.filter.is_empty() {
            self.wish.filter.clear();
            return Flow::Continue;
        }
        Flow::Quit
    }

    fn edit(&mut self, action: Action) {
        let Some(typed) = &mut self.typed else { return };
        match action {
            Action::Type(character) => typed.push(character),
            Action::EraseCharacter => drop(typed.pop()),
            _ => typed.clear(),
        }
        self.stay_within();
    }

    /// The filter that is shown: what is being typed counts at once.
    pub fn filter(&self) -> &str {
        self.typed.as_deref().unwrap_or(&self.wish.filter)
    }

    fn toggle_help(&mut self) {
        self.popup = if self.popup == Some(Popup::Help) { None } else { Some(Popup::Help) };
    }

    fn open_task(&mut self) {
        self.popup = match (self.panel, self.popup) {
            (Panel::Tasks, None) => {
                self.tasks().get(self.place()).map(|(task, _)| Popup::Task(task.id))
            }
            _ => None,
        };
    }

    fn turn(&mut self, by: usize) {
        self.panel = Panel::ALL[(self.panel.place() + by) % Panel::ALL.len()];
    }

    fn change_interval(&mut self, slower: bool) {
        let now = self.wish.interval.as_millis() as u64;
        let next = if slower {
            INTERVALS_MS.into_iter().find(|ms| *ms > now)
        } else {
            INTERVALS_MS.into_iter().rev().find(|ms| *ms < now)
        };
        if let Some(ms) = next {
            self.wish.interval = Duration::from_millis(ms);
        }
    }

    /// The line the panel with the focus stands at.
    pub fn place(&self) -> usize {
        self.places[self.panel.place()]
    }

    /// The line another panel stands at.
    pub fn place_of(&self, panel: Panel) -> usize {
        self.places[panel.place()]
    }

    fn go(&mut self, by: isize) {
        let last = self.lines(self.panel).saturating_sub(1);
        let place = &mut self.places[self.panel.place()];
        *place = place.saturating_add_signed(by).min(last);
    }

    /// There may be fewer lines than before.
    fn stay_within(&mut self) {
        for panel in Panel::ALL {
            let last = self.lines(panel).saturating_sub(1);
            let place = &mut self.places[panel.place()];
            *place = (*place).min(last);
        }
    }

    fn lines(&self, panel: Panel) -> usize {
        let Some(picture) = &self.picture else { return 0 };
        match panel {
            Panel::Tasks => self.tasks().len(),
            Panel::Workers => picture.now.workers.len(),
            Panel::Histograms => 0,
            Panel::Stalls => picture.stalls().len(),
        }
    }

    /// The tasks that the filter lets through, sorted. The program has filtered and sorted already,
    /// but by what it was last asked for.
    pub fn tasks(&self) -> Vec<Row<'_>> {
        let Some(picture) = &self.picture else { return Vec::new() };
        let filter = self.filter().to_lowercase();
        let contains = |text: &str| text.to_lowercase().contains(&filter);
        let mut rows = picture.tasks();
        rows.retain(|(task, _)| {
            contains(task.name.as_deref().unwrap_or("")) || contains(&task.spawned_at)
        });
        let busy = |row: &Row<'_>| (row.1.map_or(0.0, |rates| rates.busy) * 1e9) as u64;
        match self.wish.sort {
            Sort::Now => rows.sort_by_key(|row| Reverse((busy(row), row.0.busy_ns))),
            Sort::Busy => rows.sort_by_key(|row| Reverse(row.0.busy_ns)),
            Sort::Polls => rows.sort_by_key(|row| Reverse(row.0.polls)),
            Sort::Delay => rows.sort_by_key(|row| Reverse(row.0.delay_ns)),
            Sort::Id => rows.sort_by_key(|row| row.0.id),
        }
        if self.is_reversed {
            rows.reverse();
        }
        rows
    }

    /// A task that is still there.
    pub fn task(&self, id: u64) -> Option<Row<'_>> {
        self.picture.as_ref()?.tasks().into_iter().find(|(task, _)| task.id == id)
    }
}
