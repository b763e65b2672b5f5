//! Servers without a runtime: threads with an epoll each, or that block, and nothing else. What
//! they cannot do on a machine, no runtime with as many threads will.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::server::listen;
use crate::benches::spin::Spin;

/// What a thread waits for: connections, by the keys that its epoll knows them by.
struct Watch {
    epoll: OwnedFd,
    streams: Mutex<Vec<Option<Arc<TcpStream>>>>,
}

impl Watch {
    fn new() -> io::Result<Arc<Self>> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Arc::new(Watch { epoll, streams: Mutex::default() }))
    }

    fn add(&self, stream: TcpStream) -> io::Result<()> {
        let stream = Arc::new(stream);
        let mut streams = self.streams.lock().expect("nothing panics with it");
        let key = streams.len() as u64;
        streams.push(Some(Arc::clone(&stream)));
        drop(streams);
        Ok(epoll::add(&self.epoll, &stream, EventData::new_u64(key), EventFlags::IN)?)
    }

    fn serve(&self, size: usize, work: Spin) -> io::Result<()> {
        let mut buffer = vec![0; size];
        let mut ready = Vec::with_capacity(128);
        loop {
            ready.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut ready), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &ready {
                let key = event.data.u64() as usize;
                let stream = self.streams.lock().expect("nothing panics with it")[key].clone();
                let Some(stream) = stream else { continue };
                if !echo(&stream, &mut buffer, work) {
                    self.streams.lock().expect("nothing panics with it")[key] = None;
                }
            }
        }
    }
}

/// What has come goes back, after the work; whether the connection lives.
fn echo(mut stream: &TcpStream, buffer: &mut [u8], work: Spin) -> bool {
    match recv(stream, &mut *buffer, RecvFlags::DONTWAIT) {
        Ok((0, _)) => false,
        Ok((count, _)) => {
            work.burn();
            stream.write_all(&buffer[..count]).is_ok()
        }
        Err(error) => io::Error::from(error).kind() == ErrorKind::WouldBlock,
    }
}

/// Connections go to the threads in turn.
fn accept(listener: TcpListener, threads: usize, size: usize, work: Spin) -> io::Result<()> {
    let watches = (0..threads).map(|_| Watch::new()).collect::<io::Result<Vec<_>>>()?;
    for watch in &watches {
        let watch = Arc::clone(watch);
        thread::spawn(move || watch.serve(size, work));
    }
    listener.set_nonblocking(false)?;
    for watch in watches.iter().cycle() {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        watch.add(stream)?;
    }
    Ok(())
}

/// Begins to echo, with this work for each message. Returns the port.
pub fn start_echo(threads: usize, size: usize, work: Spin) -> io::Result<u16> {
    let (listener, address) = listen()?;
    thread::spawn(move || accept(listener, threads, size, work));
    Ok(address.port())
}

/// Starts a server that sends one byte to each client, after this work. Returns the port.
pub fn start_once(threads: usize, work: Spin) -> io::Result<u16> {
    let (listener, address) = listen()?;
    listener.set_nonblocking(false)?;
    let listener = Arc::new(listener);
    for _ in 0..threads {
        let listener = Arc::clone(&listener);
        thread::spawn(move || {
            loop {
                // The client may have closed the connection already.
                let _ = listener.accept().and_then(|(stream, _)| once(stream, work));
            }
        });
    }
    Ok(address.port())
}

fn once(mut stream: TcpStream, work: Spin) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut byte = [0];
    stream.read_exact(&mut byte)?;
    work.burn();
    stream.write_all(&byte)
}

#[cfg(test)]
mod tests {
    use super::super::load::Load;
    use super::super::service::Service;
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::Duration;

    #[test]
    fn it_serves() {
        let microsecond = Spin::microsecond();
        let servers = [
            (Service::Echo(64), start_echo(2, 64, microsecond).unwrap()),
            (Service::Once, start_once(2, microsecond).unwrap()),
        ];
        for ((service, port), connections) in
            servers.into_iter().flat_map(|one| [(one, 1), (one, 20)])
        {
            let (address, time) = ((Ipv4Addr::LOCALHOST, port).into(), Duration::from_millis(10));
            let server = std::process::id();
            let load =
                Load { address, server, connections, warm_up: Duration::ZERO, time, counter: None };
            assert!(load.run_here(service).unwrap().per_second > 0.0);
        }
    }
}
