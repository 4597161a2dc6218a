//! The application's windows, as far as puts to them are kept: their shape, the epochs that are
//! open, and their targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use once_cell::race::OnceBox;
use parking_lot::{Mutex, RwLock};

use super::exchange::Exchange;
use super::target::Target;
use crate::mpi::native::native;
use crate::mpi::{Group, Win, c_int};
use crate::record::{HandleCache, Registry};

/// A window.
pub struct Window {
    handle: Win,
    shape: Exchange,
    fence: AtomicBool,
    lock_all: AtomicBool,
    /// Targets of the epoch that `MPI_Win_start` opened.
    started: Mutex<Vec<c_int>>,
    targets: Box<[OnceBox<Target>]>,
    /// Those that there are.
    partners: RwLock<Vec<u32>>,
}

static WINDOWS: Registry<Win, Window> = Registry::new();

thread_local! {
    /// On the heap: the memory that a process has for the variables of threads is small.
    static LAST: Box<HandleCache<Win, Window, 4>> = Box::new(HandleCache::new());
}

/// What is kept for the window with this handle, read without a lock where this thread used it
/// last; `None` for windows that are left to the MPI.
#[inline(always)]
pub fn with<R>(handle: Win, read: impl FnOnce(&Window) -> R) -> Option<R> {
    let epoch = WINDOWS.epoch();
    let found = LAST.try_with(|last| last.with(handle, epoch, find, read));
    found.ok().flatten()
}

/// What is kept for the window with this handle.
pub fn find(handle: Win) -> Option<Arc<Window>> {
    WINDOWS.find(native()?.plain(handle))
}

/// A window was made; puts to it are kept where its processes told each other of it.
pub fn made(handle: Win, shape: Option<Exchange>) {
    let Some(native) = native() else { return };
    let handle = native.plain(handle);
    match shape {
        Some(shape) => WINDOWS.set(handle, Some(Window::new(handle, shape))),
        None => drop(WINDOWS.forget(handle)),
    }
}

/// A window is no more.
pub fn ended(handle: Win) {
    if let Some(native) = native() {
        WINDOWS.forget(native.plain(handle));
    }
}

/// No window is known any more.
pub fn forget_all() {
    WINDOWS.clear();
}

impl Window {
    fn new(handle: Win, shape: Exchange) -> Self {
        Window {
            handle,
            targets: (0..shape.ranks).map(|_| OnceBox::new()).collect(),
            shape,
            fence: AtomicBool::new(false),
            lock_all: AtomicBool::new(false),
            started: Mutex::default(),
            partners: RwLock::default(),
        }
    }

    /// Its handle.
    pub fn handle(&self) -> Win {
        self.handle
    }

    /// The unit of a target's displacements.
    pub fn unit_of(&self, target: c_int) -> i64 {
        let unit = usize::try_from(target)
            .ok()
            .and_then(|rank| self.shape.units.of(rank));
        unit.unwrap_or(1)
    }

    /// The byte of a target's memory that a displacement is.
    #[inline(always)]
    pub fn byte_of(&self, target: c_int, displacement: i64) -> Option<i64> {
        let unit = self.shape.units.of(usize::try_from(target).ok()?)?;
        displacement.checked_mul(unit)
    }

    /// The byte where a piece of so many bytes goes, if all of it is in the target's memory.
    #[inline(always)]
    pub fn start_of(&self, target: c_int, displacement: i64, bytes: usize) -> Option<i64> {
        let start = self.byte_of(target, displacement)?;
        let end = start.checked_add(bytes as i64)?;
        let has = self.shape.bytes.of(usize::try_from(target).ok()?)?;
        (start >= 0 && end <= has).then_some(start)
    }

    /// Whether an epoch is open in which this process may access a target.
    #[inline(always)]
    pub fn is_open_for(&self, target: c_int) -> bool {
        let for_all = self.fence.load(Ordering::Relaxed) || self.lock_all.load(Ordering::Relaxed);
        let rank = usize::try_from(target).unwrap_or(usize::MAX);
        if rank >= self.targets.len() {
            return false;
        }
        for_all || self.targets[rank].get().is_some_and(Target::is_open)
    }

    /// A target that is one of the window's ranks.
    #[inline(always)]
    pub fn target(&self, target: c_int) -> &Target {
        let place = &self.targets[target as usize];
        match place.get() {
            Some(target) => target,
            None => self.first_target(target, place),
        }
    }

    #[cold]
    fn first_target<'a>(&self, rank: c_int, place: &'a OnceBox<Target>) -> &'a Target {
        let mut partners = self.partners.write();
        if place.get().is_none() {
            partners.push(rank as u32);
        }
        place.get_or_init(|| Box::new(Target::new(rank)))
    }

    /// A target to which something was kept, or that was locked or started, before.
    pub fn known_target(&self, target: c_int) -> Option<&Target> {
        self.targets.get(usize::try_from(target).ok()?)?.get()
    }

    /// All of these targets.
    pub fn each_target(&self, mut each: impl FnMut(&Target)) {
        let partners = self.partners.read().clone();
        for rank in partners {
            if let Some(target) = self.known_target(rank as c_int) {
                each(target);
            }
        }
    }

    /// A fence, after which an epoch is open, or none.
    pub fn fenced(&self, opens: bool) {
        self.fence.store(opens, Ordering::Relaxed);
    }

    /// All targets were locked, or unlocked.
    pub fn all_locked(&self, locked: bool) {
        self.lock_all.store(locked, Ordering::Relaxed);
    }

    /// A target was locked, or unlocked.
    pub fn locked(&self, target: c_int, locked: bool) {
        let rank = usize::try_from(target).unwrap_or(usize::MAX);
        if rank < self.targets.len() {
            self.target(target).set_locked(locked);
        }
    }

    /// An epoch was opened for the targets of a group. Where the MPI does not tell who they are,
    /// puts to them are not kept.
    pub fn started(&self, group: Group) {
        let Some(native) = native() else { return };
        let Ok(all) = native.window_group(self.handle) else {
            return;
        };
        let ranks = native.translate(group, all);
        native.free_group(all);
        let mut started = self.started.lock();
        for rank in ranks.unwrap_or_default() {
            if (rank as usize) < self.targets.len() {
                self.target(rank as c_int).set_started(true);
                started.push(rank as c_int);
            }
        }
    }

    /// That epoch has ended.
    pub fn completed(&self) {
        for target in std::mem::take(&mut *self.started.lock()) {
            self.target(target).set_started(false);
        }
    }
}
