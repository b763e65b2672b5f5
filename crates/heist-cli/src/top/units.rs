//! Numbers as people read them, in few columns.

/// `0`, `950`, `1.2k`, `34k`, `5.6M`: at most four columns up to a billion.
pub fn count(value: f64) -> String {
    let (value, unit) = match value {
        999_500_000.0.. => (value / 1e9, "G"),
        999_500.0.. => (value / 1e6, "M"),
        999.5.. => (value / 1e3, "k"),
        _ => (value, ""),
    };
    match value {
        // 9.95 and above would round to a two-digit number with a decimal.
        0.0 => "0".to_owned(),
        _ if value < 9.95 && (!unit.is_empty() || value.fract() != 0.0) => {
            format!("{value:.1}{unit}")
        }
        _ => format!("{value:.0}{unit}"),
    }
}

/// Formats a number with spaces between the thousands: `1 204 332`.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// `850ns`, `1.2µs`, `52ms`, `3.1s`, `2m03s`, `4h07m`, `3d04h`: at most six columns.
pub fn time(ns: u64) -> String {
    let value = ns as f64;
    let short = |value: f64, unit: &str| {
        if value < 9.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
    };
    let seconds = ns / 1_000_000_000;
    match ns {
        0 => "0".to_owned(),
        1..=999 => format!("{ns}ns"),
        1_000..=999_499 => short(value / 1e3, "µs"),
        999_500..=999_499_999 => short(value / 1e6, "ms"),
        999_500_000..=59_499_999_999 => short(value / 1e9, "s"),
        _ if seconds < 3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A share of one: `0%`, `0.4%`, `82%`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value {
        0.0 => "0%".to_owned(),
        ..0.1 => "<.1%".to_owned(),
        ..9.95 => format!("{value:.1}%"),
        _ => format!("{value:.0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_short() {
        let counts = [0.0, 0.25, 7.0, 9.97, 950.0, 999.7, 1204.0, 34_400.0, 5.6e6, 9.996e8, 2.5e10];
        assert_eq!(
            counts.map(count),
            ["0", "0.2", "7", "10", "950", "1.0k", "1.2k", "34k", "5.6M", "1.0G", "25G"]
        );
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!([0, 999, 1000, 1_204_332].map(grouped), ["0", "999", "1 000", "1 204 332"]);
    }

    #[test]
    fn times_are_short() {
        let times = [
            (0, "0"),
            (850, "850ns"),
            (1_240, "1.2µs"),
            (999_600, "1.0ms"),
            (52_000_000, "52ms"),
            (999_600_000, "1.0s"),
            (3_100_000_000, "3.1s"),
            (59_600_000_000, "0m59s"),
            (123_000_000_000, "2m03s"),
            (14_820_000_000_000, "4h07m"),
            (273_600_000_000_000, "3d04h"),
        ];
        for (ns, text) in times {
            assert_eq!(time(ns), text);
            assert!(text.chars().count() <= 6);
        }
        assert!(time(u64::MAX).ends_with('h'));
    }

    #[test]
    fn shares_are_short() {
        let shares = [0.0, 0.0004, 0.004, 0.0996, 0.824, 1.0].map(percent);
        assert_eq!(shares, ["0%", "<.1%", "0.4%", "10%", "82%", "100%"]);
    }
}
