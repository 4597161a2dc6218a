//! Communicators, and collective operations on them by the size of their data: bytes of a message
//! or of a block.

use std::ffi::{CStr, CString, c_int, c_void};
use std::time::Duration;

use super::functions::Functions;
use super::mpi::Mpi;
use super::session::{Session, done, int, made, number};
use crate::{Comm, Info, Request};
use treepie_collective::Operation;

/// Polling interval of an idle rank, so that it leaves the processor to measuring ranks.
const LOOK: Duration = Duration::from_millis(1);

/// Bytes of an operand.
const OPERAND: usize = size_of::<f64>();

/// A communicator, or a duplicate of one.
#[derive(Clone, Copy)]
pub struct Communicator<'a> {
    mpi: &'a Mpi,
    comm: Comm,
    rank: usize,
    size: usize,
}

/// Buffers of calls: for sending, receiving, and scratch.
#[derive(Debug)]
pub struct Buffers {
    /// Maximum number of bytes of a call.
    bytes: usize,
    send: Vec<f64>,
    receive: Vec<f64>,
    between: Vec<f64>,
    counts: Vec<c_int>,
    places: Vec<c_int>,
}

impl Buffers {
    /// Allocates buffers for calls of `bytes` bytes, a message or a block, among `ranks` ranks.
    pub fn new(bytes: usize, ranks: usize) -> Self {
        let longest = bytes.max(OPERAND).div_ceil(OPERAND) * ranks;
        let block = int(bytes);
        Buffers {
            bytes,
            send: vec![1.0; longest],
            receive: vec![1.0; longest],
            between: vec![1.0; longest],
            counts: vec![block; ranks],
            places: (0..ranks).map(|rank| int(rank * bytes)).collect(),
        }
    }
}

impl<'a> Communicator<'a> {
    /// `MPI_COMM_WORLD`, which is never freed.
    pub fn world(session: &'a Session) -> Self {
        Communicator::of(session.mpi(), session.world())
    }

