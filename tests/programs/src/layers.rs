//! Calls of the layers other than point-to-point, cheap enough to show the overhead of a tool:
//! collectives and neighbourhood collectives of one rank with itself, puts into a window's own
//! part.

use crate::Session;
use mpi_sys::{
    MPI_Comm, MPI_Win, RSMPI_COMM_SELF, RSMPI_INFO_NULL, RSMPI_SUM, RSMPI_UINT8_T, RSMPI_UINT64_T,
};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

/// `MPI_Allreduce` of 8 bytes on `MPI_COMM_SELF`.
pub fn allreduce(_session: &Session, iterations: usize) {
    let (own, mut sum) = (1_u64, 0_u64);
    for _ in 0..iterations {
        // SAFETY: both buffers hold one element, and live through the call.
        unsafe {
            mpi_sys::MPI_Allreduce(
                (&raw const own).cast::<c_void>(),
                (&raw mut sum).cast::<c_void>(),
                1,
                RSMPI_UINT64_T,
                RSMPI_SUM,
                RSMPI_COMM_SELF,
            );
        }
    }
    std::hint::black_box(sum);
}

/// `MPI_COMM_SELF`.
pub fn alone() -> MPI_Comm {
    // SAFETY: a constant of mpi-sys's C part.
    unsafe { RSMPI_COMM_SELF }
}

/// `MPI_Iallreduce` of 8 bytes on a communicator, and `MPI_Wait`.
pub fn started_allreduce(session: &Session, comm: MPI_Comm, iterations: usize) {
    let (own, mut sum) = (1_u64, 0_u64);
    for _ in 0..iterations {
        let mut request = Session::no_request();
        // SAFETY: both buffers hold one element, and live until the request is complete.
        unsafe {
            mpi_sys::MPI_Iallreduce(
                (&raw const own).cast::<c_void>(),
                (&raw mut sum).cast::<c_void>(),
                1,
                RSMPI_UINT64_T,
                RSMPI_SUM,
                comm,
                &mut request,
            );
        }
        session.wait(request);
    }
    std::hint::black_box(sum);
}

/// `MPI_Neighbor_allgather` of 8 bytes in a closed ring of one rank, which is next to
/// itself on both sides.
pub fn neighbours(session: &Session, iterations: usize) {
    let ring = Ring::new(session);
    let (own, mut both) = ([1_u8; 8], [0_u8; 16]);
    for _ in 0..iterations {
        // SAFETY: 8 bytes for each of two neighbours; the buffers live through the call.
        unsafe {
            mpi_sys::MPI_Neighbor_allgather(
                own.as_ptr().cast::<c_void>(),
                8,
                RSMPI_UINT8_T,
                both.as_mut_ptr().cast::<c_void>(),
                8,
                RSMPI_UINT8_T,
                ring.0,
            );
        }
    }
    std::hint::black_box(both);
}

/// A communicator of one rank in a closed row.
struct Ring(MPI_Comm);

impl Ring {
    fn new(_session: &Session) -> Self {
        let (size, closed): (c_int, c_int) = (1, 1);
        let mut ring = MaybeUninit::uninit();
        // SAFETY: arrays of one element each; MPI fills the handle.
        unsafe {
            mpi_sys::MPI_Cart_create(RSMPI_COMM_SELF, 1, &size, &closed, 0, ring.as_mut_ptr());
            Ring(ring.assume_init())
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: made by MPI, and not used after this.
        unsafe { mpi_sys::MPI_Comm_free(&mut self.0) };
    }
}

/// A window of 8 bytes on each rank, created and freed collectively.
pub struct Window {
    window: MPI_Win,
    memory: Box<[u8; 8]>,
    rank: c_int,
}

impl Window {
    /// Collective.
    pub fn new(session: &Session) -> Self {
        let mut memory = Box::new([0; 8]);
        let mut window = MaybeUninit::uninit();
        // SAFETY: the memory is on the heap and outlives the window, see `drop`.
        let window = unsafe {
            mpi_sys::MPI_Win_create(
                memory.as_mut_ptr().cast::<c_void>(),
                8,
                1,
                RSMPI_INFO_NULL,
                session.world(),
                window.as_mut_ptr(),
            );
            window.assume_init()
        };
        let rank = session.rank();
        Window {
            window,
            memory,
            rank,
        }
    }

    /// `MPI_Put` of 8 bytes into this rank's own part, in one epoch.
    pub fn put(&self, iterations: usize) {
        let own = [1_u8; 8];
        let shared = mpi_sys::MPI_LOCK_SHARED as c_int;
        // SAFETY: the window exists; the data of the put lives until the epoch ends.
        unsafe {
            mpi_sys::MPI_Win_lock(shared, self.rank, 0, self.window);
            for _ in 0..iterations {
                mpi_sys::MPI_Put(
                    own.as_ptr().cast::<c_void>(),
                    8,
                    RSMPI_UINT8_T,
                    self.rank,
                    0,
                    8,
                    RSMPI_UINT8_T,
                    self.window,
                );
            }
            mpi_sys::MPI_Win_unlock(self.rank, self.window);
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: made by MPI, and not used after this; collective like `new`.
        unsafe { mpi_sys::MPI_Win_free(&mut self.window) };
        std::hint::black_box(&self.memory);
    }
}
