//! Data of each thread: whether it is in a call, its counters, and the handles that it used last.

use std::cell::Cell;
use std::rc::Rc;

use treepie_mpi::native::native;
use treepie_mpi::{Call, Comm, Handle, HandleAddress, HandleCache, Request, SUCCESS, Win, c_int};
use treepie_traffic::times::CallClass;

use super::clock;
use super::collectives::Plan;
use super::communicators::{self, Communicator};
use super::counters::ANY_SOURCE;
use super::counters::{self, Counters, MessageKind};
use super::growing::Counted;
use super::message::Message;
use super::page::{Area, Note};
use super::prepared_request::Prepared;
use super::windows::{self, Window};

/// Record of one thread. No other thread's data are in its cache lines, which processors fetch in
/// pairs.
#[repr(align(128))]
pub struct Thread {
    /// True while this thread is within a procedure that the application called.
    inside: Cell<bool>,
    counters: &'static Counters,
    communicators: HandleCache<Comm, Communicator, 8>,
    windows: HandleCache<Win, Window, 4>,
    pub(super) requests: HandleCache<Request, Prepared, 32>,
    /// Time at which this thread called `MPI_Finalize`, on the clock of phases, if calls are timed.
    finalizing: Cell<Option<u64>>,
    /// Its area of this rank's page, from its first call on.
    area: Cell<Option<Area>>,
    /// Shortcuts to the counts of recent receives.
    posted: [Cell<Option<Posted>>; POSTED],
}

/// Number of sources of receives that are remembered, a power of two: at least the number of
/// neighbours in a three-dimensional grid.
const POSTED: usize = 8;

/// Shortcut to the counts of receives on a communicator from a source, valid during one epoch.
#[derive(Clone, Copy)]
struct Posted {
    comm: Comm,
    source: c_int,
    epoch: u64,
    counted: Counted,
}

thread_local! {
    /// On the heap, because a process has little memory for thread-local variables.
    static THREAD: Rc<Thread> = Rc::new(Thread::new());
}

/// Returns this thread's record if it makes a call of the application; `None` within such a call,
/// and for a thread that is ending.
#[inline(always)]
pub fn outermost() -> Option<Rc<Thread>> {
    let thread = THREAD.try_with(Rc::clone).ok()?;
    (!thread.inside.get()).then_some(thread)
}

/// Counts a message that this thread received from a partner.
pub fn count_received(partner: u32, bytes: u64) {
    let _ = THREAD.try_with(|thread| thread.counters.add_received(partner, bytes));
}

/// True if this thread is within a procedure that the application called.
pub fn is_nested() -> bool {
    THREAD
        .try_with(|thread| thread.inside.get())
        .unwrap_or(false)
}

/// Returns the nanoseconds on the clock of phases.
#[cold]
fn clock() -> u64 {
    clock::now()
}

impl Thread {
    fn new() -> Self {
        Thread {
            inside: Cell::new(false),
            counters: counters::claim(),
            communicators: HandleCache::default(),
            windows: HandleCache::default(),
            requests: HandleCache::default(),
            finalizing: Cell::new(None),
            area: Cell::new(None),
            posted: [const { Cell::new(None) }; POSTED],
        }
    }

    /// Makes a call; calls nested within it are not the application's. The call is timed if a class
    /// is given.
    #[inline(always)]
    pub fn call(&self, timed: Option<CallClass>, call: impl FnOnce() -> c_int) -> c_int {
        let began = if timed.is_some() { clock() } else { 0 };
        let inside = Inside::enter(&self.inside);
        let code = call();
        drop(inside);
        if let Some(class) = timed {
            self.count_time(class, began);
        }
        code
    }

    /// Counts a call of this class, and its time from `began` until now.
    #[cold]
    fn count_time(&self, class: CallClass, began: u64) {
        self.counters.add_time(class, clock().saturating_sub(began));
    }

    /// Returns its area of this rank's page.
    #[inline(always)]
    pub fn area(&self) -> Area {
        self.area.get().unwrap_or_else(|| self.claim_area())
    }

    /// Notes in the page that this call has begun.
    #[inline(always)]
    pub fn begin_note(&self, note: &Note) -> Area {
        let area = self.area();
        area.begin(note);
        area
    }

    #[cold]
    #[inline(never)]
    fn claim_area(&self) -> Area {
        let area = Area::claim();
        self.area.set(Some(area));
        area
    }

    /// Notes in the page that the call has ended, and its lasting effects.
    #[inline(always)]
    pub fn end_note(&self, area: Area, note: &Note, code: c_int) {
        let done = code == SUCCESS && (!note.procedure.poll || note.has_answer());
        if done && note.procedure.starts {
            area.requested(note, self.number_of_started(note));
        }
        if done && note.posts {
            self.count_receive(note);
        }
        if done && !note.requests.is_absent() {
            area.completed(note);
        }
        area.end(done, note.procedure);
    }

    /// Counts a receive that was posted, by its source.
    #[inline(always)]
    fn count_receive(&self, note: &Note) {
        let word = note.comm.word();
        let at = (word ^ (word >> 6) ^ note.source as usize) % POSTED;
        if let Some(last) = self.posted[at].get()
            && (last.comm, last.source) == (note.comm, note.source)
            && last.epoch == communicators::epoch()
            && self.counters.add_to_posted(&last.counted)
        {
            return;
        }
        self.posted[at].set(self.count_other_receive(note.comm, note.source));
    }

