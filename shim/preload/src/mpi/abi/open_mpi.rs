//! Open MPI 4 and 5: handles are addresses of objects in the library.

use super::{Abi, Family, Handle, Predefined, SizedTypes};

/// Open MPI's `mpi.h`.
pub static OPEN_MPI: Abi = Abi {
    family: Family::OpenMpi,
    handle_bytes: 8,
    comm_world: Handle::Symbol(c"ompi_mpi_comm_world"),
    comm_self: Handle::Symbol(c"ompi_mpi_comm_self"),
    comm_null: Handle::Symbol(c"ompi_mpi_comm_null"),
    byte: Handle::Symbol(c"ompi_mpi_byte"),
    int64: Handle::Symbol(c"ompi_mpi_int64_t"),
    datatype_null: Handle::Symbol(c"ompi_mpi_datatype_null"),
    sized_types: SizedTypes::NONE,
    errors_are_fatal: Handle::Symbol(c"ompi_mpi_errors_are_fatal"),
    errors_return: Handle::Symbol(c"ompi_mpi_errors_return"),
    no_op: Handle::Symbol(c"ompi_mpi_op_no_op"),
    min: Handle::Symbol(c"ompi_mpi_op_min"),
    cart: 1,
    graph: 2,
    dist_graph: 3,
    undefined: -32766,
    in_place: 1,
    status_bytes: 24,
    status_error: 8,
    status_ignore: 0,
    statuses_ignore: 0,
    err_truncate: 15,
    err_intern: 17,
    thread_multiple: 3,
    max_processor_name: 256,
    max_library_version: 256,
    predefined: Predefined {
        tag_ub: 0,
        host: 1,
        io: 2,
        wtime_is_global: 3,
        universe_size: 6,
        appnum: 4,
        last_used_code: 5,
    },
};
