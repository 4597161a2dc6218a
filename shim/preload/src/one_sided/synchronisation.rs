//! Calls that create, free and synchronise windows: pending updates are sent before those that
//! complete them.

use treepie_mpi::abi::Family;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Comm, Group, HandleAddress, SUCCESS, Win, c_int};
use treepie_process::features::{self, GATHERING};

use super::exchange::{Shape, WindowShape};
use super::gathering::{judge, report};
use super::judged::EndOf;
use super::target::{EpochState, Target};
use super::window::{self, Window};

/// Makes a call that creates a window of `comm`, whose handle it stores at `address`.
pub fn made(
    shape: Shape,
    comm: Comm,
    address: HandleAddress<Win>,
    next: impl FnOnce() -> c_int,
) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let exchanged = native().and_then(|native| WindowShape::among(native, comm, shape));
    let code = next();
    if code == SUCCESS {
        window::made(address.read(), exchanged, judge);
    }
    code
}

/// Frees the window whose handle is at `address`: `MPI_Win_free`.
pub fn free(address: HandleAddress<Win>, next: impl FnOnce() -> c_int) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let handle = address.read();
    let code = match (native(), window::find(handle)) {
        (Some(native), Some(window)) => complete_kept(native, &window, Whose::All, || {
            report(native, &window, EndOf::Window);
            next()
        }),
        _ => next(),
    };
    if code == SUCCESS {
        window::ended(handle);
    }
    code
}

/// `MPI_Win_fence`.
pub fn fence(window: Win, assert: c_int, next: impl FnOnce() -> c_int) -> c_int {
    let ends = native().is_some_and(|native| assert & native.abi.mode_no_succeed != 0);
    let code = ended(window, Whose::All, next, |window| window.fenced(!ends));
    // Also after an error: all ranks count alike.
    if features::any(GATHERING)
        && !ends
        && let (Some(native), Some(window)) = (native(), window::find(window))
        && let Some(judged) = window.judged()
    {
        judged.fenced(native, &window);
    }
    code
}

/// `MPI_Win_start` for the targets of `group`.
pub fn start(window: Win, group: Group, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| window.started(group))
}

/// `MPI_Win_complete`.
pub fn complete(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::All, next, Window::completed)
}

/// `MPI_Win_lock` of a target.
pub fn lock(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| {
        window.locked(target, EpochState::Open)
    })
}

/// `MPI_Win_unlock` of a target.
pub fn unlock(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::Of(target), next, |window| {
        window.locked(target, EpochState::Closed)
    })
}

/// `MPI_Win_lock_all`.
pub fn lock_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    begun(window, next, |window| window.all_locked(EpochState::Open))
}

/// `MPI_Win_unlock_all`.
pub fn unlock_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::All, next, |window| {
        window.all_locked(EpochState::Closed)
    })
}

/// `MPI_Win_flush` or `MPI_Win_flush_local` of a target.
pub fn flush(window: Win, target: c_int, next: impl FnOnce() -> c_int) -> c_int {
    ended(window, Whose::Of(target), next, |_| ())
}

/// A flush of all targets, complete or local. MPICH 4.0 may still read origin buffers after its
/// own, which a flush of each target completes. An MPI with the standard ABI may be an MPICH, too.
pub fn flush_all(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    match native().map(|native| native.abi.family) {
        Some(Family::Mpich | Family::Standard) => {
            sent(window, Target::flush, next, Window::synchronised)
        }
        _ => ended(window, Whose::All, next, |_| ()),
    }
}

/// `MPI_Win_sync`: pending updates are sent, and completed by a later call.
pub fn sync(window: Win, next: impl FnOnce() -> c_int) -> c_int {
    sent(window, Target::send_all, next, |_, _| ())
}

/// Targets whose updates a synchronisation completes.
#[derive(Clone, Copy)]
enum Whose {
    Of(c_int),
    All,
}

/// Makes a call that opens an epoch; `told` updates the window.
fn begun(window: Win, next: impl FnOnce() -> c_int, told: impl FnOnce(&Window)) -> c_int {
    let code = next();
    if features::any(GATHERING)
        && code == SUCCESS
        && let Some(window) = window::find(window)
    {
        told(&window);
        window.synchronised(code);
    }
    code
}

/// Makes a call before which `send` sends pending updates, and after which nothing is freed; `told`
/// updates the window with the return code.
fn sent(
    window: Win,
    send: impl Fn(&Target, &Native, &Window) -> Result<(), c_int>,
    next: impl FnOnce() -> c_int,
    told: impl FnOnce(&Window, c_int),
) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let (Some(native), Some(window)) = (native(), window::find(window)) else {
        return next();
    };
    let code = window.timed(|| {
        let mut result = Ok(());
        window.each_target(|target| result = result.and(send(target, native, &window)));
        match next() {
            SUCCESS => result.err().unwrap_or(SUCCESS),
            code => code,
        }
    });
    told(&window, code);
    code
}

/// Makes a call that completes pending operations, and may end an epoch; it updates the window.
fn ended(
    window: Win,
    whose: Whose,
    next: impl FnOnce() -> c_int,
    told: impl FnOnce(&Window),
) -> c_int {
    if !features::any(GATHERING) {
        return next();
    }
    let (Some(native), Some(window)) = (native(), window::find(window)) else {
        return next();
    };
    let code = window.timed(|| complete_kept(native, &window, whose, next));
    // Before an epoch that this call opens.
    window.synchronised(code);
    if code == SUCCESS {
        told(&window);
    }
    code
}

/// Sends pending updates, then calls `next`, which completes them. If sending fails, `next` is
/// called all the same, because other ranks may wait for it, and the error is returned.
fn complete_kept(
    native: &Native,
    window: &Window,
    whose: Whose,
    next: impl FnOnce() -> c_int,
) -> c_int {
    let mut sent = Vec::new();
    let mut result = Ok(());
    let mut send = |target: &Target| {
        let done = target.send_all(native, window);
        sent.append(&mut target.take_sent());
        result = result.and(done);
    };
    match whose {
        Whose::Of(target) => {
            if let Some(target) = window.known_target(target) {
                send(target);
            }
        }
        Whose::All => window.each_target(send),
    }
    let code = next();
    if code != SUCCESS {
        // The MPI may still read them.
        std::mem::forget(sent);
        return code;
    }
    drop(sent);
    result.err().unwrap_or(SUCCESS)
}