    #[cold]
    #[inline(never)]
    fn count_other_receive(&self, comm: Comm, source: c_int) -> Option<Posted> {
        let epoch = communicators::epoch();
        let partner = self.source(comm, source)?;
        Some(Posted {
            comm,
            source,
            epoch,
            counted: self.counters.posted(partner),
        })
    }

    /// Returns the number on its communicator of the collective that a call has started; 0 for
    /// other calls.
    #[inline(always)]
    fn number_of_started(&self, note: &Note) -> u64 {
        if !note.procedure.collective {
            return 0;
        }
        let done = self.with_communicator(note.comm, Communicator::done);
        done.unwrap_or(0).saturating_sub(1)
    }

    /// Returns the source rank of a receive, or [`ANY_SOURCE`]; `None` for `MPI_PROC_NULL`, and for
    /// ranks that are not in the world.
    #[inline(always)]
    pub fn source(&self, comm: Comm, source: c_int) -> Option<u32> {
        match usize::try_from(source) {
            Ok(source) => self.with_communicator(comm, |comm| comm.partner(source))?,
            // MPI's special sources are negative.
            Err(_) => {
                let any = native().is_some_and(|native| native.abi.any_source == source);
                any.then_some(ANY_SOURCE)
            }
        }
    }

    /// Counts the start of a prepared receive from this partner.
    pub fn count_posted(&self, partner: u32) {
        self.counters.add_posted(partner);
    }

    /// Begins the timing of `MPI_Finalize`.
    pub fn begin_finalize(&self) {
        self.finalizing.set(Some(clock()));
    }

    /// Ends the timing of `MPI_Finalize`.
    pub fn end_finalize(&self) {
        if let Some(began) = self.finalizing.take() {
            self.count_time(CallClass::Other, began);
        }
    }

    /// Counts a sent message; returns its receiver and its bytes.
    #[inline(always)]
    pub fn count_send(&self, message: &Message) -> Option<(u32, u64)> {
        let (partner, bytes) = self.partner_and_bytes(message)?;
        self.count(MessageKind::PointToPoint, partner, bytes);
        Some((partner, bytes))
    }

    /// Counts a message whose send is active; the native MPI stored its request at `request`.
    #[inline(always)]
    pub fn count_begun_send(&self, message: &Message, request: HandleAddress<Request>) {
        if let Some((partner, bytes)) = self.count_send(message) {
            self.counters
                .remember(request.read().word(), partner, bytes);
        }
    }

    /// Counts a collective on `comm`, which `plan` has run, as far as this rank reports it.
    #[inline(always)]
    pub fn count_collective(&self, note: &Note, comm: Comm, call: &Call, plan: Option<Plan>) {
        // The note stays in registers unless it is passed on.
        let done = note.as_done();
        self.with_communicator(comm, |communicator| {
            communicator.count_done(done);
            communicator.count_call(call, plan);
        });
    }

    /// Returns the receiver and the bytes of a non-blocking send with this request.
    pub fn find_sent(&self, request: Request) -> Option<(u32, u64)> {
        counters::find_sent(self.counters, request)
    }

    /// Counts a message to or from a rank of the application's world.
    #[inline(always)]
    pub fn count(&self, kind: MessageKind, partner: u32, bytes: u64) {
        self.counters.add(kind, partner, bytes);
    }

    /// Counts a call on a window, by its key (`access_key`), in this interval between
    /// synchronisations.
    #[inline(always)]
    pub fn count_access(&self, key: u64, bytes: u64, interval: u32) {
        self.counters.add_access(key, bytes, interval);
    }

    /// Returns the receiver as a rank of the application's world, and the bytes; `None` for
    /// `MPI_PROC_NULL`, and for ranks that are not in the world.
    #[inline(always)]
    pub fn partner_and_bytes(&self, message: &Message) -> Option<(u32, u64)> {
        let dest = usize::try_from(message.dest).ok()?;
        let partner = self.with_communicator(message.comm, |comm| comm.partner(dest))??;
        let elements = message.count.saturating_mul(message.partitions).max(0);
        let size = native()?.type_size(message.datatype);
        Some((partner, size.saturating_mul(elements as u64)))
    }

    /// Calls `read` with a communicator of the application.
    #[inline(always)]
    pub fn with_communicator<R>(
        &self,
        comm: Comm,
        read: impl FnOnce(&Communicator) -> R,
    ) -> Option<R> {
        self.communicators
            .with(comm, communicators::epoch(), communicators::find, read)
    }

    /// Calls `read` with a window of the application.
    #[inline(always)]
    pub fn with_window<R>(&self, window: Win, read: impl FnOnce(&Window) -> R) -> Option<R> {
        self.windows
            .with(window, windows::epoch(), windows::find, read)
    }
}

/// Guard of a call of the application, which ends by a return, or by an exception of its error
/// handler.
struct Inside<'a>(&'a Cell<bool>);

impl<'a> Inside<'a> {
    #[inline(always)]
    fn enter(inside: &'a Cell<bool>) -> Self {
        inside.set(true);
        Inside(inside)
    }
}

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.counters.release();
        if let Some(area) = self.area.get() {
            area.release();
        }
    }
}
