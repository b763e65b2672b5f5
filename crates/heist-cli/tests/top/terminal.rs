//! A program in a terminal: a pseudo-terminal with an emulator behind it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// Long enough for the slowest machine: this only ends tests that would never end.
const GIVE_UP: Duration = Duration::from_secs(180);

/// A child that had this end too would never be told that its terminal is gone.
const FLAGS: OpenptFlags = OpenptFlags::RDWR.union(OpenptFlags::NOCTTY).union(OpenptFlags::CLOEXEC);

/// A terminal with a program in it.
pub struct Terminal {
    keyboard: File,
    /// The side that programs see, kept open so that what they leave behind can be looked at.
    inside: File,
    output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    child: Child,
    before: Termios,
}

impl Terminal {
    /// Starts `heist` with these arguments; None, with a message, where a program that this needs
    /// is missing.
    pub fn start(args: &[&str], columns: u16, rows: u16) -> Option<Terminal> {
        let controller = openpt(FLAGS).expect("a terminal");
        grantpt(&controller).expect("a terminal");
        unlockpt(&controller).expect("a terminal");
        let name = ptsname(&controller, Vec::new()).expect("a terminal has a name");
        let path = std::ffi::OsString::from_vec(name.into_bytes());
        let inside = OpenOptions::new().read(true).write(true).open(path).expect("opens");
        tcsetwinsize(&controller, size(columns, rows)).expect("has a size");
        let before = tcgetattr(&inside).expect("is a terminal");
        let keyboard = File::from(controller);
        let output = listen(keyboard.try_clone().expect("can be shared"));
        let end = || OwnedFd::from(inside.try_clone().expect("can be shared"));
        // In a session of its own, so that it is told when the terminal changes its size.
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(env!("CARGO_BIN_EXE_heist")).args(args);
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color");
        let child = match command.stdin(end()).stdout(end()).stderr(end()).spawn() {
            Ok(child) => child,
            Err(error) => {
                eprintln!("skipped: setsid cannot be run ({error})");
                return None;
            }
        };
        let emulator = vt100::Parser::new(rows, columns, 0);
        Some(Terminal { keyboard, inside, output, emulator, child, before })
    }

    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal is there");
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.emulator.set_size(rows, columns);
        tcsetwinsize(&self.keyboard, size(columns, rows)).expect("can be resized");
    }

    pub fn send(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it runs");
    }

    /// Waits until the screen shows `text`.
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen no longer shows `text`.
    pub fn wait_without(&mut self, text: &str) {
        self.wait_until(text, |screen| !screen.contains(text));
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&str) -> bool) {
        let start = Instant::now();
        while !is_so(&self.screen()) {
            assert!(start.elapsed() < GIVE_UP, "waiting for {what:?}:\n{}", self.screen());
            match self.output.recv_timeout(Duration::from_millis(100)) {
                Ok(bytes) => self.emulator.process(&bytes),
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => panic!("gone:\n{}", self.screen()),
            }
        }
    }

    pub fn screen(&self) -> String {
        self.emulator.screen().contents()
    }

    /// Waits until the program has ended, and looks whether the terminal is as it was.
    pub fn end(mut self) -> ExitStatus {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("can be waited for") {
                break status;
            }
            assert!(start.elapsed() < GIVE_UP, "does not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(10));
        };
        // All that it has written before its end is on its way.
        self.inside.write_all(b"\r\nthe end").expect("the terminal is there");
        self.wait_for("the end");
        let screen = self.emulator.screen();
        assert!(!screen.alternate_screen(), "the screen of before is back");
        assert!(!screen.hide_cursor(), "the cursor is back");
        let after = tcgetattr(&self.inside).expect("is a terminal");
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn listen(mut screen: File) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = screen.read(&mut buffer) {
            if sender.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}
