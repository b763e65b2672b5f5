//! What the servers do, the same code on all runtimes.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::TcpListener;
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::super::AsyncRuntime;
use super::http;

/// What a server does with its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Sends back what comes, through a buffer of that many bytes.
    Echo(usize),
    /// Sends back one byte and closes the connection.
    Once,
    /// Answers each request with a greeting.
    Http,
}

/// Formats the service as the command line of a server names it.
impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Service::Echo(size) => write!(f, "echo:{size}"),
            Service::Once => f.write_str("once"),
            Service::Http => f.write_str("http"),
        }
    }
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = text.strip_prefix("echo:").and_then(|size| size.parse().ok());
        match (text, size) {
            ("once", _) => Ok(Service::Once),
            ("http", _) => Ok(Service::Http),
            (_, Some(size)) if size > 0 => Ok(Service::Echo(size)),
            _ => Err(format!("echo:SIZE, once or http, not {text}")),
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

/// Has a task a connection.
pub async fn serve<R: Serves>(listener: TcpListener, service: Service) -> io::Result<Infallible> {
    let listener = R::listener(listener)?;
    loop {
        let stream = R::accept(&listener).await?;
        R::set_nodelay(&stream)?;
        match service {
            Service::Echo(size) => R::detach(R::spawn(echo(stream, size))),
            Service::Once => R::detach(R::spawn(once(stream))),
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

async fn once(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    if let Ok(byte) = stream.read_u8().await {
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
        for service in [Service::Echo(64), Service::Echo(16 * 1024), Service::Once, Service::Http] {
            let (listener, address) = listen().unwrap();
            R::detach(R::spawn_from_outside(&runtime.handle(), serve::<R>(listener, service)));
            for connections in [1, 20] {
                let time = Duration::from_millis(10);
                let load = Load { address, connections, warm_up: Duration::ZERO, time };
                let report = load.run_here(service).unwrap();
                assert!(report.per_second > 0.0 && report.p50 <= report.p99, "{report:?}");
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
        for service in [Service::Echo(64), Service::Once, Service::Http] {
            assert_eq!(service.to_string().parse(), Ok(service));
        }
        for text in ["", "echo", "echo:", "echo:0", "echo:x", "Once"] {
            assert!(text.parse::<Service>().is_err(), "{text}");
        }
    }
}
