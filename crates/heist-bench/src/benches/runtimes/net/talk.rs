//! What a client says on its connection, and what it wants to hear.

use std::io;

use super::http::GREETING;

/// One request after another, each with its reply.
pub trait Talk {
    /// Whether the server closes the connection after the reply, and the next request has a new
    /// one.
    const ONE_EACH: bool = false;

    /// The request that is to be sent, or has been.
    fn request(&self) -> &[u8];

    /// The next request is another one.
    fn turn(&mut self) {}

    /// Room for a reply, and no more than that if it is known how long one is.
    fn room(&self) -> usize;

    /// Whether `heard` is the whole reply to the request.
    fn is_whole(&mut self, heard: &[u8]) -> io::Result<bool>;
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Messages that come back as they were. Each is numbered, so that none is taken for another.
pub struct Echo {
    message: Box<[u8]>,
    turns: u64,
}

impl Echo {
    /// Creates the talk of connection `number`.
    pub fn new(size: usize, number: u64) -> Self {
        assert!(size >= 16, "Echo::new: a message has two numbers in it, and so 16 bytes or more");
        let mut message: Box<[u8]> = (0..size).map(|at| at as u8).collect();
        message[..8].copy_from_slice(&number.to_le_bytes());
        Echo { message, turns: 0 }
    }
}

impl Talk for Echo {
    fn request(&self) -> &[u8] {
        &self.message
    }

    fn turn(&mut self) {
        self.turns += 1;
        let number = self.message.len() - 8;
        self.message[number..].copy_from_slice(&self.turns.to_le_bytes());
    }

    fn room(&self) -> usize {
        self.message.len()
    }

    fn is_whole(&mut self, heard: &[u8]) -> io::Result<bool> {
        if heard.len() < self.message.len() {
            return Ok(false);
        }
        if *heard != *self.message {
            return Err(wrong("what came back is not what was sent"));
        }
        Ok(true)
    }
}

/// A byte there, a byte back, and the connection is over.
pub struct Once {
    byte: [u8; 1],
}

impl Once {
    /// Creates the talk of client `number`.
    pub fn new(number: u64) -> Self {
        Once { byte: [number as u8] }
    }
}

impl Talk for Once {
    const ONE_EACH: bool = true;

    fn request(&self) -> &[u8] {
        &self.byte
    }

    fn turn(&mut self) {
        self.byte[0] = self.byte[0].wrapping_add(1);
    }

    /// One more than is right, so that the end of the connection can be read.
    fn room(&self) -> usize {
        2
    }

    fn is_whole(&mut self, heard: &[u8]) -> io::Result<bool> {
        if heard.is_empty() {
            return Ok(false);
        }
        if *heard != self.byte {
            return Err(wrong("what came back is not what was sent"));
        }
        Ok(true)
    }
}

/// Requests for a page that says hello, the connection kept alive.
#[derive(Default)]
pub struct Http {
    /// How long a response is: all are as long as the first.
    length: Option<usize>,
}

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const STATUS: &str = "HTTP/1.1 200 OK\r\n";

impl Talk for Http {
    fn request(&self) -> &[u8] {
        REQUEST.as_bytes()
    }

    fn room(&self) -> usize {
        4096
    }

    fn is_whole(&mut self, heard: &[u8]) -> io::Result<bool> {
        let length = match self.length {
            Some(length) => length,
            None => match length_of(heard)? {
                Some(length) => *self.length.insert(length),
                None => return Ok(false),
            },
        };
        if heard.len() < length {
            return Ok(false);
        }
        let is_right = heard.len() == length
            && heard.starts_with(STATUS.as_bytes())
            && heard.ends_with(GREETING.as_bytes());
        if is_right { Ok(true) } else { Err(wrong("a response that is not the expected one")) }
    }
}

/// Returns the length of the response that begins with `heard`, once all of its headers are there.
fn length_of(heard: &[u8]) -> io::Result<Option<usize>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(end) = heard.windows(END.len()).position(|bytes| bytes == END) else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(&heard[..end]);
    let length = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, length)| length.trim().parse::<usize>().ok());
    match length {
        Some(length) => Ok(Some(end + END.len() + length)),
        None => Err(wrong("a response that does not say how long it is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_is_whole_when_all_of_it_is_there_and_nothing_else_passes() {
        let mut echo = Echo::new(64, 7);
        let message = echo.request().to_vec();
        assert!(!echo.is_whole(&message[..63]).unwrap());
        assert!(echo.is_whole(&message).unwrap());
        // The reply to the request before, and that of another connection.
        echo.turn();
        assert!(echo.is_whole(&message).is_err());
        assert!(Echo::new(64, 8).is_whole(&message).is_err());
    }

    #[test]
    fn a_byte_comes_back_alone() {
        let mut once = Once::new(255);
        assert!(!once.is_whole(&[]).unwrap());
        assert!(once.is_whole(&[255]).unwrap());
        assert!(once.is_whole(&[255, 255]).is_err());
        once.turn();
        assert!(once.is_whole(&[0]).unwrap());
        assert!(once.is_whole(&[255]).is_err());
    }

    #[test]
    fn responses_are_whole_when_the_body_is() {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\ndate: now\r\n\r\nHello, World!";
        let mut http = Http::default();
        // The second time it knows how long they are.
        for _ in 0..2 {
            for end in 0..response.len() {
                assert!(!http.is_whole(&response.as_bytes()[..end]).unwrap(), "{end}");
            }
            assert!(http.is_whole(response.as_bytes()).unwrap());
        }
    }

    #[test]
    fn other_responses_are_refused() {
        for response in [
            "HTTP/1.1 500 OK\r\ncontent-length: 13\r\n\r\nHello, World!",
            "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nHello, world?",
            "HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\nHello, World!Hello, World!",
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nHello, World!",
        ] {
            assert!(Http::default().is_whole(response.as_bytes()).is_err(), "{response}");
        }
    }
}
