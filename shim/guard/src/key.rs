//! Cells: calls that are judged together.

use std::fmt::Debug;
use std::hash::Hash;

use treepie_choice::{Challenger, class_bytes};
use treepie_collective::Operation;
use treepie_collective::operation::Unit;

use crate::call::{CallSemantics, Form};
use crate::contender::Contender;
use crate::hash::mix;
use crate::policy::MAX_SHORT_BYTES;

/// Common properties of the calls of a cell: equal on all ranks that decide together.
pub trait Key: Copy + Eq + Hash + Debug {
    /// Alternative to the native way to run them.
    type Candidate: Contender;

    /// Returns a number that other cells very rarely have, the same on all ranks.
    fn number(&self) -> u64;

    /// Returns the way in which ranks wait for each other in them.
    fn semantics(&self) -> CallSemantics;

    /// True if a plan that was adopted in `other` is tried first here.
    fn is_like(&self, other: &Self) -> bool {
        self == other
    }

    /// True if a plan that was adopted in `stored` runs here from the first call on.
    fn begins_as(&self, stored: &Self) -> bool {
        self == stored
    }
}

/// Size of the class of calls with this number of bytes, which share a cell: one class for all
/// short messages, and four to a power of two for others. Blocks add up over the ranks, so that
/// their sizes matter however short they are.
pub fn size_class(operation: Operation, bytes: u64) -> u64 {
    match bytes {
        1..=MAX_SHORT_BYTES if operation.unit() == Unit::Message => MAX_SHORT_BYTES,
        _ => class_bytes(bytes),
    }
}

/// Calls of one communicator that are judged together. Its fields are equal on all ranks of a
/// correct program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellKey {
    /// Collective operation.
    pub operation: Operation,
    /// Form of the call.
    pub form: Form,
    /// Root, if the operation has one.
    pub root: Option<u32>,
    /// Bytes of the message or of one rank's block, rounded to the size of their class; `None` if
    /// MPI does not give them to all ranks.
    pub bytes: Option<u64>,
    /// True if operands must stay in the order of ranks.
    pub ordered: bool,
}

impl CellKey {
    /// Creates the cell of a blocking call of `bytes` bytes.
    pub fn new(operation: Operation, root: u32, bytes: Option<u64>, ordered: bool) -> Self {
        CellKey {
            operation,
            form: Form::Blocking,
            root: operation.has_root().then_some(root),
            bytes: bytes.map(|bytes| size_class(operation, bytes)),
            ordered,
        }
    }

    /// Returns the cell of such calls in another form.
    pub fn of_form(self, form: Form) -> Self {
        CellKey { form, ..self }
    }

    /// True if its completion on a rank proves that all others have started it, whatever the sizes
    /// of their blocks: an MPI need not send blocks that are, or may be, empty.
    pub fn shows_all(&self) -> bool {
        use Operation::*;
        match self.operation {
            Barrier => true,
            Allgather | Alltoall | Allreduce | ReduceScatterBlock => {
                self.bytes.is_some_and(|bytes| bytes > 0)
            }
            _ => false,
        }
    }
}

impl Key for CellKey {
    type Candidate = Challenger;

    fn number(&self) -> u64 {
        let parts = [
            self.operation as u64 | (self.form as u64) << 32,
            self.root.map_or(0, |root| u64::from(root) + 1),
            self.bytes.map_or(u64::MAX, |bytes| bytes),
            u64::from(self.ordered),
        ];
        parts.into_iter().fold(0, mix)
    }

    fn semantics(&self) -> CallSemantics {
        CallSemantics {
            form: self.form,
            needs_all: self.operation.needs_all(),
            has_rows: self.form == Form::Blocking,
        }
    }

    /// True also for another root.
    fn is_like(&self, other: &CellKey) -> bool {
        let root = other.root;
        *other == CellKey { root, ..*self }
    }

    /// True if it was adopted with this root, or with any root.
    fn begins_as(&self, stored: &CellKey) -> bool {
        stored == self || stored.root.is_none() && self.is_like(stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_class_share_a_cell_and_others_do_not() {
        let of = |operation, root, bytes| CellKey::new(operation, root, bytes, false);
        let bcast = |root, bytes| of(Operation::Bcast, root, Some(bytes));
        assert_eq!(bcast(0, 1000), bcast(0, 1024));
        assert_eq!(bcast(0, 1), bcast(0, 256));
        let allgather = |bytes| of(Operation::Allgather, 0, Some(bytes));
        assert_ne!(allgather(8), allgather(256));
        let others = [
            bcast(0, 1025),
            bcast(0, 256),
            bcast(0, 0),
            bcast(1, 1024),
            of(Operation::Bcast, 0, None),
            of(Operation::Reduce, 0, Some(1024)),
            CellKey::new(Operation::Bcast, 0, Some(1024), true),
            bcast(0, 1024).of_form(Form::Nonblocking),
            bcast(0, 1024).of_form(Form::Persistent),
        ];
        for other in others {
            assert_ne!(bcast(0, 1024), other);
            assert_ne!(bcast(0, 1024).number(), other.number());
        }
        // Only operations with a root have one.
        let allreduce = |root| of(Operation::Allreduce, root, Some(8));
        assert_eq!(allreduce(0), allreduce(3));
    }

    #[test]
    fn what_may_be_empty_or_has_a_root_does_not_show_that_all_have_started() {
        use Operation::*;
        let of = |operation, bytes| CellKey::new(operation, 0, bytes, false).shows_all();
        assert!(of(Barrier, Some(0)));
        let all = [Allgather, Alltoall, Allreduce, ReduceScatterBlock];
        assert!(all.iter().all(|&operation| of(operation, Some(8))));
        assert!(all.iter().all(|&operation| !of(operation, Some(0))));
        for operation in [Bcast, Reduce, Gather, Scan, Allgatherv, ReduceScatter] {
            assert!(!of(operation, Some(8)), "{operation}");
        }
        assert!(!of(Alltoallv, None));
    }
}
