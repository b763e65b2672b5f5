//! The thread that serves all clients of a console.
//!
//! It waits in one place, for whatever comes first, and never in the middle of something. All of its
//! memory is bounded: so many clients, so many bytes of answers. So is its time: after each round it
//! rests for three times as long, whatever clients do.

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

/// More at once are turned away. Guessed: `top`, `doctor`, Prometheus and some to spare.
const MAX_CLIENTS: usize = 32;
/// While there are as many bytes of answers to be sent, other requests wait. Guessed.
const MAX_PENDING: usize = 8 << 20;
/// So many connections are taken in one round.
const ACCEPTS: usize = 64;
/// For so long nobody is let in if the system has no descriptor left. Guessed.
const OUT_OF_FILES: Duration = Duration::from_millis(100);
/// After each round the thread rests so many times as long as that took.
const REST: u32 = 3;

pub(super) struct Server {
    listener: Listener,
    stop: Arc<OwnedFd>,
    source: Source,
    timeout: Duration,
    clients: Vec<Client>,
    /// Until then nobody is let in.
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

    /// Until something is ready: first the listener, then the clients. `None`: it is stopped.
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
            // For want of memory: that may pass.
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

    /// One a round, so that nobody waits for more than one answer of another.
    fn answer_one(&mut self, now: Instant) {
        let Some(next) = self.next_to_answer() else { return };
        let client = &mut self.clients[next];
        if let Some(request) = client.request() {
            let answer = answer(&self.source, request, self.listener.is_tcp());
            client.answer(answer, now);
            client.go_on(now);
        }
    }

    /// Who has waited longest, of those who can be answered: there is room for so much, and for one file.
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
                // Whoever it was has gone again.
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
        // An interruption makes it shorter, that is all.
        poll(&mut stop, Some(&timespec(limit))).is_ok_and(|ready| ready > 0)
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 })
}
