//! What a command can be told: each of it reaches the child.

use heist::process::Command;
use heist::runtime::{Builder, Runtime};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

fn rt() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

/// What it prints.
fn said(command: &mut Command) -> String {
    let output = rt().block_on(async { command.output().await.unwrap() });
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn arguments() {
    let mut command = Command::new("printf");
    command.arg("%s,").args(["one", "two words"]).args(vec![String::from("$three")]);
    assert_eq!(said(&mut command), "one,two words,$three,");
}

#[test]
fn environment() {
    let mut command = sh("echo ${ONE-none} ${TWO-none} ${THREE-none} ${PATH:+path}");
    command.env("ONE", "1").envs([("TWO", "2"), ("THREE", "3")]);
    assert_eq!(said(&mut command), "1 2 3 path");
    command.env_remove("TWO");
    assert_eq!(said(&mut command), "1 none 3 path");
    let mut command = Command::new("/usr/bin/env");
    command.env_clear().env("ONLY", "this");
    assert_eq!(said(&mut command), "ONLY=this");
}

#[test]
fn directory_and_name() {
    assert_eq!(said(Command::new("pwd").current_dir("/usr")), "/usr");
    assert_eq!(said(sh("echo $0").arg0("another")), "another");
}

#[test]
fn process_group() {
    let group = "cut -d' ' -f5 /proc/$$/stat; echo $$";
    let own = said(sh(group).process_group(0));
    let (group_id, pid) = own.split_once('\n').unwrap();
    assert_eq!(group_id, pid);
    let ours = said(&mut sh(group));
    assert_ne!(ours.split_once('\n').unwrap().0, ours.split_once('\n').unwrap().1);
}

#[test]
fn user_and_group() {
    if !rustix::process::getuid().is_root() {
        eprintln!("skipped: only root may become somebody else");
        return;
    }
    let ids = said(Command::new("id").uid(65_534).gid(65_534));
    assert!(ids.starts_with("uid=65534") && ids.contains("gid=65534"), "{ids}");
}

#[test]
fn before_it_begins() {
    let mut command = sh("umask");
    // SAFETY: (FFI) umask may be called in a child that was forked.
    unsafe {
        command.pre_exec(|| {
            rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o027));
            Ok(())
        })
    };
    assert_eq!(said(&mut command), "0027");
    // SAFETY: (FFI) it does nothing at all.
    unsafe { command.pre_exec(|| Err(io::Error::from_raw_os_error(libc::EDOM))) };
    let error = rt().block_on(async { command.spawn().unwrap_err() });
    assert_eq!(error.raw_os_error(), Some(libc::EDOM));
}

#[test]
fn to_std_and_back() {
    let mut std = std::process::Command::new("sh");
    std.arg("-c").arg0("renamed").stdout(Stdio::null());
    let mut command = Command::from(std);
    assert!(!command.get_kill_on_drop());
    command.as_std_mut().arg("echo $0");
    assert_eq!(command.as_std().get_program(), "sh");
    assert_eq!(said(&mut command), "renamed");
    let output = command.into_std().output().unwrap();
    assert_eq!(output.stdout, b"renamed\n");
}

/// One command, several processes.
#[test]
fn a_command_can_be_used_again() {
    let mut command = sh("echo $$");
    let first = said(&mut command);
    assert_ne!(said(&mut command), first);
    rt().block_on(async {
        let both = heist::join!(command.output(), command.output());
        assert_ne!(both.0.unwrap().stdout, both.1.unwrap().stdout);
    });
}

/// The future does not borrow the command, so that this compiles.
#[test]
fn futures_do_not_borrow_the_command() {
    rt().block_on(async {
        let status = Command::new("true").status();
        let output = Command::new("echo").output();
        assert!(status.await.unwrap().success() && output.await.unwrap().status.success());
    });
}
