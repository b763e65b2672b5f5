//! The load on a server: a thread with a number of connections, each of which sends a request
//! as soon as it has the reply to the one before.
//!
//! It is a process of its own, the same whatever the server runs on.

use std::fmt;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::num::ParseIntError;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;

use super::calls::{Calls, Counter, Counting};
use super::client::{Client, Waits};
use super::service::{self, Service};
use super::talk::{Echo, Http, Once, Talk};
use super::usage::{Total, Usage};
use crate::bench::{Fault, Sample};
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::run::{output_within, said};
use crate::role::Role;
use heist_testing::stats;

#[derive(Debug, Clone, Copy, PartialEq, clap::Args)]
#[group(skip)]
pub struct Load {
    pub address: SocketAddr,
    /// The server's process.
    pub server: u32,
    pub connections: usize,
    /// Before anything counts; longer if it takes a connection longer to get its first reply.
    #[arg(value_parser = milliseconds)]
    pub warm_up: Duration,
    /// Longer if no reply comes within it.
    #[arg(value_parser = milliseconds)]
    pub time: Duration,
    /// Counts the server's system calls after that, in a time of its own.
    pub counter: Option<Counter>,
}

fn milliseconds(text: &str) -> Result<Duration, ParseIntError> {
    text.parse().map(Duration::from_millis)
}

impl Load {
    /// The arguments for a process with this load.
    pub fn to_args(self) -> Vec<String> {
        let Load { address, server, connections, warm_up, time, counter } = self;
        let [warm_up, time] = [warm_up, time].map(|time| time.as_millis().to_string());
        let mut args =
            vec![address.to_string(), server.to_string(), connections.to_string(), warm_up, time];
        args.extend(counter.map(|counter| counter.name().to_owned()));
        args
    }

    /// Runs the load in a process of its own.
    pub fn run(self, service: Service) -> Result<Report, Fault> {
        let mut command = Role::Load { service, load: self }.command().map_err(Fault::Setup)?;
        let output = output_within(&mut command, GIVE_UP)?;
        let said = said(PROGRAM, &output)?;
        said.parse().map_err(|_| Fault::Program { program: PROGRAM, said })
    }

    /// Runs the load on this thread.
    pub fn run_here(self, service: Service) -> io::Result<Report> {
        match service {
            Service::Echo(size) => run(self, |number| Echo::new(size, number)),
            Service::Compute | Service::FanOut => {
                run(self, |number| Echo::new(service::SMALL, number))
            }
            Service::Once | Service::OnceSlowly => run(self, Once::new),
            Service::Http => run(self, |_| Http::default()),
        }
    }
}

/// The name of the program in messages.
const PROGRAM: &str = "load";

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// Replies.
    pub per_second: f64,
    /// Percentiles of the time until a reply, in microseconds.
    pub p50: f64,
    pub p99: f64,
    /// CPU time that the server used for one reply, in microseconds.
    pub cpu: f64,
    /// How often its threads went to sleep for one reply.
    pub sleeps: f64,
    /// How many system calls it made for one reply; `None` if nothing counts them.
    pub calls: Option<CallsEach>,
}

/// System calls for one reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallsEach {
    pub all: f64,
    pub epoll_ctl: f64,
}

impl Report {
    /// Makes a report of at least one reply within `elapsed`. The server used `used` for
    /// `replies`, these and others.
    fn of(mut latencies: Vec<Duration>, elapsed: Duration, used: Usage, replies: u64) -> Self {
        latencies.sort_unstable();
        let sorted: Vec<f64> = latencies.iter().map(|it| it.as_secs_f64() * 1e6).collect();
        let [p50, p99] = [50.0, 99.0].map(|percent| stats::percentile(&sorted, percent));
        let per_second = sorted.len() as f64 / elapsed.as_secs_f64();
        Report { p50, p99, ..Report::of_usage(used, replies as f64, per_second) }
    }

