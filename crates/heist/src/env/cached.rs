//! Reads of files that never wait for the disk.

use std::fs::File;

/// What a read that does not wait has found at the position of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cached {
    /// Bytes in the system's cache, which were read; 0 at the end of the file.
    Bytes(usize),
    /// Bytes that are not in the cache, or another read or write that has to be waited for.
    Missing,
    /// Nothing: the system or the file does not support such reads, or the read fails.
    Unsupported,
}

/// Whether [`read_cached`] may be called. Asks the file system for the kind of file, which may
/// block.
///
/// It is for regular files only: the lock of a pipe is held by whoever reads or writes it. With
/// `O_DIRECT`, the system begins a read only if it can do so without waiting, but then waits for
/// the disk.
pub(crate) fn is_cacheable(file: &File) -> bool {
    system::is_cacheable(file)
}

/// Reads from the file's position and moves it, like [`Read::read`](std::io::Read::read), but only
/// bytes that are in the system's cache.
///
/// The position has a lock in the system, which other reads, writes and seeks of the same open file
/// hold while they wait for the disk. So nobody else may be using the open file.
pub(crate) fn read_cached(file: &File, room: &mut [u8]) -> Cached {
    #[cfg(all(test, not(loom)))]
    if let Some(answer) = answers::next() {
        return answer;
    }
    system::read_cached(file, room)
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use rustix::fs::{OFlags, fcntl_getfl};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    use rustix::system::uname;
    use std::io::IoSliceMut;
    use std::sync::OnceLock;

    /// Stands for the file's position.
    const HERE: u64 = u64::MAX;

    pub(super) fn is_cacheable(file: &File) -> bool {
        static IS_SUPPORTED: OnceLock<bool> = OnceLock::new();
        let is_supported = || has_true_ends(&uname().release().to_string_lossy());
        *IS_SUPPORTED.get_or_init(is_supported)
            && fcntl_getfl(file).is_ok_and(|flags| !flags.contains(OFlags::DIRECT))
            && file.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// Whether a release of Linux reports the end of a file only there. In 5.9 and 5.10, bytes that
    /// are not in the cache may look like the end; older releases are not trusted either.
    pub(super) fn has_true_ends(release: &str) -> bool {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let mut number = || numbers.next().and_then(Result::ok);
        (number(), number()) >= (Some(5), Some(11))
    }

    pub(super) fn read_cached(file: &File, room: &mut [u8]) -> Cached {
        match preadv2(file, &mut [IoSliceMut::new(room)], HERE, ReadWriteFlags::NOWAIT) {
            Ok(count) => Cached::Bytes(count),
            Err(Errno::AGAIN | Errno::INTR) => Cached::Missing,
            Err(_) => Cached::Unsupported,
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub(super) fn is_cacheable(_: &File) -> bool {
        false
    }

    pub(super) fn read_cached(_: &File, _: &mut [u8]) -> Cached {
        Cached::Unsupported
    }
}

/// Answers in place of the system's, for tests: what is in its cache is not theirs to decide.
#[cfg(all(test, not(loom)))]
pub(crate) mod answers {
    use super::Cached;
    use std::cell::{Cell, RefCell};

    thread_local! {
        static ANSWERS: RefCell<Vec<Cached>> = const { RefCell::new(Vec::new()) };
        static QUESTIONS: Cell<usize> = const { Cell::new(0) };
    }

    /// Gives these answers to the next reads of the calling thread; then the system answers.
    pub(crate) fn prepare(answers: impl IntoIterator<Item = Cached>) {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        ANSWERS.set(answers);
    }

    /// How many reads the calling thread has tried since the last call.
    pub(crate) fn take_questions() -> usize {
        QUESTIONS.take()
    }

    pub(super) fn next() -> Option<Cached> {
        QUESTIONS.set(QUESTIONS.get() + 1);
        ANSWERS.with_borrow_mut(Vec::pop)
    }
}

#[cfg(all(test, not(loom), target_os = "linux"))]
mod tests {
    use super::system::has_true_ends;

    #[test]
    fn releases_that_find_ends_where_there_are_none_are_not_trusted() {
        for old in ["4.18.0-553.el8", "5.9.1", "5.10.0-28-amd64", "", "x", "5"] {
            assert!(!has_true_ends(old), "{old}");
        }
        for new in ["5.11.0", "5.15-rc1", "6.1.0-18-amd64", "6.12", "10.0.0"] {
            assert!(has_true_ends(new), "{new}");
        }
    }
}
