//! The program in a terminal, looking at a runtime of this process.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use heist::console::Config;
use heist::runtime::{Builder, Runtime};
use rustix::process::Signal;

use crate::support::{command, heist, scratch, stderr, stdout};
use crate::terminal::Terminal;

/// A runtime with a console, and a few tasks that have something to do.
fn program(socket: &Path) -> Runtime {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .console(Config::unix(socket))
        .build()
        .expect("a runtime with a console");
    let _guard = runtime.enter();
    for name in ["parser", "writer", "ticker"] {
        let work = async {
            loop {
                heist::time::sleep(Duration::from_millis(1)).await;
            }
        };
        heist::task::Builder::new().name(name).spawn(work).expect("spawns");
    }
    drop(_guard);
    runtime
}

/// A path for a socket: short, whatever the path of the repository.
fn socket(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("heist-top-{}-{name}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn keys_work_sizes_change_and_q_leaves_the_terminal_as_it_was() {
    let socket = socket("keys");
    let _program = program(&socket);
    let target = socket.to_str().unwrap();
    let Some(mut terminal) = Terminal::start(&["top", target, "-i", "0.1"], 120, 40) else {
        return;
    };
    for text in ["heist top", "workers", "parser", "writer", "poll time", "stalls", "● every 0.1 s"]
    {
        terminal.wait_for(text);
    }
    terminal.press("s");
    terminal.wait_for("▾ busy time");
    terminal.press("r");
    terminal.wait_for("▴ busy time");
    terminal.press("/pars");
    terminal.wait_for("filter: pars");
    terminal.wait_without("writer");
    terminal.press("\r");
    terminal.wait_for("with \"pars\"");
    terminal.press("?");
    terminal.wait_for("this help");
    terminal.press("\x1b");
    terminal.wait_without("this help");
    terminal.press("p");
    terminal.wait_for("paused");
    terminal.press("p");
    terminal.wait_for("● every");
    terminal.resize(60, 16);
    terminal.press("\t\t");
    terminal.wait_for("poll time");
    terminal.press("q");
    assert_eq!(terminal.end().code(), Some(0));
}

/// Neither the one nor the other waits for what comes next.
#[test]
fn keys_that_come_together_with_a_new_size_are_read() {
    let socket = socket("together");
    let _program = program(&socket);
    let target = socket.to_str().unwrap();
    let Some(mut terminal) = Terminal::start(&["top", target, "-i", "0.1"], 100, 30) else {
        return;
    };
    terminal.wait_for("● every 0.1 s");
    let (large, small) = ((100, 30, "paused"), (60, 16, "● every"));
    for (columns, rows, text) in [large, small].into_iter().cycle().take(20) {
        // While it stands still both of them come.
        terminal.send(Signal::STOP);
        terminal.resize(columns, rows);
        terminal.press("p");
        terminal.send(Signal::CONT);
        terminal.wait_for(text);
        match columns {
            60 => terminal.wait_for(" tasks  workers  histograms  stalls"),
            _ => terminal.wait_without(" tasks  workers  histograms  stalls"),
        }
    }
    terminal.press("q");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_program_that_ends_is_waited_for_and_ctrl_c_quits() {
    let socket = socket("ends");
    let program = self::program(&socket);
    let target = socket.to_str().unwrap();
    let Some(mut terminal) = Terminal::start(&["top", target, "-i", "0.1"], 100, 30) else {
        return;
    };
    terminal.wait_for("parser");
    drop(program);
    terminal.wait_for("connection lost, retrying");
    // What was last known stays. That may be without tasks: of a runtime that was about to end.
    assert!(terminal.screen().contains("poll time"), "{}", terminal.screen());
    let _program = self::program(&socket);
    terminal.wait_for("● every 0.1 s");
    terminal.press("\x03");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_program_that_does_not_answer_is_shown_and_a_signal_restores_the_terminal() {
    let socket = socket("silent");
    let _silent = UnixListener::bind(&socket).unwrap();
    let target = socket.to_str().unwrap();
    let Some(mut terminal) = Terminal::start(&["top", target, "-i", "0.1"], 80, 24) else { return };
    terminal.wait_for("no answer for");
    terminal.press("?");
    terminal.wait_for("this help");
    terminal.send(Signal::TERM);
    assert_eq!(terminal.end().code(), Some(128 + 15));
    std::fs::remove_file(&socket).unwrap();
}

#[test]
fn once_prints_a_table() {
    let socket = socket("once");
    let _program = program(&socket);
    let target = socket.to_str().unwrap();
    let output = heist(&["top", target, "--once", "-i", "0.2", "--filter", "par", "--sort", "id"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    for part in ["2 workers", "worker  seat", "parser", "poll time  p50", "delay      p50"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Workers may run any task; of the list, the filter lets one through.
    let listed: Vec<&str> = text.lines().filter(|line| line.contains("live.rs")).collect();
    assert!(matches!(listed[..], [line] if line.contains("parser")), "{text}");
}

#[test]
fn without_a_terminal_it_points_to_once() {
    let output = heist(&["top", "no/such.sock"]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
    assert!(stderr(&output).contains("--once"), "{}", stderr(&output));
}

#[test]
fn without_a_program_it_says_how_to_have_one() {
    let empty = scratch("top-no-program");
    let output = command().args(["top", "--once"]).env("XDG_RUNTIME_DIR", &empty).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("HEIST_CONSOLE=1"), "{}", stderr(&output));
    let gone = socket("gone");
    let target = gone.to_str().unwrap();
    let output = heist(&["top", target, "--once"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains(target), "{}", stderr(&output));
    // In a terminal as well, and without a change of the screen.
    let Some(mut terminal) = Terminal::start(&["top", target], 300, 24) else { return };
    terminal.wait_for("nobody answers at");
    assert_eq!(terminal.end().code(), Some(2));
}

#[test]
fn intervals_that_make_no_sense_are_refused() {
    for interval in ["0", "-1", "NaN", "soon", "1e9"] {
        let output = heist(&["top", &format!("--interval={interval}")]);
        assert_eq!(output.status.code(), Some(2), "{interval}");
        assert!(stderr(&output).contains("--interval"), "{}", stderr(&output));
    }
}
