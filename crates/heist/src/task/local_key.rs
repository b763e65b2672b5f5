//! Task-locals: values that belong to a future and follow it from thread to thread.

use pin_project_lite::pin_project;
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;

/// Declares task-locals, each of which is a [`LocalKey`](crate::task::LocalKey).
///
/// It takes any number of `static` items without a value, with their attributes and visibility.
///
/// # Examples
///
/// ```
/// heist::task_local! {
///     /// The user whose request is being served.
///     pub static USER: String;
///
///     static DEPTH: u32;
/// }
///
/// DEPTH.sync_scope(1, || assert_eq!(DEPTH.get(), 1));
/// assert!(USER.try_with(|_| ()).is_err());
/// ```
#[macro_export]
macro_rules! task_local {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty);* $(;)?) => {
        $(
            $(#[$meta])*
            $vis static $name: $crate::task::LocalKey<$type> = {
                ::std::thread_local! {
                    static VALUE: ::std::cell::RefCell<::std::option::Option<$type>> =
                        const { ::std::cell::RefCell::new(::std::option::Option::None) };
                }
                $crate::task::LocalKey::__new(VALUE)
            };
        )*
    };
}

/// The key of a task-local, declared by [`task_local!`](crate::task_local).
///
/// [`scope`](Self::scope) gives the key a value for the duration of a future, which sees the value
/// on whatever thread it runs. Outside of a scope there is no value. Tasks that the future spawns
/// do not inherit the value, unless they run inside the future's own polls, as in a nested
/// [`LocalSet`](crate::task::LocalSet).
///
/// # Examples
///
/// ```
/// heist::task_local! {
///     static REQUEST: u32;
/// }
///
/// # #[heist::main]
/// # async fn main() {
/// REQUEST
///     .scope(1, async {
///         heist::task::yield_now().await;
///         assert_eq!(REQUEST.get(), 1);
///         REQUEST.scope(2, async { assert_eq!(REQUEST.get(), 2) }).await;
///         assert_eq!(REQUEST.get(), 1);
///     })
///     .await;
/// assert!(REQUEST.try_get().is_err());
/// # }
/// ```
pub struct LocalKey<T: 'static> {
    /// The value, while the future that it belongs to is polled on the thread.
    inner: thread::LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> LocalKey<T> {
    #[doc(hidden)]
    pub const fn __new(inner: thread::LocalKey<RefCell<Option<T>>>) -> Self {
        LocalKey { inner }
    }

    /// Sets a value for the duration of a future.
    ///
    /// The future and everything that it calls see the value. The value is dropped with the
    /// returned future, unless [`TaskLocalFuture::take_value`] takes it out.
    ///
    /// # Examples
    ///
    /// ```
    /// heist::task_local! {
    ///     static REQUEST: u32;
    /// }
    ///
    /// # #[heist::main]
    /// # async fn main() {
    /// assert_eq!(REQUEST.scope(7, async { REQUEST.get() * 6 }).await, 42);
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// The future panics if it is polled inside [`with`](Self::with) of the same key.
    pub fn scope<F>(&'static self, value: T, f: F) -> TaskLocalFuture<T, F>
    where
        F: Future,
    {
        TaskLocalFuture { key: self, slot: Some(value), future: Some(f), _pinned: PhantomPinned }
    }

    /// Sets a value for the duration of a closure, which is called immediately.
    ///
    /// # Examples
    ///
    /// ```
    /// heist::task_local! {
    ///     static REQUEST: u32;
    /// }
    ///
    /// assert_eq!(REQUEST.sync_scope(7, || REQUEST.get() * 6), 42);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if it is called inside [`with`](Self::with) of the same key.
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        let mut slot = Some(value);
        match self.scope_inner(&mut slot, f) {
            Ok(output) => output,
            Err(error) => error.panic("LocalKey::sync_scope"),
        }
    }

    /// Calls `f` with the value of `slot` in place. Afterwards the value is in `slot` again, even
    /// if `f` panics.
    fn scope_inner<R>(
        &'static self,
        slot: &mut Option<T>,
        f: impl FnOnce() -> R,
    ) -> Result<R, EnterError> {
        struct Leave<'a, T: 'static> {
            key: &'static LocalKey<T>,
            slot: &'a mut Option<T>,
        }
        impl<T: 'static> Drop for Leave<'_, T> {
            fn drop(&mut self) {
                // Nothing borrows the value: `with` and inner scopes have ended.
                let _ = self.key.swap(self.slot);
            }
        }
        self.swap(slot)?;
        let _leave = Leave { key: self, slot };
        Ok(f())
    }

    fn swap(&'static self, slot: &mut Option<T>) -> Result<(), EnterError> {
        let swapped = self.inner.try_with(|value| {
            let mut value = value.try_borrow_mut().map_err(|_| EnterError::Borrowed)?;
            std::mem::swap(slot, &mut *value);
            Ok(())
        });
        swapped.unwrap_or(Err(EnterError::ThreadEnding))
    }

    /// Calls `f` with a reference to the value.
    ///
    /// # Examples
    ///
    /// ```
    /// heist::task_local! {
    ///     static USER: String;
    /// }
    ///
    /// let length = USER.sync_scope("ferris".into(), || USER.with(|user| user.len()));
    /// assert_eq!(length, 6);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics outside of [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope), where there
    /// is no value.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(output) => output,
            Err(error) => panic!("LocalKey::with: {error}"),
        }
    }

    /// Calls `f` with a reference to the value, if there is one.
    ///
    /// # Examples
    ///
    /// ```
    /// heist::task_local! {
    ///     static USER: String;
    /// }
    ///
    /// assert!(USER.try_with(|user| user.len()).is_err());
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error outside of [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope),
    /// where there is no value.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        self.inner
            .try_with(|value| value.borrow().as_ref().map(f))
            .ok()
            .flatten()
            .ok_or(AccessError { _private: () })
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// Returns a clone of the value.
    ///
    /// # Panics
    ///
    /// Panics outside of [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope), where there
    /// is no value.
    #[track_caller]
    pub fn get(&'static self) -> T {
        match self.try_get() {
            Ok(value) => value,
            Err(error) => panic!("LocalKey::get: {error}"),
        }
    }

    /// Returns a clone of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error outside of [`scope`](Self::scope) and [`sync_scope`](Self::sync_scope),
    /// where there is no value.
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

