//! A role: what is done around the calls of its procedures, and what it is given for that.

use treepie_collective::Operation;
use treepie_mpi::{Comm, StatusAddress, Word, c_int};
use treepie_plans::Waits;
use treepie_process::features;
use treepie_record::{Note, Procedure};
use treepie_traffic::windows::{EpochKind, WindowCall};

use crate::entry::arguments::Arguments;
use crate::order::CallKind;

/// A role of procedures: the layers around their calls.
///
/// Layers are in one order, from outside: `record`, which counts the call; `order`, which may
/// change what it receives; `one_sided`, which keeps small puts back; `plans`; the native MPI.
pub trait Role {
    /// Something is done only while one of these features is on.
    const FEATURES: u16 = features::RECORD;

    /// The call, with what the role does around the native MPI's procedure.
    fn around<N: NativeCall>(native: N) -> c_int;
}

/// Columns of a procedure in the table of the interface, beside its role and its parameters. Those
/// that its row does not have are as in [`Properties::of`].
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// The procedure in pages.
    pub procedure: Procedure,
    /// `operation=`: the collective.
    pub operation: Operation,
    /// `access=`: what a one-sided call counts as.
    pub access: WindowCall,
    /// `epoch=`: the kind of epoch that the call opens.
    pub epoch: EpochKind,
    /// `open=`: the kind of call, where MPI leaves open what it gives.
    pub open: Option<CallKind>,
    /// `waits=`: how long it waits for the requests that it is given.
    pub waits: Waits,
    /// `rma=`: what is done where small puts are kept back.
    pub rma: Rma,
}

impl Properties {
    /// A row without further columns.
    pub const fn of(procedure: Procedure) -> Properties {
        Properties {
            procedure,
            operation: Operation::Barrier,
            access: WindowCall::Put,
            epoch: EpochKind::Fence,
            open: None,
            waits: Waits::Not,
            rma: Rma::Pass,
        }
    }
}

/// The handling of a one-sided call where small puts are kept back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rma {
    /// It goes to the MPI.
    Pass,
    /// A put that may be kept back.
    Put,
    /// An accumulate that may be kept back.
    Accumulate,
    /// An unlock, of a target or of all.
    Unlock,
    /// The end of an access epoch.
    Complete,
    /// A synchronization of memory.
    Sync,
}

/// A call of the application's that is about to go to the native MPI's procedure.
pub trait NativeCall {
    /// The columns of the procedure.
    const PROPERTIES: Properties;

    /// The arguments that the application gave.
    fn arguments(&self) -> Arguments;

    /// The note of the call in pages.
    #[inline(always)]
    fn note(&self) -> Note {
        self.arguments().note(Self::PROPERTIES.procedure)
    }

    /// Calls the procedure with other arguments.
    fn with(&self, changes: Changes) -> c_int;

    /// Calls the procedure with what the application gave.
    #[inline(always)]
    fn call(&self) -> c_int {
        self.with(Changes::NONE)
    }
}

/// Arguments that the native MPI gets instead of the application's.
#[derive(Debug, Clone, Copy)]
pub struct Changes {
    /// The communicator.
    pub comm: Option<Comm>,
    /// The source of a receive.
    pub source: Option<c_int>,
    /// The tag of a receive.
    pub tag: Option<c_int>,
    /// The number of requests.
    pub count: Option<c_int>,
    /// The address of requests, or the one that is given by its value.
    pub requests: Option<Word>,
    /// The address of the status or statuses.
    pub status: Option<StatusAddress>,
}

impl Changes {
    /// No changes.
    pub const NONE: Changes = Changes {
        comm: None,
        source: None,
        tag: None,
        count: None,
        requests: None,
        status: None,
    };

    /// The communicator, where the application gave this one. The others are alike.
    #[inline(always)]
    pub fn comm(&self, given: Comm) -> Comm {
        self.comm.unwrap_or(given)
    }

    #[inline(always)]
    pub fn source(&self, given: c_int) -> c_int {
        self.source.unwrap_or(given)
    }

    #[inline(always)]
    pub fn tag(&self, given: Word) -> Word {
        self.tag.map_or(given, |tag| tag as Word)
    }

    #[inline(always)]
    pub fn count(&self, given: Word) -> Word {
        self.count.map_or(given, |count| count as Word)
    }

    #[inline(always)]
    pub fn requests(&self, given: Word) -> Word {
        self.requests.unwrap_or(given)
    }

    #[inline(always)]
    pub fn status(&self, given: StatusAddress) -> StatusAddress {
        self.status.unwrap_or(given)
    }
}
