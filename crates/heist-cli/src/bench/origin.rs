//! Where figures come from: without that they say nothing.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where figures come from.
#[derive(Debug)]
pub enum Origin {
    /// A file; on what machine that was written it does not say.
    File(PathBuf),
    /// This machine, just now.
    Here {
        /// Year, month, day.
        date: String,
        /// Processor and system, as far as they are known.
        machine: Vec<String>,
    },
}

impl Origin {
    pub fn here() -> Origin {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        Origin::Here {
            date: date(seconds),
            machine: [processor(), system()].into_iter().flatten().collect(),
        }
    }

    /// Half a sentence.
    pub fn text(&self) -> String {
        match self {
            Origin::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                format!("from {}", name.to_string_lossy())
            }
            Origin::Here { date, machine } if machine.is_empty() => format!("measured on {date}"),
            Origin::Here { date, machine } => {
                format!("measured on {date} on {}", machine.join(", "))
            }
        }
    }
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let count = text.lines().filter(|line| line.starts_with("processor")).count();
    let model = text.lines().find(|line| line.starts_with("model name"))?;
    let (_, model) = model.split_once(':')?;
    Some(format!("{count} × {}", model.trim()))
}

fn system() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("Linux {}", release.trim()))
}

/// The day in UTC, by the Gregorian calendar; years are counted from March on, so that the day that
/// some have is their last.
fn date(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
