//! Calls that are given requests: they start, complete, look at or cancel them.

use treepie_mpi::{StatusAddress, c_int};
use treepie_plans as plans;
use treepie_process::features;
use treepie_record::{self as record, Completion};

use crate::entry::arguments::Arguments;
use crate::entry::role::{Changes, NativeCall, Role};
use crate::order;

/// The start of requests that were prepared.
pub struct Start;

impl Role for Start {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let arguments = native.arguments();
        let note = native.note();
        let (count, requests) = (arguments.count, arguments.requests);
        let call = || {
            order::start(count, requests, |count, requests| {
                plans::begin_persistent(count, requests, || {
                    native.with(Changes {
                        count: Some(count),
                        requests: Some(requests),
                        ..Changes::NONE
                    })
                })
            })
        };
        record::start(note, call, count, requests)
    }
}

/// The completion of requests, waiting for it or not.
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

/// The native call within what may change which requests complete, and within plans that go on.
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
                requests: Some(requests),
                status: Some(status),
                ..Changes::NONE
            })
        })
    })
}

/// A look at a request, or at a part of its message, which leaves it as it is.
pub struct Look;

impl Role for Look {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let note = native.note();
        let Arguments { requests, flag, .. } = native.arguments();
        let look = |request| {
            plans::look(request, || {
                native.with(Changes {
                    requests: Some(request),
                    ..Changes::NONE
                })
            })
        };
        record::complete(note, || match N::PROPERTIES.open {
            Some(kind) => order::look(kind, requests, flag, look),
            None => look(requests),
        })
    }
}

/// A look at several requests.
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

/// The cancellation of a request. A send that is cancelled is taken back when it completes.
pub struct Cancel;

impl Role for Cancel {
    const FEATURES: u16 = features::REQUESTS;

    #[inline(always)]
    fn around<N: NativeCall>(native: N) -> c_int {
        let (note, requests) = (native.note(), native.arguments().requests);
        let call = || {
            order::cancel(requests, |request| {
                plans::cancel(request, || {
                    native.with(Changes {
                        requests: Some(request),
                        ..Changes::NONE
                    })
                })
            })
        };
        record::cancel(note, call, requests)
    }
}
