//! Target memory that a call accesses.

use std::ops::Range;

use treepie_guard::Work;
use treepie_mpi::native::{Extent, Native};
use treepie_mpi::{Datatype, Handle, Op, Win, Word, c_int};

use super::target::{LIMITS, UpdateKind};
use super::window::Window;

/// One-sided call, as its procedure passes it on. Fields that the procedure lacks are 0, or 1
/// element.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Address of the origin buffer.
    pub origin: Word,
    /// Number of origin elements.
    pub origin_count: i64,
    /// Their datatype.
    pub origin_type: Datatype,
    /// The rank in the window's group, or `MPI_PROC_NULL`.
    pub target: c_int,
    /// Displacement in the target's units.
    pub displacement: i64,
    /// Number of target elements.
    pub target_count: i64,
    /// Their datatype.
    pub target_type: Datatype,
    /// Operation of an accumulate; null for other calls.
    pub op: Op,
    /// The window.
    pub window: Win,
}

/// Location and length of a small update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallPlace {
    /// Range in the target's memory, in bytes.
    pub bytes: Range<i64>,
    /// Bytes of an element.
    pub element: usize,
}

impl Reached {
    /// A call without any of these.
    pub const NONE: Reached = Reached {
        origin: 0,
        origin_count: 1,
        origin_type: Datatype::ABSENT,
        target: 0,
        displacement: 0,
        target_count: 1,
        target_type: Datatype::ABSENT,
        op: Op::ABSENT,
        window: Win::ABSENT,
    };

    /// Returns the location of the update if it can be held back: it is small and contiguous at
    /// both ends, and has no error that the MPI would report at the call.
    #[inline(always)]
    pub fn small_place(
        &self,
        native: &Native,
        window: &Window,
        kind: UpdateKind,
    ) -> Option<SmallPlace> {
        if !window.is_open_for(self.target) || self.origin == 0 {
            return None;
        }
        let element = gapless_bytes(native, self.origin_type)?;
        let bytes = small_bytes(element, self.origin_count)?;
        if self.target_type != self.origin_type {
            let element = gapless_bytes(native, self.target_type)?;
            if small_bytes(element, self.target_count)? != bytes {
                return None;
            }
        } else if self.target_count != self.origin_count {
            return None;
        }
        if kind == UpdateKind::Accumulate && !self.is_simple(native) {
            return None;
        }
        let start = window.start_of(self.target, self.displacement, bytes)?;
        Some(SmallPlace {
            bytes: start..start + bytes as i64,
            element: element as usize,
        })
    }

    /// True if an accumulate has one predefined type without gaps, and a predefined operation.
    fn is_simple(&self, native: &Native) -> bool {
        let is_one_type = native.plain(self.origin_type) == native.plain(self.target_type);
        is_one_type
            && native.is_lasting(native.plain(self.origin_type).word())
            && native.is_lasting(native.plain(self.op).word())
            && !native.is_no_op(self.op)
    }

    /// Returns the work by which epochs are compared.
    pub fn work(&self, native: &Native) -> Work {
        let (ours, theirs) = (
            (self.origin_type, self.origin_count),
            (self.target_type, self.target_count),
        );
        let (datatype, count) = if ours.0.is_absent() { theirs } else { ours };
        let is_known = !datatype.is_absent() && !native.is_null_datatype(datatype);
        let element = if is_known {
            native.type_size(datatype)
        } else {
            0
        };
        Work {
            calls: 1,
            bytes: element.saturating_mul(u64::try_from(count).unwrap_or(0)),
        }
    }

    /// Returns the range from the first to the last byte that is accessed; empty if there is none,
    /// and all memory if it is not known.
    pub fn place(&self, native: &Native, window: &Window) -> Range<i64> {
        const ANYWHERE: Range<i64> = i64::MIN..i64::MAX;
        if self.target_count <= 0 {
            return 0..0;
        }
        // A query about it would invoke the error handler of the MPI's world.
        if native.is_null_datatype(self.target_type) {
            return ANYWHERE;
        }
        let reached = || {
            let Extent { step, first, span } = native.extent(self.target_type)?;
            let base = window.byte_of(self.target, self.displacement)?;
            let last = step.checked_mul(self.target_count - 1)?;
            let start = base.checked_add(first)?.checked_add(last.min(0))?;
            let end = base.checked_add(first)?.checked_add(last.max(0))?;
            Some(start..end.checked_add(span)?)
        };
        reached().unwrap_or(ANYWHERE)
    }
}

/// Returns the bytes of an element of `datatype` if it has no gaps.
#[inline(always)]
fn gapless_bytes(native: &Native, datatype: Datatype) -> Option<u64> {
    if native.is_null_datatype(datatype) {
        return None;
    }
    let (bytes, is_contiguous) = native.size_and_contiguity(datatype);
    // Of the MPI's predefined types, pairs of different types have gaps, and their size is no power
    // of two.
    let is_pair = || !bytes.is_power_of_two() && native.is_lasting(native.plain(datatype).word());
    (is_contiguous && bytes > 0 && !is_pair()).then_some(bytes)
}

/// Returns the bytes of `count` elements if they are more than 0 and few.
#[inline(always)]
fn small_bytes(element: u64, count: i64) -> Option<usize> {
    let bytes = element.checked_mul(u64::try_from(count).ok()?)?;
    (1..=LIMITS.largest as u64)
        .contains(&bytes)
        .then_some(bytes as usize)
}
