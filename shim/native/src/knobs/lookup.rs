//! Lookup of the algorithms that a library lets its users select.

use crate::knobs::knob::{Knob, Target};
use crate::knobs::library::{Library, Maker};
use crate::knobs::{intel, mpich, open_mpi};
use thiserror::Error;
use treepie_collective::Operation;

/// Value for an operation that this MPI does not know.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{library} has no algorithm `{given}` for {operation}; {}",
    match known.is_empty() {
        true => "none of this operation can be chosen".to_owned(),
        false => format!("write default or one of {}", known.join(", ")),
    }
)]
pub struct UnknownKnob {
    /// MPI library.
    pub library: Library,
    /// Collective operation.
    pub operation: Operation,
    /// Value, as it was written.
    pub given: String,
    /// Existing values.
    pub known: Vec<String>,
}

impl Library {
    /// Returns the algorithms that can be selected for `operation`, except for the default, which
    /// is the MPI's own choice.
    pub fn knobs(self, operation: Operation) -> Vec<Knob> {
        match self.maker {
            Maker::OpenMpi => open_mpi::knobs(self.version, operation),
            Maker::Mpich => mpich::knobs(self.version, operation),
            Maker::IntelMpi => intel::knobs(operation),
        }
    }

    /// Returns the algorithm that a user names, by its name or number.
    ///
    /// # Errors
    /// This MPI has none of that name or number.
    pub fn knob(self, operation: Operation, given: &str) -> Result<Knob, UnknownKnob> {
        let mut knobs = self.knobs(operation);
        let wanted = given.trim().to_ascii_lowercase();
        let plain = |name: &str| name.replace('-', "_");
        let number: Option<u32> = wanted.parse().ok();
        let is_numbered =
            |knob: &Knob| knob.target == Target::Algorithm && number == Some(knob.number);
        let is_it = |knob: &Knob| plain(knob.name) == plain(&wanted) || is_numbered(knob);
        match knobs.iter().position(is_it) {
            Some(place) => Ok(knobs.swap_remove(place)),
            None => Err(UnknownKnob {
                library: self,
                operation,
                given: given
                    .chars()
                    .take(64)
                    .flat_map(char::escape_default)
                    .collect(),
                known: knobs.iter().map(|knob| knob.name.to_owned()).collect(),
            }),
        }
    }

    /// True if it checks itself if an operation commutes before it uses an algorithm that requires
    /// that. Open MPI does so only in its fixed decisions, not for user settings: measured with
    /// 4.1.4 and 5.0.11, on 3 to 8 ranks, with products of matrices.
    pub fn checks_order(self) -> bool {
        self.maker != Maker::OpenMpi
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(text: &str) -> Library {
        text.parse().unwrap()
    }

    fn names(library: Library, operation: Operation) -> Vec<&'static str> {
        let knobs = library.knobs(operation).into_iter();
        knobs.map(|knob| knob.name).collect()
    }

    #[test]
    fn numbers_and_names_are_those_of_the_version() {
        for (version, operation, name, number) in [
            ("open-mpi 4.1.4", Operation::Bcast, "scatter_allgather", 8),
            ("open-mpi 4.1.4", Operation::Allreduce, "rabenseifner", 6),
            ("open-mpi 5.0.11", Operation::Allgather, "sparbit", 7),
            ("open-mpi 5.0.11", Operation::Allgather, "bruck", 2),
            ("open-mpi 6.0.0", Operation::Allgather, "bruck-k-fanout", 2),
            ("mpich 4.0.2", Operation::Bcast, "scatter_ring_allgather", 5),
            ("mpich 5.0.2", Operation::Allreduce, "ring", 8),
            ("mpich 4.1.2", Operation::Allreduce, "ring", 7),
            ("mpich 5.0.2", Operation::Allgather, "ring", 5),
            ("mpich 4.0.2", Operation::Allgather, "ring", 4),
            ("mpich 4.0.2", Operation::Barrier, "dissemination", 3),
        ] {
            let found = library(version).knob(operation, name).unwrap();
            assert_eq!(found.number, number, "{version} {operation} {name}");
            let by_number = library(version).knob(operation, &number.to_string());
            assert_eq!(by_number.unwrap(), found);
        }
        assert!(
            library("open-mpi 4.1.4")
                .knob(Operation::Allgather, "sparbit")
                .is_err()
        );
        assert!(
            library("mpich 5.0.2")
                .knob(Operation::Barrier, "dissemination")
                .is_err()
        );
    }

