//! Communicators, and collective operations on them by what they move: bytes of a message or of a
//! block, as [`Cell`](treepie_native::tuning::Cell) has them.

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::time::Duration;

use mpi_sys::{MPI_Comm, RSMPI_DOUBLE, RSMPI_MAX, RSMPI_STATUS_IGNORE, RSMPI_SUM, RSMPI_UINT8_T};
use treepie_collective::Operation;

/// A rank that has nothing to do looks this often whether it has, so that it leaves the processor
/// to those that measure.
const LOOK: Duration = Duration::from_millis(1);

/// Bytes of an operand.
const OPERAND: usize = size_of::<f64>();

/// A communicator, or a duplicate of one.
#[derive(Debug)]
pub struct Communicator(MPI_Comm);

/// Memory for calls: what is sent, received, and in between.
#[derive(Debug)]
pub struct Buffers {
    send: Vec<f64>,
    receive: Vec<f64>,
    between: Vec<f64>,
    counts: Vec<c_int>,
    places: Vec<c_int>,
}

impl Buffers {
    /// For calls of `bytes` bytes, a message or a block, among `ranks` ranks.
    pub fn new(bytes: usize, ranks: usize) -> Self {
        let longest = bytes.max(OPERAND).div_ceil(OPERAND) * ranks;
        let block = int(bytes);
        Buffers {
            send: vec![1.0; longest],
            receive: vec![1.0; longest],
            between: vec![1.0; longest],
            counts: vec![block; ranks],
            places: (0..ranks).map(|rank| int(rank * bytes)).collect(),
        }
    }
}

fn int(number: usize) -> c_int {
    c_int::try_from(number).expect("what is measured is at most 256 MiB long")
}

impl Communicator {
    /// `MPI_COMM_WORLD`, which is never freed.
    pub fn world(session: &crate::Session) -> Self {
        Communicator(session.world())
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        let mut rank = 0;
        // SAFETY: the communicator is one; MPI fills the rank.
        unsafe { mpi_sys::MPI_Comm_rank(self.0, &mut rank) };
        usize::try_from(rank).expect("ranks count from 0")
    }

    /// The number of its ranks.
    pub fn size(&self) -> usize {
        let mut size = 0;
        // SAFETY: as in `rank`.
        unsafe { mpi_sys::MPI_Comm_size(self.0, &mut size) };
        usize::try_from(size).expect("a communicator has ranks")
    }

    /// Its first `ranks` ranks; all ranks call it, and the others get one of their own.
    pub fn first(&self, ranks: usize) -> Self {
        let colour = c_int::from(self.rank() >= ranks);
        let mut made = MaybeUninit::uninit();
        // SAFETY: MPI fills the handle.
        Communicator(unsafe {
            mpi_sys::MPI_Comm_split(self.0, colour, int(self.rank()), made.as_mut_ptr());
            made.assume_init()
        })
    }

    /// A duplicate, which has the algorithms that are set now.
    pub fn duplicate(&self) -> Self {
        let mut made = MaybeUninit::uninit();
        // SAFETY: MPI fills the handle.
        Communicator(unsafe {
            mpi_sys::MPI_Comm_dup(self.0, made.as_mut_ptr());
            made.assume_init()
        })
    }

    /// A duplicate that has an info with this value of a key, too.
    pub fn duplicate_with(&self, [key, value]: [&CStr; 2]) -> Self {
        let (mut info, mut made) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: MPI fills the handles; both texts end with a zero, and it only reads them.
        Communicator(unsafe {
            mpi_sys::MPI_Info_create(info.as_mut_ptr());
            let mut info = info.assume_init();
            mpi_sys::MPI_Info_set(info, key.as_ptr(), value.as_ptr());
            mpi_sys::MPI_Comm_dup_with_info(self.0, info, made.as_mut_ptr());
            mpi_sys::MPI_Info_free(&mut info);
            made.assume_init()
        })
    }

    /// Frees it, on all ranks.
    pub fn free(mut self) {
        // SAFETY: nothing uses it after this.
        unsafe { mpi_sys::MPI_Comm_free(&mut self.0) };
    }

    /// Waits for all ranks.
    pub fn barrier(&self) {
        // SAFETY: the communicator is one.
        unsafe { mpi_sys::MPI_Barrier(self.0) };
    }

