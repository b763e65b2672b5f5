//! What the tests share.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program.
pub fn heist(args: &[&str]) -> Output {
    command().args(args).output().expect("starts")
}

/// The program, to be started; what is set for it outside is not.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heist"));
    for name in ["NO_COLOR", "HEIST_CONSOLE", "HEIST_TRACE", "HEIST_WORKERS"] {
        command.env_remove(name);
    }
    command
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("prints UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("prints UTF-8")
}

/// A file that is part of the tests.
pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Compares with a file that is part of the tests; with `UPDATE_GOLDEN` set, writes it.
pub fn assert_golden(name: &str, text: &str) {
    let path = golden(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("the file can be written");
    }
    let expected = fs::read_to_string(&path).expect("the file can be read");
    assert!(text == expected, "{name} should be\n{expected}\nand is\n{text}");
}

/// A directory for this test alone, empty.
pub fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory for tests can be made");
    path
}
