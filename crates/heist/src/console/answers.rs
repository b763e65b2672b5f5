//! Which request is answered how.

use super::http::{self, Refusal, Request, Status, refuse};
use super::source::Source;
use super::{prometheus, snapshot};
use rustix::io::Errno;

const TEXT: &str = "text/plain; charset=utf-8";

const INDEX: &str = "\
The console of a heist runtime. There is:

/metrics      what the runtime counts, for Prometheus
/v1/snapshot  workers, tasks and stalls as JSON; ?tasks=100&sort=busy|polls|delay|id&filter=TEXT
";

/// An answer on its way.
pub(super) struct Answer {
    bytes: Vec<u8>,
    sent: usize,
}

impl Answer {
    fn new(status: Status, content_type: &str, body: &str) -> Self {
        let mut bytes = http::head(status, content_type, body.len() as u64).into_bytes();
        bytes.extend_from_slice(body.as_bytes());
        Answer { bytes, sent: 0 }
    }

    pub(super) fn refusal(refusal: Refusal) -> Self {
        Self::new(refusal.status, TEXT, &format!("{}\n", refusal.sentence))
    }

    /// How much memory it takes.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Sends as much as `send` takes; whether that was all.
    pub(super) fn send(
        &mut self,
        send: impl FnOnce(&[u8]) -> rustix::io::Result<usize>,
    ) -> rustix::io::Result<bool> {
        match send(&self.bytes[self.sent..]) {
            Ok(sent) => self.sent += sent,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        Ok(self.sent == self.bytes.len())
    }
}

/// The answer to a request; over TCP whoever can make a browser ask must not get one.
pub(super) fn answer(source: &Source, request: &Request, is_tcp: bool) -> Answer {
    try_answer(source, request, is_tcp).unwrap_or_else(Answer::refusal)
}

fn try_answer(source: &Source, request: &Request, is_tcp: bool) -> Result<Answer, Refusal> {
    if is_tcp && !request.host.as_deref().is_some_and(http::is_loopback_name) {
        let sentence = "ask for this machine by the name localhost, or by its loopback address";
        return Err(refuse(Status::Forbidden, sentence));
    }
    match request.path.as_str() {
        "/" => Ok(Answer::new(Status::Ok, TEXT, INDEX)),
        "/metrics" => Ok(Answer::new(Status::Ok, prometheus::TYPE, &prometheus::text(source))),
        "/v1/snapshot" => {
            let wish = snapshot::Wish::from_parameters(&request.parameters)?;
            Ok(Answer::new(Status::Ok, "application/json", &snapshot::text(source, &wish)))
        }
        _ => {
            Err(refuse(Status::NotFound, "there is nothing of that name; ask for / to see what is"))
        }
    }
}
