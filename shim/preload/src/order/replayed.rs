//! Calls that return the results in the log: receives are posted for the messages that they
//! matched, polls that found nothing return immediately, and polls that found a message wait for
//! it.

use std::thread;

use treepie_jobstate::order::{Call, CallKind, Diverged, Guide, Outcome, Posting};
use treepie_mpi::native::Native;
use treepie_mpi::{Comm, HandleAddress, IntAddress, Request, SUCCESS, StatusAddress, Word, c_int};
use treepie_record::Completion;

use super::calls::Receive;
use super::calls::call_for;
use super::end_job::{DIVERGED, ENDED, end_job};
use super::requests;
use super::watchdog::watch;
use super::work::replaying;

/// Returns the answer of the guide; ends the job if the guide finds a mismatch, or is to end with
/// the log.
fn led<R>(
    lead: impl FnOnce(&mut Guide) -> Result<R, Diverged>,
    is_beyond: impl FnOnce(&R) -> bool,
) -> Option<R> {
    let (text, status) = {
        let mut replaying = replaying()?;
        match lead(&mut replaying.guide) {
            Ok(result) => match is_beyond(&result).then(|| replaying.beyond()).flatten() {
                None => return Some(result),
                Some(text) => (text, ENDED),
            },
            Err(diverged) => (
                format!("rank {}: order: {diverged}", replaying.rank),
                DIVERGED,
            ),
        }
    };
    end_job(&text, status)
}

/// Returns the way in which a receive is posted.
fn posting(call: &Call) -> Posting {
    let posted = led(
        |guide| guide.post(call),
        |posting| *posting == Posting::Beyond,
    );
    posted.unwrap_or(Posting::Beyond)
}

/// Returns the result of a call; `None` if the recorded run had ended.
fn found(call: &Call) -> Option<Outcome> {
    led(|guide| guide.find(call), Option::is_none).flatten()
}

/// Returns a communicator on which nobody sends.
fn nowhere() -> Option<Comm> {
    replaying().map(|replaying| replaying.nowhere.handle())
}

/// Polls until the call is complete or fails.
fn until(call: &Call, mut poll: impl FnMut() -> c_int, done: impl Fn() -> bool) -> c_int {
    let _watch = watch(call);
    loop {
        let code = poll();
        if code != SUCCESS || done() {
            return code;
        }
        // The sender may need this core.
        thread::yield_now();
    }
}

pub fn receive(
    native: &Native,
    receive: &Receive,
    call: &Call,
    next: impl Fn(Comm, c_int, c_int, StatusAddress) -> c_int,
) -> c_int {
    let (comm, status) = (receive.comm, receive.status);
    let plain = || next(comm, receive.source, receive.tag, status);
    let is_probe = matches!(call.kind, CallKind::Probe | CallKind::Mprobe) || receive.polls();
    if is_probe {
        return match found(call) {
            None => plain(),
            Some(Outcome::Probed { source, tag }) => {
                let take = || next(comm, source, tag.unwrap_or(receive.tag), status);
                until(call, take, || !receive.polls() || receive.flag.read() != 0)
            }
            Some(_) => {
                receive.flag.write(0);
                SUCCESS
            }
        };
    }
    let goes_on = matches!(call.kind, CallKind::Irecv | CallKind::Isendrecv);
    match posting(call) {
        Posting::Matched { source, tag } => {
            let tag = tag.unwrap_or(receive.tag);
            if !goes_on {
                let _watch = watch(call);
                return next(comm, source, tag, status);
            }
            let code = next(comm, source, tag, status);
            if code == SUCCESS {
                let request = native.plain(receive.request.read());
                requests::awaited(request, *call);
            }
            code
        }
        Posting::Cancelled if call.kind == CallKind::Irecv => match nowhere() {
            Some(nowhere) => next(nowhere, 0, 0, status),
            None => plain(),
        },
        _ => plain(),
    }
}

