//! One request, one answer.

use super::{Endpoint, LiveError};
use heist::console::Address;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Guessed: a console that sends nothing for this long will not answer at all.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A head is no longer than that, and neither is a text. A console's are far shorter.
const MAX_HEAD: u64 = 16 << 10;
const MAX_TEXT: u64 = 64 << 20;

/// The answer to a request for a text.
pub(super) fn get_text(endpoint: &Endpoint, target: &str) -> Result<String, LiveError> {
    let mut bytes = Vec::new();
    request(endpoint, target, &mut bytes, MAX_TEXT)?;
    String::from_utf8(bytes).map_err(|_| strange(endpoint, "it is no text".into()))
}

/// Writes the answer to a request; how many bytes that was.
pub(super) fn get(
    endpoint: &Endpoint,
    target: &str,
    out: &mut impl Write,
) -> Result<u64, LiveError> {
    request(endpoint, target, out, u64::MAX)
}

fn request(
    endpoint: &Endpoint,
    target: &str,
    out: &mut impl Write,
    limit: u64,
) -> Result<u64, LiveError> {
    let mut stream = BufReader::new(connect(endpoint)?);
    let host = match &endpoint.address {
        Address::Tcp(address) => address.to_string(),
        _ => "heist".into(),
    };
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let broken = |error| LiveError::Broken { endpoint: endpoint.clone(), error };
    // A server that rejects the client may not read the request; its answer still arrives.
    let _ = stream.get_mut().write_all(request.as_bytes());
    let (status, length) = read_head(endpoint, &mut stream)?;
    if status != 200 {
        let mut sentence = Vec::new();
        stream.take(MAX_HEAD).read_to_end(&mut sentence).map_err(broken)?;
        let sentence = String::from_utf8_lossy(&sentence).trim().to_owned();
        return Err(LiveError::Refused { endpoint: endpoint.clone(), status, sentence });
    }
    if length > limit {
        return Err(strange(endpoint, format!("it has {length} bytes")));
    }
    copy(endpoint, &mut stream.take(length), out, length)
}

/// Tells a connection that breaks from a file that cannot be written.
fn copy(
    endpoint: &Endpoint,
    body: &mut impl BufRead,
    out: &mut impl Write,
    length: u64,
) -> Result<u64, LiveError> {
    let broken = |error| LiveError::Broken { endpoint: endpoint.clone(), error };
    let mut copied = 0;
    loop {
        let piece = match body.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other.map_err(broken)?,
        };
        if piece.is_empty() {
            break;
        }
        out.write_all(piece).map_err(LiveError::Output)?;
        let read = piece.len();
        copied += read as u64;
        body.consume(read);
    }
    if copied < length {
        return Err(broken(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(copied)
}

trait Stream: Read + Write {}
impl Stream for UnixStream {}
impl Stream for TcpStream {}

fn connect(endpoint: &Endpoint) -> Result<Box<dyn Stream>, LiveError> {
    let unreachable = |error| LiveError::Unreachable { endpoint: endpoint.clone(), error };
    let connect = || -> io::Result<Box<dyn Stream>> {
        Ok(match &endpoint.address {
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                Box::new(stream)
            }
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, TIMEOUT)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_write_timeout(Some(TIMEOUT))?;
                Box::new(stream)
            }
            _ => return Err(io::ErrorKind::Unsupported.into()),
        })
    };
    connect().map_err(unreachable)
}

/// The status, and how many bytes follow.
fn read_head(endpoint: &Endpoint, stream: &mut impl BufRead) -> Result<(u16, u64), LiveError> {
    let broken = |error| LiveError::Broken { endpoint: endpoint.clone(), error };
    let mut head = stream.take(MAX_HEAD);
    let mut line = |line: &mut Vec<u8>| {
        line.clear();
        head.read_until(b'\n', line).map_err(broken)
    };
    let mut bytes = Vec::new();
    line(&mut bytes)?;
    if bytes.is_empty() {
        return Err(broken(io::ErrorKind::UnexpectedEof.into()));
    }
    let first = String::from_utf8_lossy(&bytes).into_owned();
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    let no_http = || strange(endpoint, "it is no HTTP".into());
    let status = status.ok_or_else(no_http)?;
    let mut length = None;
    loop {
        line(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        match text.trim() {
            "" if bytes.is_empty() => return Err(no_http()),
            "" => break,
            header => {
                if let Some((name, value)) = header.split_once(':') {
                    if name.eq_ignore_ascii_case("content-length") {
                        length = value.trim().parse().ok();
                    }
                }
            }
        }
    }
    let length =
        length.ok_or_else(|| strange(endpoint, "it does not say how long it is".into()))?;
    Ok((status, length))
}

fn strange(endpoint: &Endpoint, why: String) -> LiveError {
    LiveError::NotUnderstood { endpoint: endpoint.clone(), why }
}

/// Encodes a text for a URL: all characters that may have a meaning there.
pub(super) fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(byte.into());
            }
            other => _ = write!(encoded, "%{other:02X}"),
        }
        encoded
    })
}
