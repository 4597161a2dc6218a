//! What calls have in common that are judged together.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use strum::Display;

use treepie_choice::size_class;
use treepie_collective::Operation;

/// How a collective is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Display, Serialize, Deserialize)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// It is complete when the call returns.
    #[default]
    Blocking,
    /// It is started in one call, and completed in another.
    Nonblocking,
    /// The same, by a request that is made once and started again and again.
    Persistent,
}

impl Form {
    /// The name of an operation that is called so.
    pub fn named(self, operation: Operation) -> String {
        match self {
            Form::Blocking => operation.to_string(),
            Form::Nonblocking => format!("started {operation}"),
            Form::Persistent => format!("persistent {operation}"),
        }
    }
}

/// What calls have in common that are judged together: equal on all ranks that decide together.
pub trait Key: Copy + Eq + Hash + Debug {
    /// A number that other cells hardly ever have, the same on all ranks.
    fn number(&self) -> u64;

    /// How they are called.
    fn form(&self) -> Form;

    /// Whether what is called is complete nowhere before all ranks have begun it.
    fn needs_all(&self) -> bool;

    /// Whether nobody leaves the call before all have entered it: all wait for each other. A
    /// persistent request is left before it is started again.
    fn synchronises(&self) -> bool {
        self.form() != Form::Nonblocking && self.needs_all()
    }

    /// Whether they can be tried in rows, before which all ranks wait for each other.
    fn has_rows(&self) -> bool {
        false
    }

    /// Whether what was found in `known` is worth the first trial here.
    fn is_like(&self, known: &Self) -> bool {
        self == known
    }

    /// Whether what was adopted in `known` runs here from the first call on.
    fn begins_as(&self, known: &Self) -> bool {
        self == known
    }
}

/// Calls of one communicator that are judged together. What is in it is equal on all ranks of a
/// legal program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellKey {
    /// The operation.
    pub operation: Operation,
    /// How it is called.
    pub form: Form,
    /// The root, where the operation has one.
    pub root: Option<u32>,
    /// Bytes of the message or of one rank's block, as the size of their class, four to a power of
    /// two; `None` where MPI does not give them to all ranks.
    pub bytes: Option<u64>,
    /// Operands must stay in the order of ranks.
    pub ordered: bool,
}

impl CellKey {
    /// The cell of a blocking call of so many bytes.
    pub fn new(operation: Operation, root: u32, bytes: Option<u64>, ordered: bool) -> Self {
        CellKey {
            operation,
            form: Form::Blocking,
            root: operation.has_root().then_some(root),
            bytes: bytes.map(size_class),
            ordered,
        }
    }

    /// The same of another form.
    pub fn of_form(self, form: Form) -> Self {
        CellKey { form, ..self }
    }

    /// Whether a rank on which it is complete knows that all others have started it, whatever their
    /// blocks are: of what is empty, or may be, an MPI need not send anything.
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
    fn number(&self) -> u64 {
        let parts = [
            self.operation as u64 | (self.form as u64) << 32,
            self.root.map_or(0, |root| u64::from(root) + 1),
            self.bytes.map_or(u64::MAX, |bytes| bytes),
            u64::from(self.ordered),
        ];
        parts.into_iter().fold(0, mix)
    }

    fn form(&self) -> Form {
        self.form
    }

    fn needs_all(&self) -> bool {
        self.operation.needs_all()
    }

    fn has_rows(&self) -> bool {
        self.form == Form::Blocking
    }

    /// The root may be another.
    fn is_like(&self, known: &CellKey) -> bool {
        let root = known.root;
        *known == CellKey { root, ..*self }
    }

    /// It was found there, or with any root.
    fn begins_as(&self, known: &CellKey) -> bool {
        known == self || known.root.is_none() && self.is_like(known)
    }
}

/// A hash with one more value (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
pub(super) fn mix(hash: u64, value: u64) -> u64 {
    let mut mixed = (hash ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_class_share_a_cell_and_others_do_not() {
        let of = |operation, root, bytes| CellKey::new(operation, root, bytes, false);
        let bcast = |root, bytes| of(Operation::Bcast, root, Some(bytes));
        assert_eq!(bcast(0, 1000), bcast(0, 1024));
        let others = [
            bcast(0, 1025),
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
