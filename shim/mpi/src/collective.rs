//! The arguments of a collective call, as the application gave them.

use treepie_collective::Operation;

use std::ffi::c_int;

use crate::addresses::{Counts, DatatypeArray};
use crate::handles::{Datatype, Handle, Op};
use crate::words::Word;

/// One side of a call: the send or the receive buffer. What a procedure does not
/// have is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// The buffer.
    pub buffer: Word,
    /// The count of each rank's block, or of the message.
    pub count: i64,
    /// The datatype.
    pub datatype: Datatype,
    /// The datatypes of all ranks (`Alltoallw`).
    pub datatypes: DatatypeArray,
    /// The counts of all ranks.
    pub counts: Counts,
    /// The displacements of all ranks.
    pub displacements: Counts,
}

impl Side {
    /// Nothing.
    pub const NONE: Side = Side {
        buffer: 0,
        count: 0,
        datatype: Datatype::ABSENT,
        datatypes: DatatypeArray::ABSENT,
        counts: Counts::ABSENT,
        displacements: Counts::ABSENT,
    };
}

/// A collective call. `MPI_Bcast` and reductions have one count and datatype, which
/// both sides show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which collective.
    pub operation: Operation,
    /// The send buffer; that of a broadcast.
    pub send: Side,
    /// The receive buffer.
    pub receive: Side,
    /// The reduction.
    pub op: Op,
    /// The root.
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