    fn functions(&self) -> &'a Functions {
        &self.mpi.functions
    }

    fn of(mpi: &'a Mpi, comm: Comm) -> Self {
        let rank = number(|rank| mpi.functions.comm_rank(comm, rank));
        let size = number(|size| mpi.functions.comm_size(comm, size));
        Communicator {
            mpi,
            comm,
            rank: usize::try_from(rank).expect("ranks count from 0"),
            size: usize::try_from(size).expect("a communicator has ranks"),
        }
    }

    /// Another communicator of the same MPI.
    fn with(&self, comm: Comm) -> Self {
        Communicator::of(self.mpi, comm)
    }

    /// This process's rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of its ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A communicator of its first `ranks` ranks; all ranks call this, and the others get a
    /// separate one.
    pub fn first(&self, ranks: usize) -> Self {
        let (colour, key) = (c_int::from(self.rank() >= ranks), int(self.rank()));
        self.with(made(|comm| {
            self.functions().comm_split(self.comm, colour, key, comm)
        }))
    }

    /// A duplicate, which has the algorithms that are set at present.
    pub fn duplicate(&self) -> Self {
        self.with(made(|comm| self.functions().comm_dup(self.comm, comm)))
    }

    /// A duplicate with an info that has this value of a key.
    pub fn duplicate_with(&self, [key, value]: [&CStr; 2]) -> Self {
        let functions = self.functions();
        let mut info: Info = made(|info| functions.info_create(info));
        // SAFETY: both texts end with a zero, and MPI only reads them.
        done(unsafe { functions.info_set(info, key.as_ptr(), value.as_ptr()) });
        let comm = made(|comm| functions.comm_dup_with_info(self.comm, info, comm));
        done(functions.info_free(&mut info));
        self.with(comm)
    }

    /// Frees it, on all ranks.
    pub fn free(mut self) {
        done(self.mpi.functions.comm_free(&mut self.comm));
    }

    /// Waits for all ranks without occupying the processor.
    pub fn barrier_at_leisure(&self) {
        let functions = self.functions();
        let mut request: Request = made(|request| functions.ibarrier(self.comm, request));
        // SAFETY: the request is MPI's, and is used until it is complete.
        while number(|flag| unsafe { functions.test(&mut request, flag, self.mpi.no_status()) })
            == 0
        {
            std::thread::sleep(LOOK);
        }
    }

    /// `MPI_Comm_set_name`.
    pub fn set_name(&self, name: &str) {
        let name = CString::new(name).expect("a name without a zero");
        // SAFETY: the name ends with a zero.
        done(unsafe { self.functions().comm_set_name(self.comm, name.as_ptr()) });
    }

    /// Sends a number to a rank.
    pub fn send(&self, number: f64, to: usize) {
        let number: *const f64 = &number;
        let (number, double) = (number.cast::<c_void>(), self.mpi.double);
        // SAFETY: one number, which lives until the call returns.
        done(unsafe {
            self.functions()
                .send(number, 1, double, int(to), 0, self.comm)
        });
    }

    /// Receives a number from a rank.
    pub fn receive(&self, from: usize) -> f64 {
        let mut number = 0.0_f64;
        let place: *mut f64 = &mut number;
        let (place, double, status) = (
            place.cast::<c_void>(),
            self.mpi.double,
            self.mpi.no_status(),
        );
        // SAFETY: like `send`.
        done(unsafe {
            self.functions()
                .recv(place, 1, double, int(from), 0, self.comm, status)
        });
        number
    }

    /// Replaces each number by its maximum over all ranks.
    pub fn largest(&self, numbers: &mut [f64]) {
        let own = numbers.to_vec();
        let (count, double, max) = (int(own.len()), self.mpi.double, self.mpi.max);
        let (from, into) = (own.as_ptr().cast(), numbers.as_mut_ptr().cast());
        // SAFETY: both buffers have the given number of numbers.
        done(unsafe {
            self.functions()
                .allreduce(from, into, count, double, max, self.comm)
        });
    }

    /// Broadcasts rank 0's bytes to all ranks.
    pub fn broadcast(&self, bytes: &mut [u8]) {
        let (length, address) = (int(bytes.len()), bytes.as_mut_ptr().cast());
        // SAFETY: the buffer has the given number of bytes.
        done(unsafe {
            self.functions()
                .bcast(address, length, self.mpi.byte, 0, self.comm)
        });
    }

    /// All ranks' bytes, which have the same length, in the order of ranks.
    pub fn all_gather(&self, own: &[u8]) -> Vec<u8> {
        let mut all = vec![0_u8; own.len() * self.size()];
        let (length, byte) = (int(own.len()), self.mpi.byte);
        let (from, into) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: the buffers have the given lengths, one block and one for each rank.
        done(unsafe {
            self.functions()
                .allgather(from, length, byte, into, length, byte, self.comm)
        });
        all
    }

    /// Performs `operation` with `bytes` bytes, with rank 0 as the root if there is one, and sums
    /// for reductions. `None` for an operation that is not measured. The buffers are for at least
    /// these bytes and this communicator's ranks.
    pub fn call(&self, operation: Operation, bytes: usize, buffers: &mut Buffers) -> Option<()> {
        let enough = bytes <= buffers.bytes && self.size <= buffers.counts.len();
        assert!(enough, "buffers for calls of this size");
        let send = buffers.send.as_mut_ptr().cast::<c_void>();
        let receive = buffers.receive.as_mut_ptr().cast::<c_void>();
        let between = buffers.between.as_mut_ptr().cast::<c_void>();
        let counts = buffers.counts.as_mut_ptr();
        let places = buffers.places.as_mut_ptr();
        let block = int(bytes);
        let operands = int((bytes / OPERAND).max(1));
        let (comm, mpi) = (self.comm, self.functions());
        // SAFETY: the buffers hold a block of these bytes, or an operand, for each rank, the
        // maximum that all these calls need; counts and displacements are there for each rank.
        done(unsafe {
            let (byte, number, sum) = (self.mpi.byte, self.mpi.double, self.mpi.sum);
            match operation {
                Operation::Barrier => mpi.barrier(comm),
                Operation::Bcast => mpi.bcast(send, block, byte, 0, comm),
                Operation::Gather => mpi.gather(send, block, byte, receive, block, byte, 0, comm),
                Operation::Scatter => mpi.scatter(send, block, byte, receive, block, byte, 0, comm),
                Operation::Allgather => {
                    mpi.allgather(send, block, byte, receive, block, byte, comm)
                }
                Operation::Allgatherv => {
                    mpi.allgatherv(send, block, byte, receive, counts, places, byte, comm)
                }
                Operation::Alltoall => mpi.alltoall(send, block, byte, receive, block, byte, comm),
                Operation::Reduce => mpi.reduce(send, receive, operands, number, sum, 0, comm),
                Operation::Allreduce => mpi.allreduce(send, receive, operands, number, sum, comm),
                Operation::ReduceScatter => {
                    let each = vec![operands; buffers.counts.len()];
                    mpi.reduce_scatter(send, receive, each.as_ptr(), number, sum, comm)
                }
                Operation::ReduceScatterBlock => {
                    mpi.reduce_scatter_block(send, receive, operands, number, sum, comm)
                }
                Operation::Scan => mpi.scan(send, receive, operands, number, sum, comm),
                Operation::Exscan => mpi.exscan(send, between, operands, number, sum, comm),
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
        });
        Some(())
    }
}
