//! What things are called, on the screen and in the plain table.

use crate::live::{Stall, StallCause, TaskState, WorkerState};

pub fn worker_state(state: WorkerState) -> &'static str {
    match state {
        WorkerState::Busy => "busy",
        WorkerState::Idle => "idle",
        WorkerState::Parked => "parked",
        WorkerState::Blocked => "blocked",
        WorkerState::Other => "unknown",
    }
}

pub fn task_state(state: TaskState) -> &'static str {
    match state {
        TaskState::Running => "running",
        TaskState::Queued => "queued",
        TaskState::Waiting => "waiting",
        TaskState::Other => "unknown",
    }
}

/// What kept a worker: the system call if it is known, else what is.
pub fn cause(stall: &Stall) -> String {
    match (&stall.system_call, stall.cause) {
        (Some(call), _) => format!("in {call}"),
        (None, StallCause::Blocked) => "blocked".to_owned(),
        (None, StallCause::Burning) => "burning".to_owned(),
        (None, StallCause::Unknown) => "unknown".to_owned(),
    }
}

/// Names are a program's own: what is in them must not steer the terminal.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect()
}
