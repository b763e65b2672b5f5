//! One connection: it receives a request and sends the answer, at the client's pace but with a time
//! limit.

use super::answers::Answer;
use super::http::{self, MAX_REQUEST, Refusal, Request, Status, refuse};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Data that a client sends after its request is read and dropped, so that its connection does not
/// fail before it has read the answer. These are the limits on its size and time. Guessed.
const MAX_RUBBISH: usize = 256 * 1024;
const GOODBYE: Duration = Duration::from_secs(1);

pub(super) struct Client {
    socket: OwnedFd,
    stage: Stage,
    /// When the connection is closed, whatever its stage.
    deadline: Instant,
    timeout: Duration,
}

enum Stage {
    /// The part of the request that has arrived.
    Reading(Vec<u8>),
    /// The request has arrived, and waits for its turn.
    Asking(Request),
    /// The answer, and how much of it has been sent.
    Answering(Answer),
    /// Everything was sent; this many bytes may still be dropped.
    Leaving {
        rubbish: usize,
    },
    Gone,
}

impl Client {
    pub(super) fn new(socket: OwnedFd, timeout: Duration, now: Instant) -> Self {
        let stage = Stage::Reading(Vec::new());
        Client { socket, stage, deadline: after(now, timeout), timeout }
    }

    /// The events that it waits for.
    pub(super) fn interest(&self) -> PollFlags {
        match &self.stage {
            Stage::Reading(_) | Stage::Leaving { .. } => PollFlags::IN,
            Stage::Answering(_) => PollFlags::OUT,
            Stage::Asking(_) | Stage::Gone => PollFlags::empty(),
        }
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.stage, Stage::Gone)
    }

    /// The request that waits for an answer.
    pub(super) fn request(&self) -> Option<&Request> {
        match &self.stage {
            Stage::Asking(request) => Some(request),
            _ => None,
        }
    }

    /// The memory that its answer needs.
    pub(super) fn pending(&self) -> usize {
        match &self.stage {
            Stage::Answering(answer) => answer.memory(),
            _ => 0,
        }
    }

    /// Whether its answer is in a file.
    pub(super) fn has_file(&self) -> bool {
        matches!(&self.stage, Stage::Answering(answer) if answer.is_file())
    }

    /// Closes the connection after its timeout, sending only what can be sent at once.
    pub(super) fn expire(&mut self) {
        let refusal = match &self.stage {
            Stage::Reading(_) => {
                Some(refuse(Status::RequestTimeout, "the request did not come in time"))
            }
            Stage::Asking(_) => Some(refuse(Status::Unavailable, "there is much to do; try later")),
            _ => None,
        };
        if let Some(refusal) = refusal {
            let _ = Answer::refusal(refusal).send(|bytes| send(&self.socket, bytes));
        }
        self.stage = Stage::Gone;
    }

    pub(super) fn answer(&mut self, answer: Answer, now: Instant) {
        self.stage = Stage::Answering(answer);
        self.deadline = after(now, self.timeout);
    }

    /// Called when the socket is ready for the expected events, or broken.
    pub(super) fn go_on(&mut self, now: Instant) {
        match &mut self.stage {
            Stage::Reading(request) => match read_request(&self.socket, request) {
                Ok(None) => {}
                Ok(Some(request)) => {
                    self.stage = Stage::Asking(request);
                    self.deadline = after(now, self.timeout);
                }
                Err(Why::Gone) => self.stage = Stage::Gone,
                Err(Why::Wrong(refusal)) => self.answer(Answer::refusal(refusal), now),
            },
            Stage::Answering(answer) => match answer.send(|bytes| send(&self.socket, bytes)) {
                Ok(false) => {}
                Ok(true) => {
                    let is_told = rustix::net::shutdown(&self.socket, Shutdown::Write).is_ok();
                    let leaving = Stage::Leaving { rubbish: MAX_RUBBISH };
                    self.stage = if is_told { leaving } else { Stage::Gone };
                    self.deadline = after(now, self.timeout.min(GOODBYE));
                }
                Err(_) => self.stage = Stage::Gone,
            },
            Stage::Leaving { rubbish } => match receive(&self.socket, &mut [0; 16 * 1024]) {
                Ok(read) if read > 0 && read < *rubbish => *rubbish -= read,
                Err(Errno::AGAIN | Errno::INTR) => {}
                _ => self.stage = Stage::Gone,
            },
            // The client has hung up.
            Stage::Asking(_) => self.stage = Stage::Gone,
            Stage::Gone => {}
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A timeout of a year is as good as none.
fn after(now: Instant, duration: Duration) -> Instant {
    now + duration.min(Duration::from_secs(365 * 24 * 3600))
}

enum Why {
    Gone,
    Wrong(Refusal),
}

fn read_request(socket: &OwnedFd, request: &mut Vec<u8>) -> Result<Option<Request>, Why> {
    let mut piece = [0; 2048];
    match receive(socket, &mut piece) {
        Ok(0) if request.is_empty() => Err(Why::Gone),
        Ok(0) => Err(Why::Wrong(refuse(Status::BadRequest, "the request ends in the middle"))),
        Ok(read) => {
            let room = MAX_REQUEST - request.len();
            request.extend_from_slice(&piece[..read.min(room)]);
            http::parse(request).map_err(Why::Wrong)
        }
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(_) => Err(Why::Gone),
    }
}

fn receive(socket: &OwnedFd, room: &mut [u8]) -> rustix::io::Result<usize> {
    rustix::net::recv(socket, room, RecvFlags::DONTWAIT).map(|(read, _)| read)
}

fn send(socket: &OwnedFd, bytes: &[u8]) -> rustix::io::Result<usize> {
    rustix::net::send(socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
}

/// Tells a client that there are too many, and hangs up.
pub(super) fn turn_away(socket: &OwnedFd, sentence: &str) {
    // Reads first, because closing a socket with unread data breaks the connection.
    let _ = receive(socket, &mut [0; MAX_REQUEST]);
    let mut answer = Answer::refusal(refuse(Status::Unavailable, sentence));
    let _ = answer.send(|bytes| send(socket, bytes));
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn client(now: Instant) -> (UnixStream, Client) {
        let (theirs, ours) = UnixStream::pair().unwrap();
        (theirs, Client::new(ours.into(), PATIENCE, now))
    }

    /// A client that was slow to send its request waits for the answer as long as any other.
    #[test]
    fn the_time_begins_anew_with_each_stage() {
        let begun = Instant::now();
        let (mut theirs, mut client) = client(begun);
        assert_eq!(client.deadline(), begun + PATIENCE);
        theirs.write_all(b"GET / HTTP/1.1\r\n").unwrap();
        client.go_on(begun + PATIENCE / 2);
        assert_eq!(client.deadline(), begun + PATIENCE);
        theirs.write_all(b"\r\n").unwrap();
        let asked = begun + PATIENCE * 3 / 4;
        client.go_on(asked);
        assert!(client.request().is_some());
        assert_eq!(client.deadline(), asked + PATIENCE);
        client.answer(Answer::refusal(refuse(Status::Unavailable, "no")), asked + PATIENCE / 2);
        assert_eq!(client.deadline(), asked + PATIENCE * 3 / 2);
    }

    /// What comes behind a request is thrown away, up to a limit.
    #[test]
    fn a_client_that_sends_too_much_is_disconnected() {
        let now = Instant::now();
        let (mut theirs, mut client) = client(now);
        client.answer(Answer::refusal(refuse(Status::Unavailable, "no")), now);
        client.go_on(now);
        let mut rubbish = 0;
        while !client.is_gone() {
            assert!(rubbish <= MAX_RUBBISH, "{rubbish} bytes");
            theirs.write_all(&[0; 1024]).unwrap();
            rubbish += 1024;
            client.go_on(now);
        }
        assert!(rubbish >= MAX_RUBBISH, "{rubbish} bytes");
    }
}
