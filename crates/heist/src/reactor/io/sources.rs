//! The sources that are registered with a reactor.

use super::Ready;
use super::source::Source;
use crate::canary;
use crate::reactor::ShutDown;
use heist_sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use slab::Slab;
use std::sync::Arc;
use std::task::Waker;

/// The key under which a poller knows a source.
///
/// | bits | field |
/// |---|---|
/// | 0..32 | index of the source |
/// | 32..64 | generation: incremented at each registration |
///
/// An index is reused, but not with the same generation before that wraps. An event that arrives
/// after its source was removed is therefore dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64);

impl Key {
    fn new(index: usize, generation: u32) -> Key {
        let index = u32::try_from(index).expect("there are fewer file descriptors than that");
        Key(u64::from(generation) << 32 | u64::from(index))
    }

    fn index(self) -> usize {
        self.0 as u32 as usize
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

pub(crate) struct Sources {
    slots: Mutex<Slots>,
    /// The number of sources, for readers without the lock.
    len: AtomicUsize,
}

struct Slots {
    slab: Slab<SourceSlot>,
    next_generation: u32,
    is_closed: bool,
}

struct SourceSlot {
    generation: u32,
    source: Arc<Source>,
}

impl Sources {
    pub(crate) fn new() -> Self {
        let slots = Slots { slab: Slab::new(), next_generation: 0, is_closed: false };
        Sources { slots: Mutex::new(slots), len: AtomicUsize::new(0) }
    }

    /// The number of sources, which may be slightly outdated.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Adds a source, and returns its key.
    pub(super) fn insert(&self, source: &Arc<Source>) -> Result<Key, ShutDown> {
        let mut slots = self.lock();
        if slots.is_closed && !canary::SOURCES_CLOSE_UNSEEN.sings() {
            return Err(ShutDown);
        }
        let generation = slots.next_generation;
        slots.next_generation = generation.wrapping_add(1);
        let index = slots.slab.insert(SourceSlot { generation, source: source.clone() });
        self.len.store(slots.slab.len(), Ordering::Relaxed);
        Ok(Key::new(index, generation))
    }

    /// Removes the source with this key.
    pub(super) fn remove(&self, key: Key) {
        let mut slots = self.lock();
        if slots.get(key).is_none() {
            return;
        }
        let removed = slots.slab.remove(key.index());
        self.len.store(slots.slab.len(), Ordering::Relaxed);
        drop(slots);
        drop(removed);
    }

    /// Distributes events to the sources. The caller must call the wakers afterwards without
    /// holding a lock, because a waker may drop a source.
    pub(crate) fn dispatch(
        &self,
        events: impl Iterator<Item = (u64, Ready)>,
        wakers: &mut Vec<Waker>,
    ) {
        let slots = self.lock();
        for (key, ready) in events {
            if let Some(source) = slots.get(Key(key)) {
                source.event(ready, wakers);
            }
        }
    }

    /// Shuts all sources down: waiting tasks learn of it when they are woken, and later ones at
    /// once.
    pub(crate) fn close(&self, wakers: &mut Vec<Waker>) {
        let mut slots = self.lock();
        slots.is_closed = true;
        let left = std::mem::take(&mut slots.slab);
        self.len.store(0, Ordering::Relaxed);
        drop(slots);
        for (_, slot) in left {
            slot.source.shut_down(wakers);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        self.slots.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Slots {
    fn get(&self, key: Key) -> Option<&Source> {
        let slot = self.slab.get(key.index())?;
        let is_it = slot.generation == key.generation() || canary::SOURCES_ANY_GENERATION.sings();
        is_it.then_some(&slot.source)
    }
}
