//! The ABI that MPI 5.0 standardises (chapter 20): small numbers in pointers.

use super::{Abi, Family, Handle, Predefined, SizedTypes};

/// The standard's `mpi.h`.
pub static STANDARD: Abi = Abi {
    family: Family::Standard,
    handle_bytes: 8,
    comm_world: Handle::Value(0x101),
    comm_self: Handle::Value(0x102),
    comm_null: Handle::Value(0x100),
    byte: Handle::Value(0x247),
    int64: Handle::Value(0x258),
    datatype_null: Handle::Value(0x200),
    sized_types: SizedTypes::NONE,
    errors_are_fatal: Handle::Value(0x141),
    errors_return: Handle::Value(0x143),
    no_op: Handle::Value(0x3d),
    min: Handle::Value(0x22),
    cart: 211,
    graph: 212,
    dist_graph: 213,
    undefined: -32766,
    in_place: 1,
    status_bytes: 32,
    status_error: 8,
    status_ignore: 0,
    statuses_ignore: 0,
    err_truncate: 15,
    err_intern: 17,
    thread_multiple: 4096,
    max_processor_name: 256,
    max_library_version: 8192,
    predefined: Predefined {
        tag_ub: 501,
        host: 503,
        io: 502,
        wtime_is_global: 504,
        universe_size: 507,
        appnum: 505,
        last_used_code: 506,
    },
};
