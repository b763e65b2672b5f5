//! Requests for a dump from threads that must not wait for it: workers, sysmon, signal handlers.

use super::config::Config;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a dump is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Wish {
    Stall = b's',
    Panic = b'p',
    Signal = b'u',
    /// No more dumps.
    End = b'e',
}

impl Wish {
    fn from_byte(byte: u8) -> Option<Self> {
        [Wish::Stall, Wish::Panic, Wish::Signal, Wish::End]
            .into_iter()
            .find(|wish| *wish as u8 == byte)
    }
}

/// A socket: writing to it is all that a signal's handler may do.
pub(crate) struct Wishes(Option<Ends>);

struct Ends {
    bell: Arc<UnixStream>,
    rings: UnixStream,
    on_stall: bool,
    on_panic: bool,
    /// Tells the reader of wishes to end, in case there is no room for one more wish.
    is_over: AtomicBool,
}

impl Wishes {
    /// # Errors
    /// If there are no descriptors left.
    pub(super) fn new(config: &Config) -> io::Result<Self> {
        if !config.is_watched() {
            return Ok(Wishes(None));
        }
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let (on_stall, on_panic) = (config.on_stall.is_some(), config.on_panic.is_some());
        let is_over = AtomicBool::new(false);
        Ok(Wishes(Some(Ends { bell: Arc::new(bell), rings, on_stall, on_panic, is_over })))
    }

    /// A worker is stuck.
    pub(crate) fn stalled(&self) {
        self.wish_if(|ends| ends.on_stall, Wish::Stall);
    }

    pub(super) fn panicked(&self) {
        self.wish_if(|ends| ends.on_panic, Wish::Panic);
    }

    /// Nobody will look any more.
    pub(crate) fn end(&self) {
        let stop = |ends: &Ends| {
            // Relaxed: the byte behind it, or one that is there already, brings its reader here.
            ends.is_over.store(true, Ordering::Relaxed);
            true
        };
        self.wish_if(stop, Wish::End);
    }

    fn wish_if(&self, is_wanted: impl FnOnce(&Ends) -> bool, wish: Wish) {
        if let Some(ends) = self.0.as_ref().filter(|ends| is_wanted(ends)) {
            ring(&ends.bell, wish);
        }
    }

    /// Where a signal's handler writes to.
    pub(crate) fn bell(&self) -> Option<Arc<UnixStream>> {
        self.0.as_ref().map(|ends| Arc::clone(&ends.bell))
    }

    /// Waits for the next; for one thread. The end if it cannot be waited for.
    pub(crate) fn wait(&self) -> Wish {
        let Some(ends) = &self.0 else { return Wish::End };
        loop {
            let mut byte = [0];
            let read = (&ends.rings).read(&mut byte);
            if ends.is_over.load(Ordering::Relaxed) {
                return Wish::End;
            }
            match read {
                Ok(1) => {
                    if let Some(wish) = Wish::from_byte(byte[0]) {
                        return wish;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return Wish::End,
            }
        }
    }
}

/// Sends a wish. A signal handler may call this: it writes to a socket that does not block. A full
/// socket already holds more wishes than the reader needs, so the wish is dropped.
pub(crate) fn ring(mut bell: &UnixStream, wish: Wish) {
    let _ = bell.write(&[wish as u8]);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// There is no room for it, and nobody waits until there is.
    #[test]
    fn the_end_is_heard_among_more_wishes_than_there_is_room_for() {
        let wishes = Wishes::new(&Config::new().dump_on_stall("x")).unwrap();
        let mut bell = &*wishes.bell().unwrap();
        while bell.write(&[Wish::Stall as u8]).is_ok() {}
        assert_eq!(wishes.wait(), Wish::Stall);
        wishes.stalled();
        wishes.end();
        assert_eq!(wishes.wait(), Wish::End);
    }
}
