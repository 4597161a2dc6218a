//! What each thread has for itself: whether it is in a call, its counters, and
//! the handles that it used last.

use std::cell::Cell;

use treepie_core::affinity::times::CallClass;
use treepie_core::collective::Operation;

use super::Message;
use super::collectives::Arguments;
use super::communicators::{self, Communicator, Window};
use super::counters::{self, Counters, Kind};
use super::handle_cache::HandleCache;
use super::own_address;
use super::phases;
use super::prepared::Prepared;
use super::registry::handle_at;
use super::repeated::{Call, Does, Known, Repeated};
use crate::mpi::native::native as host;
use crate::mpi::{Word, c_int};

/// One thread's part of the record. No other thread's data are in its lines of the
/// cache, which processors fetch in pairs.
#[repr(align(128))]
pub struct Thread {
    /// Whether this thread is within a procedure that the application called.
    inside: Cell<bool>,
    counters: &'static Counters,
    repeated: Repeated,
    communicators: HandleCache<Communicator, 8>,
    windows: HandleCache<Window, 4>,
    pub(super) requests: HandleCache<Prepared, 32>,
}

thread_local! {
    /// Boxed: the room that a process has for the variables of threads is small.
    static THREAD: Box<Thread> = Box::new(Thread::new());
}

/// This thread's record; `None` for a thread that is going away.
#[inline(always)]
fn own() -> Option<&'static Thread> {
    let mut own = own_address::get().cast_const();
    if own.is_null() {
        own = first_use()?;
    }
    // SAFETY: the record goes with its thread, which does not end while a call
    // that it makes is on its way: nobody keeps the reference for longer.
    Some(unsafe { &*own })
}

#[cold]
#[inline(never)]
fn first_use() -> Option<*const Thread> {
    let own = THREAD.try_with(|own| std::ptr::from_ref(&**own)).ok()?;
    own_address::set(own.cast_mut());
    Some(own)
}

/// This thread's record where it makes a call of the application's own.
#[inline(always)]
pub fn outermost() -> Option<&'static Thread> {
    own().filter(|thread| !thread.inside.get())
}

/// The same for a thread that has made such a call before; nothing is set up, nothing called.
#[inline(always)]
pub fn known_outermost() -> Option<&'static Thread> {
    // SAFETY: as in `own`.
    let own = unsafe { own_address::get().as_ref() };
    own.filter(|thread| !thread.inside.get())
}

/// Whether this thread is within a procedure that the application called.
pub fn is_nested() -> bool {
    own().is_some_and(|thread| thread.inside.get())
}

/// Bytes of an element of a collective, where it is as long in every call like this one: what
/// a program makes may have another size under the same handle later.
fn fixed_size(call: &Call) -> Option<u64> {
    match call.elements {
        1.. => {
            let host = host().filter(|host| host.has_fixed_size(call.datatype))?;
            Some(host.type_size(call.datatype))
        }
        _ => Some(0),
    }
}

/// Nanoseconds on the clock of phases.
#[cold]
fn clock() -> u64 {
    phases::now()
}

impl Thread {
    fn new() -> Self {
        Thread {
            inside: Cell::new(false),
            counters: counters::claim(),
            repeated: Repeated::new(),
            communicators: HandleCache::new(),
            windows: HandleCache::new(),
            requests: HandleCache::new(),
        }
    }

    /// Makes a call; what is called within it is not the application's. The call
    /// is timed where a class is given.
    #[inline(always)]
    pub fn call(&self, timed: Option<CallClass>, call: impl FnOnce() -> c_int) -> c_int {
        let began = if timed.is_some() { clock() } else { 0 };
        self.inside.set(true);
        let code = call();
        self.inside.set(false);
        if let Some(class) = timed {
            self.count_time(class, began);
        }
        code
    }

    #[cold]
    fn count_time(&self, class: CallClass, began: u64) {
        self.counters.add_time(class, clock().saturating_sub(began));
    }

    /// Counts a message that was sent; says to whom, and how long it is.
    #[inline(always)]
    pub fn count_send(&self, message: &Message) -> Option<(u32, u64)> {
        let (call, elements) = message.as_call();
        let find = || self.partner(message);
        self.count_call(&call, elements, communicators::epoch(), find)
    }

