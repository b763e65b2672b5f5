//! The thread that serves all clients of a console.
//!
//! It waits only in one place, for all events at the same time. Its memory is bounded by limits on
//! the number of clients and the size of answers. Its time is bounded too: after each round it
//! rests three times as long as the round took, whatever clients do.

use super::answers::answer;
use super::client::{Client, turn_away};
use super::http::Request;
use super::place::Listener;
use super::source::Source;
use super::trace;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The maximal number of clients. Guessed: `top`, `doctor`, Prometheus and some more.
const MAX_CLIENTS: usize = 32;
/// While this many bytes of answers are being sent, other requests wait. Guessed.
const MAX_PENDING: usize = 8 << 20;
/// The number of connections that are accepted in one round.
const ACCEPTS: usize = 64;
/// The pause before connections are accepted again if the system has no descriptor left. Guessed.
const OUT_OF_FILES: Duration = Duration::from_millis(100);
/// The length of the rest after each round, as a multiple of the round.
const REST: u32 = 3;

pub(super) struct Server {
    listener: Listener,
    stop: Arc<OwnedFd>,
    source: Source,
    timeout: Duration,
    clients: Vec<Client>,
    /// No connections are accepted until then.
    closed_until: Option<Instant>,
}

impl Server {
    pub(super) fn new(
        listener: Listener,
        stop: Arc<OwnedFd>,
        source: Source,
        timeout: Duration,
    ) -> Self {
        Server { listener, stop, source, timeout, clients: Vec::new(), closed_until: None }
    }

    /// Serves until it is stopped.
    pub(super) fn run(mut self) {
        while let Some(ready) = self.wait() {
            let begun = Instant::now();
            self.round(&ready, begun);
            if self.is_stopped_within(begun.elapsed() * REST) {
                return;
            }
        }
    }

    /// Waits until something is ready: first the listener, then the clients. Returns `None` if the
    /// console is stopped.
    fn wait(&mut self) -> Option<Vec<PollFlags>> {
        let now = Instant::now();
        self.closed_until = self.closed_until.filter(|until| *until > now);
        let next = if self.next_to_answer().is_some() {
            Some(now)
        } else {
            let deadlines = self.clients.iter().map(Client::deadline);
            deadlines.chain(self.closed_until).min()
        };
        let timeout = next.map(|next| timespec(next.saturating_duration_since(now)));
        let open = if self.closed_until.is_some() { PollFlags::empty() } else { PollFlags::IN };
        let mut fds =
            vec![PollFd::new(&*self.stop, PollFlags::IN), PollFd::new(&self.listener, open)];
        fds.extend(self.clients.iter().map(|client| PollFd::new(client, client.interest())));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Out of memory, which may be temporary.
            Err(_) => return (!self.is_stopped_within(OUT_OF_FILES)).then(Vec::new),
        }
        let ready: Vec<_> = fds.iter().map(PollFd::revents).collect();
        ready[0].is_empty().then(|| ready[1..].to_vec())
    }

    fn round(&mut self, ready: &[PollFlags], now: Instant) {
        let is_let_in = ready.first().is_some_and(|flags| !flags.is_empty());
        let ready = ready.iter().skip(1);
        for (client, _) in self.clients.iter_mut().zip(ready).filter(|(_, flags)| !flags.is_empty())
        {
            client.go_on(now);
        }
        for client in self.clients.iter_mut().filter(|client| client.deadline() <= now) {
            client.expire();
        }
        self.clients.retain(|client| !client.is_gone());
        self.answer_one(now);
        if is_let_in {
            self.let_in(now);
        }
    }

    /// Answers one request per round, so that no client waits for more than one answer of another.
    fn answer_one(&mut self, now: Instant) {
        let Some(next) = self.next_to_answer() else { return };
        let client = &mut self.clients[next];
        if let Some(request) = client.request() {
            let answer = answer(&self.source, request, self.listener.is_tcp());
            client.answer(answer, now);
            client.go_on(now);
        }
    }

    /// The client that has waited longest among those that can be answered within the limits on
    /// memory and files.
    fn next_to_answer(&self) -> Option<usize> {
        if self.clients.iter().map(Client::pending).sum::<usize>() >= MAX_PENDING {
            return None;
        }
        let is_file_taken = self.clients.iter().any(Client::has_file);
        let has_room = |request: &Request| !(is_file_taken && request.path == trace::PATH);
        let asking = self.clients.iter().enumerate();
        let asking = asking.filter(|(_, client)| client.request().is_some_and(has_room));
        asking.min_by_key(|(_, client)| client.deadline()).map(|(index, _)| index)
    }

    fn let_in(&mut self, now: Instant) {
        for _ in 0..ACCEPTS {
            match self.listener.accept() {
                Ok(socket) if self.clients.len() < MAX_CLIENTS => {
                    self.clients.push(Client::new(socket, self.timeout, now));
                }
                Ok(socket) => turn_away(&socket, "too many clients; try again later"),
                // The client has disconnected.
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.closed_until = Some(now + OUT_OF_FILES);
                    return;
                }
            }
        }
    }

    fn is_stopped_within(&self, limit: Duration) -> bool {
        let mut stop = [PollFd::new(&*self.stop, PollFlags::IN)];
        // An interruption only shortens the rest.
        poll(&mut stop, Some(&timespec(limit))).is_ok_and(|ready| ready > 0)
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}
