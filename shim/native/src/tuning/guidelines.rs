//! Performance guidelines: an operation that takes longer than others with the same result is a
//! defect of the MPI or of its tuning (Träff, Gropp, Thakur, "Self-consistent MPI performance
//! guidelines", 2010; Hunold, Carpen-Amarie, 2018).

use treepie_collective::Operation::{self, *};

/// Operations that together have the result of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Emulation {
    /// Operation that they emulate.
    pub of: Operation,
    /// First operation.
    pub first: Operation,
    /// Second operation, if there is one.
    pub then: Option<Operation>,
}

impl Emulation {
    /// Returns the name, such as `reduce+bcast`.
    pub fn name(&self) -> String {
        match self.then {
            Some(then) => format!("{}+{then}", self.first),
            None => self.first.to_string(),
        }
    }
}

const TABLE: &[Emulation] = &[
    alone(Reduce, Allreduce),
    alone(Gather, Allgather),
    both(Allreduce, Reduce, Bcast),
    both(Allgather, Gather, Bcast),
    both(ReduceScatterBlock, Reduce, Scatter),
];

const fn alone(of: Operation, first: Operation) -> Emulation {
    Emulation {
        of,
        first,
        then: None,
    }
}

const fn both(of: Operation, first: Operation, then: Operation) -> Emulation {
    Emulation {
        of,
        first,
        then: Some(then),
    }
}

/// Returns the emulations of `operation`.
pub fn emulations(operation: Operation) -> Vec<Emulation> {
    let of = TABLE.iter().filter(|one| one.of == operation);
    of.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulation_is_named_by_its_parts() {
        let names: Vec<_> = emulations(Allreduce).iter().map(Emulation::name).collect();
        assert_eq!(names, ["reduce+bcast"]);
        assert_eq!(emulations(Reduce)[0].name(), "allreduce");
        assert_eq!(emulations(Barrier), []);
    }
}
