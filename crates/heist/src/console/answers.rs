//! The answers to requests.

use super::http::{self, Refusal, Request, Status, refuse};
use super::source::Source;
use super::{prometheus, snapshot, trace};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::FileExt;

const TEXT: &str = "text/plain; charset=utf-8";

const INDEX: &str = "\
The console of a heist runtime. There is:

/metrics      what the runtime counts, for Prometheus
/v1/snapshot  workers, tasks and stalls as JSON; ?tasks=100&sort=busy|polls|delay|id&filter=TEXT
/v1/trace     what the workers did lately, a file for `heist doctor` and `heist trace convert`
";

/// The part of a file that is in memory at a time.
const PIECE: usize = 64 * 1024;

/// An answer that is being sent.
pub(super) struct Answer {
    /// What is sent next.
    bytes: Vec<u8>,
    sent: usize,
    file: Option<Rest>,
}

/// The rest of a file.
struct Rest {
    file: File,
    at: u64,
    length: u64,
}

impl Answer {
    fn new(status: Status, content_type: &str, body: &str) -> Self {
        let mut bytes = http::head(status, content_type, body.len() as u64).into_bytes();
        bytes.extend_from_slice(body.as_bytes());
        Answer { bytes, sent: 0, file: None }
    }

    /// An answer with a whole file.
    fn of_file(file: File, length: u64) -> Self {
        let head = http::head(Status::Ok, "application/octet-stream", length);
        Answer { bytes: head.into_bytes(), sent: 0, file: Some(Rest { file, at: 0, length }) }
    }

    pub(super) fn refusal(refusal: Refusal) -> Self {
        Self::new(refusal.status, TEXT, &format!("{}\n", refusal.sentence))
    }

    /// The memory that it needs.
    pub(super) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it needs disk space.
    pub(super) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Sends as much as `send` accepts, and returns whether that was all.
    pub(super) fn send(
        &mut self,
        send: impl FnOnce(&[u8]) -> rustix::io::Result<usize>,
    ) -> rustix::io::Result<bool> {
        match send(&self.bytes[self.sent..]) {
            Ok(sent) => self.sent += sent,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
            Err(error) => return Err(error),
        }
        if self.sent < self.bytes.len() {
            return Ok(false);
        }
        match &mut self.file {
            None => Ok(true),
            Some(rest) => {
                self.sent = 0;
                rest.read(&mut self.bytes)?;
                Ok(self.bytes.is_empty())
            }
        }
    }
}

impl Rest {
    /// The next piece, or nothing at the end. A file that ends early is an error, because the
    /// client must not take it for a whole one.
    fn read(&mut self, piece: &mut Vec<u8>) -> rustix::io::Result<()> {
        let length = (self.length - self.at).min(PIECE as u64);
        piece.resize(length as usize, 0);
        self.file.read_exact_at(piece, self.at).map_err(|_| Errno::IO)?;
        self.at += length;
        Ok(())
    }
}

/// The answer to a request. Over TCP, requests that a web page may have made a browser send are
/// refused.
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
            let query = snapshot::Query::from_parameters(&request.parameters)?;
            Ok(Answer::new(Status::Ok, "application/json", &snapshot::text(source, &query)))
        }
        trace::PATH => {
            let (file, length) = trace::dump(&source.scheduler)?;
            Ok(Answer::of_file(file, length))
        }
        _ => {
            Err(refuse(Status::NotFound, "there is nothing of that name; ask for / to see what is"))
        }
    }
}
