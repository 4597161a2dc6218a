//! Who sends how much to whom, counted as the calls pass.
//!
//! Entry points call the functions of this file around the host's. Each thread
//! counts by itself (`thread`), in tables that grow with its partners
//! (`counters`); what is rare is shared under locks (`communicators`,
//! `persistent`, `collectives`). Only calls that succeed count, and only the
//! application's: what a procedure calls in turn, through public names, is a
//! thread's call within a call and passes uncounted.

mod collectives;
mod communicators;
mod counters;
mod handle_cache;
mod persistent;
mod thread;
mod wire;

pub mod collect;

use std::sync::atomic::{AtomicBool, Ordering};

use treepie_core::affinity::collective::Operation;

use crate::api::{SUCCESS, Word, c_int};
pub use collectives::Arguments;
use thread::Thread;

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
    around(call, |thread| {
        persistent::prepared(thread, &message, request)
    })
}

/// The start of `count` prepared requests, an array at `requests`.
pub fn start(call: impl FnOnce() -> c_int, count: c_int, requests: Word) -> c_int {
    around(call, |thread| persistent::started(thread, count, requests))
}

/// The end of a request: its handle may come back as another's.
pub fn request_free(call: impl FnOnce() -> c_int, request: Word) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    let ended = persistent::handle_at(request);
    around(call, |_| persistent::ended(ended))
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
            communicator.count(operation, &arguments());
        });
    })
}

/// A procedure that makes a communicator, whose handle it puts at `made`. What
/// the host makes for itself within a call of the application's (an I/O library's
/// copy, say) is not the application's, and never counted.
pub fn communicator_start(call: impl FnOnce() -> c_int, made: Word) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    let nested = thread::is_nested();
    let code = call_nested_or_not(call);
    if code == SUCCESS {
        communicators::made(made, nested);
    }
    code
}

/// The end of the communicator whose handle is at `comm`.
pub fn communicator_end(call: impl FnOnce() -> c_int, comm: Word) -> c_int {
    if !ACTIVE.load(Ordering::Relaxed) {
        return call();
    }
    let handle = communicators::handle_at(comm);
    let code = call_nested_or_not(call);
    if code == SUCCESS {
        communicators::ended(handle);
    }
    code
}

fn call_nested_or_not(call: impl FnOnce() -> c_int) -> c_int {
    thread::around(call, |_, _| ())
}
