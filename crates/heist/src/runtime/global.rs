//! The global runtime, for calls outside of all others.

use super::{Builder, Handle, Runtime};
use crate::scheduler::MAX_WORKERS;
use std::env::{self, VarError};
use std::sync::OnceLock;

const VARIABLE: &str = "HEIST_WORKERS";

impl Handle {
    /// Returns a handle to the current runtime or, outside of a runtime, to the global one.
    ///
    /// The global runtime is started if it is not running yet.
    ///
    /// # Examples
    ///
    /// ```
    /// let handle = heist::runtime::Handle::current_or_global();
    /// assert_eq!(handle.join(|| 1, || 2), (1, 2));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the global runtime is needed and cannot be started, or if `HEIST_WORKERS` is
    /// invalid.
    #[track_caller]
    pub fn current_or_global() -> Handle {
        current_or_global()
    }
}

/// [`Handle::current_or_global`].
#[track_caller]
pub(crate) fn current_or_global() -> Handle {
    Handle::try_current().unwrap_or_else(|_| global().handle().clone())
}

/// A handle to the global runtime, whatever the current one is. It is never shut down.
#[track_caller]
pub(crate) fn global_handle() -> Handle {
    global().handle().clone()
}

/// Lives until the process exits, which does not wait for its tasks.
#[track_caller]
fn global() -> &'static Runtime {
    static GLOBAL: OnceLock<Runtime> = OnceLock::new();
    GLOBAL.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.thread_name("heist-global").enable_all();
        match workers(env::var(VARIABLE)) {
            Ok(None) => {}
            Ok(Some(workers)) => drop(builder.worker_threads(workers)),
            Err(message) => panic!("{message}"),
        }
        match builder.build() {
            Ok(runtime) => runtime,
            Err(error) => panic!("heist: the global runtime cannot start a thread: {error}"),
        }
    })
}

/// Parses the number of workers; `None` if the variable is not set.
fn workers(variable: Result<String, VarError>) -> Result<Option<usize>, String> {
    let text = match variable {
        Ok(text) => text,
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(text)) => text.to_string_lossy().into_owned(),
    };
    match text.trim().parse() {
        Ok(workers) if (1..=MAX_WORKERS).contains(&workers) => Ok(Some(workers)),
        _ => Err(format!(
            "{VARIABLE}={text}: not a number from 1 to {MAX_WORKERS}; \
             set it to the number of workers that the global runtime should have, or leave it out"
        )),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn nonsense_is_named() {
        assert_eq!(workers(Err(VarError::NotPresent)), Ok(None));
        assert_eq!(workers(Ok(" 3 ".into())), Ok(Some(3)));
        for text in ["banana", "0", "-1", "65536", "", "99999999999999999999999"] {
            let message = workers(Ok(text.into())).unwrap_err();
            assert!(message.starts_with(&format!("HEIST_WORKERS={text}: not a number from 1")));
        }
    }
}
