//! Windows of the application for which puts are held back: their shape, open epochs, targets, and
//! guard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use once_cell::race::OnceBox;
use parking_lot::{Mutex, RwLock};
use treepie_guard::{Course, Work};
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Group, HandleCache, SUCCESS, Win, c_int};
use treepie_plans::now;
use treepie_record::Registry;
use treepie_traffic::windows::EpochKind;

use super::exchange::WindowShape;
use super::judged::Judged;
use super::target::{EpochState, Target};

/// A window.
pub struct Window {
    handle: Win,
    shape: WindowShape,
    fence: AtomicBool,
    lock_all: AtomicBool,
    /// Targets of the epoch that `MPI_Win_start` opened.
    started: Mutex<Vec<c_int>>,
    targets: Box<[OnceBox<Target>]>,
    /// Targets that exist already.
    partners: RwLock<Vec<u32>>,
    /// Guard, if there is one; without one all updates that can be joined are.
    judged: Option<Judged>,
}

static WINDOWS: Registry<Win, Window> = Registry::new();

/// Windows that have a guard.
static JUDGED: Mutex<Vec<Weak<Window>>> = Mutex::new(Vec::new());

thread_local! {
    /// On the heap, because a process has little memory for thread-local variables.
    static LAST: Box<HandleCache<Win, Window, 4>> = Box::new(HandleCache::default());
}

/// Calls `read` with the window of this handle, without a lock if this thread used it last; `None`
/// for windows that are left to the MPI.
#[inline(always)]
pub fn with<R>(handle: Win, read: impl FnOnce(&Window) -> R) -> Option<R> {
    let epoch = WINDOWS.epoch();
    let found = LAST.try_with(|last| last.with(handle, epoch, find, read));
    found.ok().flatten()
}

/// Returns the window of this handle.
pub fn find(handle: Win) -> Option<Arc<Window>> {
    WINDOWS.find(native()?.plain(handle))
}

/// Registers a new window; puts to it are held back if its processes exchanged its shape.
pub fn made(handle: Win, shape: Option<WindowShape>, judge: impl FnOnce(usize) -> Option<Judged>) {
    let Some(native) = native() else { return };
    let handle = native.plain(handle);
    match shape {
        Some(shape) => {
            let judged = judge(shape.ranks);
            let is_judged = judged.is_some();
            WINDOWS.set(handle, Some(Window::new(handle, shape, judged)));
            if is_judged && let Some(window) = WINDOWS.find(handle) {
                let mut all = JUDGED.lock();
                all.retain(|one| one.strong_count() > 0);
                all.push(Arc::downgrade(&window));
            }
        }
        None => drop(WINDOWS.forget(handle)),
    }
}

/// Removes a window.
pub fn ended(handle: Win) {
    if let Some(native) = native() {
        WINDOWS.forget(native.plain(handle));
    }
}

/// Returns the windows that have a guard, in order of creation: the same on all ranks.
pub fn all_judged() -> Vec<Arc<Window>> {
    JUDGED.lock().iter().filter_map(Weak::upgrade).collect()
}

/// Removes all windows.
pub fn forget_all() {
    WINDOWS.clear();
}

impl Window {
    fn new(handle: Win, shape: WindowShape, judged: Option<Judged>) -> Self {
        Window {
            handle,
            targets: (0..shape.ranks).map(|_| OnceBox::new()).collect(),
            shape,
            fence: AtomicBool::new(false),
            lock_all: AtomicBool::new(false),
            started: Mutex::default(),
            partners: RwLock::default(),
            judged,
        }
    }

    /// Returns its handle.
    pub fn handle(&self) -> Win {
        self.handle
    }

    /// Returns the number of its ranks.
    pub fn ranks(&self) -> usize {
        self.shape.ranks
    }

    /// Returns the rank of this process.
    pub fn rank(&self) -> usize {
        self.shape.rank
    }

    /// Returns the guard.
    #[inline(always)]
    pub fn judged(&self) -> Option<&Judged> {
        self.judged.as_ref()
    }

    /// Returns the mode of a call to a target.
    ///
    /// # Errors
    /// MPI's error, from sending the updates that were held back until now.
    #[inline(always)]
    pub fn course(&self, native: &Native, target: c_int) -> Result<Course, c_int> {
        match &self.judged {
            Some(judged) => judged.course(native, self, target),
            None => Ok(Course {
                gathers: true,
                is_measured: false,
            }),
        }
    }

