//! One-sided communication: what an origin puts to a target, and what it gets
//! from there; a get moves data from the target to the origin.

use super::counters::Kind;
use super::thread::Thread;
use crate::mpi::native::native as host;
use crate::mpi::{Word, c_int};

/// A one-sided call as its procedure is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    /// Elements and datatype that go to the target; none where the datatype is 0.
    pub put: (i64, Word),
    /// Elements and datatype that come from the target; none where the datatype
    /// is 0.
    pub got: (i64, Word),
    /// The operation of an accumulate; 0 where there is none.
    pub op: Word,
    /// The target in the window's group, or `MPI_PROC_NULL`.
    pub target: c_int,
    /// The window.
    pub window: Word,
}

impl Thread {
    /// Counts a one-sided call.
    #[inline(always)]
    pub(super) fn count_access(&self, access: &Access) {
        let (Some(host), Some(partner)) = (host(), self.target(access)) else {
            return;
        };
        let count = |kind, (elements, datatype): (i64, Word)| {
            if datatype != 0 && elements > 0 {
                let bytes = host.type_size(datatype).saturating_mul(elements as u64);
                self.count(kind, partner, bytes);
            }
        };
        // With MPI_NO_OP nothing goes to the target, and what the call says of
        // it may be anything.
        if access.op == 0 || !host.is_no_op(access.op) {
            count(Kind::Put, access.put);
        }
        count(Kind::Got, access.got);
    }

    /// The target as a rank of the application's world.
    #[inline(always)]
    fn target(&self, access: &Access) -> Option<u32> {
        let target = usize::try_from(access.target).ok()?;
        let partner = self.with_window(access.window, |window| window.get(target).copied());
        partner.flatten().filter(|&rank| rank != u32::MAX)
    }
}
