//! Libraries that keep checkpoints on nodes, and protect them in sets of ranks: a permutation
//! changes the processes of these sets.

use treepie_base::{Process, Rank, Slice};
use treepie_mpi::lookup;
use treepie_process::log;

/// Prefixes of their files' names, their names, and the values of `--redundancy` for them.
const LIBRARIES: [(&str, &str, &str); 3] = [
    ("libscr.so", "SCR", "scr"),
    ("libfti.so", "FTI", "fti"),
    ("libveloc", "VELOC", "veloc"),
];

/// Warns that ranks move between the sets of the libraries that are loaded; on one process.
pub fn tell_of_moved_sets(new_rank: &Slice<Process, Rank>) {
    let is_moved = |(process, rank): (Process, &Rank)| process.0 != rank.0;
    if !new_rank.iter_enumerated().any(is_moved) {
        return;
    }
    for (file, name, word) in LIBRARIES {
        if lookup::is_loaded(file) {
            log::warn(&format!(
                "{name} makes its redundancy sets of the new ranks; `treepie map PROFILE \
                 --containment --redundancy {word}` says which failures break them"
            ));
        }
    }
}
