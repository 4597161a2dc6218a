//! Ways in which pieces of data go from one rank to another, and epochs, timed
//! (`treepie probe --ways`).

mod pieces;

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Instant;

use mpi_sys::{
    MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Group, MPI_Request, MPI_Win, RSMPI_DOUBLE,
    RSMPI_STATUS_IGNORE, RSMPI_SUM, RSMPI_UINT8_T,
};
use treepie_platform::Way;
use treepie_platform::probe::{Subject, Trial};
use treepie_traffic::windows::EpochKind;

use crate::Session;
use pieces::{Pieces, aint, copy, copy_back, int, places, vector};

/// Tag of pieces, and of what says that they have arrived.
const TAG: c_int = 3;

/// Bytes that the pieces of a trial take with their gaps, at most.
const MOST_BYTES: usize = 4 << 20;

/// Bytes of a number that is accumulated.
const NUMBER: usize = size_of::<f64>();

/// Two ranks with a communicator and a window of their own.
#[derive(Debug)]
pub struct Pair {
    comm: MPI_Comm,
    /// Of this rank and of the other one.
    groups: [MPI_Group; 2],
    window: MPI_Win,
    /// The other's rank in the communicator.
    other: c_int,
    /// What the window shows; pieces are received into it.
    memory: Vec<f64>,
    /// Where pieces come from.
    pieces: Vec<f64>,
    /// What they are packed into.
    packed: Vec<f64>,
}

impl Pair {
    /// This rank and `partner`, which both call it.
    pub fn new(session: &Session, partner: c_int) -> Self {
        let own = session.rank();
        let ranks = [own.min(partner), own.max(partner)];
        let cells = MOST_BYTES / NUMBER;
        let mut memory = vec![1.0; cells];
        let (mut comm, mut window) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: MPI fills the handles; the window's memory lives until `free`, on the heap.
        let (comm, groups, window) = unsafe {
            let world = group(|made| mpi_sys::MPI_Comm_group(session.world(), made));
            let both = group(|made| mpi_sys::MPI_Group_incl(world, 2, ranks.as_ptr(), made));
            mpi_sys::MPI_Comm_create_group(session.world(), both, TAG, comm.as_mut_ptr());
            let comm = comm.assume_init();
            let of = |rank: c_int| group(|made| mpi_sys::MPI_Group_incl(world, 1, &rank, made));
            let groups = [of(own), of(partner)];
            for mut group in [world, both] {
                mpi_sys::MPI_Group_free(&mut group);
            }
            let mut info = MaybeUninit::uninit();
            mpi_sys::MPI_Info_create(info.as_mut_ptr());
            mpi_sys::MPI_Win_create(
                memory.as_mut_ptr().cast::<c_void>(),
                aint(MOST_BYTES),
                1,
                info.assume_init(),
                comm,
                window.as_mut_ptr(),
            );
            mpi_sys::MPI_Info_free(info.as_mut_ptr());
            (comm, groups, window.assume_init())
        };
        Pair {
            comm,
            groups,
            window,
            other: c_int::from(own < partner),
            memory,
            pieces: vec![1.0; cells],
            packed: vec![1.0; cells],
        }
    }

    /// Gives all of it back; both ranks call it.
    pub fn free(mut self) {
        // SAFETY: nothing uses them after this.
        unsafe {
            mpi_sys::MPI_Win_free(&mut self.window);
            mpi_sys::MPI_Comm_free(&mut self.comm);
            for group in &mut self.groups {
                mpi_sys::MPI_Group_free(group);
            }
        }
    }

    /// Does a trial; the seconds of each time where this rank is the origin.
    pub fn run(&mut self, is_origin: bool, trial: &Trial) -> Vec<f64> {
        match trial.subject {
            Subject::Pieces { way, pieces, bytes } => {
                let bytes = usize::try_from(bytes).unwrap_or(MOST_BYTES);
                let pieces = Pieces {
                    count: pieces,
                    bytes,
                };
                if 2 * pieces.all() > MOST_BYTES {
                    return Vec::new();
                }
                match way {
                    Way::Send | Way::Vector | Way::Packed => {
                        self.by_messages(is_origin, way, pieces, trial.times)
                    }
                    _ => self.flushed(is_origin, trial.times, |pair| pair.moved(way, pieces)),
                }
            }
            Subject::Epoch(kind) => self.epochs(is_origin, kind, trial.times),
        }
    }

