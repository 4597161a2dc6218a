//! A choosable algorithm, and its lookup by name.

use crate::knobs::library::Version;
use treepie_collective::algorithms::Requirement;
use treepie_collective::operation::Operation;

/// The setting that a knob turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The algorithm of the operation.
    Algorithm,
    /// The division of the operation over hosts by MPICH's device `ch4`, before any algorithm.
    Composition,
    /// Bytes of the segments in which Open MPI's HAN does the operation.
    HanSegments,
    /// The priority of a component of Open MPI, which then does this operation and all others
    /// that it has.
    Priority,
}

/// An algorithm of a native MPI that can be chosen, or another way to have an operation done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// Collective that it does.
    pub operation: Operation,
    /// Its name in that MPI, and in our files: `scatter_allgather`.
    pub name: &'static str,
    /// The setting that it turns.
    pub target: Target,
    /// The number that stands for it in the MPI's rules and in its tool interface: the value of
    /// the variable of its target.
    pub number: u32,
    /// Without these it is another algorithm, an error, or, in Open MPI, a wrong result.
    pub requires: &'static [Requirement],
    /// Whether it is for calls with `MPI_IN_PLACE` alone.
    pub in_place: bool,
}

impl Knob {
    /// Whether a number alone, and a file of rules, can name it.
    pub(crate) fn is_algorithm(&self) -> bool {
        self.target == Target::Algorithm
    }

    /// Whether it can be itself among `ranks` ranks.
    pub fn allows(&self, ranks: usize) -> bool {
        let mut required = self.requires.iter();
        !self.in_place && required.all(|requirement| requirement.allows(ranks))
    }

    /// Whether it can be itself among `ranks` ranks, for calls in which operands stay in the order
    /// of ranks, where `ordered` says so.
    pub fn serves(&self, ranks: usize, ordered: bool) -> bool {
        self.allows(ranks) && !(ordered && self.reorders())
    }

    /// Whether it may combine operands in another order than that of the ranks.
    pub fn reorders(&self) -> bool {
        self.requires.contains(&Requirement::Commutative)
    }
}

/// A line of a table: operation, number, name, first version, requirements.
pub(super) type Row = (
    Operation,
    u32,
    &'static str,
    Version,
    &'static [Requirement],
);
