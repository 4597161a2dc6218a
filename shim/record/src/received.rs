//! Messages that this rank has received from each partner, and requests that it has begun and not
//! completed: counted only if it may be stopped at a cut.

use std::collections::HashMap;
use std::sync::Arc;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{HandleAddress, MatchedMessage, Request, SUCCESS, StatusAddress, c_int};
use treepie_traffic::times::CallClass;

use super::around::around;
use super::communicators::{self, Communicator};
use super::page::{self, Note};
use super::thread;

/// Communicator of a receive, as it was when the receive was posted: the application may free it
/// before the receive completes, and the MPI may give its handle to another. `None` for those that
/// are not the application's.
type Posted = Option<Arc<Communicator>>;

/// Pending operation of this process.
enum Begun {
    Receive(Posted),
    Collective,
}

/// Pending operations of this process.
#[derive(Default)]
struct Open {
    begun: HashMap<Request, Begun>,
    /// Number of receives among them.
    receives: usize,
    /// Receives that are prepared, started or not.
    prepared: HashMap<Request, Posted>,
    /// Messages that were matched and are not received.
    matched: HashMap<MatchedMessage, Posted>,
}

static OPEN: Lazy<Mutex<Open>> = Lazy::new(Mutex::default);

/// Addresses of a receive in addition to those of its note; absent if it lacks them.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// The status.
    pub status: StatusAddress,
    /// Handle of the matched message.
    pub message: HandleAddress<MatchedMessage>,
}

impl Taken {
    /// Neither of them.
    pub const NONE: Taken = Taken {
        status: StatusAddress::ABSENT,
        message: HandleAddress::ABSENT,
    };
}

/// Makes a receive, a probe, or a combined send and receive by `call`, with the status that it
/// gets; `sent` counts the sent message.
#[cold]
pub fn receive(
    note: Note,
    class: CallClass,
    taken: Taken,
    call: &dyn Fn(StatusAddress) -> c_int,
    sent: &dyn Fn(&thread::Thread),
) -> c_int {
    let Some(native) = native() else {
        return call(taken.status);
    };
    let receive = |status| receive_with(native, note, class, taken.message, status, call, sent);
    match taken.status.word() == native.abi.status_ignore {
        true => StatusAddress::with_room(native, 1, receive),
        false => receive(taken.status),
    }
}

/// Makes a receive whose status is at `status`.
fn receive_with(
    native: &Native,
    note: Note,
    class: CallClass,
    message: HandleAddress<MatchedMessage>,
    status: StatusAddress,
    call: &dyn Fn(StatusAddress) -> c_int,
    sent: &dyn Fn(&thread::Thread),
) -> c_int {
    let before = match !message.is_absent() && !note.posts {
        true => OPEN.lock().matched.remove(&message.read()).flatten(),
        false => None,
    };
    around(
        &note,
        class,
        || call(status),
        |thread| {
            sent(thread);
            if note.has_answer() {
                let posted = match note.posts {
                    true => posted(native, &note),
                    false => before,
                };
                took(native, &note, posted, message, status);
            }
        },
    )
}

/// Returns the communicator of a receive that is posted; `None` from `MPI_PROC_NULL`, which MPICH's
/// requests do not show.
fn posted(native: &Native, note: &Note) -> Posted {
    match note.source == native.abi.proc_null {
        true => None,
        false => communicators::find(note.comm),
    }
}

/// Notes that a call, which succeeded with this status, received a message of this communicator, or
/// will.
fn took(
    native: &Native,
    note: &Note,
    posted: Posted,
    message: HandleAddress<MatchedMessage>,
    status: StatusAddress,
) {
    if note.posts && !message.is_absent() {
        OPEN.lock().matched.insert(message.read(), posted);
    } else if !note.request.is_absent() {
        begin(note.request.read(), Begun::Receive(posted));
    } else if note.posts || !message.is_absent() {
        count(native, posted, status);
    }
}

/// Counts a received message, except from `MPI_PROC_NULL`, from other jobs, and of receives that
/// were cancelled. The status is that of a receive on this communicator that is complete.
fn count(native: &Native, posted: Posted, status: StatusAddress) {
    let Some(communicator) = posted else { return };
    let (source, _) = native.message_of(status);
    let (bytes, is_cancelled) = (native.bytes_of(status), native.is_cancelled(status));
    let partner = usize::try_from(source).map(|source| communicator.partner(source));
    if let (Ok(Some(partner)), false) = (partner, is_cancelled) {
        thread::count_received(partner, bytes);
    }
}

fn begin(request: Request, what: Begun) {
    let mut open = OPEN.lock();
    open.insert(request, what);
    open.say();
}

/// Notes that a collective was begun; the native MPI stored its request at `address`, if it has
/// one.
pub fn begin_collective(address: HandleAddress<Request>) {
    if !address.is_absent() {
        begin(address.read(), Begun::Collective);
    }
}

/// Notes that a receive was prepared; the native MPI stored its request at `note.request`.
pub fn prepare(note: &Note) {
    let Some(native) = native() else { return };
    let (request, posted) = (note.request.read(), posted(native, note));
    OPEN.lock().prepared.insert(request, posted);
}

/// Notes that `count` prepared requests, an array at `requests`, were started.
pub fn started(count: c_int, requests: HandleAddress<Request>) {
    let Some(native) = native() else { return };
    let mut open = OPEN.lock();
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let request = requests.nth(native, at).read();
        if let Some(posted) = open.prepared.get(&request).cloned() {
            open.insert(request, Begun::Receive(posted));
        }
    }
    open.say();
}

/// True if this request was begun and is not complete.
pub fn is_open(request: Request) -> bool {
    OPEN.lock().begun.contains_key(&request)
}

/// Settles a request that completed with this status.
pub fn settle(native: &Native, request: Request, status: StatusAddress) {
    let begun = {
        let mut open = OPEN.lock();
        let begun = open.remove(request);
        if begun.is_some() {
            open.say();
        }
        begun
    };
    if let Some(Begun::Receive(posted)) = begun {
        count(native, posted, status);
    }
}

/// Makes `MPI_Request_free`; the completion of a receive that is freed before it is complete cannot
/// be observed.
pub fn request_end(
    note: Note,
    call: impl FnOnce() -> c_int,
    address: HandleAddress<Request>,
) -> c_int {
    let request = address.read();
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

    /// Writes the numbers of pending operations into the page.
    fn say(&self) {
        page::say_open(self.receives, self.begun.len() - self.receives);
    }
}