pub fn start(
    native: &Native,
    count: c_int,
    requests: HandleAddress<Request>,
    next: impl Fn(c_int, HandleAddress<Request>) -> c_int,
) -> c_int {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let address = requests.nth(native, at);
        let request = native.plain(address.read());
        let code = match begin_prepared(native, request) {
            None => next(1, address),
            Some(Ok(stand_in)) => {
                requests::set_stand_in(request, Some(native.plain(stand_in)));
                SUCCESS
            }
            Some(Err(code)) => code,
        };
        if code != SUCCESS {
            return code;
        }
    }
    SUCCESS
}

/// Begins the stand-in of a persistent receive with a wildcard, since a persistent request fixes
/// its source and tag; `None` if the request itself is to be started.
fn begin_prepared(native: &Native, request: Request) -> Option<Result<Request, c_int>> {
    let prepared = requests::preparation(request)?;
    let receive = prepared.receive;
    // Not an `int`: it was prepared with a large count, which only its own request has.
    let count = c_int::try_from(receive.count).ok()?;
    let message = (receive.buffer, count, receive.datatype);
    let (comm, source, tag) = match posting(&prepared.call) {
        Posting::Matched { source, tag } => (receive.comm, source, tag.unwrap_or(receive.tag)),
        Posting::Cancelled => (nowhere()?, 0, 0),
        Posting::Unmatched | Posting::Beyond => return None,
    };
    // SAFETY: the application keeps the buffer until its request is complete, which is when the
    // stand-in is.
    let begun = unsafe { native.begin_receive(message, source as usize, tag, comm) };
    if let Ok(stand_in) = begun
        && comm == receive.comm
    {
        requests::awaited(native.plain(stand_in), prepared.call);
    }
    Some(begun)
}

/// Requests of a call, some of them replaced by stand-ins.
struct Array {
    address: HandleAddress<Request>,
    /// Handles of the application, and those that the native MPI gets.
    handles: Vec<(Request, Request)>,
    /// Array for the native MPI, if they differ.
    room: Vec<u64>,
}

impl Array {
    fn new(native: &Native, completion: &Completion) -> Array {
        let own = completion
            .requests(native)
            .map(|request| native.plain(request));
        let handles: Vec<(Request, Request)> = own
            .map(|request| (request, requests::stand_in(request).unwrap_or(request)))
            .collect();
        let mut array = Array {
            address: completion.requests,
            room: Vec::new(),
            handles,
        };
        if array.handles.iter().any(|(own, passed)| own != passed) {
            array.room.resize(array.handles.len(), 0);
            // SAFETY: there is space for that many handles of any width, for as long as the array
            // lives.
            array.address = unsafe { HandleAddress::from_word(array.room.as_mut_ptr() as Word) };
            for (at, (_, passed)) in array.handles.iter().enumerate() {
                array.address.nth(native, at).write(native, *passed);
            }
        }
        array
    }

    fn at(&self, native: &Native, number: u32) -> HandleAddress<Request> {
        self.address.nth(native, number as usize)
    }

    /// Returns the call for one of them whose message is awaited.
    fn awaits(&self) -> Option<Call> {
        self.handles
            .iter()
            .find_map(|(_, passed)| requests::awaits(*passed))
    }

    /// Notes which are complete, and writes the application's handles.
    fn settle(self, native: &Native, completion: &Completion) {
        for (at, (own, passed)) in self.handles.iter().enumerate() {
            let now = native.plain(self.at(native, at as u32).read());
            let is_complete = now != *passed;
            if is_complete {
                requests::arrived(*passed);
            }
            if own != passed && is_complete {
                requests::set_stand_in(*own, None);
            } else if own == passed && !self.room.is_empty() {
                completion.requests.nth(native, at).write(native, now);
            }
        }
    }
}

