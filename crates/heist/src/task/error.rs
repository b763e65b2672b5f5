//! `JoinError`: why a task has no output.

use super::Id;
use std::any::Any;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

/// The error of a task that ended without an output: it panicked or was cancelled.
///
/// A closure of [`spawn_blocking`](crate::task::spawn_blocking) for which no thread can be started is
/// also cancelled; its [`source`](std::error::Error::source) is then the [`io::Error`] that says
/// why.
///
/// # Examples
///
/// ```
/// # #[heist::main]
/// # async fn main() {
/// let task = heist::spawn(async { panic!("out of {}", "luck") });
/// let error = task.await.unwrap_err();
/// assert!(error.is_panic());
/// assert!(error.to_string().ends_with("panicked with message \"out of luck\""));
/// # }
/// ```
pub struct JoinError {
    id: Id,
    /// `None` for a plain cancellation. Boxed, because every task has space for its error.
    cause: Option<Box<Cause>>,
}

const _: () = assert!(size_of::<Result<(), JoinError>>() == 16, "room that every task has");

enum Cause {
    /// A cancellation because there is no thread for a blocking closure.
    NoThread(Arc<io::Error>),
    /// In a mutex, so that the error is `Sync` although the payload is not.
    Panic(Mutex<Box<dyn Any + Send + 'static>>),
}

impl JoinError {
    pub(crate) fn cancelled(id: Id) -> JoinError {
        JoinError { id, cause: None }
    }

    pub(crate) fn no_thread(id: Id, error: Arc<io::Error>) -> JoinError {
        JoinError { id, cause: Some(Box::new(Cause::NoThread(error))) }
    }

    pub(crate) fn panic(id: Id, payload: Box<dyn Any + Send + 'static>) -> JoinError {
        JoinError { id, cause: Some(Box::new(Cause::Panic(Mutex::new(payload)))) }
    }

    /// Returns whether the task was cancelled: by `abort`, by the shutdown of its runtime, or
    /// because no thread could be started for it.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # }
    /// ```
    pub fn is_cancelled(&self) -> bool {
        !self.is_panic()
    }

    /// Returns whether the task panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self.cause.as_deref(), Some(Cause::Panic(_)))
    }

    /// Returns the payload of the task's panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let error = heist::spawn(async { panic!("boom") }).await.unwrap_err();
    /// assert_eq!(*error.into_panic().downcast::<&str>().unwrap(), "boom");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the task did not panic. Check [`is_panic`](Self::is_panic) first, or use
    /// [`try_into_panic`](Self::try_into_panic).
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send + 'static> {
        self.try_into_panic().expect(
            "JoinError::into_panic: the task was cancelled, it did not panic; \
             use try_into_panic",
        )
    }

    /// Returns the payload of the task's panic, or the error itself if the task did not panic.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[heist::main]
    /// # async fn main() {
    /// let task = heist::spawn(std::future::pending::<()>());
    /// task.abort();
    /// let error = task.await.unwrap_err();
    /// assert!(error.try_into_panic().is_err()); // cancelled
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error itself if the task was cancelled.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send + 'static>, JoinError> {
        let id = self.id;
        match self.cause.map(|cause| *cause) {
            Some(Cause::Panic(payload)) => {
                Ok(payload.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
            }
            Some(Cause::NoThread(error)) => Err(JoinError::no_thread(id, error)),
            None => Err(JoinError::cancelled(id)),
        }
    }

    /// Returns the id of the task.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Calls `f` with the message of the panic, if its payload is a string.
    fn with_message<R>(&self, f: impl FnOnce(Option<&str>) -> R) -> R {
        let Some(Cause::Panic(payload)) = self.cause.as_deref() else { return f(None) };
        let payload = payload.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&'static str>().copied());
        f(text)
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause.as_deref() {
            None => write!(f, "task {} was cancelled", self.id),
            Some(Cause::NoThread(error)) => write!(
                f,
                "task {} was cancelled: spawn_blocking found no thread and could not start one \
                 ({error}); raise the system's limit of threads, or ask for a smaller \
                 Builder::thread_stack_size",
                self.id
            ),
            Some(Cause::Panic(_)) => self.with_message(|message| match message {
                Some(message) => {
                    write!(f, "task {} panicked with message {message:?}", self.id)
                }
                None => write!(f, "task {} panicked", self.id),
            }),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause.as_deref() {
            None => write!(f, "JoinError::Cancelled({:?})", self.id),
            Some(Cause::NoThread(error)) => {
                write!(f, "JoinError::NoThread({:?}, {error:?})", self.id)
            }
            Some(Cause::Panic(_)) => self.with_message(|message| match message {
                Some(message) => write!(f, "JoinError::Panic({:?}, {message:?}, ...)", self.id),
                None => write!(f, "JoinError::Panic({:?}, ...)", self.id),
            }),
        }
    }
}

impl std::error::Error for JoinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.cause.as_deref() {
            Some(Cause::NoThread(error)) => Some(&**error),
            Some(Cause::Panic(_)) | None => None,
        }
    }
}

impl From<JoinError> for io::Error {
    fn from(error: JoinError) -> io::Error {
        match error.cause.as_deref() {
            None => io::Error::other("task was cancelled"),
            Some(Cause::NoThread(cause)) => io::Error::new(cause.kind(), error.to_string()),
            Some(Cause::Panic(_)) => io::Error::other("task panicked"),
        }
    }
}
