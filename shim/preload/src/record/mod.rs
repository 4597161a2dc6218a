//! Who sends how much to whom, counted as the calls pass.
//!
//! Entry points call the functions of this file around the host's. Each thread
//! counts by itself (`thread`), in tables that grow with its partners
//! (`counters`); what is rare is shared under locks (`registry`,
//! `communicators`, `prepared`, `collectives`). Only calls that succeed count, and only the
//! application's: what a procedure calls in turn, through public names, is a
//! thread's call within a call and passes uncounted.

mod collectives;
mod communicators;
mod counters;
mod handle_cache;
mod neighbours;
mod one_sided;
mod prepared;
mod registry;
mod thread;
mod wire;

pub mod collect;

use std::sync::atomic::{AtomicBool, Ordering};

use treepie_core::affinity::collective::Operation;

use crate::api::{SUCCESS, Word, c_int};
pub use collectives::Arguments;
use counters::Kind;
pub use one_sided::Access;
use thread::Thread;

/// Objects whose handles are remembered.
#[derive(Debug, Clone, Copy)]
pub enum Object {
    /// A communicator.
    Communicator,
    /// A window.
    Window,
    /// A request.
    Request,
}

static ACTIVE: AtomicBool = AtomicBool::new(false);

/// Starts counting.
pub fn begin() {
    ACTIVE.store(true, Ordering::Release);
}

/// Stops counting; what was counted stays.
pub fn end() {
    ACTIVE.store(false, Ordering::Release);
}

/// A message as a send procedure is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Message {
    /// Elements (of each partition).
    pub count: i64,
    /// Partitions; 1 except for partitioned sends.
    pub partitions: i64,
    /// Datatype of an element.
    pub datatype: Word,
    /// Destination in the communicator, or `MPI_PROC_NULL`.
    pub dest: c_int,
    /// The communicator.
    pub comm: Word,
}

/// Calls the host and, where this is the application's own call on a thread of
/// its own and counting is on, tells `count` of a call that succeeded.
#[inline(always)]
fn around(call: impl FnOnce() -> c_int, count: impl FnOnce(&Thread)) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    thread::around(call, |thread, code| {
        if code == SUCCESS {
            count(thread);
        }
    })
}

/// A procedure that is not counted, but whose own calls must not be either.
#[inline(always)]
pub fn quietly(call: impl FnOnce() -> c_int) -> c_int {
    around(call, |_| ())
}

/// A send, blocking or not.
#[inline(always)]
pub fn send(call: impl FnOnce() -> c_int, message: Message) -> c_int {
    around(call, |thread| thread.count_send(&message))
}

/// A send that is only prepared: `request` is where the host puts its handle.
pub fn send_init(call: impl FnOnce() -> c_int, message: Message, request: Word) -> c_int {
    around(call, |thread| prepared::send(thread, &message, request))
}

/// The start of `count` prepared requests, an array at `requests`.
pub fn start(call: impl FnOnce() -> c_int, count: c_int, requests: Word) -> c_int {
    around(call, |thread| prepared::started(thread, count, requests))
}

/// A collective; `arguments` is only asked for where they will be read.
#[inline(always)]
pub fn collective(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    comm: Word,
    arguments: impl FnOnce() -> Arguments,
) -> c_int {
    around(call, |thread| {
        thread.with_communicator(comm, |communicator| {
            if let Some(seen) = communicator.observe(operation, &arguments()) {
                communicator.count(operation, &seen);
            }
        });
    })
}

/// A collective that is only prepared: `request` is where the host puts its
/// handle.
pub fn collective_init(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    comm: Word,
    arguments: impl FnOnce() -> Arguments,
    request: Word,
) -> c_int {
    around(call, |_| {
        prepared::collective(operation, comm, &arguments(), request)
    })
}

/// A neighbourhood collective.
#[inline]
pub fn neighbourhood(
    call: impl FnOnce() -> c_int,
    comm: Word,
    arguments: impl FnOnce() -> Arguments,
) -> c_int {
    around(call, |thread| {
        thread.with_communicator(comm, |communicator| {
            for (partner, bytes) in neighbours::messages(communicator, &arguments()) {
                thread.count(Kind::Neighbourhood, partner, bytes);
            }
        });
    })
}

/// A neighbourhood collective that is only prepared: `request` is where the host
/// puts its handle.
pub fn neighbourhood_init(
    call: impl FnOnce() -> c_int,
    comm: Word,
    arguments: impl FnOnce() -> Arguments,
    request: Word,
) -> c_int {
    around(call, |_| {
        prepared::neighbourhood(comm, &arguments(), request)
    })
}

/// A one-sided call.
#[inline(always)]
pub fn one_sided(call: impl FnOnce() -> c_int, access: Access) -> c_int {
    around(call, |thread| thread.count_access(&access))
}

/// A procedure that makes an object, whose handle it puts at `address`. What the
/// host makes for itself within a call of the application's (an I/O library's
/// copy of a communicator, say) is not the application's, and never counted.
pub fn object_start(call: impl FnOnce() -> c_int, object: Object, address: Word) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    let internal = thread::is_nested();
    let code = thread::around(call, |_, _| ());
    if code == SUCCESS {
        let handle = registry::handle_at(address);
        match object {
            Object::Communicator => communicators::made(handle, internal),
            Object::Window => communicators::window_made(handle, internal),
            Object::Request => (),
        }
    }
    code
}

/// The end of the object whose handle is at `address`: the handle may come back as
/// another's.
pub fn object_end(call: impl FnOnce() -> c_int, object: Object, address: Word) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    let handle = registry::handle_at(address);
    let code = thread::around(call, |_, _| ());
    if code == SUCCESS {
        match object {
            Object::Communicator => communicators::ended(handle),
            Object::Window => communicators::window_ended(handle),
            Object::Request => prepared::ended(handle),
        }
    }
    code
}
