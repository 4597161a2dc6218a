//! Roles while no feature is on.

use std::cell::Cell;

use treepie_mpi::c_int;
use treepie_record::procedures;

use super::*;
use crate::entry::arguments::Arguments;
use crate::entry::role::{Changes, NativeCall, Properties, Role};
use crate::order::CallKind;

const SOURCE: c_int = 3;
const TAG: c_int = 5;
const COUNT: c_int = 2;
const REQUESTS: usize = 64;
const RESULT: c_int = 17;

/// A procedure that finds the application's arguments, or those that were put in their place.
struct Native<'a>(&'a Cell<u32>);

impl NativeCall for Native<'_> {
    const PROPERTIES: Properties = Properties {
        open: Some(CallKind::Recv),
        ..Properties::of(procedures::MPI_Recv)
    };

    fn arguments(&self) -> Arguments {
        Arguments {
            source: Some(SOURCE),
            receive_tag: TAG,
            count: COUNT,
            requests: REQUESTS,
            ..Arguments::NONE
        }
    }

    fn with(&self, changes: Changes) -> c_int {
        assert_eq!(changes.source(SOURCE), SOURCE);
        assert_eq!(changes.tag(TAG as usize), TAG as usize);
        assert_eq!(changes.count(COUNT as usize), COUNT as usize);
        assert_eq!(changes.requests(REQUESTS), REQUESTS);
        self.0.set(self.0.get() + 1);
        RESULT
    }
}

/// Checks that the role does nothing if no feature is on: it calls the procedure once.
fn passes_on<R: Role>() {
    let calls = Cell::new(0);
    assert_eq!(R::around(Native(&calls)), RESULT);
    assert_eq!(calls.get(), 1);
}

macro_rules! all_pass_on {
    ($($role:ident)*) => { $( passes_on::<$role>(); )* };
}

#[test]
fn every_role_calls_the_procedure_once_with_what_the_application_gave() {
    all_pass_on! {
        Send BeginSend SendReceive BeginSendReceive PrepareSend Receive Probe PrepareReceive
        Start Complete Look LookAt Cancel
        Collective StartCollective EnqueueCollective PrepareCollective
        Transfer Fetch OpenEpoch Post Flush EndEpoch MakeWindow MakeSharedWindow EndWindow
        Plain MakeCommunicator RegisterCommunicator EndCommunicator EndRequest
        ReleaseDatatype ReleaseOp Finalize
    }
}
