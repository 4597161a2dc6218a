//! One-sided communication: what an origin puts to a target, and what it gets
//! from there; a get moves data from the target to the origin.

use super::counters::Kind;
use super::thread::Thread;
use crate::mpi::native::native;
use crate::mpi::{Datatype, Handle, Op, Win, c_int};

/// Elements and their datatype.
type Elements = (i64, Datatype);

/// A one-sided call as its procedure is told of it. What a procedure does not have is 0 or 1.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Elements in the origin's buffer: those that are put, or got.
    pub origin_count: i64,
    /// Their datatype.
    pub origin_type: Datatype,
    /// Elements that are got by a call that puts others.
    pub result_count: i64,
    /// Their datatype.
    pub result_type: Datatype,
    /// The operation of an accumulate; absent where there is none.
    pub op: Op,
    /// The target in the window's group, or `MPI_PROC_NULL`.
    pub target: c_int,
    /// The window.
    pub window: Win,
}

impl Access {
    /// An access to one element.
    pub const NONE: Access = Access {
        origin_count: 1,
        origin_type: Datatype::ABSENT,
        result_count: 1,
        result_type: Datatype::ABSENT,
        op: Op::ABSENT,
        target: 0,
        window: Win::ABSENT,
    };

    pub(super) fn origin(&self) -> Elements {
        (self.origin_count, self.origin_type)
    }

    pub(super) fn result(&self) -> Elements {
        (self.result_count, self.result_type)
    }
}

impl Thread {
    /// Counts what a one-sided call moves.
    #[inline(always)]
    pub(super) fn count_access(&self, access: &Access, moved: &[(Kind, Elements)]) {
        let (Some(native), Some(partner)) = (native(), self.target(access)) else {
            return;
        };
        for &(kind, (elements, datatype)) in moved {
            // With MPI_NO_OP nothing goes to the target, and what the call says of it may be
            // anything.
            let is_nothing =
                kind == Kind::Put && !access.op.is_absent() && native.is_no_op(access.op);
            if !is_nothing && elements > 0 {
                let bytes = native.type_size(datatype).saturating_mul(elements as u64);
                self.count(kind, partner, bytes);
            }
        }
    }

    /// The target as a rank of the application's world.
    #[inline(always)]
    fn target(&self, access: &Access) -> Option<u32> {
        let target = usize::try_from(access.target).ok()?;
        let partner = self.with_window(access.window, |window| window.get(target).copied());
        partner.flatten().filter(|&rank| rank != u32::MAX)
    }
}
