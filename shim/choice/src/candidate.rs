//! What may be tried against the algorithm that the native MPI takes by itself.

use std::fmt;

use treepie_collective::{Algorithm, Operation};
use treepie_native::knobs::{Knob, Library};

/// What stands before the name of a native MPI's algorithm.
const NATIVE: &str = "native:";

/// An algorithm that may be tried. As text its name: `grid-chain`, or `native:binomial`.
#[derive(Debug, Clone, Copy)]
pub enum Candidate {
    /// A plan.
    Plan {
        /// Its algorithm.
        algorithm: &'static Algorithm,
        /// The largest message that it sends, in bytes.
        segment: u64,
    },
    /// Another algorithm of the native MPI.
    Native(Knob),
}

impl Candidate {
    /// The candidate of this name for `operation`, in messages of up to `segment` bytes; `None`
    /// where there is no such plan, or where the MPI that is used has no such algorithm.
    pub fn from_name(
        operation: Operation,
        name: &str,
        segment: u64,
        library: Option<Library>,
    ) -> Option<Candidate> {
        match name.strip_prefix(NATIVE) {
            Some(name) => {
                let knob = library?.knob(operation, name).ok()?;
                (knob.name == name).then_some(Candidate::Native(knob))
            }
            None => Some(Candidate::Plan {
                algorithm: Algorithm::find(operation, name)?,
                segment,
            }),
        }
    }

    /// Whether both are one algorithm, whatever their segments.
    pub fn is_like(&self, other: &Candidate) -> bool {
        match (self, other) {
            (
                Candidate::Plan { algorithm, .. },
                Candidate::Plan {
                    algorithm: other, ..
                },
            ) => algorithm == other,
            (Candidate::Native(knob), Candidate::Native(other)) => knob == other,
            _ => false,
        }
    }

    /// The largest message that it sends, in bytes, as far as that is ours to say: 0 for an
    /// algorithm of the native MPI.
    pub fn segment(&self) -> u64 {
        match self {
            Candidate::Plan { segment, .. } => *segment,
            Candidate::Native(_) => 0,
        }
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Candidate::Plan { algorithm, .. } => out.write_str(algorithm.name),
            Candidate::Native(knob) => write!(out, "{NATIVE}{}", knob.name),
        }
    }
}

/// A candidate, and what is predicted of it.
#[derive(Debug, Clone, Copy)]
pub struct Challenger {
    /// What is tried.
    pub candidate: Candidate,
    /// Its predicted time, in thousandths of the native collective's; `None` where nothing is
    /// predicted.
    pub per_mille: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_found_by_the_names_that_they_are_written_with() {
        let library: Library = "open-mpi 4.1.4".parse().unwrap();
        for name in ["grid-chain", "native:binomial"] {
            let found = Candidate::from_name(Operation::Bcast, name, 8, Some(library)).unwrap();
            assert_eq!(found.to_string(), name);
        }
        for (name, library) in [
            ("grid-gone", Some(library)),
            ("native:gone", Some(library)),
            ("native:6", Some(library)),
            ("native:binomial", None),
        ] {
            let found = Candidate::from_name(Operation::Bcast, name, 8, library);
            assert!(found.is_none(), "{name}");
        }
    }
}
