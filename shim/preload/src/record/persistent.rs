//! Persistent and partitioned sends: prepared once, counted at every start.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use once_cell::sync::Lazy;
use parking_lot::RwLock;

use super::Message;
use super::thread::Thread;
use crate::api::host::host;
use crate::api::{Word, c_int};

/// What one start of a request sends.
pub struct Prepared {
    partner: u32,
    bytes: u64,
}

static PREPARED: Lazy<RwLock<HashMap<Word, Arc<Prepared>>>> = Lazy::new(RwLock::default);
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// The handle of the request at `address`.
pub fn handle_at(address: Word) -> Word {
    match host() {
        // SAFETY: the procedures that lead here take the address of a request; a
        // null address is the host's to refuse.
        Some(host) if address != 0 => unsafe { host.read_handle(address) },
        _ => 0,
    }
}

/// A send was prepared; the host put its request at `address`.
pub fn prepared(thread: &Thread, message: &Message, address: Word) {
    let request = handle_at(address);
    ended(request);
    if let Some((partner, bytes)) = thread.partner_and_bytes(message) {
        let prepared = Arc::new(Prepared { partner, bytes });
        PREPARED.write().insert(request, prepared);
        EPOCH.fetch_add(1, Ordering::AcqRel);
    }
}

/// `count` requests, an array at `requests`, were started. Requests that are not
/// sends are not known here.
pub fn started(thread: &Thread, count: c_int, requests: Word) {
    let Some(host) = host() else { return };
    let epoch = EPOCH.load(Ordering::Acquire);
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let request = handle_at(requests + at * host.abi.handle_bytes);
        let find = |request| PREPARED.read().get(&request).cloned();
        thread.requests.with(request, epoch, find, |prepared| {
            thread.count(prepared.partner, 1, prepared.bytes);
        });
    }
}

/// The request with this handle is no more.
pub fn ended(request: Word) {
    // Most requests that are freed were never prepared sends: look before
    // taking the lock that shuts others out.
    if PREPARED.read().contains_key(&request) {
        PREPARED.write().remove(&request);
        EPOCH.fetch_add(1, Ordering::AcqRel);
    }
}
