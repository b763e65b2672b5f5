//! Servers in processes of their own: one that is run, and the one that this process is.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::Command;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::super::go;
use super::super::sides::{Heist, HeistAlone, HeistUnwatched, SmolWithReactor, Tokio, TokioAlone};
use super::bare;
use super::service::{SMALL, Serves, Service, serve};
use crate::bench::{Fault, Runtime};
use crate::benches::driver::GIVE_UP;
use crate::benches::foreign::process::Process;
use crate::benches::foreign::program::Program;
use crate::benches::spin::Spin;
use crate::role::Role;

/// Whose servers can be started.
#[derive(Debug)]
pub struct Host {
    runtime: Runtime,
    /// The program; `None` if this program is the server.
    program: Option<Program>,
}

impl Host {
    pub fn of(runtime: Runtime) -> Result<Self, Fault> {
        let is_go = runtime == Runtime::Go;
        let program = is_go.then(|| Program::build(&go::SERVE)).transpose()?;
        Ok(Host { runtime, program })
    }

    pub fn start(&self, workers: usize, service: Service) -> Result<Server, Fault> {
        let role = Role::Server {
            runtime: self.runtime,
            workers,
            service,
            microsecond: Spin::microsecond(),
        };
        let command = match &self.program {
            Some(program) => {
                let mut command = program.command();
                command.args([workers.to_string(), service.to_string()]);
                command
            }
            None => role.command().map_err(Fault::Setup)?,
        };
        raise_limit_of_files();
        Server::run(command)
    }
}

/// A server that runs in another process, which ends when this is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    process: Process,
}

impl Server {
    fn run(command: Command) -> Result<Self, Fault> {
        let process = Process::start("server", command)?;
        let port = port(&process.line(GIVE_UP)?).map_err(|line| process.nonsense(line))?;
        Ok(Server { address: (Ipv4Addr::LOCALHOST, port).into(), process })
    }

    /// The number of its process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// What it has in memory, in bytes.
    pub fn resident(&self) -> io::Result<u64> {
        // The count in `status` is off by up to 64 pages a core.
        resident(&std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.process.id()))?)
    }
}

/// The port that a server says it listens on.
fn port(line: &str) -> Result<u16, &str> {
    line.parse().map_err(|_| line)
}

fn resident(rollup: &str) -> io::Result<u64> {
    let kibibytes = rollup
        .lines()
        .find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse::<u64>().ok());
    kibibytes.map(|number| number * 1024).ok_or_else(|| {
        let message = "the system does not say how much memory a process has";
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Raises the limit of open files as far as possible: each connection is a file on both ends.
pub fn raise_limit_of_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // If it cannot be raised, it is enough or the bench fails with a message of the system.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// The life of a process that is a server: prints its port, and ends when its standard input
/// does.
pub fn be_server(
    runtime: Runtime,
    workers: usize,
    service: Service,
    microsecond: Spin,
) -> io::Result<()> {
    raise_limit_of_files();
    match runtime {
        Runtime::Heist => serve_until_told::<Heist>(workers, service, microsecond),
        Runtime::HeistUnwatched => {
            serve_until_told::<HeistUnwatched>(workers, service, microsecond)
        }
        Runtime::Tokio => serve_until_told::<Tokio>(workers, service, microsecond),
        Runtime::Smol => serve_until_told::<SmolWithReactor>(workers, service, microsecond),
        Runtime::HeistOne => serve_until_told::<Heist>(1, service, microsecond),
        Runtime::HeistAlone => serve_alone::<HeistAlone>(service, microsecond),
        Runtime::TokioAlone => serve_alone::<TokioAlone>(service, microsecond),
        Runtime::Bare => serve_bare(workers, service, microsecond),
        Runtime::BareOne => serve_bare(1, service, microsecond),
        other => Err(does_not_serve(other.name())),
    }
}

fn does_not_serve(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{name} does not serve"))
}

/// Without tasks, a thread does itself what the tasks of a request would do.
fn serve_bare(threads: usize, service: Service, microsecond: Spin) -> io::Result<()> {
    let work = microsecond.times(service.microseconds() * service.tasks());
    let port = match service {
        Service::Echo(size) => bare::start_echo(threads, size, work)?,
        Service::Compute | Service::FanOut => bare::start_echo(threads, SMALL, work)?,
        Service::Once | Service::OnceSlowly => bare::start_once(threads, work)?,
        Service::Http => return Err(does_not_serve("a thread without a runtime")),
    };
    until_told(port)
}

fn serve_until_told<R: Serves>(
    workers: usize,
    service: Service,
    microsecond: Spin,
) -> io::Result<()> {
    let (listener, address) = listen()?;
    let runtime = R::start(workers)?;
    R::detach(R::spawn_from_outside(&runtime.handle(), async move {
        let Err(error) = serve::<R>(listener, service, microsecond).await;
        eprintln!("the server ends: {error}");
        std::process::exit(1);
    }));
    until_told(address.port())
}

/// A runtime without worker threads serves on this one, and another waits for the end.
fn serve_alone<R: Serves>(service: Service, microsecond: Spin) -> io::Result<()> {
    let (listener, address) = listen()?;
    std::thread::spawn(move || {
        let end = until_told(address.port());
        std::process::exit(if end.is_ok() { 0 } else { 1 });
    });
    let Err(error) = R::start(1)?.block_on(serve::<R>(listener, service, microsecond));
    Err(error)
}

fn until_told(port: u16) -> io::Result<()> {
    println!("{port}");
    io::stdout().flush()?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// Room for all connections of a bench that were not accepted yet: a client that is refused retries
/// only after a second.
const BACKLOG: i32 = 4096;

/// Creates a listener on a free port, which does not block.
pub fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_names_no_port_is_a_fault() {
        assert_eq!(port("1234"), Ok(1234));
        for line in ["", "out of sockets", "65536"] {
            assert_eq!(port(line), Err(line));
        }
    }

    #[test]
    fn memory_is_counted_in_bytes() {
        let rollup = "00400000-7fff [rollup]\nRss:                 916 kB\nPss: 300 kB\n";
        assert_eq!(resident(rollup).unwrap(), 916 * 1024);
        assert!(resident("Pss: 300 kB\n").is_err());
    }
}
