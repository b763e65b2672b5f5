//! `wrk` as the load, where it is installed.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use super::load::{Load, Report};
use super::usage::{Total, Usage};
use crate::bench::Fault;
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::run::{output_within, said};

/// The name of the program in messages.
const WRK: &str = "wrk";

pub fn is_there() -> bool {
    let started =
        Command::new(WRK).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    !matches!(started, Err(error) if error.kind() == ErrorKind::NotFound)
}

/// One thread, as our own load has. It takes whole seconds, and knows no warm-up.
pub fn run(program: &str, load: Load) -> Result<Report, Fault> {
    let seconds = load.time.as_secs_f64().ceil();
    let mut command = Command::new(program);
    command
        .args(["-t1", "--latency"])
        .arg(format!("-c{}", load.connections))
        .arg(format!("-d{seconds}s"))
        .arg(format!("http://{}/", load.address));
    let total = || Total::of(load.server).map_err(Fault::Setup);
    let before = total()?;
    let said = said(WRK, &output_within(&mut command, GIVE_UP)?)?;
    let used = total()?.since(&before);
    parse(&said, used).ok_or(Fault::Program { program: WRK, said })
}

/// Parses a report; `None` if the text is none, or one of errors.
fn parse(text: &str, used: Usage) -> Option<Report> {
    let failed = ["Socket errors", "Non-2xx"];
    if failed.iter().any(|words| text.contains(words)) {
        return None;
    }
    let value =
        |name: &str| text.lines().find_map(|line| line.trim().strip_prefix(name).map(str::trim));
    let requests =
        text.lines().find_map(|line| line.split_once(" requests in ")?.0.trim().parse().ok());
    let report = Report::of_usage(used, requests?, value("Requests/sec:")?.parse().ok()?);
    Some(Report { p50: microseconds(value("50%")?)?, p99: microseconds(value("99%")?)?, ..report })
}

fn microseconds(text: &str) -> Option<f64> {
    let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 60e6)];
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    number.parse::<f64>().ok().map(|number| number * factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const REPORT: &str = "Running 1s test @ http://127.0.0.1:1234/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.67%
  Latency Distribution
     50%  412.00us
     75%    0.99ms
     90%    1.10s
     99%    4.25ms
  22464657 requests in 1.00s, 2.80GB read
Requests/sec: 748868.53
Transfer/sec:    606.33MB
";

    #[test]
    fn a_report_is_read() {
        let used = Usage { cpu: Duration::from_secs(22), sleeps: 22_464_657 };
        let report = parse(REPORT, used).unwrap();
        let Report { per_second, p50, p99, cpu, sleeps, .. } = report;
        assert_eq!([per_second, p50, p99, sleeps], [748_868.53, 412.0, 4250.0, 1.0]);
        assert!((0.97..0.99).contains(&cpu), "{cpu} us");
    }

    #[test]
    fn a_report_of_errors_is_a_fault() {
        for line in [
            "  Socket errors: connect 0, read 1, write 0, timeout 0",
            "  Non-2xx or 3xx responses: 7",
        ] {
            let text = format!("{REPORT}{line}\n");
            assert_eq!(parse(&text, Usage::default()), None, "{line}");
        }
        let text = "unable to connect to 127.0.0.1:1234 Connection refused";
        assert_eq!(parse(text, Usage::default()), None);
    }

    #[test]
    fn times_have_units() {
        let times = ["250.00us", "1.50ms", "2.00s", "1.00m"].map(microseconds);
        assert_eq!(times, [Some(250.0), Some(1500.0), Some(2e6), Some(60e6)]);
        assert_eq!(microseconds("12"), None);
    }
}
