//! Arguments of a call, by their meaning to roles.

use treepie_collective::Operation;
use treepie_mpi::native::Freed;
use treepie_mpi::{
    Call, Comm, Datatype, Group, Handle, HandleAddress, IntAddress, Op, Request, Side,
    StatusAddress, Win, Word, c_int,
};
use treepie_record::{Completion, Message, Note, Procedure, Taken, Transfer};

use crate::one_sided::{Reached, Shape};
use crate::order::{CallKind, Receive};

/// Arguments of a call, with W' for the world. Fields for which the procedure has no parameter have
/// their values of [`Arguments::NONE`], and cost nothing.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// The communicator.
    pub comm: Comm,
    /// Destination, root or target.
    pub dest: Option<c_int>,
    /// Tag of the message that is sent.
    pub tag: c_int,
    /// Source.
    pub source: Option<c_int>,
    /// Tag of the message that is received.
    pub receive_tag: c_int,
    /// Elements of the message.
    pub elements: i64,
    /// Address for the handle of a new request.
    pub request: Word,
    /// Number of requests that the call takes.
    pub count: c_int,
    /// Their address, or the request itself in a call that takes one by value.
    pub requests: Word,
    /// Address of the completion flag.
    pub flag: Word,
    /// Address for the index of the completed request, if the call completes one of several.
    pub index: Word,
    /// Address for the number of requests that completed.
    pub completed: Word,
    /// Address for their indices.
    pub indices: Word,
    /// The status, or an array of them.
    pub status: StatusAddress,
    /// True if `status` is an array with one element for each request.
    pub has_statuses: bool,
    /// Address of a matched message.
    pub message: Word,
    /// Address of the handle of an object that the call creates or frees.
    pub object: Word,
    /// Number of partitions of a message.
    pub partitions: i64,
    /// The send side.
    pub send: Side,
    /// The receive side.
    pub receive: Side,
    /// The reduction.
    pub op: Op,
    /// The window.
    pub window: Win,
    /// The group of an epoch.
    pub group: Group,
    /// The assertion of an epoch.
    pub assert: c_int,
    /// Size of a window in bytes.
    pub size: i64,
    /// Its displacement unit in bytes.
    pub unit: Option<i64>,
    /// Address of the origin buffer.
    pub origin: Word,
    /// Number of origin elements.
    pub origin_count: i64,
    /// Origin datatype.
    pub origin_type: Datatype,
    /// Number of elements fetched by a call that also updates the target.
    pub result_count: i64,
    /// Datatype of the fetched elements.
    pub result_type: Datatype,
    /// Displacement at the target, in displacement units.
    pub displacement: i64,
    /// Number of target elements.
    pub target_count: i64,
    /// Target datatype.
    pub target_type: Datatype,
}

impl Arguments {
    /// Arguments of a procedure without parameters.
    pub const NONE: Arguments = Arguments {
        comm: Comm::ABSENT,
        dest: None,
        tag: Note::NONE.tag,
        source: None,
        receive_tag: Note::NONE.receive_tag,
        elements: Note::NONE.elements,
        request: 0,
        count: 1,
        requests: 0,
        flag: 0,
        index: 0,
        completed: 0,
        indices: 0,
        status: StatusAddress::ABSENT,
        has_statuses: false,
        message: 0,
        object: 0,
        partitions: 1,
        send: Side::NONE,
        receive: Side::NONE,
        op: Op::ABSENT,
        window: Win::ABSENT,
        group: Group::ABSENT,
        assert: 0,
        size: 0,
        unit: None,
        origin: 0,
        origin_count: 1,
        origin_type: Datatype::ABSENT,
        result_count: 1,
        result_type: Datatype::ABSENT,
        displacement: 0,
        target_count: 1,
        target_type: Datatype::ABSENT,
    };

    /// Returns the address for the handle of a new request.
    #[inline(always)]
    pub fn request(&self) -> HandleAddress<Request> {
        handle(self.request)
    }

    /// Returns the address of the requests of a call that does not take one by value.
    #[inline(always)]
    pub fn requests(&self) -> HandleAddress<Request> {
        handle(self.requests)
    }

    /// Returns the request that a call takes by value.
    #[inline(always)]
    pub fn looked_at(&self) -> Request {
        // SAFETY: the application passes a request.
        unsafe { Request::from_word(self.requests) }
    }

    /// Returns the address of the completion flag.
    #[inline(always)]
    pub fn flag(&self) -> IntAddress {
        integer(self.flag)
    }

    /// Returns the address of the communicator that the call creates or frees.
    #[inline(always)]
    pub fn communicator(&self) -> HandleAddress<Comm> {
        handle(self.object)
    }

    /// Returns the address of the window that the call creates or frees.
    #[inline(always)]
    pub fn window_address(&self) -> HandleAddress<Win> {
        handle(self.object)
    }

