//! Windows of the application: the ranks that each reaches, and the kind of epoch that is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::Win;
use treepie_mpi::native::{Native, native};
use treepie_profile::partial_profiles::{Encoder, Sink};
use treepie_traffic::windows::EpochKind;

use super::access_key::{self, WindowIndex};
use super::collectives::is_reported;
use super::counters;
use super::identity::world_ranks;
use super::patience::Patience;
use super::registry::{MadeBy, Registry};

/// Maximum number of windows of one group of ranks that are distinguished; further ones are counted
/// with the last.
const OF_A_GROUP: u32 = 64;

/// Index of windows that are not counted separately.
const NOWHERE: WindowIndex = WindowIndex::MAX;

/// Window of the application.
pub struct Window {
    /// World rank of each rank of its group; `u32::MAX` for processes of another world.
    ranks: Vec<u32>,
    /// Its index among the windows of this process.
    place: WindowIndex,
    /// Common part of the keys of calls in the epoch that was opened last.
    key: AtomicU64,
    /// Number of the current interval between two synchronisations.
    interval: AtomicU32,
}

/// Identity of a window of this process.
struct WindowIdentity {
    /// Number of earlier windows of the same ranks.
    number: u32,
    ranks: Vec<u32>,
}

/// Windows of this process.
struct Windows {
    known: Registry<Win, Window>,
    /// Their identities, by index, including those of freed windows.
    places: Lazy<Mutex<Vec<WindowIdentity>>>,
}

static WINDOWS: Windows = Windows {
    known: Registry::new(),
    places: Lazy::new(Mutex::default),
};

/// Returns an epoch, which changes when a window's handle is forgotten.
#[inline(always)]
pub fn epoch() -> u64 {
    WINDOWS.known.epoch()
}

/// Returns the window with this handle; `None` for those that are not the application's.
pub fn find(window: Win) -> Option<Arc<Window>> {
    let native = native()?;
    let window = native.plain(window);
    WINDOWS.known.find_or(window, || look_up(native, window))
}

fn look_up(native: &Native, window: Win) -> Option<Window> {
    let ranks = world_ranks(native, native.window_group(window));
    ranks.ok().map(Window::new)
}

/// Registers a new window. It is looked up immediately: all its ranks number it alike, in the order
/// of creation.
pub fn made(handle: Win, by: MadeBy) {
    if let Some(native) = native() {
        let handle = native.plain(handle);
        WINDOWS.known.forget(handle);
        let is_counted = by == MadeBy::Application;
        let window = is_counted.then(|| look_up(native, handle)).flatten();
        WINDOWS.known.set(handle, window);
    }
}

/// Removes a freed window.
pub fn ended(handle: Win) {
    WINDOWS.known.forget(handle);
}

impl Window {
    /// Creates a window of these ranks of the application's world.
    pub fn new(ranks: Vec<u32>) -> Self {
        let place = place_of(&ranks);
        Window {
            ranks,
            place,
            key: AtomicU64::new(access_key::of_epoch(place, EpochKind::Fence)),
            interval: AtomicU32::new(0),
        }
    }

    /// Returns the world rank of a target, if it has one.
    #[inline(always)]
    pub fn target(&self, target: usize) -> Option<u32> {
        let rank = *self.ranks.get(target)?;
        (rank != u32::MAX).then_some(rank)
    }

    /// Returns the common part of the keys of calls in the epoch that was opened last.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        self.key.load(Ordering::Relaxed)
    }

    /// Returns the common part of the keys of calls in epochs of this kind.
    pub fn key_in(&self, epoch: EpochKind) -> u64 {
        access_key::of_epoch(self.place, epoch)
    }

    /// Returns the number of the current interval between two synchronisations.
    #[inline(always)]
    pub fn interval(&self) -> u32 {
        self.interval.load(Ordering::Relaxed)
    }

    /// Begins another interval.
    pub fn synchronised(&self) {
        self.interval.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that an epoch of this kind was opened.
    pub fn open(&self, epoch: EpochKind) {
        self.key.store(self.key_in(epoch), Ordering::Relaxed);
    }
}

fn place_of(ranks: &[u32]) -> WindowIndex {
    if !is_reported(ranks) {
        return NOWHERE;
    }
    let mut places = WINDOWS.places.lock();
    let same = places
        .iter()
        .enumerate()
        .rev()
        .find(|(_, told)| told.ranks == ranks);
    let number = match same {
        Some((place, told)) if told.number + 1 == OF_A_GROUP => return place as WindowIndex,
        Some((_, told)) => told.number + 1,
        None => 0,
    };
    if places.len() >= usize::from(NOWHERE) {
        return NOWHERE;
    }
    places.push(WindowIdentity {
        number,
        ranks: ranks.to_vec(),
    });
    (places.len() - 1) as WindowIndex
}

/// Writes the windows, and the calls on them. Nothing is allocated.
pub fn encode<S: Sink>(patience: impl Patience, encoder: &mut Encoder<'_, S>) {
    let Some(places) = patience.acquire(|| WINDOWS.places.try_lock()) else {
        return;
    };
    for told in places.iter() {
        encoder.window(told.number, &told.ranks);
    }
    counters::read_accesses(|place, access, traffic, intervals| {
        if usize::from(place) < places.len() {
            encoder.access(u32::from(place), &access, traffic, intervals);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_the_same_ranks_are_told_apart_until_they_are_many() {
        let of = |rank| Window::new(vec![rank, 7, 9]).place;
        let (first, other, second) = (of(1000), of(1001), of(1000));
        assert!(first != second && first != other && second != other);
        let mut last = second;
        for _ in 2..OF_A_GROUP {
            last = of(1000);
        }
        assert_eq!(of(1000), last);
        assert_eq!(Window::new(vec![3, u32::MAX]).place, NOWHERE);
    }

    #[test]
    fn an_access_is_in_the_epoch_that_was_opened_last() {
        let window = Window::new(vec![1002, 1003]);
        window.open(EpochKind::LockAll);
        assert_eq!(window.key(), window.key_in(EpochKind::LockAll));
        assert_ne!(window.key(), window.key_in(EpochKind::Fence));
        assert_eq!((window.target(1), window.target(2)), (Some(1003), None));
    }
}
