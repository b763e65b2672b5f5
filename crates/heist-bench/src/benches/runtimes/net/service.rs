//! What the servers do, the same code on all runtimes.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::super::AsyncRuntime;
use super::http;
use crate::bench::Runtime;
use crate::benches::spin::Spin;

/// What a server does with its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Sends back what comes, through a buffer of that many bytes.
    Echo(usize),
    /// The same with small messages, after `COMPUTES` microseconds of work for each.
    Compute,
    /// The same with small messages, after `TASKS` for each, which share that work.
    FanOut,
    /// Sends back one byte and closes the connection.
    Once,
    /// The same, after `SLOWLY` microseconds of work.
    OnceSlowly,
    /// Answers each request with a greeting.
    Http,
}

/// The size of small messages, in bytes.
pub const SMALL: usize = 64;

const COMPUTES: u64 = 20;

const SLOWLY: u64 = 200;

/// The number of tasks into which a request fans out.
const TASKS: u64 = 4;

impl Service {
    /// How long the handler of a request works, or each task of the handler.
    pub fn microseconds(self) -> u64 {
        match self {
            Service::Echo(_) | Service::Once | Service::Http => 0,
            Service::Compute => COMPUTES,
            Service::FanOut => COMPUTES / TASKS,
            Service::OnceSlowly => SLOWLY,
        }
    }

    /// The number of tasks that do this for a request.
    pub fn tasks(self) -> u64 {
        if self == Service::FanOut { TASKS } else { 1 }
    }

    /// Whether servers of this runtime have it.
    pub fn is_served_by(self, runtime: Runtime) -> bool {
        match self {
            Service::Echo(_) | Service::Once => true,
            Service::Http => !matches!(runtime, Runtime::Bare | Runtime::BareOne),
            Service::Compute | Service::FanOut | Service::OnceSlowly => runtime != Runtime::Go,
        }
    }
}

/// Formats the service as the command line of a server names it.
impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Service::Echo(size) => write!(f, "echo:{size}"),
            Service::Compute => f.write_str("compute"),
            Service::FanOut => f.write_str("fan-out"),
            Service::Once => f.write_str("once"),
            Service::OnceSlowly => f.write_str("once-slowly"),
            Service::Http => f.write_str("http"),
        }
    }
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = text.strip_prefix("echo:").and_then(|size| size.parse().ok());
        match (text, size) {
            ("compute", _) => Ok(Service::Compute),
            ("fan-out", _) => Ok(Service::FanOut),
            ("once", _) => Ok(Service::Once),
            ("once-slowly", _) => Ok(Service::OnceSlowly),
            ("http", _) => Ok(Service::Http),
            (_, Some(size)) if size > 0 => Ok(Service::Echo(size)),
            _ => Err(format!("echo:SIZE, compute, fan-out, once, once-slowly or http, not {text}")),
        }
    }
}

/// A runtime with sockets.
pub trait Serves: AsyncRuntime {
    type Listener: Send + Sync + 'static;
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Adopts a listener that does not block. Must be called by a task of the runtime.
    fn listener(listener: TcpListener) -> io::Result<Self::Listener>;

    fn accept(listener: &Self::Listener) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    fn set_nodelay(stream: &Self::Stream) -> io::Result<()>;
}

/// Has a task a connection. The microsecond is that of all servers of a run, which so do the same
/// work.
pub async fn serve<R: Serves>(
    listener: TcpListener,
    service: Service,
    microsecond: Spin,
) -> io::Result<Infallible> {
    let work = microsecond.times(service.microseconds());
    let listener = R::listener(listener)?;
    loop {
        let stream = R::accept(&listener).await?;
        R::set_nodelay(&stream)?;
        match service {
            Service::Echo(size) => R::detach(R::spawn(echo(stream, size))),
            Service::Compute => {
                R::detach(R::spawn(answer(stream, move || async move { work.burn() })));
            }
            Service::FanOut => R::detach(R::spawn(answer(stream, move || fan_out::<R>(work)))),
            Service::Once | Service::OnceSlowly => R::detach(R::spawn(once(stream, work))),
            Service::Http => R::detach(R::spawn(http::hello(stream))),
        }
    }
}

/// Ends with the connection, however that ends: the clients know whether anything is missing.
pub async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin, size: usize) {
    let mut buffer = vec![0; size];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            break;
        }
    }
}

/// Sends back what comes, after `work` for each message.
async fn answer<W>(mut stream: impl AsyncRead + AsyncWrite + Unpin, work: impl Fn() -> W)
where
    W: Future<Output = ()>,
{
    let mut buffer = [0; SMALL];
    while stream.read_exact(&mut buffer).await.is_ok() {
        work().await;
        if stream.write_all(&buffer).await.is_err() {
            break;
        }
    }
}

/// Each task does the work.
async fn fan_out<R: Serves>(work: Spin) {
    let tasks = [(); TASKS as usize].map(|()| R::spawn(async move { work.burn() }));
    for task in tasks {
        R::join(task).await;
    }
}

async fn once(mut stream: impl AsyncRead + AsyncWrite + Unpin, work: Spin) {
    if let Ok(byte) = stream.read_u8().await {
        work.burn();
        // The client finds out if it did not come.
        let _ = stream.write_u8(byte).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::sides::{Heist, HeistUnwatched, SmolWithReactor, Tokio};
    use super::super::load::Load;
    use super::super::server::listen;
    use super::*;
    use std::time::Duration;

    /// The load finds replies that are missing or wrong.
    fn serves_all<R: Serves>() {
        let runtime = R::start(2).unwrap();
        let services = [
            Service::Echo(64),
            Service::Echo(16 * 1024),
            Service::Compute,
            Service::FanOut,
            Service::Once,
            Service::OnceSlowly,
            Service::Http,
        ];
        for service in services {
            let (listener, address) = listen().unwrap();
            R::detach(R::spawn_from_outside(
                &runtime.handle(),
                serve::<R>(listener, service, Spin::microsecond()),
            ));
            for connections in [1, 20] {
                let time = Duration::from_millis(10);
                let server = std::process::id();
                let load = Load {
                    address,
                    server,
                    connections,
                    warm_up: Duration::ZERO,
                    time,
                    counter: None,
                };
                let report = load.run_here(service).unwrap();
                assert!(report.per_second > 0.0 && report.p50 <= report.p99, "{report:?}");
                assert!(report.cpu > 0.0, "{report:?}");
            }
        }
    }

    #[test]
    fn heist_serves() {
        serves_all::<Heist>();
        serves_all::<HeistUnwatched>();
    }

    #[test]
    fn tokio_serves() {
        serves_all::<Tokio>();
    }

    #[test]
    fn smol_serves() {
        serves_all::<SmolWithReactor>();
    }

    #[test]
    fn a_service_is_read_as_it_is_written() {
        let small = [Service::Compute, Service::FanOut, Service::OnceSlowly];
        for service in small.into_iter().chain([Service::Echo(64), Service::Once, Service::Http]) {
            assert_eq!(service.to_string().parse(), Ok(service));
        }
        for text in ["", "echo", "echo:", "echo:0", "echo:x", "Once"] {
            assert!(text.parse::<Service>().is_err(), "{text}");
        }
    }
}