    /// Counts a message whose send is under way; the host put its request at
    /// `request`.
    #[inline(always)]
    pub fn count_begun_send(&self, message: &Message, request: Word) {
        if let Some(sent) = self.count_send(message) {
            self.remember_sent(request, sent);
        }
    }

    /// Remembers a send to this partner, of so many bytes, whose request the host put at
    /// `request`.
    #[inline(always)]
    pub fn remember_sent(&self, request: Word, (partner, bytes): (u32, u64)) {
        self.counters.remember(handle_at(request), partner, bytes);
    }

    /// What a call counts, if one like it was counted before. What handles mean changes with
    /// `epoch`.
    #[inline(always)]
    pub fn known(&self, call: &Call, epoch: u64) -> Option<Known> {
        self.repeated.find(call, epoch)
    }

    /// Counts a call's message of so many elements, whose partner in the application's world
    /// `find` is asked for where no call like it is known. What handles mean changes with
    /// `epoch`. Says to whom it goes, and how long it is.
    #[inline(always)]
    pub fn count_call(
        &self,
        call: &Call,
        elements: i64,
        epoch: u64,
        find: impl FnOnce() -> Option<u32>,
    ) -> Option<(u32, u64)> {
        if let Some(known) = self.known(call, epoch) {
            known.count(elements);
            return Some((known.partner, known.bytes(elements)));
        }
        self.count_first(call, elements, epoch, find()?)
    }

    #[inline(never)]
    fn count_first(
        &self,
        call: &Call,
        elements: i64,
        epoch: u64,
        partner: u32,
    ) -> Option<(u32, u64)> {
        let (Does::Move(kind), Some(host)) = (call.does, host()) else {
            return None;
        };
        let size = host.type_size(call.datatype);
        let bytes = size.saturating_mul(elements.max(0) as u64);
        self.counters.add(kind, partner, bytes);
        // What a program makes may have another size under the same handle later.
        if host.has_fixed_size(call.datatype)
            && let Some(place) = self.counters.place(kind, partner)
        {
            let known = Known::at(place, partner, size);
            self.repeated.keep(call, epoch, known);
        }
        Some((partner, bytes))
    }

    /// Counts a collective on `comm` as far as this rank reports it.
    #[inline(always)]
    pub fn count_collective(&self, operation: Operation, comm: Word, arguments: &Arguments) {
        let epoch = communicators::epoch();
        let call = Call::collective(operation, comm, arguments);
        match call.and_then(|call| self.known(&call, epoch)) {
            Some(known) => known.count(call.map_or(0, |call| call.elements)),
            None => self.count_first_collective(operation, comm, arguments, call, epoch),
        }
    }

    #[inline(never)]
    fn count_first_collective(
        &self,
        operation: Operation,
        comm: Word,
        arguments: &Arguments,
        call: Option<Call>,
        epoch: u64,
    ) {
        self.with_communicator(comm, |communicator| {
            communicator.count_call(operation, arguments);
            if let Some(call) = call
                && let Some(size) = fixed_size(&call)
                && let Some(known) = communicator.known(operation, arguments, size)
            {
                self.repeated.keep(&call, epoch, known);
            }
        });
    }

    /// The receiver and the bytes of a non-blocking send with this request.
    pub fn find_sent(&self, request: Word) -> Option<(u32, u64)> {
        counters::find_sent(self.counters, request)
    }

    /// Counts a message to or from a rank of the application's world.
    #[inline(always)]
    pub fn count(&self, kind: Kind, partner: u32, bytes: u64) {
        self.counters.add(kind, partner, bytes);
    }

    /// The receiver as a rank of the application's world, and the bytes; nothing
    /// for `MPI_PROC_NULL`, and for ranks that are not in the world.
    pub fn partner_and_bytes(&self, message: &Message) -> Option<(u32, u64)> {
        let partner = self.partner(message)?;
        let (call, elements) = message.as_call();
        let size = host()?.type_size(call.datatype);
        Some((partner, size.saturating_mul(elements.max(0) as u64)))
    }

    /// The receiver as a rank of the application's world.
    #[inline(always)]
    fn partner(&self, message: &Message) -> Option<u32> {
        let dest = usize::try_from(message.dest).ok()?;
        self.with_communicator(message.comm, |communicator| communicator.partner(dest))?
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
    #[inline(always)]
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
        own_address::set(std::ptr::null_mut());
        self.counters.release();
    }
}