    #[test]
    fn names_and_numbers_of_an_operation_are_each_its_own() {
        for version in [
            "open-mpi 4.1.4",
            "open-mpi 5.0.11",
            "open-mpi 6.0.0",
            "mpich 4.0.2",
            "mpich 4.1.0",
            "mpich 4.2.0",
            "mpich 4.3.0",
            "mpich 5.0.2",
            "intel-mpi 2021.18.1",
        ] {
            let library = library(version);
            for operation in Operation::all() {
                let knobs = library.knobs(operation);
                for (place, knob) in knobs.iter().enumerate() {
                    let others = &knobs[..place];
                    assert!(
                        others.iter().all(|other| other.name != knob.name),
                        "{knob:?}"
                    );
                    let number = knob.number;
                    let same = |other: &Knob| (other.target, other.number) == (knob.target, number);
                    assert!(!others.iter().any(same), "{version} {knob:?}");
                    assert_ne!(number, 0, "0 is the default: {knob:?}");
                }
            }
        }
    }

    #[test]
    fn each_version_has_the_knobs_beside_algorithms_that_it_really_has() {
        use Operation::*;
        let compositions = ["alpha", "beta", "gamma", "delta"];
        for (version, operation, expected) in [
            ("mpich 4.0.2", Allreduce, 0),
            ("mpich 4.1.0", Allreduce, 4),
            ("mpich 5.0.2", Bcast, 3),
            ("mpich 5.0.2", Reduce, 3),
            ("mpich 5.0.2", Allgather, 2),
            ("mpich 5.0.2", Alltoall, 2),
            ("mpich 5.0.2", Barrier, 2),
            ("mpich 5.0.2", Scan, 0),
        ] {
            let knobs = library(version).knobs(operation).into_iter();
            let found = knobs.filter(|knob| knob.target == Target::Composition);
            let found: Vec<_> = found.map(|knob| (knob.name, knob.number)).collect();
            assert_eq!(found.len(), expected, "{version} {operation}");
            for (place, (name, number)) in found.into_iter().enumerate() {
                assert_eq!(name, format!("composition_{}", compositions[place]));
                assert_eq!(number as usize, place + 1);
            }
        }
        for (version, operation, expected) in [
            ("open-mpi 4.1.4", Bcast, &[][..]),
            ("open-mpi 5.0.11", Bcast, &["han_512k"]),
            ("open-mpi 5.0.11", Allgather, &[]),
            ("open-mpi 6.0.0", Reduce, &["han_512k", "acoll"]),
            ("open-mpi 6.0.0", Allgather, &["acoll"]),
            ("open-mpi 6.0.0", Scan, &[]),
        ] {
            let knobs = library(version).knobs(operation).into_iter();
            let found = knobs.filter(|knob| knob.target != Target::Algorithm);
            let found: Vec<_> = found.map(|knob| knob.name).collect();
            assert_eq!(found, expected, "{version} {operation}");
        }
    }

    /// It hangs, or gives wrong results, among 33, 65, 66, ... ranks.
    #[test]
    fn circ_graph_is_never_offered() {
        for version in ["mpich 4.3.0", "mpich 5.0.2"] {
            for operation in Operation::all() {
                assert!(!names(library(version), operation).contains(&"circ_graph"));
            }
        }
        // The first version that may have it has no table, so that none of its algorithms is tried.
        let unknown = Library::from_version_text("MPICH Version: 5.1.0");
        assert!(unknown.is_err());
    }

    #[test]
    fn what_an_mpi_does_not_know_is_answered_with_what_it_knows() {
        let error = library("open-mpi 4.1.4")
            .knob(Operation::Scan, "ring\n")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "open-mpi 4.1.4 has no algorithm `ring\\n` for scan; write default or one of linear, \
             recursive_doubling"
        );
        let error = library("open-mpi 4.1.4")
            .knob(Operation::Gatherv, "linear")
            .unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("none of this operation can be chosen")
        );
    }

    #[test]
    fn requirements_keep_algorithms_out_where_they_would_be_others() {
        let allowed = |operation, name: &str, ranks| {
            let library = library("open-mpi 4.1.4");
            library.knob(operation, name).unwrap().allows(ranks)
        };
        assert!(allowed(Operation::Alltoall, "two_proc", 2));
        assert!(!allowed(Operation::Alltoall, "two_proc", 3));
        assert!(!allowed(Operation::Allgather, "neighbor", 5));
        let mpich = library("mpich 4.0.2");
        let replace = mpich.knob(Operation::Alltoall, "pairwise_sendrecv_replace");
        assert!(!replace.unwrap().allows(4));
    }

    #[test]
    fn algorithms_that_were_seen_to_reorder_operands_say_so() {
        let library = library("open-mpi 4.1.4");
        let reorder = |operation| {
            let knobs = library.knobs(operation).into_iter();
            let reordering = knobs.filter(Knob::reorders);
            reordering.map(|knob| knob.name).collect::<Vec<_>>()
        };
        assert_eq!(reorder(Operation::Allreduce), ["ring", "segmented_ring"]);
        let of_reduce = ["chain", "pipeline", "binary", "binomial"];
        assert_eq!(reorder(Operation::Reduce), of_reduce);
        let of_reduce_scatter = ["recursive_halving", "ring"];
        assert_eq!(reorder(Operation::ReduceScatter), of_reduce_scatter);
        assert_eq!(
            names(library, Operation::Scan),
            ["linear", "recursive_doubling"]
        );
    }
}
