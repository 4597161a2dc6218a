//! What this rank has received from each partner, and which requests it has begun and not
//! completed: counted only where it may be stopped at a cut.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_core::affinity::times::CallClass;

use super::page::{self, Note};
use super::registry::handle_at;
use super::{around, communicators, thread};
use crate::mpi::native::{Native, native};
use crate::mpi::{Comm, MatchedMessage, Request, SUCCESS, StatusAddress, Word, c_int};

/// What was begun.
#[derive(Clone, Copy)]
enum Begun {
    /// A receive on a communicator.
    Receive(Comm),
    Collective,
}

/// What this process has begun.
#[derive(Default)]
struct Open {
    begun: HashMap<Request, Begun>,
    /// How many of these are receives.
    receives: usize,
    /// Receives that are prepared, started or not.
    prepared: HashMap<Request, Comm>,
    /// Messages that were matched and are not received.
    matched: HashMap<MatchedMessage, Comm>,
}

static OPEN: Lazy<Mutex<Open>> = Lazy::new(Mutex::default);

/// Addresses that a receive has beside those of its note; 0 where it has none.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// The status.
    pub status: StatusAddress,
    /// The matched message.
    pub message: Word,
}

impl Taken {
    /// None of them.
    pub const NONE: Taken = Taken {
        status: StatusAddress::ABSENT,
        message: 0,
    };
}

/// A receive, a probe, or a send and a receive in one, which `call` makes with the status that it
/// is given, and `sent` counts what is sent of it.
#[cold]
pub fn receive(
    note: Note,
    class: CallClass,
    taken: Taken,
    call: impl FnOnce(StatusAddress) -> c_int,
    sent: impl FnOnce(&thread::Thread),
) -> c_int {
    let Some(native) = native() else {
        return call(taken.status);
    };
    let mut room = [0; 8];
    let status = match taken.status.word() == native.abi.status_ignore {
        true => StatusAddress::of_room(&mut room),
        false => taken.status,
    };
    let before = match taken.message != 0 && !note.posts {
        true => OPEN.lock().matched.remove(&handle_at(taken.message)),
        false => None,
    };
    around(
        &note,
        class,
        || call(status),
        |thread| {
            sent(thread);
            if note.has_answer() {
                let comm = if note.posts { Some(note.comm) } else { before };
                // SAFETY: the call has succeeded, and was given this status.
                unsafe { took(native, &note, comm, taken.message, status) };
            }
        },
    )
}

/// A call took a message of this communicator, or will.
///
/// # Safety
/// The call succeeded, and the status is the one that it had, if it has one.
unsafe fn took(
    native: &Native,
    note: &Note,
    comm: Option<Comm>,
    message: Word,
    status: StatusAddress,
) {
    let Some(comm) = comm else { return };
    if note.posts && message != 0 {
        OPEN.lock().matched.insert(handle_at(message), comm);
    } else if note.request != 0 {
        begin(handle_at(note.request), Begun::Receive(comm));
    } else {
        // SAFETY: the caller's promise.
        unsafe { count(native, comm, status) };
    }
}

/// Counts a message that was received; nothing from `MPI_PROC_NULL`, and from other jobs.
///
/// # Safety
/// The status is that of a receive on this communicator that is complete.
unsafe fn count(native: &Native, comm: Comm, status: StatusAddress) {
    // SAFETY: the caller's promise.
    let (source, bytes) = unsafe { (native.message_of(status).0, native.bytes_of(status)) };
    let communicator = communicators::find(comm);
    let partner = communicator.zip(usize::try_from(source).ok());
    if let Some(partner) = partner.and_then(|(communicator, source)| communicator.partner(source)) {
        thread::count_received(partner, bytes);
    }
}

fn begin(request: Request, what: Begun) {
    let mut open = OPEN.lock();
    open.insert(request, what);
    open.say();
}

/// A collective was begun; the native MPI put its request at `address`, if it has one.
pub fn begin_collective(address: Word) {
    if address != 0 {
        begin(handle_at(address), Begun::Collective);
    }
}

/// A receive was prepared; the native MPI put its request at `note.request`.
pub fn prepare(note: &Note) {
    let request = handle_at(note.request);
    OPEN.lock().prepared.insert(request, note.comm);
}

/// `count` prepared requests, an array at `requests`, were started.
pub fn started(count: c_int, requests: Word) {
    let Some(native) = native() else { return };
    let mut open = OPEN.lock();
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let request = handle_at(requests + at * native.abi.handle_bytes);
        if let Some(&comm) = open.prepared.get(&request) {
            open.insert(request, Begun::Receive(comm));
        }
    }
    open.say();
}

/// Whether this request is one that was begun and is not complete.
pub fn is_open(request: Request) -> bool {
    OPEN.lock().begun.contains_key(&request)
}

/// A request completed with this status.
///
/// # Safety
/// The status is that of a call that is complete.
pub unsafe fn settle(native: &Native, request: Request, status: StatusAddress) {
    let begun = {
        let mut open = OPEN.lock();
        let begun = open.remove(request);
        if begun.is_some() {
            open.say();
        }
        begun
    };
    if let Some(Begun::Receive(comm)) = begun {
        // SAFETY: the caller's promise.
        unsafe { count(native, comm, status) };
    }
}

/// `MPI_Request_free`, of a receive that is not complete nobody will say when it is.
pub fn request_end(note: Note, call: impl FnOnce() -> c_int, address: Word) -> c_int {
    let request = handle_at(address);
    let code = call();
    if code == SUCCESS {
        let mut open = OPEN.lock();
        open.prepared.remove(&request);
        if open.remove(request).is_some() {
            page::refuse(note.procedure);
            open.say();
        }
    }
    code
}

impl Open {
    fn insert(&mut self, request: Request, what: Begun) {
        self.remove(request);
        self.receives += usize::from(matches!(what, Begun::Receive(_)));
        self.begun.insert(request, what);
    }

    fn remove(&mut self, request: Request) -> Option<Begun> {
        let begun = self.begun.remove(&request)?;
        self.receives -= usize::from(matches!(begun, Begun::Receive(_)));
        Some(begun)
    }

    /// Says in the page how many there are.
    fn say(&self) {
        page::say_open(self.receives, self.begun.len() - self.receives);
    }
}
