//! The process-wide board: which signals have arrived, and their listeners. Steps 1 to 4 are those
//! of `signal/README.md`.

use super::unix::SignalKind;
use crate::env;
use crate::reactor::io::{Evented, Interest};
use crate::reactor::{Reaction, Reactors};
use crate::runtime::Handle;
use crate::task::is_prompt;
use slab::Slab;
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

/// The board of this process. It is never freed, because handlers may read it at any time.
static BOARD: AtomicPtr<Board> = AtomicPtr::new(ptr::null_mut());

/// The kinds that have a handler.
static HANDLED: Mutex<BTreeSet<c_int>> = Mutex::new(BTreeSet::new());

pub(super) struct Board {
    /// A forked process has a board of its own, because it must not consume its parent's signals.
    process: u32,
    /// One bit for each kind that has arrived and was not announced to listeners yet.
    arrived: [AtomicU64; 2],
    /// What handlers write to.
    sender: UnixStream,
    /// The read end, of which each runtime polls a duplicate.
    receiver: UnixStream,
    kinds: Box<[Mutex<Listeners>]>,
    /// The runtimes that poll the receiver.
    runtimes: Mutex<Vec<Weak<Reactors>>>,
}

/// The listeners of one kind.
#[derive(Default)]
struct Listeners {
    /// The number of announcements.
    told: u64,
    wakers: Slab<Option<Waker>>,
}

/// A listener of one kind.
pub(super) struct Listener {
    board: &'static Board,
    kind: SignalKind,
    /// The last announcement that it has seen.
    known: u64,
    /// The index of its waker.
    place: usize,
}

impl Board {
    /// That of this process.
    fn get() -> io::Result<&'static Board> {
        let process = std::process::id();
        // Acquire: pairs with the exchange below, whose board this may be.
        let mut now = BOARD.load(Ordering::Acquire);
        loop {
            // SAFETY: (type) what is in BOARD is null, or was leaked below.
            let board = unsafe { now.as_ref() };
            match board {
                Some(board) if board.process == process => return Ok(board),
                _ => {}
            }
            let new = Box::into_raw(Box::new(Board::new(process)?));
            // AcqRel: pairs with the Acquire above, in record() and in the exchanges of others.
            match BOARD.compare_exchange(now, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => now = new,
                Err(winner) => {
                    now = winner;
                    // SAFETY: (type) it comes from into_raw, and no other thread has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            }
        }
    }

    fn new(process: u32) -> io::Result<Board> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        Ok(Board {
            process,
            arrived: [const { AtomicU64::new(0) }; 2],
            sender,
            receiver,
            kinds: (0..=libc::SIGRTMAX()).map(|_| Mutex::default()).collect(),
            runtimes: Mutex::default(),
        })
    }

    fn listeners(&self, kind: SignalKind) -> MutexGuard<'_, Listeners> {
        lock(&self.kinds[kind.as_raw_value() as usize])
    }

    /// Has the runtime of `reactors` poll the receiver, if it does not yet (step 3).
    ///
    /// # Errors
    /// If it has been shut down, or there are no descriptors left.
    fn listen(&'static self, reactors: &Arc<Reactors>) -> io::Result<()> {
        let mut runtimes = lock(&self.runtimes);
        if runtimes.iter().any(|runtime| ptr::eq(runtime.as_ptr(), Arc::as_ptr(reactors))) {
            return Ok(());
        }
        let receiver = self.receiver.try_clone()?;
        let receiver = Evented::registered(Arc::clone(reactors), receiver, Interest::READABLE)
            .map_err(|(_, error)| error)?;
        let runtime = Arc::downgrade(reactors);
        runtimes.push(Weak::clone(&runtime));
        drop(runtimes);
        let listening = Listening { board: self, runtime };
        Reaction::start(async move { listening.run(receiver).await });
        Ok(())
    }

    /// Announces to listeners what has arrived (step 4).
    fn announce(&self) {
        for (word, arrived) in self.arrived.iter().enumerate() {
            // Acquire: pairs with the Release in record(). AcqRel, so that the later of two
            // concurrent callers sees what the earlier has taken.
            let mut kinds = arrived.swap(0, Ordering::AcqRel);
            while kinds != 0 {
                let kind = word * 64 + kinds.trailing_zeros() as usize;
                kinds &= kinds - 1;
                self.tell(kind);
            }
        }
    }

    /// Announces `kind` to its listeners.
    fn tell(&self, kind: usize) {
        let wakers: Vec<Waker> = {
            let mut listeners = lock(&self.kinds[kind]);
            listeners.told += 1;
            listeners.wakers.iter_mut().filter_map(|(_, waker)| waker.take()).collect()
        };
        let here = Handle::try_current();
        for waker in wakers {
            match &here {
                // Of other code: it may wait for the next one (L2).
                Ok(here) if !is_prompt(&waker) => here.scheduler().call_later(waker),
                // A waker that panics must not prevent others from being called.
                _ => env::quietly(|| waker.wake()),
            }
        }
    }
}