    /// Ends a call on it that is measured since `start`.
    pub fn took(&self, start: u64, work: Work) {
        if let Some(judged) = &self.judged {
            judged.ended(start, work);
        }
    }

    /// Makes a synchronising call, which is timed if calls are.
    pub fn timed(&self, call: impl FnOnce() -> c_int) -> c_int {
        let judged = self.judged.as_ref().filter(|judged| judged.is_measured());
        let start = judged.map(|_| now());
        let code = call();
        if let (Some(judged), Some(start)) = (judged, start) {
            judged.ended(start, Work::default());
        }
        code
    }

    /// Notes that a synchronising call has returned `code`.
    pub fn synchronised(&self, code: c_int) {
        let Some(judged) = &self.judged else { return };
        if code != SUCCESS {
            judged.fail();
        }
        judged.synchronised();
    }

    /// Returns the kind of the epoch in which a target is accessed, if one is open.
    pub fn kind_for(&self, target: c_int) -> Option<EpochKind> {
        let of_target = self.known_target(target).and_then(Target::kind);
        let of_all = || {
            self.lock_all
                .load(Ordering::Relaxed)
                .then_some(EpochKind::LockAll)
        };
        let of_fence = || {
            self.fence
                .load(Ordering::Relaxed)
                .then_some(EpochKind::Fence)
        };
        of_target.or_else(of_all).or_else(of_fence)
    }

    /// Returns the displacement unit of a target, in bytes.
    pub fn unit_of(&self, target: c_int) -> i64 {
        let unit = usize::try_from(target)
            .ok()
            .and_then(|rank| self.shape.units.of(rank));
        unit.unwrap_or(1)
    }

    /// Returns the byte of a target's memory at a displacement.
    #[inline(always)]
    pub fn byte_of(&self, target: c_int, displacement: i64) -> Option<i64> {
        let unit = self.shape.units.of(usize::try_from(target).ok()?)?;
        displacement.checked_mul(unit)
    }

    /// Returns the first byte of an update of `bytes` bytes, if all of it is in the target's
    /// memory.
    #[inline(always)]
    pub fn start_of(&self, target: c_int, displacement: i64, bytes: usize) -> Option<i64> {
        let start = self.byte_of(target, displacement)?;
        let end = start.checked_add(bytes as i64)?;
        let has = self.shape.bytes.of(usize::try_from(target).ok()?)?;
        (start >= 0 && end <= has).then_some(start)
    }

    /// True if an epoch is open in which this process may access a target.
    #[inline(always)]
    pub fn is_open_for(&self, target: c_int) -> bool {
        let for_all = self.fence.load(Ordering::Relaxed) || self.lock_all.load(Ordering::Relaxed);
        let rank = usize::try_from(target).unwrap_or(usize::MAX);
        if rank >= self.targets.len() {
            return false;
        }
        for_all || self.targets[rank].get().is_some_and(Target::is_open)
    }

    /// Returns a target, which must be one of the window's ranks.
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

    /// Returns a target that has been accessed, locked or started before.
    pub fn known_target(&self, target: c_int) -> Option<&Target> {
        self.targets.get(usize::try_from(target).ok()?)?.get()
    }

    /// Calls `each` for all of these targets.
    pub fn each_target(&self, mut each: impl FnMut(&Target)) {
        let partners = self.partners.read().clone();
        for rank in partners {
            if let Some(target) = self.known_target(rank as c_int) {
                each(target);
            }
        }
    }

    /// Notes a fence, after which an epoch is open or not.
    pub fn fenced(&self, opens: bool) {
        self.fence.store(opens, Ordering::Relaxed);
    }

    /// Notes that all targets were locked or unlocked.
    pub fn all_locked(&self, epoch: EpochState) {
        self.lock_all
            .store(epoch == EpochState::Open, Ordering::Relaxed);
    }

    /// Notes that a target was locked or unlocked.
    pub fn locked(&self, target: c_int, epoch: EpochState) {
        let rank = usize::try_from(target).unwrap_or(usize::MAX);
        if rank < self.targets.len() {
            self.target(target).locked(epoch);
        }
    }

    /// Notes the start of an epoch for the targets of a group. If the MPI does not return their
    /// ranks, puts to them are not held back.
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
                self.target(rank as c_int).started(EpochState::Open);
                started.push(rank as c_int);
            }
        }
    }

    /// Notes the end of that epoch.
    pub fn completed(&self) {
        for target in std::mem::take(&mut *self.started.lock()) {
            self.target(target).started(EpochState::Closed);
        }
    }
}
