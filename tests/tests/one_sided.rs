//! Small puts and accumulates that are kept back and joined: random epochs leave the memory that
//! they must, and what the MPI refuses at a call it refuses as without the library.

use treepie_tests::permutations::{as_list, moving_all, seed};
use treepie_tests::random_programs::{is_right, programs};
use treepie_tests::{Job, Library, Mpi, under_all_mpis};

fn gathered(more: Vec<(&'static str, String)>) -> Library {
    let mut variables = vec![
        ("TREEPIE_MODE", "replay".to_owned()),
        ("TREEPIE_ONE_SIDED", "gather".to_owned()),
    ];
    variables.extend(more);
    Library::Set(variables)
}

/// Random epochs on so many ranks.
fn epochs(mpi: Mpi, ranks: usize) -> Job {
    let (windows, epochs) = match cfg!(feature = "all-mpis") {
        true => ("20", "12"),
        false => ("3", "5"),
    };
    programs(mpi, ranks, "one_sided_random")
        .argument(windows)
        .argument(epochs)
}

fn random_epochs_leave_the_memory_that_they_must(mpi: Mpi) {
    for ranks in [2, 4, 5] {
        is_right(epochs(mpi, ranks).with(gathered(Vec::new())));
    }
}

fn random_epochs_are_right_in_a_permuted_world(mpi: Mpi) {
    let permutation = as_list(&moving_all(4, seed()));
    let more = vec![("TREEPIE_PERMUTATION", permutation)];
    is_right(epochs(mpi, 4).with(gathered(more)));
}

under_all_mpis!(
    random_epochs_leave_the_memory_that_they_must,
    random_epochs_are_right_in_a_permuted_world,
);
