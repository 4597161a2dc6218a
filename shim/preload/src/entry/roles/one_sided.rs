//! One-sided communication, and its epochs.

use treepie_mpi::c_int;
use treepie_process::features;
use treepie_record as record;
use treepie_traffic::windows::{EpochKind, WindowCall};

use crate::entry::arguments::Arguments;
use crate::entry::role::{NativeCall, Rma, Role};
use crate::{one_sided, order};

/// Put, get, or accumulate.
pub struct Transfer;

impl Role for Transfer {
    const FEATURES: u16 = features::TRANSFERS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let reached = arguments.reached();
        let call = || match N::PROPERTIES.rma {
            Rma::Put => one_sided::put(reached, || native.call()),
            Rma::Accumulate => one_sided::accumulate(reached, || native.call()),
            _ => one_sided::pass(reached, || native.call()),
        };
        record::transfer(N::PROPERTIES.access, note, call, arguments.transfer())
    }
}

/// Accumulate that fetches the previous contents.
pub struct Fetch;

impl Role for Fetch {
    const FEATURES: u16 = features::TRANSFERS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let call = || one_sided::pass(arguments.reached(), || native.call());
        record::fetch(note, call, arguments.transfer())
    }
}

/// Start of an epoch.
pub struct OpenEpoch;

impl Role for OpenEpoch {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = native.note();
        let Arguments {
            window,
            group,
            assert,
            dest,
            ..
        } = native.arguments();
        let target = dest.unwrap_or_default();
        let call = || match N::PROPERTIES.epoch {
            EpochKind::Fence => one_sided::fence(window, assert, || native.call()),
            EpochKind::Start => one_sided::start(window, group, || native.call()),
            EpochKind::LockAll => one_sided::lock_all(window, || native.call()),
            EpochKind::Lock => one_sided::lock(window, target, || native.call()),
        };
        record::open_epoch(N::PROPERTIES.epoch, note, call, window)
    }
}

/// `MPI_Win_post`.
pub struct Post;

impl Role for Post {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        record::within_epoch(
            WindowCall::Post,
            native.note(),
            || native.call(),
            native.arguments().window,
        )
    }
}

/// Flush of one target or of all.
pub struct Flush;

impl Role for Flush {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = native.note();
        let Arguments { window, dest, .. } = native.arguments();
        let call = || match dest {
            Some(target) => one_sided::flush(window, target, || native.call()),
            None => one_sided::flush_all(window, || native.call()),
        };
        record::within_epoch(WindowCall::Flush, note, call, window)
    }
}

/// End of an epoch, or of other processes' epochs, which ends none of this process's own.
pub struct EndEpoch;

impl Role for EndEpoch {
    const FEATURES: u16 = features::WINDOWS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = native.note();
        let arguments = native.arguments();
        let Arguments { window, dest, .. } = arguments;
        let end = || match (N::PROPERTIES.rma, dest) {
            (Rma::Unlock, Some(target)) => one_sided::unlock(window, target, || native.call()),
            (Rma::Unlock, None) => one_sided::unlock_all(window, || native.call()),
            (Rma::Complete, _) => one_sided::complete(window, || native.call()),
            (Rma::Sync, _) => one_sided::sync(window, || native.call()),
            _ => native.call(),
        };
        record::end_epoch(note, || match N::PROPERTIES.open {
            Some(kind) => order::poll(kind, arguments.flag(), end),
            None => end(),
        })
    }
}