    /// Returns the address of the datatype or operation that the call frees.
    #[inline(always)]
    pub fn freed<H: Freed>(&self) -> HandleAddress<H> {
        handle(self.object)
    }

    /// Returns the call's entry for pages.
    #[inline(always)]
    pub fn note(&self, procedure: Procedure) -> Note {
        let answer = match procedure.poll {
            true if self.flag != Self::NONE.flag => integer(self.flag),
            true => integer(self.completed),
            false => Note::NONE.answer,
        };
        Note {
            procedure,
            comm: self.comm,
            dest: self.dest.unwrap_or(Note::NONE.dest),
            tag: self.tag,
            source: self.source.unwrap_or(Note::NONE.source),
            receive_tag: self.receive_tag,
            elements: self.elements,
            request: self.request(),
            answer,
            ..Note::NONE
        }
    }

    /// Returns the entry for pages of a call that receives a message, with its source if the
    /// procedure has one.
    #[inline(always)]
    pub fn note_of_receive(&self, procedure: Procedure) -> Note {
        Note {
            posts: self.source.is_some(),
            ..self.note(procedure)
        }
    }

    /// Returns the entry for pages of a call that takes requests.
    #[inline(always)]
    pub fn note_of_requests(&self, procedure: Procedure) -> Note {
        Note {
            count: self.count,
            requests: self.requests(),
            ..self.note(procedure)
        }
    }

    /// Returns the message that is sent.
    #[inline(always)]
    pub fn sent(&self) -> Message {
        Message {
            count: self.send.count,
            partitions: self.partitions,
            datatype: self.send.datatype,
            dest: self.dest.unwrap_or(Message::NONE.dest),
            comm: self.comm,
        }
    }

    /// Returns the receive or probe, as a call of `kind`.
    #[inline(always)]
    pub fn received(&self, kind: CallKind) -> Receive {
        Receive {
            kind,
            comm: self.comm,
            source: self.source.unwrap_or(Receive::NONE.source),
            tag: self.receive_tag,
            buffer: self.receive.buffer,
            count: self.receive.count,
            datatype: self.receive.datatype,
            request: self.request(),
            flag: integer(self.flag),
            status: self.status,
        }
    }

    /// Returns the addresses at which a receive describes its message.
    #[inline(always)]
    pub fn taken(&self) -> Taken {
        Taken {
            status: self.status,
            message: handle(self.message),
        }
    }

    /// Returns the completion of requests.
    #[inline(always)]
    pub fn completion(&self) -> Completion {
        Completion {
            count: self.count,
            requests: self.requests(),
            flag: integer(self.flag),
            index: integer(self.index),
            completed: integer(self.completed),
            indices: integer(self.indices),
            status: self.status,
            array: self.has_statuses,
        }
    }

    /// Returns the collective call.
    #[inline(always)]
    pub fn collective(&self, operation: Operation) -> Call {
        Call {
            operation,
            send: self.send,
            receive: self.receive,
            op: self.op,
            root: self.dest.unwrap_or(Call::NONE.root),
        }
    }

    /// Returns the elements that a one-sided call moves.
    #[inline(always)]
    pub fn transfer(&self) -> Transfer {
        Transfer {
            origin_count: self.origin_count,
            origin_type: self.origin_type,
            result_count: self.result_count,
            result_type: self.result_type,
            target_type: self.target_type,
            op: self.op,
            target: self.dest.unwrap_or(Transfer::NONE.target),
            window: self.window,
        }
    }

    /// Returns the target memory that a one-sided call accesses.
    #[inline(always)]
    pub fn reached(&self) -> Reached {
        Reached {
            origin: self.origin,
            origin_count: self.origin_count,
            origin_type: self.origin_type,
            target: self.dest.unwrap_or(Reached::NONE.target),
            displacement: self.displacement,
            target_count: self.target_count,
            target_type: self.target_type,
            op: self.op,
            window: self.window,
        }
    }

    /// Returns the memory of a new window.
    #[inline(always)]
    pub fn shape(&self) -> Shape {
        match self.unit {
            Some(unit) => Shape::Sized {
                bytes: self.size,
                unit,
            },
            None => Shape::Dynamic,
        }
    }
}

/// Returns the address of handles that a call has as this argument.
#[inline(always)]
fn handle<H: Handle>(address: Word) -> HandleAddress<H> {
    // SAFETY: the table of the interface determines which of the application's arguments this is:
    // one where the procedure's contract has a handle of this type, or as many as the call's count.
    unsafe { HandleAddress::from_word(address) }
}

/// Returns the address of numbers that a call has as this argument.
#[inline(always)]
fn integer(address: Word) -> IntAddress {
    // SAFETY: as for handles.
    unsafe { IntAddress::from_word(address) }
}
