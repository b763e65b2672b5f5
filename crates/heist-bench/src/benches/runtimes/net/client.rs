//! One connection of the load: asks, and asks again when the reply is there.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::talk::Talk;

pub struct Client<T> {
    stream: TcpStream,
    talk: T,
    /// Bytes of the request that have been sent.
    sent: usize,
    buffer: Box<[u8]>,
    /// Bytes of the buffer that have been received.
    heard: usize,
    asked: Instant,
    /// The reply is there, and nothing has been asked since.
    is_idle: bool,
}

/// Whether system calls of a connection may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It is the only one of its thread.
    InCalls,
    /// Somebody else says when it is ready.
    Elsewhere,
}

impl<T: Talk> Client<T> {
    /// Connects, and asks for the first time.
    pub fn connect(address: SocketAddr, waits: Waits, mut talk: T) -> io::Result<Self> {
        let stream = open::<T>(address, waits)?;
        let buffer = vec![0; talk.room()].into();
        talk.turn();
        let asked = Instant::now();
        let mut client = Client { stream, talk, sent: 0, buffer, heard: 0, asked, is_idle: false };
        client.send()?;
        Ok(client)
    }

    /// Does what can be done without waiting for somebody else to say that more can be done.
    /// Whether the reply is there, which it is once.
    pub fn advance(&mut self) -> io::Result<bool> {
        // Events come also when nobody waits for them.
        if self.is_idle || !self.send()? {
            return Ok(false);
        }
        self.is_idle = self.receive()?;
        Ok(self.is_idle)
    }

    fn receive(&mut self) -> io::Result<bool> {
        loop {
            match self.stream.read(&mut self.buffer[self.heard..]) {
                Ok(0) => {
                    let is_whole = T::ONE_EACH && self.is_whole()?;
                    return if is_whole { Ok(true) } else { Err(ErrorKind::UnexpectedEof.into()) };
                }
                Ok(count) => self.heard += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
            if self.is_whole()? && !T::ONE_EACH {
                return Ok(true);
            }
        }
    }

    /// How long the reply took that has come just now.
    pub fn latency(&self, now: Instant) -> Duration {
        now - self.asked
    }

    /// Sends the next request on the same connection.
    pub fn ask_again(&mut self, now: Instant) -> io::Result<()> {
        self.talk.turn();
        (self.sent, self.heard) = (0, 0);
        (self.asked, self.is_idle) = (now, false);
        self.send().map(|_| ())
    }

    /// Sends the next request on a new connection.
    pub fn ask_anew(&mut self, address: SocketAddr, waits: Waits, now: Instant) -> io::Result<()> {
        self.stream = open::<T>(address, waits)?;
        self.ask_again(now)
    }

    /// Whether all has been.
    fn send(&mut self) -> io::Result<bool> {
        let request = self.talk.request();
        while self.sent < request.len() {
            match self.stream.write(&request[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn is_whole(&mut self) -> io::Result<bool> {
        self.talk.is_whole(&self.buffer[..self.heard])
    }
}

impl<T> AsFd for Client<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn open<T: Talk>(address: SocketAddr, waits: Waits) -> io::Result<TcpStream> {
    let mut flags = SocketFlags::CLOEXEC;
    flags.set(SocketFlags::NONBLOCK, waits == Waits::Elsewhere);
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        // It can be written to when the connection is there.
        Ok(()) | Err(Errno::INPROGRESS) => (),
        Err(error) => return Err(error.into()),
    }
    if !T::ONE_EACH {
        sockopt::set_tcp_nodelay(&socket, true)?;
        // Closed by us, it would keep its port for a minute: with a thousand a sample, they run
        // out.
        sockopt::set_socket_linger(&socket, Some(Duration::ZERO))?;
    }
    Ok(socket.into())
}
