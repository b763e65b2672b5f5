//! The necessary part of HTTP/1.1: one `GET`, and its answer.

use std::fmt::Write;

/// The maximal length of a request with its headers. Guessed: `curl` needs a hundred bytes.
pub(super) const MAX_REQUEST: usize = 8 * 1024;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) path: String,
    /// The parameters, in their order.
    pub(super) parameters: Vec<(String, String)>,
    /// The name of this machine in the request.
    pub(super) host: Option<String>,
}

/// The error of a request: a status and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: Status,
    pub(super) sentence: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    RequestTimeout,
    TooLarge,
    Unavailable,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::BadRequest => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::MethodNotAllowed => "405 Method Not Allowed",
            Status::RequestTimeout => "408 Request Timeout",
            Status::TooLarge => "413 Content Too Large",
            Status::Unavailable => "503 Service Unavailable",
        }
    }
}

pub(super) fn refuse(status: Status, sentence: impl Into<String>) -> Refusal {
    Refusal { status, sentence: sentence.into() }
}

/// Parses a request. Returns `None` if it is incomplete.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let Some(end) = end_of_head(bytes) else {
        return if bytes.len() < MAX_REQUEST { Ok(None) } else { Err(too_large()) };
    };
    if end > MAX_REQUEST {
        return Err(too_large());
    }
    let no_http = || refuse(Status::BadRequest, "this is no HTTP; ask for http://…/ with GET");
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| no_http())?;
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(no_http());
    };
    if !version.starts_with("HTTP/1.") || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Err(no_http());
    }
    if method != "GET" {
        let sentence = format!("{method}: there is nothing to change here; use GET");
        return Err(refuse(Status::MethodNotAllowed, sentence));
    }
    let host = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, value)| value.trim().to_owned());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let bad =
        || refuse(Status::BadRequest, "a % in the address must be followed by two hex digits");
    let path = decode(path, false).ok_or_else(bad)?;
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let parameters = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode(name, true)?, decode(value, true)?))
    });
    let parameters = parameters.collect::<Option<_>>().ok_or_else(bad)?;
    Ok(Some(Request { path, parameters, host }))
}

fn too_large() -> Refusal {
    refuse(Status::TooLarge, format!("a request has at most {MAX_REQUEST} bytes here"))
}

/// The end of the empty line that ends the head. Lines may end with a bare line feed.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let feeds = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let is_empty =
        |at: &usize| bytes[at + 1..].starts_with(b"\n") || bytes[at + 1..].starts_with(b"\r\n");
    let at = feeds.into_iter().find(is_empty)?;
    Some(at + if bytes[at + 1] == b'\n' { 2 } else { 3 })
}

/// Decodes percent-encoding. A plus is a space in parameters.
fn decode(text: &str, is_parameter: bool) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                (digit()? * 16 + digit()?) as u8
            }
            b'+' if is_parameter => b' ',
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

/// Whether a host name refers to this machine and cannot be made to by others.
pub(super) fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The head of an answer with a body of this length.
pub(super) fn head(status: Status, content_type: &str, length: u64) -> String {
    let mut head = format!("HTTP/1.1 {}\r\n", status.line());
    let _ = write!(head, "Content-Type: {content_type}\r\nContent-Length: {length}\r\n");
    if status == Status::MethodNotAllowed {
        head.push_str("Allow: GET\r\n");
    }
    head.push_str("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n");
    head.push_str("Connection: close\r\n\r\n");
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> Status {
        parse(request).unwrap_err().status
    }

    #[test]
    fn a_request_is_read_whole_or_not_at_all() {
        let request =
            b"GET /v1/snapshot?tasks=3&filter=a%20b+c%C3%A9 HTTP/1.1\r\nhOST: here\r\n\r\n";
        for end in 0..request.len() {
            assert_eq!(parse(&request[..end]), Ok(None), "{end}");
        }
        let parsed = parse(request).unwrap().unwrap();
        assert_eq!((parsed.path.as_str(), parsed.host.as_deref()), ("/v1/snapshot", Some("here")));
        let parameters = [("tasks", "3"), ("filter", "a b cé")];
        assert_eq!(parsed.parameters, parameters.map(|(n, v)| (n.to_owned(), v.to_owned())));
        assert!(parse(b"GET / HTTP/1.0\n\n").unwrap().is_some());
    }

    #[test]
    fn errors_are_reported() {
        assert_eq!(status(b"\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"GET /\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"GET  / HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"GET / HTTP/2\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"GET /% HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"GET /?a=%ff HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"\xff\xfe / HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"get / HTTP/1.1\r\n\r\n"), Status::BadRequest);
        assert_eq!(status(b"POST / HTTP/1.1\r\n\r\n"), Status::MethodNotAllowed);
        assert_eq!(status(&[b'x'; MAX_REQUEST]), Status::TooLarge);
    }

    #[test]
    fn only_loopback_names_are_ours() {
        for ours in ["localhost", "LocalHost:9", "127.0.0.1:9", "127.9.9.9", "[::1]:9", "[::1]"] {
            assert!(is_loopback_name(ours), "{ours}");
        }
        for foreign in
            ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", "[::2]"]
        {
            assert!(!is_loopback_name(foreign), "{foreign}");
        }
    }
}