    /// Waits for all ranks, and leaves the processor to others.
    pub fn barrier_at_leisure(&self) {
        let mut request = crate::Session::no_request();
        let mut done = 0;
        // SAFETY: the request is MPI's, and is used until it is complete.
        unsafe {
            mpi_sys::MPI_Ibarrier(self.0, &mut request);
            while {
                mpi_sys::MPI_Test(&mut request, &mut done, RSMPI_STATUS_IGNORE);
                done == 0
            } {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// `MPI_Comm_set_name`.
    pub fn set_name(&self, name: &str) {
        let name = CString::new(name).expect("a name without a zero");
        // SAFETY: the name ends with a zero.
        unsafe { mpi_sys::MPI_Comm_set_name(self.0, name.as_ptr()) };
    }

    /// Sends a number to a rank.
    pub fn send(&self, number: f64, to: usize) {
        let number: *const f64 = &number;
        // SAFETY: one number, which lives until the call returns.
        unsafe {
            mpi_sys::MPI_Send(number.cast::<c_void>(), 1, RSMPI_DOUBLE, int(to), 0, self.0);
        }
    }

    /// Receives a number from a rank.
    pub fn receive(&self, from: usize) -> f64 {
        let mut number = 0.0_f64;
        let place: *mut f64 = &mut number;
        // SAFETY: as in `send`.
        unsafe {
            mpi_sys::MPI_Recv(
                place.cast::<c_void>(),
                1,
                RSMPI_DOUBLE,
                int(from),
                0,
                self.0,
                RSMPI_STATUS_IGNORE,
            );
        }
        number
    }

    /// Replaces each number by the largest that a rank has for it.
    pub fn largest(&self, numbers: &mut [f64]) {
        let own = numbers.to_vec();
        // SAFETY: both buffers have as many numbers as are said.
        unsafe {
            mpi_sys::MPI_Allreduce(
                own.as_ptr().cast::<c_void>(),
                numbers.as_mut_ptr().cast::<c_void>(),
                int(own.len()),
                RSMPI_DOUBLE,
                RSMPI_MAX,
                self.0,
            );
        }
    }

    /// Rank 0's bytes, on all ranks.
    pub fn broadcast(&self, bytes: &mut [u8]) {
        // SAFETY: the buffer has as many bytes as are said.
        unsafe {
            mpi_sys::MPI_Bcast(
                bytes.as_mut_ptr().cast::<c_void>(),
                int(bytes.len()),
                RSMPI_UINT8_T,
                0,
                self.0,
            );
        }
    }

    /// All ranks' bytes, of which each has as many, in the order of ranks.
    pub fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0; own.len() * self.size()];
        let length = int(own.len());
        // SAFETY: the buffers are as long as is said, one block and one for each rank.
        unsafe {
            mpi_sys::MPI_Allgather(
                own.as_ptr().cast::<c_void>(),
                length,
                RSMPI_UINT8_T,
                all.as_mut_ptr().cast::<c_void>(),
                length,
                RSMPI_UINT8_T,
                self.0,
            );
        }
        all
    }

    /// Does `operation` with `bytes` bytes, by rank 0 where there is a root, adding numbers where
    /// operands are combined. `None` for an operation that is not measured.
    pub fn call(&self, operation: Operation, bytes: usize, buffers: &mut Buffers) -> Option<()> {
        let send = buffers.send.as_mut_ptr().cast::<c_void>();
        let receive = buffers.receive.as_mut_ptr().cast::<c_void>();
        let between = buffers.between.as_mut_ptr().cast::<c_void>();
        let counts = buffers.counts.as_mut_ptr();
        let places = buffers.places.as_mut_ptr();
        let block = int(bytes);
        let operands = int((bytes / OPERAND).max(1));
        let comm = self.0;
        // SAFETY: the buffers hold a block of these bytes, or an operand, for each rank, as all
        // these calls need at most; counts and places are of this size of communicator.
        let code = unsafe {
            let (byte, number, sum) = (RSMPI_UINT8_T, RSMPI_DOUBLE, RSMPI_SUM);
            match operation {
                Operation::Barrier => mpi_sys::MPI_Barrier(comm),
                Operation::Bcast => mpi_sys::MPI_Bcast(send, block, byte, 0, comm),
                Operation::Gather => {
                    mpi_sys::MPI_Gather(send, block, byte, receive, block, byte, 0, comm)
                }
                Operation::Scatter => {
                    mpi_sys::MPI_Scatter(send, block, byte, receive, block, byte, 0, comm)
                }
                Operation::Allgather => {
                    mpi_sys::MPI_Allgather(send, block, byte, receive, block, byte, comm)
                }
                Operation::Allgatherv => {
                    mpi_sys::MPI_Allgatherv(send, block, byte, receive, counts, places, byte, comm)
                }
                Operation::Alltoall => {
                    mpi_sys::MPI_Alltoall(send, block, byte, receive, block, byte, comm)
                }
                Operation::Reduce => {
                    mpi_sys::MPI_Reduce(send, receive, operands, number, sum, 0, comm)
                }
                Operation::Allreduce => {
                    mpi_sys::MPI_Allreduce(send, receive, operands, number, sum, comm)
                }
                Operation::ReduceScatter => {
                    let each = vec![operands; buffers.counts.len()];
                    mpi_sys::MPI_Reduce_scatter(send, receive, each.as_ptr(), number, sum, comm)
                }
                Operation::ReduceScatterBlock => {
                    mpi_sys::MPI_Reduce_scatter_block(send, receive, operands, number, sum, comm)
                }
                Operation::Scan => mpi_sys::MPI_Scan(send, receive, operands, number, sum, comm),
                Operation::Exscan => {
                    mpi_sys::MPI_Exscan(send, between, operands, number, sum, comm)
                }
                Operation::Gatherv
                | Operation::Scatterv
                | Operation::Alltoallv
                | Operation::Alltoallw
                | Operation::NeighborAllgather
                | Operation::NeighborAllgatherv
                | Operation::NeighborAlltoall
                | Operation::NeighborAlltoallv
                | Operation::NeighborAlltoallw => return None,
            }
        };
        (code == 0).then_some(())
    }
}
