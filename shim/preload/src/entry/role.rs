//! Interface of roles: the work around the calls of a role's procedures, and its inputs.

use treepie_collective::Operation;
use treepie_mpi::{Comm, StatusAddress, Word, c_int};
use treepie_plans::Waits;
use treepie_process::features;
use treepie_record::{Note, Procedure};
use treepie_traffic::windows::{EpochKind, WindowCall};

use crate::entry::arguments::Arguments;
use crate::order::CallKind;

/// Role of procedures: the layers around their calls.
///
/// Layers are in one order, from the outermost: `record`, which counts the call; `order`, which may
/// change the messages that it receives; `one_sided`, which holds back small puts; `plans`; the
/// native MPI.
pub trait Role {
    /// Features of which at least one must be on for the role to act.
    const FEATURES: u16 = features::RECORD;

    /// Makes the call, with the role's work around the native MPI's procedure.
    fn around<N: NativeCall>(native: N) -> c_int;
}

/// Columns of a procedure in the table of the interface, other than its role and its parameters.
/// Columns that its row lacks are as in [`Properties::of`].
#[derive(Debug, Clone, Copy)]
pub struct Properties {
    /// Procedure, as pages have it.
    pub procedure: Procedure,
    /// `operation=`: the collective.
    pub operation: Operation,
    /// `access=`: the kind under which a one-sided call is counted.
    pub access: WindowCall,
    /// `epoch=`: the kind of epoch that the call opens.
    pub epoch: EpochKind,
    /// `open=`: the kind of call, if MPI leaves its result open.
    pub open: Option<CallKind>,
    /// `waits=`: the extent to which it waits for its requests.
    pub waits: Waits,
    /// `rma=`: the handling if small puts are held back.
    pub rma: Rma,
}

impl Properties {
    /// Properties of a row without further columns.
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

/// Handling of a one-sided call while small puts are held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rma {
    /// Passed to the MPI.
    Pass,
    /// A put that may be held back.
    Put,
    /// An accumulate that may be held back.
    Accumulate,
    /// An unlock of one target or of all.
    Unlock,
    /// The end of an access epoch.
    Complete,
    /// A synchronization of memory.
    Sync,
}

/// Call of the application that is about to enter the native MPI's procedure.
pub trait NativeCall {
    /// The columns of the procedure.
    const PROPERTIES: Properties;

    /// Returns the application's arguments.
    fn arguments(&self) -> Arguments;

    /// Returns the call's entry for pages.
    #[inline(always)]
    fn note(&self) -> Note {
        self.arguments().note(Self::PROPERTIES.procedure)
    }

    /// Calls the procedure with other arguments.
    fn with(&self, changes: Changes) -> c_int;

    /// Calls the procedure with the application's arguments.
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
    /// The address of requests, or the single request if it is passed by value.
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

    /// Replaces the communicator `given` by the application; the other methods do the same for
    /// their arguments.
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
