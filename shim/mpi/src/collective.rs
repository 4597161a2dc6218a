//! Arguments of a collective call, as the application passed them.

use treepie_collective::Operation;

use std::ffi::c_int;

use crate::addresses::{Counts, DatatypeArray};
use crate::handles::{Datatype, Handle, Op};
use crate::words::Word;

/// One side of a call: the send or the receive buffer. Fields that the procedure lacks are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// Address of the buffer.
    pub buffer: Word,
    /// Count of each rank's block, or of the message.
    pub count: i64,
    /// The datatype.
    pub datatype: Datatype,
    /// Datatypes of all ranks (`Alltoallw`).
    pub datatypes: DatatypeArray,
    /// Counts of all ranks.
    pub counts: Counts,
    /// Displacements of all ranks.
    pub displacements: Counts,
}

impl Side {
    /// Side with all fields absent.
    pub const NONE: Side = Side {
        buffer: 0,
        count: 0,
        datatype: Datatype::ABSENT,
        datatypes: DatatypeArray::ABSENT,
        counts: Counts::ABSENT,
        displacements: Counts::ABSENT,
    };
}

/// Collective call. `MPI_Bcast` and reductions have one count and datatype, which are in both
/// sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Collective operation.
    pub operation: Operation,
    /// Send buffer; also the buffer of a broadcast.
    pub send: Side,
    /// Receive buffer.
    pub receive: Side,
    /// Reduction operation.
    pub op: Op,
    /// Root rank.
    pub root: c_int,
}

impl Call {
    /// A barrier.
    pub const NONE: Call = Call {
        operation: Operation::Barrier,
        send: Side::NONE,
        receive: Side::NONE,
        op: Op::ABSENT,
        root: 0,
    };
}
