//! Calls as entry points pass them on.

use treepie_jobstate::order::Call;
pub use treepie_jobstate::order::CallKind;
use treepie_mpi::native::Native;
use treepie_mpi::{
    Comm, Datatype, Handle, HandleAddress, IntAddress, Request, StatusAddress, Word, c_int,
};
use treepie_record as record;

/// Receive or probe. Addresses that the procedure lacks are 0.
#[derive(Debug, Clone, Copy)]
pub struct Receive {
    /// Kind of call.
    pub kind: CallKind,
    /// The communicator.
    pub comm: Comm,
    /// The source, or `MPI_ANY_SOURCE`.
    pub source: c_int,
    /// The tag, or `MPI_ANY_TAG`.
    pub tag: c_int,
    /// Address of the receive buffer.
    pub buffer: Word,
    /// Number of elements that fit the buffer.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
    /// Address for the request.
    pub request: HandleAddress<Request>,
    /// Address of the flag: true if there is a message.
    pub flag: IntAddress,
    /// The status.
    pub status: StatusAddress,
}

impl Receive {
    /// Receive with all fields unset.
    pub const NONE: Receive = Receive {
        kind: CallKind::Recv,
        comm: Comm::ABSENT,
        source: 0,
        tag: 0,
        buffer: 0,
        count: 0,
        datatype: Datatype::ABSENT,
        request: HandleAddress::ABSENT,
        flag: IntAddress::ABSENT,
        status: StatusAddress::ABSENT,
    };

    /// True if any tag matches.
    pub fn takes_any_tag(&self, native: &Native) -> bool {
        self.tag == native.abi.any_tag
    }

    /// True if it does not wait for its message.
    pub fn polls(&self) -> bool {
        matches!(self.kind, CallKind::Iprobe | CallKind::Improbe)
    }

    /// Returns the call, if MPI leaves its result open and the application made it.
    pub fn open_call(&self, native: &Native) -> Option<Call> {
        let abi = native.abi;
        let wild = self.source == abi.any_source || self.takes_any_tag(native);
        if self.source == abi.proc_null || !(wild || self.polls()) {
            return None;
        }
        Some(Call {
            kind: self.kind,
            communicator: Some(record::number_of(self.comm)?),
            count: u64::try_from(self.count).unwrap_or(0),
        })
    }
}

/// Returns the call of a procedure for `count` requests.
pub fn call_for(kind: CallKind, count: c_int) -> Call {
    Call {
        kind,
        communicator: None,
        count: u64::try_from(count).unwrap_or(0),
    }
}
