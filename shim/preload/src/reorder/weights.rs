//! Weights of the edges of a graph, if there are any.

use treepie_mpi::Word;
use treepie_mpi::lookup::find_variable;

/// True if weights are one of the constants for no weights: `MPI_UNWEIGHTED` and
/// `MPI_WEIGHTS_EMPTY`, which are small numbers, or the values of MPICH's variables.
pub fn are_absent(weights: Word) -> bool {
    // No array lies in the first page.
    weights < 4096
        || [c"MPI_UNWEIGHTED", c"MPI_WEIGHTS_EMPTY"]
            .iter()
            .any(|name| {
                // SAFETY: if the variable exists, it is a pointer to int.
                find_variable(name)
                    .is_some_and(|address| unsafe { *(address as *const Word) } == weights)
            })
}
