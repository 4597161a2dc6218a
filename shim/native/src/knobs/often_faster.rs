//! Algorithms that are known to be often faster than a native MPI's own choice, as candidates
//! without measurements.
//!
//! All of them give correct results if ranks describe the same data by different datatypes and
//! counts, as MPI allows. Open MPI's `scatter_allgather` and `split_binary_tree` for a broadcast
//! divide the elements of each rank's own datatype: they are not in the list.

use crate::knobs::knob::Knob;
use crate::knobs::library::{Library, Maker};
use treepie_collective::operation::Operation::{self, *};

/// Bytes of a message or block up to which latency dominates.
const SHORT: u64 = 8 << 10;

/// Sizes that an algorithm is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sizes {
    All,
    Short,
    Long,
}

/// Maker, operation, sizes and name.
type Row = (Maker, Operation, Sizes, &'static str);

/// Sources: open-mpi/ompi issues 8186 and 8198 (broadcasts and allreduces of few bytes become
/// linear), 1713 (allreduce slower than reduce and broadcast, slow barriers), 8209 (allgatherv),
/// 10947 (reduce of 4 bytes); aws/aws-parallelcluster issue 1436 (k-nomial broadcast); Open MPI's
/// scans are linear by default. pmodels/mpich issue 919 (allgatherv of small blocks); broadcast and
/// scan of MPICH 4.0.2, measured by `treepie tune` with 4 ranks on one host. Long reductions:
/// Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH",
/// IJHPCA 2005, section 4; inside a host MPICH reduces operands of any size by `release_gather`,
/// which streams all of them through 32 KiB of cells: 282 us for 32 KiB and 8.8 ms for 1 MiB among
/// 128 ranks, 4.8 and 8.8 times as long as its persistent reductions, which use
/// `reduce_scatter_allgather`; 0.9 times for 4 KiB (eth-cscs/ext_mpi_collectives, data of PPAM
/// 2024, MPICH 4.2.2).
#[rustfmt::skip]
const TABLE: &[Row] = &[
    (Maker::OpenMpi, Barrier, Sizes::All, "recursive_doubling"),
    (Maker::OpenMpi, Barrier, Sizes::All, "tree"),
    (Maker::OpenMpi, Bcast, Sizes::All, "knomial"),
    (Maker::OpenMpi, Bcast, Sizes::All, "binomial"),
    (Maker::OpenMpi, Reduce, Sizes::Short, "binomial"),
    (Maker::OpenMpi, Reduce, Sizes::Long, "rabenseifner"),
    (Maker::OpenMpi, Allreduce, Sizes::Short, "recursive_doubling"),
    (Maker::OpenMpi, Allreduce, Sizes::Short, "nonoverlapping"),
    (Maker::OpenMpi, Allreduce, Sizes::Long, "rabenseifner"),
    (Maker::OpenMpi, Allgatherv, Sizes::All, "default"),
    (Maker::OpenMpi, Allgatherv, Sizes::All, "ring"),
    (Maker::OpenMpi, Scan, Sizes::All, "recursive_doubling"),
    (Maker::OpenMpi, Exscan, Sizes::All, "recursive_doubling"),
    (Maker::Mpich, Bcast, Sizes::Short, "binomial"),
    (Maker::Mpich, Reduce, Sizes::Long, "reduce_scatter_gather"),
    (Maker::Mpich, Allreduce, Sizes::Long, "reduce_scatter_allgather"),
    (Maker::Mpich, Allgatherv, Sizes::Short, "brucks"),
    (Maker::Mpich, Scan, Sizes::All, "recursive_doubling"),
];

impl Library {
    /// Returns the algorithms, at most two, that are known to be often faster than the default for
    /// calls of `bytes` bytes among `ranks` ranks, and that give correct results for them.
    /// `ordered`: operands stay in the order of ranks. Without bytes, those for all sizes.
    pub fn often_faster(
        self,
        operation: Operation,
        bytes: Option<u64>,
        ranks: usize,
        ordered: bool,
    ) -> Vec<Knob> {
        let size = match bytes {
            None => Sizes::All,
            Some(bytes) if bytes <= SHORT => Sizes::Short,
            Some(_) => Sizes::Long,
        };
        let rows = TABLE.iter().filter(|(maker, of, sizes, _)| {
            (*maker, *of) == (self.maker, operation) && (*sizes == Sizes::All || *sizes == size)
        });
        let knobs = rows.filter_map(|(.., name)| self.knob(operation, name).ok());
        knobs.filter(|knob| knob.serves(ranks, ordered)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(library: &str, call: (Operation, Option<u64>), ordered: bool) -> Vec<&'static str> {
        let library: Library = library.parse().unwrap();
        let knobs = library.often_faster(call.0, call.1, 4, ordered);
        knobs.iter().map(|knob| knob.name).collect()
    }

    #[test]
    fn every_row_is_an_algorithm_and_no_call_has_more_than_two() {
        let of = |maker| match maker {
            Maker::OpenMpi => "open-mpi 4.1.4",
            _ => "mpich 4.0.2",
        };
        for (maker, operation, _, name) in TABLE {
            let library: Library = of(*maker).parse().unwrap();
            assert!(library.knob(*operation, name).is_ok(), "{operation} {name}");
            for bytes in [None, Some(8), Some(1 << 20)] {
                assert!(names(of(*maker), (*operation, bytes), false).len() <= 2);
            }
        }
    }

    /// On one host MPICH uses `release_gather` for each size; from 8 KiB on its other algorithms
    /// are 4.8 to 8.8 times as fast on 128 cores, below it is at least as fast.
    #[test]
    fn long_sums_of_mpich_have_another_candidate_and_short_ones_none() {
        for library in ["mpich 4.0.2", "mpich 4.2.2", "mpich 5.0.2"] {
            for (bytes, is_long) in [
                (8, false),
                (8 << 10, false),
                (32 << 10, true),
                (1 << 20, true),
            ] {
                let tried = |operation| names(library, (operation, Some(bytes)), false);
                let expected = |name| if is_long { vec![name] } else { Vec::new() };
                assert_eq!(tried(Allreduce), expected("reduce_scatter_allgather"));
                assert_eq!(tried(Reduce), expected("reduce_scatter_gather"));
            }
        }
    }

    #[test]
    fn what_reorders_operands_is_left_out_where_they_stay_in_order() {
        let reduce = (Operation::Reduce, Some(8));
        assert_eq!(names("open-mpi 4.1.4", reduce, false), ["binomial"]);
        assert!(names("open-mpi 4.1.4", reduce, true).is_empty());
    }
}
