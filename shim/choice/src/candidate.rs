//! Candidates to try against the algorithm that the native MPI uses by default.

use std::fmt;

use treepie_collective::{Algorithm, Operation};
use treepie_native::knobs::{Knob, Library};

/// Prefix of the name of a native MPI's algorithm.
const NATIVE: &str = "native:";

/// Algorithm that may be tried. Its text is its name: `grid-chain`, or `native:binomial`.
#[derive(Debug, Clone, Copy)]
pub enum Candidate {
    /// A plan.
    Plan {
        /// Algorithm.
        algorithm: &'static Algorithm,
        /// Largest message in bytes.
        segment: u64,
    },
    /// Another algorithm of the native MPI.
    Native(Knob),
}

impl Candidate {
    /// Candidate of this name for `operation`, in messages of up to `segment` bytes; `None` if
    /// there is no such plan, or if the MPI in use has no such algorithm.
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

    /// True if both are one algorithm, with any segments.
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

    /// Largest message in bytes, if a plan determines it: 0 for an algorithm of the native MPI.
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

/// Candidate with its prediction.
#[derive(Debug, Clone, Copy)]
pub struct Challenger {
    /// Candidate to try.
    pub candidate: Candidate,
    /// Predicted time, in thousandths of the native collective's; `None` if there is no prediction.
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
