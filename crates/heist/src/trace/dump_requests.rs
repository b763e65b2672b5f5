//! Requests for a dump from threads that must not wait for it: workers, sysmon, signal handlers.

use super::config::Config;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a dump is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum DumpRequest {
    Stall = b's',
    Panic = b'p',
    Signal = b'u',
    /// No more dumps.
    End = b'e',
}

impl DumpRequest {
    fn from_byte(byte: u8) -> Option<Self> {
        [DumpRequest::Stall, DumpRequest::Panic, DumpRequest::Signal, DumpRequest::End]
            .into_iter()
            .find(|request| *request as u8 == byte)
    }
}

/// A socket: writing to it is all that a signal's handler may do.
pub(crate) struct DumpRequests(Option<Ends>);

struct Ends {
    sender: Arc<UnixStream>,
    receiver: UnixStream,
    on_stall: bool,
    on_panic: bool,
    /// Tells the reader of requests to end, in case there is no room for one more request.
    is_over: AtomicBool,
}

impl DumpRequests {
    /// # Errors
    /// If there are no descriptors left.
    pub(super) fn new(config: &Config) -> io::Result<Self> {
        if !config.is_watched() {
            return Ok(DumpRequests(None));
        }
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        let (on_stall, on_panic) = (config.on_stall.is_some(), config.on_panic.is_some());
        let is_over = AtomicBool::new(false);
        Ok(DumpRequests(Some(Ends {
            sender: Arc::new(sender),
            receiver,
            on_stall,
            on_panic,
            is_over,
        })))
    }

    /// A worker is stuck.
    pub(crate) fn stalled(&self) {
        self.request_if(|ends| ends.on_stall, DumpRequest::Stall);
    }

    pub(super) fn panicked(&self) {
        self.request_if(|ends| ends.on_panic, DumpRequest::Panic);
    }

    /// No more dumps will be written.
    pub(crate) fn end(&self) {
        let stop = |ends: &Ends| {
            // Relaxed: the byte behind it, or one that is there already, brings its reader here.
            ends.is_over.store(true, Ordering::Relaxed);
            true
        };
        self.request_if(stop, DumpRequest::End);
    }

    fn request_if(&self, is_wanted: impl FnOnce(&Ends) -> bool, request: DumpRequest) {
        if let Some(ends) = self.0.as_ref().filter(|ends| is_wanted(ends)) {
            send(&ends.sender, request);
        }
    }

    /// The socket to which a signal handler writes.
    pub(crate) fn sender(&self) -> Option<Arc<UnixStream>> {
        self.0.as_ref().map(|ends| Arc::clone(&ends.sender))
    }

    /// Waits for the next request. Only one thread may call this. Returns `End` if waiting fails.
    pub(crate) fn wait(&self) -> DumpRequest {
        let Some(ends) = &self.0 else { return DumpRequest::End };
        loop {
            let mut byte = [0];
            let read = (&ends.receiver).read(&mut byte);
            if ends.is_over.load(Ordering::Relaxed) {
                return DumpRequest::End;
            }
            match read {
                Ok(1) => {
                    if let Some(request) = DumpRequest::from_byte(byte[0]) {
                        return request;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return DumpRequest::End,
            }
        }
    }
}

/// Sends a request. A signal handler may call this: it writes to a socket that does not block. A
/// full socket already holds more requests than the reader needs, so the request is dropped.
pub(crate) fn send(mut sender: &UnixStream, request: DumpRequest) {
    let _ = sender.write(&[request as u8]);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// There is no room for the request, and the requester does not wait for room.
    #[test]
    fn the_end_is_heard_among_more_requests_than_there_is_room_for() {
        let requests = DumpRequests::new(&Config::new().dump_on_stall("x")).unwrap();
        let mut sender = &*requests.sender().unwrap();
        while sender.write(&[DumpRequest::Stall as u8]).is_ok() {}
        assert_eq!(requests.wait(), DumpRequest::Stall);
        requests.stalled();
        requests.end();
        assert_eq!(requests.wait(), DumpRequest::End);
    }
}