    /// What `replies` have cost the server.
    pub fn of_usage(used: Usage, replies: f64, per_second: f64) -> Self {
        let cpu = used.cpu.as_secs_f64() * 1e6 / replies;
        let sleeps = used.sleeps as f64 / replies;
        Report { per_second, p50: 0.0, p99: 0.0, cpu, sleeps, calls: None }
    }

    pub fn sample(self) -> Sample {
        let Report { per_second, p50, p99, cpu, sleeps, calls } = self;
        let mut values = vec![per_second, p50, p99, cpu, sleeps];
        values.extend(calls.into_iter().flat_map(|calls| [calls.all, calls.epoll_ctl]));
        Sample::Values(values)
    }
}

/// What a process says in the end.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { per_second, p50, p99, cpu, sleeps, calls } = self;
        write!(f, "{per_second} {p50} {p99} {cpu} {sleeps}")?;
        calls.map_or(Ok(()), |calls| write!(f, " {} {}", calls.all, calls.epoll_ctl))
    }
}

#[derive(Debug, PartialEq)]
pub struct NoReport;

impl FromStr for Report {
    type Err = NoReport;

    fn from_str(line: &str) -> Result<Self, NoReport> {
        let numbers: Option<Vec<f64>> =
            line.split_whitespace().map(|number| number.parse().ok()).collect();
        let numbers = numbers.ok_or(NoReport)?;
        let &[per_second, p50, p99, cpu, sleeps, ref calls @ ..] = &numbers[..] else {
            return Err(NoReport);
        };
        let calls = match *calls {
            [] => None,
            [all, epoll_ctl] => Some(CallsEach { all, epoll_ctl }),
            _ => return Err(NoReport),
        };
        let none = CallsEach { all: 0.0, epoll_ctl: 0.0 };
        let CallsEach { all, epoll_ctl } = calls.unwrap_or(none);
        let are_counts = [p50, cpu, sleeps, epoll_ctl].iter().all(|number| *number >= 0.0);
        if per_second > 0.0 && are_counts && p50 <= p99 && epoll_ctl <= all {
            Ok(Report { per_second, p50, p99, cpu, sleeps, calls })
        } else {
            Err(NoReport)
        }
    }
}

fn run<T: Talk>(load: Load, talk: impl Fn(u64) -> T) -> io::Result<Report> {
    let mut crowd = Crowd::connect(load, talk)?;
    let start = Instant::now();
    while crowd.unanswered > 0 || start.elapsed() < load.warm_up {
        crowd.ask(|_| ())?;
    }
    crowd.drain()?;
    let report = measure(&mut crowd, load)?;
    let counted = load.counter.map(|counter| count_calls(&mut crowd, load, counter));
    Ok(Report { calls: counted.transpose()?, ..report })
}

/// What the server uses is counted from one moment at which nothing is on its way to another. So
/// all of it belongs to the replies in between, and no thread of the server runs at either moment:
/// the system adds up the CPU time of a thread that runs only every few milliseconds.
fn measure<T: Talk>(crowd: &mut Crowd<T>, load: Load) -> io::Result<Report> {
    let before = Total::of(load.server)?;
    crowd.restart()?;
    let mut latencies = Vec::new();
    let mut others = crowd.ask_for(load.time / SETTLES)?;
    let start = Instant::now();
    // On a machine with other work, the server may not get a core for the whole time.
    while latencies.is_empty() || start.elapsed() < load.time {
        crowd.ask(|latency| latencies.push(latency))?;
    }
    let elapsed = start.elapsed();
    others += crowd.drain()?;
    let used = Total::of(load.server)?.since(&before);
    let replies = latencies.len() as u64 + others;
    Ok(Report::of(latencies, elapsed, used, replies))
}

/// From one such moment to another, with a tool that slows the server down.
fn count_calls<T: Talk>(
    crowd: &mut Crowd<T>,
    load: Load,
    counter: Counter,
) -> io::Result<CallsEach> {
    let failed = |fault: Fault| io::Error::other(fault.to_string());
    let counting = Counting::start(counter, load.server, Stdio::inherit()).map_err(failed)?;
    crowd.restart()?;
    let replies = crowd.ask_for(load.time / COUNTED)? + crowd.drain()?;
    let Calls { all, epoll_ctl } = counting.end().map_err(failed)?;
    let each = |calls| calls as f64 / replies as f64;
    Ok(CallsEach { all: each(all), epoll_ctl: each(epoll_ctl) })
}

