//! Colours, or with `NO_COLOR` what goes without.

use ratatui::style::{Color, Modifier, Style};

/// How things are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    Coloured,
    Plain,
}

impl Theme {
    fn of(self, colour: Color, plain: Modifier) -> Style {
        match self {
            Theme::Coloured => Style::new().fg(colour),
            Theme::Plain => Style::new().add_modifier(plain),
        }
    }

    pub fn accent(self) -> Style {
        self.of(Color::Cyan, Modifier::BOLD)
    }

    /// What matters less.
    pub fn soft(self) -> Style {
        self.of(Color::DarkGray, Modifier::DIM)
    }

    pub fn good(self) -> Style {
        self.of(Color::Green, Modifier::empty())
    }

    pub fn warning(self) -> Style {
        self.of(Color::Yellow, Modifier::BOLD)
    }

    pub fn bad(self) -> Style {
        self.of(Color::Red, Modifier::BOLD).add_modifier(Modifier::BOLD)
    }

    pub fn calm(self) -> Style {
        self.of(Color::Blue, Modifier::empty())
    }

    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The column that lines are sorted by.
    pub fn sorted(self) -> Style {
        self.accent().add_modifier(Modifier::UNDERLINED)
    }

    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The style of a busy share.
    pub fn load(self, share: f64) -> Style {
        match share {
            0.95.. => self.bad(),
            0.7.. => self.warning(),
            _ => self.good(),
        }
    }

    /// The style of a duration, of which the runtime expects microseconds.
    pub fn length(self, ns: u64) -> Style {
        match ns {
            10_000_000.. => self.bad(),
            1_000_000.. => self.warning(),
            _ => Style::new(),
        }
    }
}
