//! One-sided communication: what an origin puts to a target, and what it gets
//! from there; a get moves data from the target to the origin.

use super::communicators;
use super::counters::Kind;
use super::repeated::Call;
use super::thread::Thread;
use crate::mpi::native::{Native as Host, native as host};
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

impl Access {
    /// What an access that only puts or only gets has in common with others, and its elements;
    /// `None` where it moves nothing.
    #[inline(always)]
    pub(super) fn as_call(&self) -> Option<(Call, i64)> {
        let (kind, (elements, datatype)) = match (self.op, self.put.1, self.got.1) {
            (0, 1.., 0) => (Kind::Put, self.put),
            (0, 0, 1..) => (Kind::Got, self.got),
            _ => return None,
        };
        let call = Call::moving(kind, self.window, self.target, datatype);
        (elements > 0).then_some((call, elements))
    }
}

impl Thread {
    /// Counts a one-sided call.
    #[inline(always)]
    pub(super) fn count_access(&self, access: &Access) {
        match access.as_call() {
            Some((call, elements)) => {
                let find = || self.target(access);
                self.count_call(&call, elements, communicators::window_epoch(), find);
            }
            None => self.count_parts(access),
        }
    }

    /// The target as a rank of the application's world.
    #[inline(always)]
    fn target(&self, access: &Access) -> Option<u32> {
        let target = usize::try_from(access.target).ok()?;
        let partner = self.with_window(access.window, |window| window.get(target).copied());
        partner.flatten().filter(|&rank| rank != u32::MAX)
    }

    #[inline(never)]
    fn count_parts(&self, access: &Access) {
        let (Some(host), Some(partner)) = (host(), self.target(access)) else {
            return;
        };
        // With MPI_NO_OP nothing goes to the target, and what the call says of
        // it may be anything.
        if access.op == 0 || !host.is_no_op(access.op) {
            self.count_part(host, Kind::Put, partner, access.put);
        }
        self.count_part(host, Kind::Got, partner, access.got);
    }

    #[inline(always)]
    fn count_part(&self, host: &Host, kind: Kind, partner: u32, (count, datatype): (i64, Word)) {
        if datatype != 0 && count > 0 {
            let bytes = host.type_size(datatype).saturating_mul(count as u64);
            self.count(kind, partner, bytes);
        }
    }
}
