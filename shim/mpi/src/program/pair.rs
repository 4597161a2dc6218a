//! Pieces that one rank transfers to another by messages and through a window, and epochs of that.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;

use super::mpi::Mpi;
use super::pieces::{Pieces, aint, displaced, vector};
use super::session::{Session, done, int, made, wait};
use crate::{Comm, Datatype, Group, Info, Request, Win};

/// Tag of pieces, and of their acknowledgement.
const TAG: c_int = 3;

/// Bytes of a number for accumulate.
const NUMBER: usize = size_of::<f64>();

/// Two ranks with a separate communicator and window.
pub struct Pair<'a> {
    mpi: &'a Mpi,
    comm: Comm,
    /// Groups of this rank and of the other one.
    groups: [Group; 2],
    window: Win,
    /// The other rank's number in the communicator.
    other: c_int,
    /// Memory of the window.
    exposed: Memory,
    /// Source of the pieces, and where they are received.
    pieces: Memory,
    /// Buffer into which they are packed.
    packed: Memory,
    /// True while operations on the window may use this rank's memory.
    under_way: Cell<bool>,
}

/// Memory of [`Pair::BYTES`] bytes that the MPI uses, too, from the creation of a pair until it is
/// freed: a pair that is not freed leaves it allocated.
struct Memory(ManuallyDrop<Vec<UnsafeCell<f64>>>);

impl Memory {
    fn new() -> Self {
        let cells = (0..Pair::BYTES / NUMBER).map(|_| UnsafeCell::new(1.0));
        Memory(ManuallyDrop::new(cells.collect()))
    }

    /// Returns the address of `bytes` bytes from the offset `start`.
    fn address(&self, start: usize, bytes: usize) -> *mut c_void {
        let end = start.checked_add(bytes);
        assert!(end.is_some_and(|end| end <= Pair::BYTES), "past the memory");
        let first = UnsafeCell::raw_get(self.0.as_ptr()).cast::<c_void>();
        // SAFETY: the offset is at most the length.
        unsafe { first.byte_add(start) }
    }

    /// Copies bytes from other memory, with the offsets of both.
    fn copy(&self, to: usize, from: &Memory, start: usize, bytes: usize) {
        let (to, from) = (self.address(to, bytes), from.address(start, bytes));
        // SAFETY: both have these bytes, and are two allocations; no reference to them exists, and
        // callers make sure that the MPI doesn't use them at the same time.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), bytes) };
    }

    fn free(self) {
        drop(ManuallyDrop::into_inner(self.0));
    }
}

/// Epoch in which one rank reaches the other's memory.
#[derive(Debug, Clone, Copy)]
pub enum Epoch {
    /// Between two fences.
    Fence,
    /// Between a start and its completion; the other rank exposes its memory meanwhile.
    Start,
    /// Within a shared lock.
    Lock,
    /// Within a lock of all ranks.
    LockAll,
}

impl<'a> Pair<'a> {
    /// Maximum number of bytes of pieces with their gaps.
    pub const BYTES: usize = 4 << 20;

    /// Creates the pair of this rank and `partner`, which both call this.
    pub fn new(session: &'a Session, partner: c_int) -> Self {
        let own = session.rank();
        let ranks = [own.min(partner), own.max(partner)];
        let mpi = session.mpi();
        let functions = &mpi.functions;
        let world: Group = made(|group| functions.comm_group(session.world(), group));
        let of = |ranks: &[c_int]| -> Group {
            let (count, ranks) = (int(ranks.len()), ranks.as_ptr());
            // SAFETY: that number of ranks exists.
            made(|group| unsafe { functions.group_incl(world, count, ranks, group) })
        };
        let (both, groups) = (of(&ranks), [of(&[own]), of(&[partner])]);
        let comm = made(|comm| functions.comm_create_group(session.world(), both, TAG, comm));
        for mut group in [world, both] {
            done(functions.group_free(&mut group));
        }
        let mut info: Info = made(|info| functions.info_create(info));
        let exposed = Memory::new();
        let (start, bytes) = (exposed.address(0, Pair::BYTES), aint(Pair::BYTES));
        // SAFETY: the window's memory is freed after the window, or never.
        let window =
            made(|window| unsafe { functions.win_create(start, bytes, 1, info, comm, window) });
        done(functions.info_free(&mut info));
        Pair {
            mpi,
            comm,
            groups,
            window,
            other: c_int::from(own < partner),
            exposed,
            pieces: Memory::new(),
            packed: Memory::new(),
            under_way: Cell::new(false),
        }
    }

