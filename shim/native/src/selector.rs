//! Decision tables of a native MPI, by its version: the algorithm of a call.

use crate::family::Family;
use crate::knobs::{Library, Version};
use crate::{disjoint, han};
use treepie_collective::{Operation, Uniform};

/// Native MPI, whose tables select the algorithm of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selector {
    /// Its family.
    pub family: Family,
    /// Its version; `None` if it is unknown, or that of a relative.
    pub version: Option<Version>,
}

/// Call and machine, as inputs of decision tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Criteria {
    /// Collective operation.
    pub operation: Operation,
    /// Number of ranks of the communicator.
    pub ranks: usize,
    /// Bytes of the message or block, as in
    /// [`Volume::Uniform`](treepie_collective::Volume::Uniform).
    pub bytes: u64,
    /// True if no two ranks are on one host.
    pub is_disjoint: bool,
    /// True if operands stay in the order of ranks.
    pub is_ordered: bool,
}

impl From<Family> for Selector {
    fn from(family: Family) -> Selector {
        let version = None;
        Selector { family, version }
    }
}

impl Selector {
    /// Returns the library of a family with the version text `text` (`MPI_Get_library_version`).
    pub fn new(family: Family, text: &str) -> Selector {
        let library = Library::called(text);
        let version = library.map(|library| library.version);
        Selector { family, version }
    }

    /// True if it is Open MPI, of this version or a later one.
    fn is_open_mpi_since(self, version: Version) -> bool {
        self.family == Family::OpenMpi && self.version.is_some_and(|own| own >= version)
    }

    /// Returns the name of its algorithm.
    pub fn algorithm(self, call: &Criteria) -> &'static str {
        let &Criteria {
            operation,
            ranks,
            bytes,
            is_disjoint,
            is_ordered,
        } = call;
        let disjoint = (is_disjoint && self.is_open_mpi_since(disjoint::SINCE))
            .then(|| disjoint::usual(operation, ranks, bytes, is_ordered));
        disjoint
            .flatten()
            .unwrap_or_else(|| self.family.usual_algorithm(operation, ranks, bytes))
    }

    /// Returns the phases of a collective by Open MPI's HAN on hosts of `on_host` ranks each;
    /// `None` if it leaves the call to other components.
    pub fn between_hosts(self, call: &Uniform, hosts: usize, on_host: usize) -> Option<han::Han> {
        let segment = match self.is_open_mpi_since(han::LONG_SEGMENTS) {
            true => han::LONG_SEGMENT,
            false => han::SEGMENT,
        };
        han::between_hosts(call, segment, hosts, on_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Operation::{Allgather, Allreduce, Bcast};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn open_mpi(version: &str) -> Selector {
        Selector::new(Family::OpenMpi, &format!("Open MPI v{version}, package: x"))
    }

    fn disjoint(operation: Operation, ranks: usize, bytes: u64) -> Criteria {
        Criteria {
            operation,
            ranks,
            bytes,
            is_disjoint: true,
            is_ordered: false,
        }
    }

    #[test]
    fn open_mpi_6_1_decides_by_other_tables_where_each_rank_has_a_host() {
        let of = |operation, ranks, bytes| {
            open_mpi("6.1.0a1").algorithm(&disjoint(operation, ranks, bytes))
        };
        for (ranks, bytes, expected) in [
            (3, 8 * MIB, "linear"),
            (15, MIB - 1, "linear"),
            (15, MIB, "binary"),
            (31, 256 * KIB, "quadrinomial"),
            (32, 64 * KIB - 1, "linear"),
            (32, 64 * KIB, "quadrinomial"),
            (4096, MIB, "binary"),
        ] {
            assert_eq!(of(Bcast, ranks, bytes), expected, "{ranks} {bytes}");
        }
        for (ranks, bytes, expected) in [
            (2, 8, "recursive-doubling"),
            (3, MIB, "all-to-all"),
            (7, MIB, "recursive-doubling"),
            (15, 256 * KIB, "reduce-scatter-allgather-shared"),
            (15, MIB, "recursive-doubling"),
            (31, 32 * KIB, "reduce-broadcast"),
            (64, 32 * KIB - 1, "all-to-all"),
            (65, 8, "recursive-doubling"),
            (255, 128 * KIB, "recursive-doubling"),
            (511, 4 * KIB, "reduce-scatter-allgather-shared"),
            (2047, 2 * KIB, "recursive-doubling"),
            (4095, 2 * KIB, "ring"),
            (5000, 16 * KIB, "recursive-doubling"),
        ] {
            assert_eq!(of(Allreduce, ranks, bytes), expected, "{ranks} {bytes}");
        }
        let in_order = |ranks, bytes| {
            open_mpi("6.1.0").algorithm(&Criteria {
                is_ordered: true,
                ..disjoint(Allreduce, ranks, bytes)
            })
        };
        assert_eq!(in_order(15, MIB), "recursive-doubling");
        assert_eq!(in_order(255, MIB), "reduce-broadcast");
        assert_eq!(in_order(4095, 2 * KIB), "recursive-doubling");
    }

    #[test]
    fn earlier_versions_other_layouts_and_other_operations_keep_the_tables_of_4_1() {
        let usual = |call: &Criteria| {
            Family::OpenMpi.usual_algorithm(call.operation, call.ranks, call.bytes)
        };
        let call = disjoint(Bcast, 8, 4 * KIB);
        assert_eq!(usual(&call), "binary");
        for version in ["4.1.4", "5.0.11", "6.0.0"] {
            assert_eq!(open_mpi(version).algorithm(&call), usual(&call));
        }
        let unknown = Selector::from(Family::OpenMpi);
        assert_eq!(unknown.algorithm(&call), usual(&call));
        let next = open_mpi("6.1.0");
        let shared = Criteria {
            is_disjoint: false,
            ..call
        };
        assert_eq!(next.algorithm(&shared), usual(&shared));
        let other = disjoint(Allgather, 8, 4 * KIB);
        assert_eq!(next.algorithm(&other), usual(&other));
        assert_eq!(next.algorithm(&call), "linear");
    }

    #[test]
    fn what_the_tables_name_is_modelled_among_all_ranks() {
        for operation in [Bcast, Allreduce] {
            for ranks in [2, 3, 4, 7, 8, 15, 31, 64, 65, 200, 400, 1500, 3000, 5000] {
                for class in 0..24 {
                    let call = disjoint(operation, ranks, 1 << class);
                    for is_ordered in [false, true] {
                        let call = Criteria { is_ordered, ..call };
                        let name = open_mpi("6.1.0").algorithm(&call);
                        let found = Family::OpenMpi.by_name(operation, name, ranks);
                        assert!(found.is_some(), "{call:?}: {name}");
                    }
                }
            }
        }
    }

    #[test]
    fn segments_of_han_are_64_kib_up_to_6_0_and_512_kib_later() {
        let call = Uniform {
            operation: Bcast,
            bytes: MIB,
            root: 0,
        };
        let segments = |selector: Selector| {
            let han = selector.between_hosts(&call, 4, 4).unwrap();
            (han.first[0].call.bytes, han.further)
        };
        for version in ["5.0.11", "6.0.0"] {
            assert_eq!(segments(open_mpi(version)), (64 * KIB, 15), "{version}");
        }
        assert_eq!(segments(open_mpi("6.1.0")), (512 * KIB, 1));
        assert_eq!(segments(Selector::from(Family::OpenMpi)), (64 * KIB, 15));
    }
}
