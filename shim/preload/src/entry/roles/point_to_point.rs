//! Sends, receives and probes. A send is counted when the call succeeds, or each time that its
//! request is started; receives are timed by their kind.

use treepie_mpi::{StatusAddress, c_int};
use treepie_process::features;
use treepie_record::{self as record, Note, Procedure};

use crate::entry::arguments::Arguments;
use crate::entry::role::{Changes, NativeCall, Role};
use crate::order;

/// Send that is complete when it returns.
pub struct Send;

impl Role for Send {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = note_of_send(native.note());
        record::send(note, || native.call(), native.arguments().sent())
    }
}

/// Send that continues behind a request.
pub struct BeginSend;

impl Role for BeginSend {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = note_of_send(native.note());
        let message = arguments.sent();
        record::begin_send(note, || native.call(), message, arguments.request())
    }
}

/// Combined send and receive; only the sent message is counted.
pub struct SendReceive;

impl Role for SendReceive {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        if !features::any(features::WATCHING) {
            let arguments = native.arguments();
            let note = note_of_send(arguments.note_of_receive(N::PROPERTIES.procedure));
            return record::send_receive(note, || native.call(), arguments.sent());
        }
        record::apart(move || {
            let arguments = native.arguments();
            let note = note_of_send(arguments.note_of_receive(N::PROPERTIES.procedure));
            let call = |status| in_order(&native, status);
            record::send_receive_watched(note, call, arguments.sent(), arguments.taken())
        })
    }
}

/// Combined send and receive that continue behind a request.
pub struct BeginSendReceive;

impl Role for BeginSendReceive {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = note_of_send(arguments.note_of_receive(N::PROPERTIES.procedure));
        let call = || in_order(&native, arguments.status);
        record::begin_send(note, call, arguments.sent(), arguments.request())
    }
}

/// Persistent send, which is only prepared.
pub struct PrepareSend;

impl Role for PrepareSend {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let message = arguments.sent();
        record::send_init(note, || native.call(), message, arguments.request())
    }
}

/// Receive, or probe that takes the message.
pub struct Receive;

impl Role for Receive {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        received(native, Arguments::note_of_receive)
    }
}

/// Probe that does not take the message.
pub struct Probe;

impl Role for Probe {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        received(native, Arguments::note)
    }
}

/// Persistent receive, which is only prepared.
pub struct PrepareReceive;

impl Role for PrepareReceive {
    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let call = || match N::PROPERTIES.open {
            Some(kind) => order::prepare(arguments.received(kind), || native.call()),
            None => native.call(),
        };
        record::receive_init(note, call, arguments.request())
    }
}

#[inline(always)]
fn note_of_send(note: Note) -> Note {
    Note {
        sends: true,
        ..note
    }
}

/// Receives or probes, with this note in pages.
#[inline(always)]
fn received<N: NativeCall>(native: N, note: impl Fn(&Arguments, Procedure) -> Note) -> c_int {
    if !features::any(features::WATCHING) {
        let note = note(&native.arguments(), N::PROPERTIES.procedure);
        return record::receive(note, || native.call());
    }
    record::apart(move || {
        let arguments = native.arguments();
        let note = note(&arguments, N::PROPERTIES.procedure);
        record::receive_watched(note, |status| in_order(&native, status), arguments.taken())
    })
}

/// Makes the native call within the order of receives, if MPI leaves its result open.
#[inline(always)]
fn in_order<N: NativeCall>(native: &N, status: StatusAddress) -> c_int {
    let Some(kind) = N::PROPERTIES.open else {
        return native.with(Changes {
            status: Some(status),
            ..Changes::NONE
        });
    };
    let receive = order::Receive {
        status,
        ..native.arguments().received(kind)
    };
    order::receive(receive, |comm, source, tag, status| {
        native.with(Changes {
            comm: Some(comm),
            source: Some(source),
            tag: Some(tag),
            status: Some(status),
            ..Changes::NONE
        })
    })
}