/// The work of a handler (step 2). It may interrupt any code, even code that holds a lock or
/// allocates. Therefore it only accesses atomics and writes to a non-blocking socket.
fn record(kind: c_int) {
    // Acquire: pairs with the exchange in get().
    let board = BOARD.load(Ordering::Acquire);
    // SAFETY: (type) what is in BOARD is null, or leaked.
    let Some(board) = (unsafe { board.as_ref() }) else { return };
    // Release: pairs with the swap in announce(), whose caller reads what is written below.
    board.arrived[kind as usize / 64].fetch_or(1 << (kind % 64), Ordering::Release);
    // If the socket is full, its reader still has to read it.
    let _ = (&board.sender).write(&[1]);
}

/// Installs a handler for `kind`, once in the process (step 1).
fn handle(kind: SignalKind) -> io::Result<()> {
    let number = kind.as_raw_value();
    if signal_hook_registry::FORBIDDEN.contains(&number) {
        let what = format!("signal {number} cannot be listened to: it must not have a handler");
        return Err(io::Error::other(what));
    }
    if number <= 0 || number > libc::SIGRTMAX() {
        let what = format!("there is no signal {number}, they are 1 to {}", libc::SIGRTMAX());
        return Err(io::Error::other(what));
    }
    let mut handled = lock(&HANDLED);
    if !handled.contains(&number) {
        let action = move || record(number);
        // SAFETY: (FFI) record() does only what a handler may do.
        unsafe { signal_hook_registry::register(number, action) }?;
        handled.insert(number);
    }
    Ok(())
}

/// A runtime that polls the receiver.
struct Listening {
    board: &'static Board,
    runtime: Weak<Reactors>,
}

impl Listening {
    /// Until the runtime is shut down.
    async fn run(&self, receiver: Evented<UnixStream>) {
        // The error means that the runtime was shut down.
        while let Ok(event) = receiver.ready(Interest::READABLE).await {
            // Emptied before the arrived kinds are read, because later signals write again.
            let mut bytes = [0; 128];
            while matches!((&*receiver).read(&mut bytes), Ok(count) if count > 0) {}
            receiver.clear_ready(event);
            self.board.announce();
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        lock(&self.board.runtimes).retain(|runtime| !Weak::ptr_eq(runtime, &self.runtime));
    }
}

impl Listener {
    /// Creates a listener in the runtime of `reactors`.
    pub(super) fn new(kind: SignalKind, reactors: &Arc<Reactors>) -> io::Result<Listener> {
        let board = Board::get()?;
        handle(kind)?;
        // Registered before the runtime polls the receiver, which may announce earlier signals.
        let listener = {
            let mut listeners = board.listeners(kind);
            let (known, place) = (listeners.told, listeners.wakers.insert(None));
            Listener { board, kind, known, place }
        };
        board.listen(reactors)?;
        Ok(listener)
    }

    pub(super) fn kind(&self) -> SignalKind {
        self.kind
    }

    /// Ready if a signal was announced since the last call, or since the listener was created.
    /// `reactors` are those of the polling runtime, if it has I/O.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        reactors: impl FnOnce() -> Option<Arc<Reactors>>,
    ) -> Poll<()> {
        // Cloned and dropped outside of the lock, because that may run foreign code.
        let mut waker = Some(cx.waker().clone());
        {
            let mut listeners = self.board.listeners(self.kind);
            if self.known != listeners.told {
                self.known = listeners.told;
                return Poll::Ready(());
            }
            std::mem::swap(&mut listeners.wakers[self.place], &mut waker);
        }
        drop(waker);
        // So that it does not depend on the runtime where it was created.
        if let Some(reactors) = reactors() {
            // If this runtime cannot, the other one may.
            let _ = self.board.listen(&reactors);
        }
        Poll::Pending
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let waker = self.board.listeners(self.kind).wakers.remove(self.place);
        // Outside of the lock, because it may run foreign code.
        drop(waker);
    }
}

/// No code under these locks panics half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
