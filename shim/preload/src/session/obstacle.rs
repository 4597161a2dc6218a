//! Programs whose ranks cannot be permuted, because of the libraries that they use.

use std::env;

use treepie_mpi::lookup::{find, find_in_library, is_loaded};

use super::request_error::RequestError;

/// Returns the reason why ranks of this program cannot be permuted, if there is one.
pub(super) fn to_permutation() -> Option<RequestError> {
    if looks_up_ranks() {
        return Some(RequestError::LooksUpRanks);
    }
    numbers_processes().map(RequestError::NumbersProcesses)
}

/// True if the program calls the MPI through procedures that test themselves whether their process
/// is a collective's root, and read other arguments only then: those of Open MPI 6 that take array
/// descriptors (`use mpi_f08`).
fn looks_up_ranks() -> bool {
    find_in_library("libmpi_usempif08", c"mpi_gather_f08ts_").is_some()
}

/// Libraries that number processes as the launcher does, by the prefixes of their files' names:
/// programs take such a number for the rank in MPI.
const NUMBERING: [(&str, &str); 7] = [
    ("liboshmem.so", "OpenSHMEM"),
    ("libsma.so", "OpenSHMEM"),
    ("libsos.so", "OpenSHMEM"),
    ("libnvshmem", "NVSHMEM"),
    ("librocshmem", "rocSHMEM"),
    ("libupcxx", "UPC++"),
    ("libgasnet", "GASNet"),
];

/// Variables of launchers of such libraries, which are often linked statically.
const LAUNCHING: [(&str, &str); 2] = [
    ("UPCXX_SHARED_HEAP_SIZE", "UPC++"),
    ("GASNET_SPAWN_CONTROL", "GASNet"),
];

/// Returns the library of this kind that the program uses, if any.
fn numbers_processes() -> Option<&'static str> {
    let mut libraries = NUMBERING.iter();
    let loaded = libraries.find(|(start, _)| is_loaded(start));
    let mut variables = LAUNCHING.iter();
    let launched = variables.find(|(name, _)| env::var_os(name).is_some());
    let named = loaded.or(launched).map(|(_, library)| *library);
    named.or_else(|| find(c"shmem_init").map(|_| "OpenSHMEM"))
}
