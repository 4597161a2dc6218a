//! Contents of a page about a call, as entry points pass them on.

use treepie_jobstate::pages::layout::{ABSENT, pack};
use treepie_mpi::{Comm, Handle, HandleAddress, IntAddress, Request, c_int};

/// Procedure of the interface, with its number in pages.
#[derive(Debug, Clone, Copy)]
pub struct Procedure {
    /// Line in the table of names.
    pub number: u16,
    /// True if it returns immediately, complete or not.
    pub poll: bool,
    /// True if it is a collective on its communicator when it is called, unlike one that is only
    /// prepared.
    pub collective: bool,
    /// True if no cut includes the operation that it begins.
    pub uncut: bool,
    /// True if it creates a request, and waits for no process.
    pub starts: bool,
}

/// Call with the parameters that a page contains. Fields that the procedure lacks are absent, and
/// cost nothing: notes are constant except for the call's arguments.
#[derive(Debug, Clone, Copy)]
pub struct Note {
    /// The procedure.
    pub procedure: Procedure,
    /// The communicator.
    pub comm: Comm,
    /// Destination, root or target.
    pub dest: c_int,
    /// Tag of the message that is sent.
    pub tag: c_int,
    /// Source.
    pub source: c_int,
    /// Tag of the message that is received.
    pub receive_tag: c_int,
    /// Number of elements of the message.
    pub elements: i64,
    /// Address for the handle of a new request.
    pub request: HandleAddress<Request>,
    /// Number of requests of the call.
    pub count: c_int,
    /// Their address.
    pub requests: HandleAddress<Request>,
    /// Address of the result of a poll: a flag or a number.
    pub answer: IntAddress,
    /// True if the call sends a message.
    pub sends: bool,
    /// True if the call takes a message, immediately or later.
    pub posts: bool,
}

impl Note {
    /// Note without any fields.
    pub const NONE: Note = Note {
        procedure: Procedure {
            number: 0,
            poll: false,
            collective: false,
            uncut: false,
            starts: false,
        },
        comm: Comm::ABSENT,
        dest: ABSENT,
        tag: ABSENT,
        source: ABSENT,
        receive_tag: ABSENT,
        elements: -1,
        request: HandleAddress::ABSENT,
        count: 1,
        requests: HandleAddress::ABSENT,
        answer: IntAddress::ABSENT,
        sends: false,
        posts: false,
    };

    /// True if a poll succeeded.
    #[inline(always)]
    pub fn has_answer(&self) -> bool {
        self.answer.is_absent() || self.answer.read() > 0
    }

    /// Returns the word of a page for a collective that has returned, or started.
    #[inline(always)]
    pub fn as_done(&self) -> u64 {
        pack(self.dest, self.procedure.number.into())
    }

    /// Returns a note with only a communicator.
    pub fn on(procedure: Procedure, comm: Comm) -> Note {
        Note {
            procedure,
            comm,
            ..Note::NONE
        }
    }
}