    fn by_messages(&mut self, is_origin: bool, way: Way, pieces: Pieces, times: usize) -> Vec<f64> {
        let mut one = |_| {
            let began = Instant::now();
            self.exchange(is_origin, way, pieces);
            match is_origin {
                true => self.wait_for_word(),
                false => self.send_word(),
            }
            began.elapsed().as_secs_f64()
        };
        (0..times).map(&mut one).collect()
    }

    /// Times `moves` with its flush at the origin; the other rank is in a receive meanwhile.
    fn flushed(&mut self, is_origin: bool, times: usize, moves: impl Fn(&Pair)) -> Vec<f64> {
        if !is_origin {
            self.wait_for_word();
            return Vec::new();
        }
        // SAFETY: the window and its other rank are there; what is moved is this pair's memory.
        unsafe { mpi_sys::MPI_Win_lock_all(0, self.window) };
        let one = |_| {
            let began = Instant::now();
            moves(self);
            // SAFETY: as above; a lock is held.
            unsafe { mpi_sys::MPI_Win_flush(self.other, self.window) };
            began.elapsed().as_secs_f64()
        };
        let times = (0..times).map(one).collect();
        // SAFETY: as above.
        unsafe { mpi_sys::MPI_Win_unlock_all(self.window) };
        self.send_word();
        times
    }

    /// Epochs with one put of 8 bytes by the origin.
    fn epochs(&mut self, is_origin: bool, kind: EpochKind, times: usize) -> Vec<f64> {
        let put = Pieces {
            count: 1,
            bytes: NUMBER,
        };
        match kind {
            EpochKind::LockAll => self.flushed(is_origin, times, |pair| pair.moved(Way::Put, put)),
            EpochKind::Lock if !is_origin => {
                self.wait_for_word();
                Vec::new()
            }
            EpochKind::Lock => {
                let shared = mpi_sys::MPI_LOCK_SHARED as c_int;
                let times = timed(times, || {
                    // SAFETY: the window and its other rank are there.
                    unsafe { mpi_sys::MPI_Win_lock(shared, self.other, 0, self.window) };
                    self.moved(Way::Put, put);
                    // SAFETY: as above.
                    unsafe { mpi_sys::MPI_Win_unlock(self.other, self.window) };
                });
                self.send_word();
                times
            }
            EpochKind::Fence => {
                // SAFETY: both ranks call it.
                unsafe { mpi_sys::MPI_Win_fence(0, self.window) };
                let times = timed(times, || {
                    if is_origin {
                        self.moved(Way::Put, put);
                    }
                    // SAFETY: both ranks call it.
                    unsafe { mpi_sys::MPI_Win_fence(0, self.window) };
                });
                let last = mpi_sys::MPI_MODE_NOSUCCEED as c_int;
                // SAFETY: both ranks call it.
                unsafe { mpi_sys::MPI_Win_fence(last, self.window) };
                times
            }
            EpochKind::Start => timed(times, || {
                let [_, other] = self.groups;
                // SAFETY: the origin starts and the other rank posts, as often.
                unsafe {
                    if is_origin {
                        mpi_sys::MPI_Win_start(other, 0, self.window);
                        self.moved(Way::Put, put);
                        mpi_sys::MPI_Win_complete(self.window);
                    } else {
                        mpi_sys::MPI_Win_post(other, 0, self.window);
                        mpi_sys::MPI_Win_wait(self.window);
                    }
                }
            }),
        }
    }

    /// Pieces into the other's memory, or from there.
    fn moved(&self, way: Way, pieces: Pieces) {
        let origin = self.pieces.as_ptr().cast::<u8>().cast_mut();
        let (bytes, numbers) = (int(pieces.bytes), int(pieces.bytes / NUMBER));
        let (to, window) = (self.other, self.window);
        let each = |call: &dyn Fn(*mut c_void, MPI_Aint)| {
            for piece in 0..pieces.count {
                let start = pieces.start(piece);
                // SAFETY: `run` looks that all pieces are in the buffer.
                let at = unsafe { origin.add(start) };
                call(at.cast::<c_void>(), aint(start));
            }
        };
        // SAFETY: an epoch is open; pieces are in this rank's buffer and in the other's window,
        // neither of which is touched before it is closed, but for what is got, by MPI.
        unsafe {
            let byte = RSMPI_UINT8_T;
            match way {
                Way::Get => each(&|at, place| {
                    mpi_sys::MPI_Get(at, bytes, byte, to, place, bytes, byte, window);
                }),
                Way::Accumulate => each(&|at, place| {
                    let (number, sum) = (RSMPI_DOUBLE, RSMPI_SUM);
                    mpi_sys::MPI_Accumulate(
                        at, numbers, number, to, place, numbers, number, sum, window,
                    );
                }),
                Way::PutVector => {
                    let of = vector(pieces);
                    let at = origin.cast::<c_void>();
                    mpi_sys::MPI_Put(at, 1, of.0, to, 0, 1, of.0, window);
                }
                Way::PutJoined => {
                    let of = places(pieces);
                    let copies = self.packed.as_ptr().cast::<u8>().cast_mut();
                    copy(pieces, origin, copies);
                    let (at, all) = (copies.cast::<c_void>(), int(pieces.all()));
                    mpi_sys::MPI_Put(at, all, byte, to, 0, 1, of.0, window);
                }
                _ => each(&|at, place| {
                    mpi_sys::MPI_Put(at, bytes, byte, to, place, bytes, byte, window);
                }),
            }
        }
    }

