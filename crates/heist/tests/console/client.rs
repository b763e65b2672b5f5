//! Runtimes with a console, and clients.

use heist::console::{Address, Config};
use heist::runtime::{Builder, Runtime};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A runtime with a console, and where that is.
pub struct Asked {
    pub rt: Runtime,
    pub address: Address,
    /// The directory of its socket.
    pub dir: TempDir,
}

pub fn start(config: impl FnOnce(PathBuf) -> Config, build: impl FnOnce(&mut Builder)) -> Asked {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().console(config(dir.path().join("console")));
    build(&mut builder);
    let rt = builder.build().unwrap();
    let address = rt.handle().console_address().unwrap().clone();
    Asked { rt, address, dir }
}

/// Starts a runtime that is patient with clients on a slow machine.
pub fn started() -> Asked {
    start(|path| Config::unix(path).client_timeout(Duration::MAX), |_| {})
}

pub trait Stream: Read + Write + Send {}
impl Stream for UnixStream {}
impl Stream for TcpStream {}

pub fn connect(address: &Address) -> Box<dyn Stream> {
    match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path).unwrap()),
        Address::Tcp(address) => Box::new(TcpStream::connect(address).unwrap()),
        other => panic!("{other:?}"),
    }
}

/// What is answered to these bytes. The connection may break at any time.
pub fn talk(address: &Address, bytes: &[u8]) -> String {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    answer(&mut stream)
}

/// All that comes until the connection ends.
pub fn answer(stream: &mut impl Read) -> String {
    String::from_utf8(bytes(stream)).unwrap()
}

fn bytes(stream: &mut impl Read) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..read]);
    }
    bytes
}

/// The file that is the answer to a `GET`.
pub fn file(address: &Address, target: &str) -> Vec<u8> {
    let mut stream = connect(address);
    write!(stream, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = bytes(&mut stream);
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let file = answer.split_off(end);
    let head = String::from_utf8(answer).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", file.len())), "{head}");
    file
}

/// The status of an answer, and its body. Its length must be what it says.
pub fn read(answer: &str) -> (u16, &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
    assert_eq!(length.parse(), Ok(body.len()));
    (head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap(), body)
}

/// The status and the body of the answer to a `GET`.
pub fn ask(address: &Address, target: &str) -> (u16, String) {
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = talk(address, request.as_bytes());
    let (status, body) = read(&answer);
    (status, body.to_owned())
}

pub fn get(address: &Address, target: &str) -> String {
    let (status, body) = ask(address, target);
    assert_eq!(status, 200, "{body}");
    body
}

pub fn snapshot(address: &Address, query: &str) -> Value {
    serde_json::from_str(&get(address, &format!("/v1/snapshot?{query}"))).unwrap()
}

/// Asks until `is_so`; the console has to answer each time.
pub fn until(address: &Address, query: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    loop {
        let snapshot = snapshot(address, query);
        if is_so(&snapshot) {
            return snapshot;
        }
        std::thread::yield_now();
    }
}
