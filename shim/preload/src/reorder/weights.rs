//! Weights of the edges of a graph, where there are any.

use treepie_mpi::Word;
use treepie_mpi::lookup::find_variable;

/// Whether weights stand for none at all: `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY`,
/// which are low numbers, or what variables of MPICH's point to.
pub fn are_absent(weights: Word) -> bool {
    // No array lies in the first page.
    weights < 4096
        || [c"MPI_UNWEIGHTED", c"MPI_WEIGHTS_EMPTY"]
            .iter()
            .any(|name| {
                // SAFETY: where the variable exists, it is a pointer to int.
                find_variable(name)
                    .is_some_and(|address| unsafe { *(address as *const Word) } == weights)
            })
}
