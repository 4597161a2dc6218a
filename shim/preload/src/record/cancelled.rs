//! Sends that are cancelled are not counted. Whether a cancellation succeeded is
//! only known when the request completes: until then the request is watched,
//! and the calls that complete requests look for it.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_core::affinity::Traffic;

use super::counters::Kind;
use super::patience::Patience;
use super::prepared;
use super::registry::handle_at;
use super::thread::Thread;
use crate::features::{self, CANCELLING};
use crate::mpi::native::{Native, native};
use crate::mpi::{Request, SUCCESS, StatusAddress, Word, c_int};

/// What a request sent: kind, receiver, bytes.
type Messages = Vec<(Kind, u32, u64)>;

/// Sends that the application tried to cancel.
#[derive(Default)]
struct Cancelled {
    /// Those that are under way, by their requests.
    watched: HashMap<Request, Messages>,
    /// What was counted of those that were cancelled, by kind and partner.
    taken_back: HashMap<(Kind, u32), Traffic>,
}

static CANCELLED: Lazy<Mutex<Cancelled>> = Lazy::new(Mutex::default);

/// Shows `each` what was counted and then cancelled. Nothing is allocated.
pub fn each_taken_back(patience: impl Patience, mut each: impl FnMut(Kind, u32, Traffic)) {
    if let Some(cancelled) = patience.acquire(|| CANCELLED.try_lock()) {
        for (&(kind, partner), &traffic) in &cancelled.taken_back {
            each(kind, partner, traffic);
        }
    }
}

/// What the request sends or has sent, if it is a send that is known.
fn messages_of(thread: &Thread, request: Request) -> Option<Messages> {
    if let Some(messages) = prepared::messages_of(request) {
        return Some(messages);
    }
    let (partner, bytes) = thread.find_sent(request)?;
    Some(vec![(Kind::PointToPoint, partner, bytes)])
}

/// `MPI_Cancel` of the request at `address` succeeded.
pub fn begun(thread: &Thread, address: Word) {
    let request = handle_at(address);
    if let Some(messages) = messages_of(thread, request) {
        CANCELLED.lock().watched.insert(request, messages);
        features::begin(CANCELLING);
    }
}

/// A call that completes requests, as its procedure is told of it. Addresses that
/// it does not have are 0.
#[derive(Debug, Clone, Copy)]
pub struct Completion {
    /// Number of requests.
    pub count: c_int,
    /// The requests.
    pub requests: Word,
    /// Where it says whether any or all completed.
    pub flag: Word,
    /// Where it says which one completed, of several.
    pub index: Word,
    /// Where it says how many completed.
    pub completed: Word,
    /// Where it says which ones completed.
    pub indices: Word,
    /// The status, or an array of them.
    pub status: StatusAddress,
    /// Whether `status` is an array with one for each request.
    pub array: bool,
}

impl Completion {
    /// The completion of one request.
    pub const NONE: Completion = Completion {
        count: 1,
        requests: 0,
        flag: 0,
        index: 0,
        completed: 0,
        indices: 0,
        status: StatusAddress::ABSENT,
        array: false,
    };
}

/// Calls the native MPI while cancelled requests are watched; `call` takes the status.
#[cold]
pub fn complete(completion: &Completion, call: impl FnOnce(StatusAddress) -> c_int) -> c_int {
    let Some(native) = native() else {
        return call(completion.status);
    };
    let watched = completion.watched(native);
    if watched.is_empty() {
        return call(completion.status);
    }
    let mut room = Vec::new();
    let mut status = completion.status;
    if completion.ignores_status(native) {
        let count = usize::try_from(completion.count).unwrap_or(0).max(1);
        room.resize(count * native.abi.status_bytes / 8 + 1, 0u64);
        status = StatusAddress::of_room(&mut room);
    }
    let code = call(status);
    if code == SUCCESS {
        for (at, request) in watched {
            // SAFETY: the call succeeded, and what it was given holds its results.
            unsafe {
                if let Some(place) = completion.status_of(at) {
                    let status = status.nth(place, native.abi.status_bytes);
                    settle(native, request, status);
                }
            }
        }
    }
    code
}

/// The watched request completed with this status: its messages are taken back if it was
/// cancelled.
///
/// # Safety
/// The status is that of a call that is complete.
unsafe fn settle(native: &Native, request: Request, status: StatusAddress) {
    // SAFETY: the caller's promise.
    let is_cancelled = unsafe { native.is_cancelled(status) };
    let mut cancelled = CANCELLED.lock();
    let Some(messages) = cancelled.watched.remove(&request) else {
        return;
    };
    if cancelled.watched.is_empty() {
        features::end(CANCELLING);
    }
    for (kind, partner, bytes) in messages.into_iter().filter(|_| is_cancelled) {
        *cancelled.taken_back.entry((kind, partner)).or_default() += Traffic::new(1, bytes);
    }
}

impl Completion {
    /// The requests of this call that are watched, with their places.
    fn watched(&self, native: &Native) -> Vec<(usize, Request)> {
        let cancelled = CANCELLED.lock();
        (0..usize::try_from(self.count).unwrap_or(0))
            .map(|at| (at, handle_at(self.requests + at * native.abi.handle_bytes)))
            .filter(|(_, request)| cancelled.watched.contains_key(request))
            .collect()
    }

    fn ignores_status(&self, native: &Native) -> bool {
        match self.array {
            true => self.status.word() == native.abi.statuses_ignore,
            false => self.status.word() == native.abi.status_ignore,
        }
    }

    /// Which of the statuses is that of the request `at`, if it completed.
    ///
    /// # Safety
    /// The call succeeded, and its arguments are these.
    unsafe fn status_of(&self, at: usize) -> Option<usize> {
        // SAFETY: the caller's promise.
        let integer = |address: Word| unsafe { *(address as *const c_int) };
        if self.flag != 0 && integer(self.flag) == 0 {
            return None;
        }
        if self.completed != 0 {
            let completed = usize::try_from(integer(self.completed)).unwrap_or(0);
            return (0..completed).find(|&place| integer(self.indices + place * 4) == at as c_int);
        }
        if self.index != 0 {
            return (integer(self.index) == at as c_int).then_some(0);
        }
        Some(if self.array { at } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(integers: &[c_int]) -> Word {
        integers.as_ptr() as Word
    }

    fn call() -> Completion {
        Completion {
            count: 3,
            ..Completion::NONE
        }
    }

    fn status_of(completion: Completion, at: usize) -> Option<usize> {
        // SAFETY: the addresses are of live integers.
        unsafe { completion.status_of(at) }
    }

    #[test]
    fn each_form_of_completion_says_which_status_is_whose() {
        let (no, yes, two) = ([0], [1], [2]);
        let wait = call();
        assert_eq!(status_of(wait, 0), Some(0));
        let test = Completion {
            flag: address(&no),
            ..call()
        };
        assert_eq!(status_of(test, 0), None);
        let any = Completion {
            flag: address(&yes),
            index: address(&two),
            ..call()
        };
        assert_eq!((status_of(any, 2), status_of(any, 1)), (Some(0), None));
        let all = Completion {
            array: true,
            ..call()
        };
        assert_eq!(status_of(all, 2), Some(2));
        let indices = [2, 0];
        let some = Completion {
            completed: address(&two),
            indices: address(&indices),
            array: true,
            ..call()
        };
        assert_eq!((status_of(some, 0), status_of(some, 1)), (Some(1), None));
    }
}
