//! What this program does if it has started itself: it is a server, or the load on one.
//!
//! Not for people, and so not in the help.

use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitCode};

use clap::Parser;

use crate::bench::Runtime;
use crate::benches::runtimes::net::load::Load;
use crate::benches::runtimes::net::server;
use crate::benches::runtimes::net::service::Service;
use crate::benches::spin::Spin;

/// Comes first on the command line, and is the name of no option.
const FLAG: &str = "--role";

#[derive(Debug, PartialEq, Parser)]
pub enum Role {
    /// Serves until its standard input ends.
    ///
    /// The length of a microsecond comes from outside, so that all servers of a run do the same.
    Server { runtime: Runtime, workers: usize, service: Service, microsecond: Spin },
    /// Asks for a while, says how it went.
    Load {
        service: Service,
        #[command(flatten)]
        load: Load,
    },
}

impl Role {
    /// What the command line of this process says, None if it was started by somebody else.
    pub fn given(args: impl IntoIterator<Item = OsString>) -> Option<Result<Self, clap::Error>> {
        let mut args = args.into_iter().skip(1).peekable();
        (args.peek()? == FLAG).then(|| Role::try_parse_from(args))
    }

    /// What starts a process with this role.
    pub fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(self.to_args());
        Ok(command)
    }

    fn to_args(&self) -> Vec<String> {
        let mut args = vec![FLAG.to_owned()];
        match self {
            Role::Server { runtime, workers, service, microsecond } => {
                args.extend(["server".to_owned(), runtime.to_string(), workers.to_string()]);
                args.extend([service.to_string(), microsecond.to_string()]);
            }
            Role::Load { service, load } => {
                args.extend(["load".to_owned(), service.to_string()]);
                args.extend(load.to_args());
            }
        }
        args
    }

    /// Says on the standard error what went wrong.
    pub fn play(self) -> ExitCode {
        let outcome = match self {
            Role::Server { runtime, workers, service, microsecond } => {
                server::be_server(runtime, workers, service, microsecond)
            }
            Role::Load { service, load } => {
                server::raise_limit_of_files();
                load.run_here(service).map(|report| println!("{report}"))
            }
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benches::runtimes::net::calls::Counter;
    use std::time::Duration;

    fn given(args: &[String]) -> Option<Result<Role, clap::Error>> {
        Role::given(
            std::iter::once("heist-bench")
                .chain(args.iter().map(String::as_str))
                .map(OsString::from),
        )
    }

    #[test]
    fn a_role_is_read_as_it_is_given() {
        let server = || Role::Server {
            runtime: Runtime::HeistUnwatched,
            workers: 3,
            service: Service::Echo(64),
            microsecond: Spin::microsecond(),
        };
        let load = || Role::Load {
            service: Service::Http,
            load: Load {
                address: ([127, 0, 0, 1], 80).into(),
                server: 4321,
                connections: 5,
                warm_up: Duration::from_millis(7),
                time: Duration::from_secs(1),
                counter: Some(Counter::Perf),
            },
        };
        for role in [server, load as fn() -> Role] {
            assert_eq!(given(&role().to_args()).unwrap().unwrap(), role());
        }
    }

    #[test]
    fn other_command_lines_have_none() {
        for args in [&[][..], &["echo"], &["echo", "--role"]] {
            let args: Vec<_> = args.iter().map(ToString::to_string).collect();
            assert!(given(&args).is_none(), "{args:?}");
        }
        assert!(given(&[FLAG.to_owned(), "client".to_owned()]).unwrap().is_err());
    }
}