pin_project! {
    /// A future with a value for a task-local, returned by [`LocalKey::scope`].
    ///
    /// # Examples
    ///
    /// ```
    /// heist::task_local! {
    ///     static USER: u32;
    /// }
    ///
    /// # #[heist::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let future = USER.scope(7, async { USER.get() });
    /// assert_eq!(future.await, 7);
    /// # }
    /// ```
    #[must_use = "futures do nothing unless awaited"]
    pub struct TaskLocalFuture<T: 'static, F> {
        key: &'static LocalKey<T>,
        // The value, while the future is not being polled.
        slot: Option<T>,
        // `None` once it has completed. It is dropped where it can see the value.
        #[pin]
        future: Option<F>,
        // Tokio's type is not Unpin either; this leaves room for pointers into the value.
        #[pin]
        _pinned: PhantomPinned,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_some() {
                // A thread that is ending has no place for the value; the future is then dropped
                // without it, after this.
                let _ = this.key.scope_inner(this.slot, || this.future.set(None));
            }
        }
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out of a future that has completed or will not be polled again.
    ///
    /// Returns `None` if the value has been taken already.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::pin::pin;
    /// heist::task_local! {
    ///     static COUNT: std::cell::Cell<u32>;
    /// }
    /// # #[heist::main]
    /// # async fn main() {
    /// let mut counting = pin!(COUNT.scope(0.into(), async { COUNT.with(|count| count.set(7)) }));
    /// counting.as_mut().await;
    /// assert_eq!(counting.as_mut().take_value().unwrap().get(), 7);
    /// assert!(counting.take_value().is_none());
    /// # }
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().slot.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut future = this.future;
        let polled = this.key.scope_inner(this.slot, || {
            let output = future.as_mut().as_pin_mut()?.poll(cx);
            if output.is_ready() {
                future.set(None);
            }
            Some(output)
        });
        match polled {
            Ok(Some(output)) => output,
            Ok(None) => panic!("TaskLocalFuture: polled again after it had completed"),
            Err(error) => error.panic("LocalKey::scope"),
        }
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocalFuture").field("value", &self.slot).finish_non_exhaustive()
    }
}

/// The error of reading a task-local that has no value.
///
/// # Examples
///
/// ```
/// heist::task_local! {
///     static USER: u32;
/// }
///
///
/// assert!(USER.try_with(|_| ()).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError {
    _private: (),
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the task-local has no value here; LocalKey::scope gives one to a future, and tasks \
             that it spawns do not inherit it",
        )
    }
}

impl std::error::Error for AccessError {}

/// Why a value cannot be set.
enum EnterError {
    Borrowed,
    ThreadEnding,
}

impl EnterError {
    #[track_caller]
    fn panic(self, api: &str) -> ! {
        match self {
            EnterError::Borrowed => panic!(
                "{api}: entered inside of LocalKey::with of the same key, which still lends the \
                 value out; leave with first, or use get"
            ),
            EnterError::ThreadEnding => {
                panic!("{api}: the thread is ending, and its thread-locals are gone")
            }
        }
    }
}
