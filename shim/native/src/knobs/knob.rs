//! Selectable algorithm, and its lookup by name.

use crate::knobs::library::Version;
use treepie_collective::algorithms::Requirement;
use treepie_collective::operation::Operation;

/// Setting that a knob changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Algorithm of the operation.
    Algorithm,
    /// Division of the operation over hosts by MPICH's device `ch4`, before any algorithm.
    Composition,
    /// Bytes of the segments in which Open MPI's HAN runs the operation.
    HanSegments,
    /// Priority of a component of Open MPI, which then runs this operation and all others that it
    /// has.
    Priority,
}

/// Selectable algorithm of a native MPI, or another selectable implementation of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// Collective that it implements.
    pub operation: Operation,
    /// Its name in that MPI, and in Treepie's files: `scatter_allgather`.
    pub name: &'static str,
    /// Setting that it changes.
    pub target: Target,
    /// Its number in the MPI's rules and in its tool interface: the value of the variable of its
    /// target.
    pub number: u32,
    /// Requirements without which it is replaced by another algorithm, an error, or, in Open MPI,
    /// gives a wrong result.
    pub requires: &'static [Requirement],
    /// True if it is only for calls with `MPI_IN_PLACE`.
    pub in_place: bool,
}

impl Knob {
    /// True if a number alone, and a file of rules, can select it.
    pub(crate) fn is_algorithm(&self) -> bool {
        self.target == Target::Algorithm
    }

    /// True if its requirements hold among `ranks` ranks, so that no other algorithm replaces it.
    pub fn allows(&self, ranks: usize) -> bool {
        let mut required = self.requires.iter();
        !self.in_place && required.all(|requirement| requirement.allows(ranks))
    }

    /// True if its requirements hold among `ranks` ranks, for calls in which operands stay in the
    /// order of ranks if `ordered`.
    pub fn serves(&self, ranks: usize, ordered: bool) -> bool {
        self.allows(ranks) && !(ordered && self.reorders())
    }

    /// True if it may combine operands in another order than that of the ranks.
    pub fn reorders(&self) -> bool {
        self.requires.contains(&Requirement::Commutative)
    }
}

/// Line of a table: operation, number, name, first version, requirements.
pub(super) type Row = (
    Operation,
    u32,
    &'static str,
    Version,
    &'static [Requirement],
);
