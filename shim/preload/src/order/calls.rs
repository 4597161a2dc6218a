//! A call as entry points tell it.

use treepie_jobstate::order::Call;
pub use treepie_jobstate::order::CallKind;
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, Datatype, Handle, StatusAddress, Word, c_int};
use treepie_record as record;

/// A receive or a probe. Addresses that the procedure does not have are 0.
#[derive(Debug, Clone, Copy)]
pub struct Receive {
    /// What it is.
    pub kind: CallKind,
    /// The communicator.
    pub comm: Comm,
    /// The source, or any.
    pub source: c_int,
    /// The tag, or any.
    pub tag: c_int,
    /// Where the message goes.
    pub buffer: Word,
    /// Elements that there is room for.
    pub count: i64,
    /// Their datatype.
    pub datatype: Datatype,
    /// Where the request goes.
    pub request: Word,
    /// Where it says whether there is a message.
    pub flag: Word,
    /// The status.
    pub status: StatusAddress,
}

impl Receive {
    /// A receive of nothing.
    pub const NONE: Receive = Receive {
        kind: CallKind::Recv,
        comm: Comm::ABSENT,
        source: 0,
        tag: 0,
        buffer: 0,
        count: 0,
        datatype: Datatype::ABSENT,
        request: 0,
        flag: 0,
        status: StatusAddress::ABSENT,
    };

    /// Whether any tag will do.
    pub fn takes_any_tag(&self, native: &Native) -> bool {
        self.tag == native.abi.any_tag
    }

    /// Whether it does not wait for its message.
    pub fn polls(&self) -> bool {
        matches!(self.kind, CallKind::Iprobe | CallKind::Improbe)
    }

    /// The call, where MPI leaves open what it gives and the application made it.
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

/// The call of a procedure for so many requests.
pub fn call_for(kind: CallKind, count: c_int) -> Call {
    Call {
        kind,
        communicator: None,
        count: u64::try_from(count).unwrap_or(0),
    }
}