    /// Releases everything; both ranks call this.
    pub fn free(mut self) {
        let functions = &self.mpi.functions;
        // It ends all operations.
        done(functions.win_free(&mut self.window));
        done(functions.comm_free(&mut self.comm));
        for group in &mut self.groups {
            done(functions.group_free(group));
        }
        for memory in [self.exposed, self.pieces, self.packed] {
            memory.free();
        }
    }
}

/// Epochs.
impl Pair<'_> {
    /// Opens an epoch at the origin.
    pub fn open(&self, epoch: Epoch) {
        let functions = &self.mpi.functions;
        let [_, other] = self.groups;
        done(match epoch {
            Epoch::Fence => functions.win_fence(0, self.window),
            Epoch::Start => functions.win_start(other, 0, self.window),
            Epoch::Lock => {
                let shared = self.mpi.abi.lock_shared;
                functions.win_lock(shared, self.other, 0, self.window)
            }
            Epoch::LockAll => functions.win_lock_all(0, self.window),
        });
    }

    /// Ends an epoch at the origin, and the operations in it; a fence opens another.
    pub fn close(&self, epoch: Epoch) {
        let functions = &self.mpi.functions;
        done(match epoch {
            Epoch::Fence => functions.win_fence(0, self.window),
            Epoch::Start => functions.win_complete(self.window),
            Epoch::Lock => functions.win_unlock(self.other, self.window),
            Epoch::LockAll => functions.win_unlock_all(self.window),
        });
        self.under_way.set(false);
    }

    /// Calls the last fence.
    pub fn last_fence(&self) {
        let last = self.mpi.abi.mode_no_succeed;
        done(self.mpi.functions.win_fence(last, self.window));
        self.under_way.set(false);
    }

    /// Exposes this rank's memory to the other one until that completes its epoch.
    pub fn expose(&self) {
        let [_, other] = self.groups;
        done(self.mpi.functions.win_post(other, 0, self.window));
        done(self.mpi.functions.win_wait(self.window));
    }

    /// Ends the operations of an epoch of locks, which stays open.
    pub fn flush(&self) {
        done(self.mpi.functions.win_flush(self.other, self.window));
        self.under_way.set(false);
    }
}

/// Operations on the other rank's memory, in an open epoch.
impl Pair<'_> {
    /// Puts each piece.
    pub fn put(&self, pieces: Pieces) {
        let (bytes, byte, window) = (int(pieces.bytes), self.mpi.byte, self.window);
        let (functions, to) = (&self.mpi.functions, self.other);
        self.each(pieces, |at, place| {
            // SAFETY: both ranks' memory has the piece, which lasts until the window is freed.
            done(unsafe { functions.put(at, bytes, byte, to, place, bytes, byte, window) });
        });
    }

    /// Gets each piece.
    pub fn get(&self, pieces: Pieces) {
        let (bytes, byte, window) = (int(pieces.bytes), self.mpi.byte, self.window);
        let (functions, to) = (&self.mpi.functions, self.other);
        self.each(pieces, |at, place| {
            // SAFETY: as for puts.
            done(unsafe { functions.get(at, bytes, byte, to, place, bytes, byte, window) });
        });
    }

    /// Adds each piece, of numbers.
    pub fn accumulate(&self, pieces: Pieces) {
        let (count, double, sum) = (int(pieces.bytes / NUMBER), self.mpi.double, self.mpi.sum);
        let (functions, to, window) = (&self.mpi.functions, self.other, self.window);
        self.each(pieces, |at, place| {
            // SAFETY: as for puts; all memory is of numbers.
            done(unsafe {
                functions.accumulate(at, count, double, to, place, count, double, sum, window)
            });
        });
    }

    /// Puts all pieces by one datatype.
    pub fn put_vector(&self, pieces: Pieces) {
        let (at, of) = (self.origin(pieces), vector(self.mpi, pieces));
        self.put_as(at, 1, of.handle, of.handle);
    }

    /// Packs all pieces, and puts them by a datatype of their displacements there.
    pub fn put_packed(&self, pieces: Pieces) {
        let of = displaced(self.mpi, pieces);
        self.pack(pieces);
        let (at, all) = (self.packed.address(0, pieces.all()), int(pieces.all()));
        self.put_as(at, all, self.mpi.byte, of.handle);
    }

    /// Puts pieces at `at`, of which there is space for this count of this datatype, to all places
    /// of pieces at the other rank.
    fn put_as(&self, at: *mut c_void, count: c_int, own: Datatype, there: Datatype) {
        let (functions, to, window) = (&self.mpi.functions, self.other, self.window);
        self.under_way.set(true);
        // SAFETY: `origin` has checked that both ranks' memory has all pieces.
        done(unsafe { functions.put(at, count, own, to, 0, 1, there, window) });
    }

    /// Returns the address of the pieces, of which memory has all.
    fn origin(&self, pieces: Pieces) -> *mut c_void {
        let span = pieces.span().expect("pieces of at most `BYTES` bytes");
        self.pieces.address(0, span)
    }

    fn each(&self, pieces: Pieces, call: impl Fn(*mut c_void, i64)) {
        let origin = self.origin(pieces);
        self.under_way.set(true);
        for piece in 0..pieces.count {
            let start = pieces.start(piece);
            call(origin.wrapping_byte_add(start), aint(start));
        }
    }

    /// Checks that no operation uses this rank's memory.
    fn at_rest(&self) {
        assert!(!self.under_way.get(), "operations end before their memory");
    }

    fn pack(&self, pieces: Pieces) {
        self.at_rest();
        for piece in 0..pieces.count {
            let (start, place) = (pieces.start(piece), piece * pieces.bytes);
            self.packed.copy(place, &self.pieces, start, pieces.bytes);
        }
    }

    fn unpack(&self, pieces: Pieces) {
        for piece in 0..pieces.count {
            let (place, start) = (piece * pieces.bytes, pieces.start(piece));
            self.pieces.copy(start, &self.packed, place, pieces.bytes);
        }
    }
}