/// Guessed: in this part of the time that counts, there are enough replies for the second digit of
/// a mean.
const COUNTED: u32 = 5;

/// Guessed: all threads of a server sleep this long after its last reply.
const UNTIL_IDLE: Duration = Duration::from_millis(2);

/// Guessed: after this part of the time that counts, it no longer shows that all have asked at
/// once.
const SETTLES: u32 = 20;

/// The clients, and what tells which of them can go on.
struct Crowd<T> {
    clients: Vec<Client<T>>,
    /// The epoll instance; `None` with a single client, which waits in its own calls.
    epoll: Option<OwnedFd>,
    /// Filled by each wait.
    ready: Vec<Event>,
    /// Clients that have no reply yet.
    unanswered: usize,
    was_answered: Vec<bool>,
    address: SocketAddr,
}

impl<T: Talk> Crowd<T> {
    fn connect(load: Load, talk: impl Fn(u64) -> T) -> io::Result<Self> {
        let Load { address, connections, .. } = load;
        let alone = connections == 1;
        let epoll = (!alone).then(|| epoll::create(CreateFlags::CLOEXEC)).transpose()?;
        let mut crowd = Crowd {
            clients: Vec::with_capacity(connections),
            epoll,
            ready: Vec::with_capacity(connections),
            unanswered: connections,
            was_answered: vec![false; connections],
            address,
        };
        for number in 0..connections {
            let client = Client::connect(address, crowd.waits(), talk(number as u64))?;
            crowd.clients.push(client);
            crowd.register(number)?;
        }
        Ok(crowd)
    }

    fn waits(&self) -> Waits {
        if self.epoll.is_none() { Waits::InCalls } else { Waits::Elsewhere }
    }

    fn register(&self, number: usize) -> io::Result<()> {
        let Some(epoll) = &self.epoll else { return Ok(()) };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::ET;
        epoll::add(epoll, &self.clients[number], EventData::new_u64(number as u64), flags)?;
        Ok(())
    }

    /// One round: clients that have a reply send their next request.
    fn ask(&mut self, mut replied: impl FnMut(Duration)) -> io::Result<()> {
        self.round(|crowd, number| {
            let now = Instant::now();
            replied(crowd.clients[number].latency(now));
            if !mem::replace(&mut crowd.was_answered[number], true) {
                crowd.unanswered -= 1;
            }
            crowd.again(number, now)
        })
    }

    /// Rounds for a time; returns the number of replies.
    fn ask_for(&mut self, time: Duration) -> io::Result<u64> {
        let mut replies = 0;
        let start = Instant::now();
        while start.elapsed() < time {
            self.ask(|_| replies += 1)?;
        }
        Ok(replies)
    }

    /// Asks nothing more, waits for the reply that each client still has to get, and until the
    /// server sleeps. Returns the number of replies.
    fn drain(&mut self) -> io::Result<u64> {
        let clients = self.clients.len() as u64;
        let mut replies = 0;
        while replies < clients {
            self.round(|_, _| {
                replies += 1;
                Ok(())
            })?;
        }
        thread::sleep(UNTIL_IDLE);
        Ok(replies)
    }

    /// All clients ask again, after none of them did.
    fn restart(&mut self) -> io::Result<()> {
        (0..self.clients.len()).try_for_each(|number| self.again(number, Instant::now()))
    }