    /// Sends pieces to the other rank, or receives them from there.
    fn exchange(&mut self, sends: bool, way: Way, pieces: Pieces) {
        let place = match sends {
            true => self.pieces.as_mut_ptr().cast::<u8>(),
            false => self.memory.as_mut_ptr().cast::<u8>(),
        };
        let packed = self.packed.as_mut_ptr().cast::<u8>();
        let (other, comm) = (self.other, self.comm);
        let begin = |at: *mut u8, count: usize, of: MPI_Datatype| {
            let mut request = MaybeUninit::uninit();
            let (at, count, made) = (at.cast::<c_void>(), int(count), request.as_mut_ptr());
            // SAFETY: so many bytes are there until the request is waited for, and no two receives
            // have the same ones.
            unsafe {
                match sends {
                    true => mpi_sys::MPI_Isend(at, count, of, other, TAG, comm, made),
                    false => mpi_sys::MPI_Irecv(at, count, of, other, TAG, comm, made),
                };
                request.assume_init()
            }
        };
        // SAFETY: a constant of mpi-sys's C part; the buffers are as long as `run` looks.
        unsafe {
            let byte = RSMPI_UINT8_T;
            match way {
                Way::Vector => {
                    let of = vector(pieces);
                    wait([begin(place, 1, of.0)]);
                }
                Way::Packed if sends => {
                    copy(pieces, place, packed);
                    wait([begin(packed, pieces.all(), byte)]);
                }
                Way::Packed => {
                    wait([begin(packed, pieces.all(), byte)]);
                    copy_back(pieces, packed, place);
                }
                _ => {
                    let at = |piece: usize| place.add(pieces.start(piece));
                    let all = (0..pieces.count).map(|piece| begin(at(piece), pieces.bytes, byte));
                    wait(all.collect::<Vec<_>>());
                }
            }
        }
    }

    /// Says to the other rank that this one is done.
    fn send_word(&self) {
        // SAFETY: an empty message has no buffer.
        unsafe {
            let nothing = ptr::null();
            mpi_sys::MPI_Send(nothing, 0, RSMPI_UINT8_T, self.other, TAG, self.comm);
        }
    }

    fn wait_for_word(&self) {
        // SAFETY: an empty message has no buffer.
        unsafe {
            let (nothing, byte) = (ptr::null_mut(), RSMPI_UINT8_T);
            let ignored = RSMPI_STATUS_IGNORE;
            mpi_sys::MPI_Recv(nothing, 0, byte, self.other, TAG, self.comm, ignored);
        }
    }
}

/// The seconds of each time.
fn timed(times: usize, each: impl Fn()) -> Vec<f64> {
    let one = |_| {
        let began = Instant::now();
        each();
        began.elapsed().as_secs_f64()
    };
    (0..times).map(one).collect()
}

/// A group that MPI makes.
///
/// # Safety
/// `make` fills the handle.
unsafe fn group(make: impl FnOnce(*mut MPI_Group) -> c_int) -> MPI_Group {
    let mut made = MaybeUninit::uninit();
    make(made.as_mut_ptr());
    // SAFETY: the caller's promise.
    unsafe { made.assume_init() }
}

fn wait(requests: impl IntoIterator<Item = MPI_Request>) {
    for mut request in requests {
        // SAFETY: the request was made by MPI and is used once.
        unsafe { mpi_sys::MPI_Wait(&mut request, RSMPI_STATUS_IGNORE) };
    }
}
