//! Calls that take requests: they start, complete, query or cancel them.

use treepie_mpi::{Handle, Request, StatusAddress, c_int};
use treepie_plans as plans;
use treepie_process::features;
use treepie_record::{self as record, Completion};

use crate::entry::role::{Changes, NativeCall, Role};
use crate::order;

/// Start of persistent requests.
pub struct Start;

impl Role for Start {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let (count, requests) = (arguments.count, arguments.requests());
        let call = || {
            order::start(count, requests, |count, requests| {
                plans::begin_persistent(count, requests, || {
                    native.with(Changes {
                        count: Some(count),
                        requests: Some(requests.word()),
                        ..Changes::NONE
                    })
                })
            })
        };
        record::start(note, call, count, requests)
    }
}

/// Completion of requests, blocking or not.
pub struct Complete;

impl Role for Complete {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        if !features::any(features::WATCHING) {
            let note = native.arguments().note_of_requests(N::PROPERTIES.procedure);
            return record::complete(note, || native.call());
        }
        record::apart(move || {
            let arguments = native.arguments();
            let note = arguments.note_of_requests(N::PROPERTIES.procedure);
            let call = |status| in_order(&native, status);
            record::complete_watched(note, arguments.completion(), call)
        })
    }
}

/// Makes the native call within the layers that may change which requests complete, and within
/// plans in flight.
#[inline(always)]
fn in_order<N: NativeCall>(native: &N, status: StatusAddress) -> c_int {
    let completion = Completion {
        status,
        ..native.arguments().completion()
    };
    order::complete(N::PROPERTIES.open, completion, |requests, status| {
        let completion = Completion {
            requests,
            status,
            ..completion
        };
        plans::complete(N::PROPERTIES.waits, completion, || {
            native.with(Changes {
                requests: Some(requests.word()),
                status: Some(status),
                ..Changes::NONE
            })
        })
    })
}

/// Query of a request, or of a partition of its message, which leaves it unchanged.
pub struct Look;

impl Role for Look {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = native.note();
        let (arguments, request) = (native.arguments(), native.arguments().looked_at());
        let look = |request: Request| {
            plans::look(request, || {
                native.with(Changes {
                    requests: Some(request.word()),
                    ..Changes::NONE
                })
            })
        };
        record::complete(note, || match N::PROPERTIES.open {
            Some(kind) => order::look(kind, request, arguments.flag(), look),
            None => look(request),
        })
    }
}

/// Query of several requests.
pub struct LookAt;

impl Role for LookAt {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = arguments.note_of_requests(N::PROPERTIES.procedure);
        record::complete(note, || {
            plans::look_at(&arguments.completion(), || native.call())
        })
    }
}

/// Cancellation of a request. A cancelled send is subtracted when it completes.
pub struct Cancel;

impl Role for Cancel {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let (note, requests) = (native.note(), native.arguments().requests());
        let call = || {
            order::cancel(requests, |request| {
                plans::cancel(request, || {
                    native.with(Changes {
                        requests: Some(request.word()),
                        ..Changes::NONE
                    })
                })
            })
        };
        record::cancel(note, call, requests)
    }
}
