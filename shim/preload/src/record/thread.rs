//! What each thread has for itself: how deep in calls it is, its counters, and
//! the handles that it used last.

use std::cell::Cell;
use std::time::Instant;

use treepie_core::affinity::times::CallClass;

use super::Message;
use super::communicators::{self, Communicator, Window};
use super::counters::{self, Counters, Kind};
use super::handle_cache::HandleCache;
use super::prepared::Prepared;
use super::registry::handle_at;
use crate::api::host::host;
use crate::api::{Word, c_int};

/// One thread's part of the record.
pub struct Thread {
    depth: Cell<u32>,
    counters: &'static Counters,
    communicators: HandleCache<Communicator, 8>,
    windows: HandleCache<Window, 4>,
    pub(super) requests: HandleCache<Prepared, 32>,
}

thread_local! {
    static THREAD: Thread = Thread::new();
}

/// Makes the call, one level deeper; `after` sees the result of calls that the
/// application itself makes, which are timed where a class is given. A thread
/// that is going away only calls.
#[inline(always)]
pub fn around(
    timed: Option<CallClass>,
    call: impl FnOnce() -> c_int,
    after: impl FnOnce(&Thread, c_int),
) -> c_int {
    let mut call = Some(call);
    let done = THREAD.try_with(|thread| {
        let call = call.take()?;
        let depth = thread.depth.get();
        thread.depth.set(depth + 1);
        let began = timed.map(|class| (class, Instant::now()));
        let code = call();
        thread.depth.set(depth);
        if depth == 0 {
            if let Some((class, began)) = began {
                thread.count_time(class, began);
            }
            after(thread, code);
        }
        Some(code)
    });
    match (done, call) {
        (Ok(Some(code)), _) => code,
        (_, Some(call)) => call(),
        // `call` is only gone where `done` holds its result.
        (_, None) => crate::api::SUCCESS,
    }
}

/// Whether this thread is within a procedure that the application called.
pub fn is_nested() -> bool {
    THREAD
        .try_with(|thread| thread.depth.get() > 0)
        .unwrap_or(false)
}

impl Thread {
    fn new() -> Self {
        Thread {
            depth: Cell::new(0),
            counters: counters::claim(),
            communicators: HandleCache::new(),
            windows: HandleCache::new(),
            requests: HandleCache::new(),
        }
    }

    #[cold]
    fn count_time(&self, class: CallClass, began: Instant) {
        let nanoseconds = began.elapsed().as_nanos();
        self.counters
            .add_time(class, u64::try_from(nanoseconds).unwrap_or(u64::MAX));
    }

    /// Counts a message that was sent.
    #[inline(always)]
    pub fn count_send(&self, message: &Message) {
        if let Some((partner, bytes)) = self.partner_and_bytes(message) {
            self.counters.add(Kind::PointToPoint, partner, bytes);
        }
    }

    /// Counts a message whose send is under way; the host put its request at
    /// `request`.
    #[inline(always)]
    pub fn count_begun_send(&self, message: &Message, request: Word) {
        if let Some((partner, bytes)) = self.partner_and_bytes(message) {
            self.counters.add(Kind::PointToPoint, partner, bytes);
            self.counters.remember(handle_at(request), partner, bytes);
        }
    }

    /// The receiver and the bytes of a non-blocking send with this request.
    pub fn find_sent(&self, request: Word) -> Option<(u32, u64)> {
        counters::find_sent(self.counters, request)
    }

    /// Counts a message to or from a rank of the application's world.
    #[inline]
    pub fn count(&self, kind: Kind, partner: u32, bytes: u64) {
        self.counters.add(kind, partner, bytes);
    }

    /// The receiver as a rank of the application's world, and the bytes; nothing
    /// for `MPI_PROC_NULL`, and for ranks that are not in the world.
    #[inline(always)]
    pub fn partner_and_bytes(&self, message: &Message) -> Option<(u32, u64)> {
        let dest = usize::try_from(message.dest).ok()?;
        let partner =
            self.with_communicator(message.comm, |communicator| communicator.partner(dest))??;
        let elements = message.count.saturating_mul(message.partitions);
        let size = host()?.type_size(message.datatype);
        Some((partner, size.saturating_mul(elements.max(0) as u64)))
    }

    /// What is known of a communicator of the application's.
    #[inline(always)]
    pub fn with_communicator<R>(
        &self,
        comm: Word,
        read: impl FnOnce(&Communicator) -> R,
    ) -> Option<R> {
        self.communicators
            .with(comm, communicators::epoch(), communicators::find, read)
    }

    /// The world ranks of a window of the application's.
    pub fn with_window<R>(&self, window: Word, read: impl FnOnce(&Window) -> R) -> Option<R> {
        self.windows.with(
            window,
            communicators::window_epoch(),
            communicators::find_window,
            read,
        )
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.counters.release();
    }
}
