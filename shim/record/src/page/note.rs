//! What a page says of a call, as entry points tell it.

use treepie_jobstate::pages::layout::{ABSENT, pack};
use treepie_mpi::{Comm, Handle, Word, c_int};

/// A procedure of the interface, as pages number it.
#[derive(Debug, Clone, Copy)]
pub struct Procedure {
    /// Its line in the table of names.
    pub number: u16,
    /// Whether it comes back at once, done or not.
    pub poll: bool,
    /// Whether it is a collective on its communicator when it is called: one that is only
    /// prepared is not.
    pub collective: bool,
    /// Whether no cut includes what it begins.
    pub uncut: bool,
    /// Whether it makes a request, and waits for nobody.
    pub starts: bool,
}

/// A call: the parameters of which a page tells. What a procedure does not have is absent, and
/// costs nothing: notes are constant but for the call's arguments.
#[derive(Debug, Clone, Copy)]
pub struct Note {
    /// The procedure.
    pub procedure: Procedure,
    /// The communicator.
    pub comm: Comm,
    /// Destination, root or target.
    pub dest: c_int,
    /// Tag of what is sent.
    pub tag: c_int,
    /// Source.
    pub source: c_int,
    /// Tag of what is received.
    pub receive_tag: c_int,
    /// Elements of the message.
    pub elements: i64,
    /// Where the native MPI puts the handle of a new request.
    pub request: Word,
    /// Number of requests that are asked for.
    pub count: c_int,
    /// Their address.
    pub requests: Word,
    /// Address of what says whether a poll found something.
    pub answer: Word,
    /// Whether the call sends a message.
    pub sends: bool,
    /// Whether the call takes a message, at once or later.
    pub posts: bool,
}

impl Note {
    /// Nothing.
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
        request: 0,
        count: 1,
        requests: 0,
        answer: 0,
        sends: false,
        posts: false,
    };

    /// Whether a poll found something.
    #[inline(always)]
    pub fn has_answer(&self) -> bool {
        // SAFETY: the address of the flag or number of the application's call, which has succeeded.
        self.answer == 0 || unsafe { *(self.answer as *const c_int) } > 0
    }

    /// What a page says of a collective that has returned, or started.
    #[inline(always)]
    pub fn as_done(&self) -> u64 {
        pack(self.dest, self.procedure.number.into())
    }

    /// A call on a communicator, of which no more is told.
    pub fn on(procedure: Procedure, comm: Comm) -> Note {
        Note {
            procedure,
            comm,
            ..Note::NONE
        }
    }
}
