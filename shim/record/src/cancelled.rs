//! Cancelled sends, which are not counted. The result of a cancellation is only known when the
//! request completes: until then the request is watched, and calls that complete requests check for
//! it.

use std::collections::HashMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_mpi::native::Native;
use treepie_mpi::{HandleAddress, Request, StatusAddress};
use treepie_process::features::{self, CANCELLING};
use treepie_traffic::Traffic;

use super::counters::MessageKind;
use super::patience::Patience;
use super::prepared;
use super::thread::Thread;

/// Messages of a request: kind, receiver, bytes.
type Messages = Vec<(MessageKind, u32, u64)>;

/// Sends that the application tried to cancel.
#[derive(Default)]
struct Cancelled {
    /// Active ones, by their requests.
    watched: HashMap<Request, Messages>,
    /// Counts of those that were cancelled, by kind and partner.
    taken_back: HashMap<(MessageKind, u32), Traffic>,
}

static CANCELLED: Lazy<Mutex<Cancelled>> = Lazy::new(Mutex::default);

/// Calls `each` with the traffic that was counted and then cancelled. Nothing is allocated.
pub fn each_taken_back(patience: impl Patience, mut each: impl FnMut(MessageKind, u32, Traffic)) {
    if let Some(cancelled) = patience.acquire(|| CANCELLED.try_lock()) {
        for (&(kind, partner), &traffic) in &cancelled.taken_back {
            each(kind, partner, traffic);
        }
    }
}

/// Returns the messages that the request sends or has sent, if it is a known send.
fn messages_of(thread: &Thread, request: Request) -> Option<Messages> {
    if let Some(messages) = prepared::messages_of(request) {
        return Some(messages);
    }
    let (partner, bytes) = thread.find_sent(request)?;
    Some(vec![(MessageKind::PointToPoint, partner, bytes)])
}

/// Notes that `MPI_Cancel` of the request at `address` succeeded.
pub fn begun(thread: &Thread, address: HandleAddress<Request>) {
    let request = address.read();
    if let Some(messages) = messages_of(thread, request) {
        CANCELLED.lock().watched.insert(request, messages);
        features::begin(CANCELLING);
    }
}

/// True if the application tried to cancel this request.
pub fn is_watched(request: Request) -> bool {
    CANCELLED.lock().watched.contains_key(&request)
}

/// Settles a request that completed with this status: its messages are subtracted if it was watched
/// and cancelled.
pub fn settle(native: &Native, request: Request, status: StatusAddress) {
    let is_cancelled = native.is_cancelled(status);
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
