//! The pool of threads that belong to none.

use crate::builder::{ThreadPoolBuilder, ThreadSpawn, threads_asked_for};
use crate::error::{ErrorKind, ThreadPoolBuildError};
use crate::member;
use crate::pool::Pool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Decided when it is first needed. `None`: jobs run on the caller's heist runtime, or on heist's
/// global one.
static GLOBAL: OnceLock<Option<Arc<Pool>>> = OnceLock::new();
/// Held while a thread decides.
static DECIDING: Mutex<()> = Mutex::new(());

/// Where the calling thread's jobs have to be sent. `None`: it is a pool's, or there is no global
/// pool of rayon's own, and heist knows what to do.
#[inline]
pub(crate) fn elsewhere() -> Option<&'static Arc<Pool>> {
    match GLOBAL.get() {
        Some(None) => None,
        _ if member::index().is_some() => None,
        _ => global(),
    }
}

/// The pool of the calling thread, or the global one. `None`: heist knows.
pub(crate) fn current() -> Option<Arc<Pool>> {
    member::pool().or_else(|| global().cloned())
}

/// Whether threads that are no pool's have one by now.
pub(crate) fn is_built() -> bool {
    GLOBAL.get().is_some_and(Option::is_some)
}

fn global() -> Option<&'static Arc<Pool>> {
    if GLOBAL.get().is_none() {
        decide();
    }
    GLOBAL.get().and_then(Option::as_ref)
}

/// No pool was built. If the environment sets a number of threads, a pool with that number is
/// built.
#[cold]
#[inline(never)]
fn decide() {
    let _deciding = DECIDING.lock().unwrap_or_else(PoisonError::into_inner);
    if GLOBAL.get().is_some() {
        return;
    }
    let pool = threads_asked_for().map(|threads| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build_pool();
        match pool {
            Ok(pool) => pool.for_ever(),
            Err(error) => panic!(
                "rayon-core: the global pool cannot be built with the {threads} threads that RAYON_NUM_THREADS \
                 asks for: {error}"
            ),
        }
    });
    // The lock is held: nobody else has.
    let _ = GLOBAL.set(pool);
}

/// Builds the global pool, unless there is one, or jobs have run without one.
pub(crate) fn build<S: ThreadSpawn>(
    builder: ThreadPoolBuilder<S>,
) -> Result<(), ThreadPoolBuildError> {
    let _deciding = DECIDING.lock().unwrap_or_else(PoisonError::into_inner);
    if GLOBAL.get().is_some() {
        return Err(ErrorKind::HasGlobalPool.into());
    }
    let pool = builder.build_pool()?.for_ever();
    // As above.
    let _ = GLOBAL.set(Some(pool));
    Ok(())
}
