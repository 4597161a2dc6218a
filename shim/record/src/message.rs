//! A message as a send procedure is told of it.

use treepie_mpi::{Comm, Datatype, Handle, c_int};

/// A message as a send procedure is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Elements (of each partition).
    pub count: i64,
    /// Partitions; 1 except for partitioned sends.
    pub partitions: i64,
    /// Datatype of an element.
    pub datatype: Datatype,
    /// Destination in the communicator, or `MPI_PROC_NULL`.
    pub dest: c_int,
    /// The communicator.
    pub comm: Comm,
}

impl Message {
    /// A message of no elements.
    pub const NONE: Message = Message {
        count: 0,
        partitions: 1,
        datatype: Datatype::ABSENT,
        dest: 0,
        comm: Comm::ABSENT,
    };
}
