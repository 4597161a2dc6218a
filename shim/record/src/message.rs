//! Message, as a send procedure passes it on.

use treepie_mpi::{Comm, Datatype, Handle, c_int};

/// Message, as a send procedure passes it on.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Number of elements (of each partition).
    pub count: i64,
    /// Number of partitions; 1 except for partitioned sends.
    pub partitions: i64,
    /// Datatype of an element.
    pub datatype: Datatype,
    /// Destination in the communicator, or `MPI_PROC_NULL`.
    pub dest: c_int,
    /// The communicator.
    pub comm: Comm,
}

impl Message {
    /// Message of no elements.
    pub const NONE: Message = Message {
        count: 0,
        partitions: 1,
        datatype: Datatype::ABSENT,
        dest: 0,
        comm: Comm::ABSENT,
    };
}