/// Messages to and from the other rank.
impl Pair<'_> {
    /// Sends each piece, or receives it.
    pub fn exchange(&self, sends: bool, pieces: Pieces) {
        let origin = self.origin(pieces);
        self.at_rest();
        let (bytes, byte) = (int(pieces.bytes), self.mpi.byte);
        let at = |piece| origin.wrapping_byte_add(pieces.start(piece));
        let requests = (0..pieces.count).map(|piece| self.begin(sends, at(piece), bytes, byte));
        let requests: Vec<Request> = requests.collect();
        for request in requests {
            wait(self.mpi, request);
        }
    }

    /// Sends or receives all pieces by one datatype.
    pub fn exchange_vector(&self, sends: bool, pieces: Pieces) {
        let (origin, of) = (self.origin(pieces), vector(self.mpi, pieces));
        self.at_rest();
        wait(self.mpi, self.begin(sends, origin, 1, of.handle));
    }

    /// Packs all pieces and sends them, or receives and unpacks them.
    pub fn exchange_packed(&self, sends: bool, pieces: Pieces) {
        let (packed, all) = (self.packed.address(0, pieces.all()), int(pieces.all()));
        self.at_rest();
        if sends {
            self.pack(pieces);
        }
        wait(self.mpi, self.begin(sends, packed, all, self.mpi.byte));
        if !sends {
            self.unpack(pieces);
        }
    }

    /// Begins to send or receive this count of this datatype, which this rank's memory has at `at`.
    fn begin(&self, sends: bool, at: *mut c_void, count: c_int, of: Datatype) -> Request {
        let (other, comm, functions) = (self.other, self.comm, &self.mpi.functions);
        // SAFETY: the memory is there until the pair is freed, and no two receives have the same.
        made(|request| unsafe {
            match sends {
                true => functions.isend(at, count, of, other, TAG, comm, request),
                false => functions.irecv(at, count, of, other, TAG, comm, request),
            }
        })
    }

    /// Notifies the other rank that this one has finished.
    pub fn send_word(&self) {
        let (nothing, byte) = (ptr::null(), self.mpi.byte);
        let functions = &self.mpi.functions;
        // SAFETY: an empty message has no buffer.
        done(unsafe { functions.send(nothing, 0, byte, self.other, TAG, self.comm) });
    }

    /// Waits for the other rank's notification.
    pub fn wait_for_word(&self) {
        let (nothing, byte, status) = (ptr::null_mut(), self.mpi.byte, self.mpi.no_status());
        let functions = &self.mpi.functions;
        // SAFETY: an empty message has no buffer.
        done(unsafe { functions.recv(nothing, 0, byte, self.other, TAG, self.comm, status) });
    }
}
