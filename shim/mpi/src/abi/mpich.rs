//! MPICH 3.4 to 5 and its relatives: handles are 32-bit numbers.

use super::descriptor::{Abi, Family, Handle, Predefined, SizedTypes};

/// MPICH's `mpi.h`.
pub static MPICH: Abi = Abi {
    family: Family::Mpich,
    handle_bytes: 4,
    comm_world: Handle::Value(0x4400_0000),
    comm_self: Handle::Value(0x4400_0001),
    comm_null: Handle::Value(0x0400_0000),
    byte: Handle::Value(0x4c00_010d),
    int64: Handle::Value(0x4c00_083a),
    datatype_null: Handle::Value(0x0c00_0000),
    // "The size is in the second byte" of predefined types that are not pairs with
    // gaps: MPIR_Datatype_get_basic_size.
    sized_types: SizedTypes {
        mask: 0xff00_0000,
        kind: 0x4c00_0000,
        shift: 8,
    },
    request_null: Handle::Value(0x2c00_0000),
    errors_are_fatal: Handle::Value(0x5400_0000),
    errors_return: Handle::Value(0x5400_0001),
    no_op: Handle::Value(0x5800_000e),
    op_null: Handle::Value(0x1800_0000),
    min: Handle::Value(0x5800_0002),
    cart: 2,
    graph: 1,
    dist_graph: 3,
    any_source: -2,
    any_tag: -1,
    proc_null: -1,
    undefined: -32766,
    in_place: usize::MAX,
    status_bytes: 20,
    status_error: 16,
    status_ignore: 1,
    statuses_ignore: 1,
    err_truncate: 14,
    err_intern: 16,
    err_in_status: 17,
    mode_no_succeed: 16_384,
    thread_multiple: 3,
    max_processor_name: 128,
    max_library_version: 8192,
    predefined: Predefined {
        tag_ub: 0x6440_0001,
        host: 0x6440_0003,
        io: 0x6440_0005,
        wtime_is_global: 0x6440_0007,
        universe_size: 0x6440_0009,
        appnum: 0x6440_000d,
        last_used_code: 0x6440_000b,
    },
};
