//! What all commands have in common: the help, and the completions.

use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};

fn heist(args: &[&str], out: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heist"));
    command
        .args(args)
        .stdout(out)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap()
}

#[test]
fn the_help_says_what_each_command_is_for() {
    let output = heist(&["--help"], Stdio::piped());
    let said = String::from_utf8(output.stdout).unwrap();
    for (command, verb) in [
        ("demo", "Show"),
        ("top", "Show"),
        ("doctor", "Say"),
        ("trace", "Work"),
        ("bench", "Measure"),
        ("completions", "Print"),
    ] {
        let is_there = |line: &str| {
            line.trim().strip_prefix(command).is_some_and(|rest| rest.trim().starts_with(verb))
        };
        assert!(said.lines().any(is_there), "{command} in {said}");
    }
}

#[test]
fn completions_are_printed_and_a_failed_write_is_no_panic() {
    let output = heist(&["completions", "bash"], Stdio::piped());
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("complete -F _heist"));

    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = heist(&["completions", "bash"], full.into());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stderr.starts_with(b"heist: No space left"), "{output:?}");

    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let output = heist(&["completions", "zsh"], OwnedFd::from(writer).into());
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}