pub fn complete(
    native: &Native,
    kind: Option<CallKind>,
    completion: &Completion,
    next: impl Fn(HandleAddress<Request>, StatusAddress) -> c_int,
) -> c_int {
    let array = Array::new(native, completion);
    let plain = || next(array.address, completion.status);
    let code = match kind.map(|kind| call_for(kind, completion.count)) {
        None => {
            let _watch = array.awaits().map(|call| watch(&call));
            plain()
        }
        Some(call) => match found(&call) {
            None => plain(),
            Some(Outcome::Nothing) => {
                nothing(native, completion);
                SUCCESS
            }
            Some(Outcome::Index(index)) => take(native, &call, completion, &array, &[index]),
            Some(Outcome::Indices(indices)) => take(native, &call, completion, &array, &indices),
            // No request is active, or a flag reports that all are complete.
            Some(Outcome::Inactive) => {
                let _watch = watch(&call);
                plain()
            }
            Some(_) => until(&call, plain, || completion.flag.read() != 0),
        },
    };
    array.settle(native, completion);
    code
}

/// Sets the results of a poll that found nothing.
fn nothing(native: &Native, completion: &Completion) {
    let answers = [
        (completion.flag, 0),
        (completion.completed, 0),
        (completion.index, native.abi.undefined),
    ];
    for (address, value) in answers {
        address.write(value);
    }
}

/// Waits for these requests, in this order, and reports them as complete.
fn take(
    native: &Native,
    call: &Call,
    completion: &Completion,
    array: &Array,
    indices: &[u32],
) -> c_int {
    let ignored = match completion.array {
        true => native.abi.statuses_ignore,
        false => native.abi.status_ignore,
    };
    for (place, &index) in indices.iter().enumerate() {
        let wait = |status| {
            let _watch = watch(call);
            // The request is one of the call's, as the guide has checked.
            while !native.test_one(array.at(native, index), status)? {
                thread::yield_now();
            }
            Ok(())
        };
        let waited = match completion.status.word() == ignored {
            true => StatusAddress::with_room(native, 1, wait),
            false => wait(completion.status.nth(place, native.abi.status_bytes)),
        };
        if let Err(code) = waited {
            return code;
        }
        if !completion.indices.is_absent() {
            completion.indices.nth(place).write(index as c_int);
        }
    }
    let first = indices
        .first()
        .map_or(native.abi.undefined, |&index| index as c_int);
    let answers = [
        (completion.flag, 1),
        (completion.completed, indices.len() as c_int),
        (completion.index, first),
    ];
    for (address, value) in answers {
        address.write(value);
    }
    SUCCESS
}

pub fn look(
    native: &Native,
    kind: CallKind,
    request: Request,
    flag: IntAddress,
    next: impl Fn(Request) -> c_int,
) -> c_int {
    let passed = requests::stand_in(native.plain(request)).unwrap_or(request);
    poll(&call_for(kind, 1), flag, || next(passed))
}

/// Makes a poll, which sets a completion flag at `flag`.
pub fn poll(call: &Call, flag: IntAddress, next: impl Fn() -> c_int) -> c_int {
    match found(call) {
        None => next(),
        Some(Outcome::Nothing) => {
            flag.write(0);
            SUCCESS
        }
        Some(_) => until(call, next, || flag.read() != 0),
    }
}

pub fn cancel(
    native: &Native,
    request: HandleAddress<Request>,
    next: impl Fn(HandleAddress<Request>) -> c_int,
) -> c_int {
    let own = native.plain(request.read());
    let passed = requests::stand_in(own).unwrap_or(own);
    // It was too late to cancel it.
    if requests::awaits(passed).is_some() {
        return SUCCESS;
    }
    if passed == own {
        return next(request);
    }
    let mut room = 0u64;
    // SAFETY: there is space for a handle of any width, until the end of this function.
    let address = unsafe { HandleAddress::from_word(&raw mut room as Word) };
    address.write(native, passed);
    next(address)
}

/// Ends the job if the replay has not reached the end of the recorded run.
pub fn finish() {
    let ended = replaying().map(|mut replaying| replaying.end());
    if let Some(Err(text)) = ended {
        end_job(&text, DIVERGED);
    }
}
