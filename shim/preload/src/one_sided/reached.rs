//! What a call reaches in the memory of its target.

use std::ops::Range;

use treepie_guard::Work;
use treepie_mpi::native::{Extent, Native};
use treepie_mpi::{Datatype, Handle, Op, Win, Word, c_int};

use super::target::{LIMITS, UpdateKind};
use super::window::Window;

/// A one-sided call as its procedure is told of it. What a procedure does not have is 0, or 1
/// element.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Address of the origin's elements.
    pub origin: Word,
    /// How many.
    pub origin_count: i64,
    /// Their datatype.
    pub origin_type: Datatype,
    /// The rank in the window's group, or `MPI_PROC_NULL`.
    pub target: c_int,
    /// In units of the target.
    pub displacement: i64,
    /// Elements at the target.
    pub target_count: i64,
    /// Their datatype.
    pub target_type: Datatype,
    /// The operation of an accumulate; absent where there is none.
    pub op: Op,
    /// The window.
    pub window: Win,
}

/// Where a small piece goes, and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallPlace {
    /// In the target's memory, in bytes.
    pub bytes: Range<i64>,
    /// Bytes of an element.
    pub element: usize,
}

impl Reached {
    /// A call that has none of it.
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

    /// Where the piece goes, if it can be kept: it is small and in one piece at both ends, and
    /// nothing is wrong that the MPI would say at the call.
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

    /// Whether an accumulate is of one predefined type without gaps, by a predefined operation.
    fn is_simple(&self, native: &Native) -> bool {
        let is_one_type = native.plain(self.origin_type) == native.plain(self.target_type);
        is_one_type
            && native.is_lasting(native.plain(self.origin_type).word())
            && native.is_lasting(native.plain(self.op).word())
            && !native.is_no_op(self.op)
    }

    /// What it does, as epochs are compared by it.
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

    /// From the first to the last byte that is reached; empty where that is nothing, and all
    /// memory where it is not known.
    pub fn place(&self, native: &Native, window: &Window) -> Range<i64> {
        const ANYWHERE: Range<i64> = i64::MIN..i64::MAX;
        if self.target_count <= 0 {
            return 0..0;
        }
        // Asked for it, the MPI would call the world's error handler.
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

/// The bytes of an element of `datatype`, if it has no gaps.
#[inline(always)]
fn gapless_bytes(native: &Native, datatype: Datatype) -> Option<u64> {
    if native.is_null_datatype(datatype) {
        return None;
    }
    let (bytes, is_contiguous) = native.size_and_contiguity(datatype);
    // Of the MPI's own types, pairs of unlike numbers have gaps, and no power of two of bytes.
    let is_pair = || !bytes.is_power_of_two() && native.is_lasting(native.plain(datatype).word());
    (is_contiguous && bytes > 0 && !is_pair()).then_some(bytes)
}

/// The bytes of so many elements, if they are some, and few.
#[inline(always)]
fn small_bytes(element: u64, count: i64) -> Option<usize> {
    let bytes = element.checked_mul(u64::try_from(count).ok()?)?;
    (1..=LIMITS.largest as u64)
        .contains(&bytes)
        .then_some(bytes as usize)
}
