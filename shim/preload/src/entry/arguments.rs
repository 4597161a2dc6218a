//! The arguments of a call, as roles see them.

use treepie_collective::Operation;
use treepie_mpi::{Call, Comm, Datatype, Group, Handle, Op, Side, StatusAddress, Win, Word, c_int};
use treepie_record::{Completion, Message, Note, Procedure, Taken, Transfer};

use crate::one_sided::{Reached, Shape};
use crate::order::{CallKind, Receive};

/// The arguments of a call, with W' for the world. Fields that no parameter of its procedure is for
/// have the values of [`Arguments::NONE`], and cost nothing.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// The communicator.
    pub comm: Comm,
    /// Destination, root or target.
    pub dest: Option<c_int>,
    /// Tag of what is sent.
    pub tag: c_int,
    /// Source.
    pub source: Option<c_int>,
    /// Tag of what is received.
    pub receive_tag: c_int,
    /// Elements of the message.
    pub elements: i64,
    /// Address for the handle of a new request.
    pub request: Word,
    /// Number of requests that are given.
    pub count: c_int,
    /// Their address; in a call that takes one by its value, that.
    pub requests: Word,
    /// Address of the flag whether something was done.
    pub flag: Word,
    /// Address for the index of the request that completed, of several.
    pub index: Word,
    /// Address for the number of requests that completed.
    pub completed: Word,
    /// Address for their indices.
    pub indices: Word,
    /// The status, or an array of them.
    pub status: StatusAddress,
    /// Whether `status` is an array with one for each request.
    pub has_statuses: bool,
    /// Address of a matched message.
    pub message: Word,
    /// Address of the handle of an object that the call makes or ends.
    pub object: Word,
    /// Partitions of a message.
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
    /// Bytes of a window.
    pub size: i64,
    /// Bytes of a unit of displacements in it.
    pub unit: Option<i64>,
    /// Address of the origin's elements.
    pub origin: Word,
    /// Their number.
    pub origin_count: i64,
    /// Their datatype.
    pub origin_type: Datatype,
    /// Elements that are got by a call that puts others.
    pub result_count: i64,
    /// Their datatype.
    pub result_type: Datatype,
    /// Displacement in the target's memory, in units of it.
    pub displacement: i64,
    /// Elements at the target.
    pub target_count: i64,
    /// Their datatype.
    pub target_type: Datatype,
}

impl Arguments {
    /// Those of a procedure without parameters.
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

    /// The note of a call in pages.
    #[inline(always)]
    pub fn note(&self, procedure: Procedure) -> Note {
        let answer = match procedure.poll {
            true if self.flag != Self::NONE.flag => self.flag,
            true => self.completed,
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
            request: self.request,
            answer,
            ..Note::NONE
        }
    }

    /// The note of a call that takes a message, where the procedure has a source.
    #[inline(always)]
    pub fn note_of_receive(&self, procedure: Procedure) -> Note {
        Note {
            posts: self.source.is_some(),
            ..self.note(procedure)
        }
    }

    /// The note of a call that is given requests.
    #[inline(always)]
    pub fn note_of_requests(&self, procedure: Procedure) -> Note {
        Note {
            count: self.count,
            requests: self.requests,
            ..self.note(procedure)
        }
    }

    /// The message that is sent.
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

    /// The receive or probe, of this kind.
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
            request: self.request,
            flag: self.flag,
            status: self.status,
        }
    }

    /// The addresses at which a receive describes the message that it took.
    #[inline(always)]
    pub fn taken(&self) -> Taken {
        Taken {
            status: self.status,
            message: self.message,
        }
    }

    /// The completion of requests.
    #[inline(always)]
    pub fn completion(&self) -> Completion {
        Completion {
            count: self.count,
            requests: self.requests,
            flag: self.flag,
            index: self.index,
            completed: self.completed,
            indices: self.indices,
            status: self.status,
            array: self.has_statuses,
        }
    }

    /// The collective.
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

    /// The elements that a one-sided call moves.
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

    /// The memory of its target that a one-sided call reaches.
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

    /// The memory of a window that is made.
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