    /// Waits until some client can continue; calls `replied` with each client that has its reply.
    fn round(
        &mut self,
        mut replied: impl FnMut(&mut Self, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut ready = mem::take(&mut self.ready);
        match &self.epoll {
            Some(epoll) => wait(epoll, &mut ready)?,
            None if ready.is_empty() => {
                ready.push(Event { flags: EventFlags::IN, data: EventData::new_u64(0) });
            }
            None => (),
        }
        for event in &ready {
            let number = event.data.u64() as usize;
            if self.clients[number].advance()? {
                replied(self, number)?;
            }
        }
        self.ready = ready;
        Ok(())
    }

    fn again(&mut self, number: usize, now: Instant) -> io::Result<()> {
        let waits = self.waits();
        let client = &mut self.clients[number];
        if !T::ONE_EACH {
            return client.ask_again(now);
        }
        client.ask_anew(self.address, waits, now)?;
        self.register(number)
    }
}

fn wait(epoll: &OwnedFd, ready: &mut Vec<Event>) -> io::Result<()> {
    ready.clear();
    match epoll::wait(epoll, spare_capacity(ready), None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Ipv4Addr, TcpListener};

    /// What the load says of a server whose connections get `reply` for what they send, and are
    /// then closed.
    fn against(
        reply: impl Fn(&[u8]) -> Vec<u8> + Send + 'static,
        service: Service,
        connections: usize,
    ) -> io::Result<Report> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                // The load is gone as soon as it finds something wrong.
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let _ = stream.write_all(&reply(&request[..length]));
            }
        });
        // It lasts until the first reply, whatever that is.
        let (warm_up, time) = (Duration::ZERO, Duration::ZERO);
        let server = std::process::id();
        Load { address, server, connections, warm_up, time, counter: None }.run_here(service)
    }

    #[test]
    fn a_wrong_reply_ends_it() {
        for connections in [1, 3] {
            let error = against(|_| vec![7; 64], Service::Echo(64), connections).unwrap_err();
            assert_eq!(error.to_string(), "what came back is not what was sent");
            let error = against(|_| b"xx".to_vec(), Service::Once, connections).unwrap_err();
            assert_eq!(error.to_string(), "what came back is not what was sent");
        }
    }

    #[test]
    fn a_load_whose_time_is_over_still_waits_for_a_reply() {
        for connections in [1, 3] {
            let report = against(<[u8]>::to_vec, Service::Once, connections).unwrap();
            assert!(report.per_second > 0.0 && report.p50 <= report.p99, "{report}");
        }
    }

    #[test]
    fn a_connection_that_ends_too_early_ends_it() {
        for (service, reply) in
            [(Service::Echo(64), &[][..]), (Service::Once, &[]), (Service::Http, b"HTTP/1.1 200")]
        {
            let error = against(|_| reply.to_vec(), service, 1).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{service}: {error}");
        }
    }

    #[test]
    fn rates_and_percentiles_are_of_all_replies() {
        let latencies = (0..=100).rev().map(Duration::from_micros).collect();
        let used = Usage { cpu: Duration::from_micros(606), sleeps: 404 };
        let report = Report::of(latencies, Duration::from_millis(500), used, 202);
        let Report { per_second, p50, p99, cpu, sleeps, .. } = report;
        assert_eq!([per_second, p50, p99].map(f64::round), [202.0, 50.0, 99.0]);
        assert_eq!([cpu, sleeps].map(f64::round), [3.0, 2.0]);
    }

    #[test]
    fn a_report_is_read_as_it_is_written() {
        let (per_second, p50, p99) = (12_345.678, 0.5, 1234.5);
        let mut report = Report { per_second, p50, p99, cpu: 7.25, sleeps: 0.0, calls: None };
        assert_eq!(report.to_string().parse(), Ok(report));
        report.calls = Some(CallsEach { all: 3.5, epoll_ctl: 0.125 });
        assert_eq!(report.to_string().parse(), Ok(report));
        for line in [
            "",
            "1 2 3 4",
            "0 1 2 3 4",
            "1 3 2 3 4",
            "1 2 3 4 5 6",
            "1 2 3 -1 0",
            "1 2 3 4 x",
            "1 2 3 4 5 6 7",
            "1 2 3 4 5 6 -7",
        ] {
            assert_eq!(line.parse::<Report>(), Err(NoReport), "{line}");
        }
    }
}
