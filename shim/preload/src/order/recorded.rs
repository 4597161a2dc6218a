//! Calls whose results go into the log.

use treepie_jobstate::order::{Call, CallKind, Outcome};
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, HandleAddress, IntAddress, Request, SUCCESS, StatusAddress, c_int};
use treepie_record::Completion;

use super::calls::{Receive, call_for};
use super::requests::{self, Open};
use super::work::recording;

/// Calls `call` with a status, even if the application wants none; returns the source and the tag
/// in it if the call succeeded.
fn with_status(
    native: &Native,
    wanted: StatusAddress,
    call: impl FnOnce(StatusAddress) -> c_int,
) -> (c_int, Option<(c_int, c_int)>) {
    let with = |status| {
        let code = call(status);
        (code, (code == SUCCESS).then(|| native.message_of(status)))
    };
    match wanted.word() == native.abi.status_ignore {
        true => StatusAddress::with_room(native, 1, with),
        false => with(wanted),
    }
}

pub fn receive(
    native: &Native,
    receive: &Receive,
    call: &Call,
    next: impl Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    let given = |status| next(receive.comm, receive.source, receive.tag, status);
    let any_tag = receive.takes_any_tag(native);
    let with_tag = |tag: c_int| any_tag.then_some(tag);
    match call.kind {
        CallKind::Irecv | CallKind::Isendrecv => {
            let number = recording(|recording| recording.write(|it| it.post(call)));
            let code = given(receive.status);
            if let (SUCCESS, Some(number)) = (code, number) {
                let request = native.plain(receive.request.read());
                requests::opened(request, Open { number, any_tag });
            }
            code
        }
        CallKind::Probe | CallKind::Mprobe | CallKind::Iprobe | CallKind::Improbe => {
            let (code, message) = with_status(native, receive.status, given);
            if let Some((source, tag)) = message {
                let found = receive.flag.is_absent() || receive.flag.read() != 0;
                let tag = with_tag(tag);
                let outcome = match found {
                    true => Outcome::Probed { source, tag },
                    false => Outcome::Nothing,
                };
                recording(|recording| recording.write(|it| it.found(call, outcome)));
            }
            code
        }
        _ => {
            let number = recording(|recording| recording.write(|it| it.post(call)));
            let (code, message) = with_status(native, receive.status, given);
            if let (Some((source, tag)), Some(number)) = (message, number) {
                recording(|recording| {
                    recording.write(|it| it.matched(number, source, with_tag(tag)));
                });
            }
            code
        }
    }
}

pub fn start(
    native: &Native,
    count: c_int,
    requests: HandleAddress<Request>,
    next: impl Fn(c_int, HandleAddress<Request>) -> c_int,
) -> c_int {
    let all = Completion {
        count,
        requests,
        ..Completion::NONE
    };
    for request in all.requests(native).map(|request| native.plain(request)) {
        if let Some(prepared) = requests::preparation(request) {
            let call = prepared.call;
            let number = recording(|recording| recording.write(|it| it.post(&call)));
            let any_tag = prepared.receive.takes_any_tag(native);
            if let Some(number) = number {
                requests::opened(request, Open { number, any_tag });
            }
        }
    }
    next(count, requests)
}

pub fn complete(
    native: &Native,
    kind: Option<CallKind>,
    completion: &Completion,
    next: impl Fn(HandleAddress<Request>, StatusAddress) -> c_int,
) -> c_int {
    let code = completion.observed(
        native,
        |request| requests::is_open(native.plain(request)),
        |status| next(completion.requests, status),
        |request, status| {
            if let Some(open) = requests::closed(native.plain(request)) {
                settle(native, open, status);
            }
        },
    );
    if let Some(kind) = kind
        && code == SUCCESS
    {
        let call = call_for(kind, completion.count);
        let outcome = outcome_of(native, kind, completion);
        recording(|recording| recording.write(|it| it.found(&call, outcome)));
    }
    code
}

/// Logs the match of a completed receive.
fn settle(native: &Native, open: Open, status: StatusAddress) {
    let is_cancelled = native.is_cancelled(status);
    let (source, tag) = native.message_of(status);
    recording(|recording| {
        recording.write(|it| match is_cancelled {
            true => it.cancelled(open.number),
            false => it.matched(open.number, source, open.any_tag.then_some(tag)),
        });
    });
}

/// Returns the result of a call for requests.
fn outcome_of(native: &Native, kind: CallKind, completion: &Completion) -> Outcome {
    if !completion.flag.is_absent() && completion.flag.read() == 0 {
        return Outcome::Nothing;
    }
    match kind {
        CallKind::Waitany | CallKind::Testany => match completion.index.read() {
            index if index == native.abi.undefined => Outcome::Inactive,
            index => Outcome::Index(index as u32),
        },
        CallKind::Waitsome | CallKind::Testsome => match completion.completed.read() {
            number if number == native.abi.undefined => Outcome::Inactive,
            0 => Outcome::Nothing,
            number => {
                let places = 0..usize::try_from(number).unwrap_or(0);
                let index = |place| completion.indices.nth(place).read() as u32;
                Outcome::Indices(places.map(index).collect())
            }
        },
        _ => Outcome::Done,
    }
}

/// Makes a poll, which sets a completion flag at `flag`.
pub fn poll(call: &Call, flag: IntAddress, next: impl FnOnce() -> c_int) -> c_int {
    let code = next();
    if code == SUCCESS {
        let outcome = match flag.read() {
            0 => Outcome::Nothing,
            _ => Outcome::Done,
        };
        recording(|recording| recording.write(|it| it.found(call, outcome)));
    }
    code
}
