//! Reads from a call's arguments what its traffic depends on.

use treepie_core::collective::Operation;

use crate::mpi::native::{Native, native};
use crate::mpi::{Counts, Datatype, Handle, Word, c_int};

/// The arguments of a collective that its traffic depends on. What a procedure
/// does not have is 0 or 1.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// `sendbuf`, for `MPI_IN_PLACE`.
    pub send_buffer: Word,
    /// `sendcount` or `count`.
    pub send_count: i64,
    /// `sendtype` or `datatype`.
    pub send_type: Datatype,
    /// `sendcounts`.
    pub send_counts: Counts,
    /// Address of `sendtypes`.
    pub send_types: Word,
    /// `recvcount`.
    pub receive_count: i64,
    /// `recvtype`.
    pub receive_type: Datatype,
    /// Address of `recvtypes`.
    pub receive_types: Word,
    /// `recvcounts`.
    pub receive_counts: Counts,
    /// `root`.
    pub root: c_int,
}

impl Arguments {
    /// Those of a barrier.
    pub const NONE: Arguments = Arguments {
        send_buffer: 0,
        send_count: 0,
        send_type: Datatype::ABSENT,
        send_counts: Counts::ABSENT,
        send_types: 0,
        receive_count: 0,
        receive_type: Datatype::ABSENT,
        receive_types: 0,
        receive_counts: Counts::ABSENT,
        root: 0,
    };
}

/// What one call of a collective says of its traffic.
pub struct Seen {
    /// The root, for those that have one.
    pub root: Option<u32>,
    /// How much.
    pub amount: Amount,
}

/// An amount of traffic, as far as one rank knows it.
pub enum Amount {
    /// The message, or one rank's block, in bytes.
    Block(u64),
    /// Bytes of each rank's part.
    Parts(Vec<u64>),
    /// Bytes that this rank sends to each other one.
    Sent(u32, Vec<u64>),
}

/// The root of a call that has one; the outer `None` where there is no such rank.
#[inline(always)]
fn root_of(operation: Operation, arguments: &Arguments, size: usize) -> Option<Option<u32>> {
    if !operation.has_root() {
        return Some(None);
    }
    // MPICH reports success where an error handler took care of the error.
    let root = u32::try_from(arguments.root).ok()?;
    ((root as usize) < size).then_some(Some(root))
}

/// The elements that say how long a block is, as rank 0 sees the call, and their datatype;
/// nothing of calls whose ranks' blocks differ.
#[inline(always)]
fn block(operation: Operation, arguments: &Arguments) -> Option<(i64, Datatype)> {
    use Operation::*;
    let sent = (arguments.send_count, arguments.send_type);
    let received = (arguments.receive_count, arguments.receive_type);
    let is_root = arguments.root == 0;
    let in_place = || native().is_some_and(|native| arguments.send_buffer == native.abi.in_place);
    Some(match operation {
        Barrier => (0, Datatype::ABSENT),
        Bcast | Reduce | Allreduce | Scan | Exscan => sent,
        Gather if is_root && in_place() => received,
        Gather => sent,
        Scatter if is_root => sent,
        Scatter | Allgather | Alltoall => received,
        ReduceScatterBlock => (arguments.receive_count, arguments.send_type),
        Gatherv | Scatterv | Allgatherv | ReduceScatter | Alltoallv | Alltoallw => return None,
    })
}

/// What rank 0, which is `rank`, has to report of a call in which all ranks' blocks
/// are equal; nothing of others, and on other ranks.
#[inline(always)]
pub fn observe_block(
    native: &Native,
    operation: Operation,
    arguments: &Arguments,
    rank: u32,
    size: usize,
) -> Option<Seen> {
    if rank != 0 {
        return None;
    }
    let root = root_of(operation, arguments, size)?;
    let (elements, datatype) = block(operation, arguments)?;
    let bytes = match elements {
        1.. => native.type_size(datatype).saturating_mul(elements as u64),
        _ => 0,
    };
    Some(Seen {
        root,
        amount: Amount::Block(bytes),
    })
}

/// What this rank has to report of a call; nothing where another rank does.
pub fn observe(
    native: &Native,
    operation: Operation,
    arguments: &Arguments,
    rank: u32,
    size: usize,
) -> Option<Seen> {
    use Operation::*;
    if operation.has_equal_blocks() {
        return observe_block(native, operation, arguments, rank, size);
    }
    let root = root_of(operation, arguments, size)?;
    let reader = Reader::new(native, arguments, size);
    let in_place = arguments.send_buffer == native.abi.in_place;
    let reports = match operation {
        Gatherv | Scatterv => root == Some(rank),
        Alltoallv | Alltoallw => true,
        _ => rank == 0,
    };
    if !reports {
        return None;
    }
    let amount = match operation {
        Gatherv | Allgatherv => {
            Amount::Parts(reader.parts(arguments.receive_counts, arguments.receive_type))
        }
        Scatterv => Amount::Parts(reader.parts(arguments.send_counts, arguments.send_type)),
        ReduceScatter => Amount::Parts(reader.parts(arguments.receive_counts, arguments.send_type)),
        Alltoallv if in_place => Amount::Sent(
            rank,
            reader.parts(arguments.receive_counts, arguments.receive_type),
        ),
        Alltoallv => Amount::Sent(
            rank,
            reader.parts(arguments.send_counts, arguments.send_type),
        ),
        Alltoallw if in_place => Amount::Sent(
            rank,
            reader.parts_of_types(arguments.receive_counts, arguments.receive_types),
        ),
        Alltoallw => Amount::Sent(
            rank,
            reader.parts_of_types(arguments.send_counts, arguments.send_types),
        ),
        _ => return None,
    };
    Some(Seen { root, amount })
}

/// Reads a call's arguments as bytes.
pub struct Reader<'a> {
    native: &'a Native,
    arguments: &'a Arguments,
    size: usize,
}

impl<'a> Reader<'a> {
    /// A reader for a call whose arrays have `size` elements.
    #[inline(always)]
    pub fn new(native: &'a Native, arguments: &'a Arguments, size: usize) -> Self {
        Reader {
            native,
            arguments,
            size,
        }
    }

    /// What is sent to every neighbour, for calls with one size for all.
    #[inline(always)]
    pub fn to_all(&self) -> Option<u64> {
        self.arguments.send_counts.is_absent().then(|| self.sent())
    }

    /// What is sent to the neighbour `at`, for calls with a size for each.
    pub fn to_one(&self, at: usize) -> u64 {
        let arguments = self.arguments;
        let counts = arguments.send_counts;
        match arguments.send_types {
            0 if self.native.is_null_datatype(arguments.send_type) || counts.is_absent() => 0,
            0 => {
                let size = self.native.type_size(arguments.send_type);
                self.count_at(counts, at).saturating_mul(size)
            }
            types => self.part_of_type(counts, types, at),
        }
    }

    #[inline(always)]
    fn bytes(&self, count: i64, datatype: Datatype) -> u64 {
        self.native
            .type_size(datatype)
            .saturating_mul(count.max(0) as u64)
    }

    #[inline(always)]
    fn sent(&self) -> u64 {
        self.bytes(self.arguments.send_count, self.arguments.send_type)
    }

    fn count_at(&self, counts: Counts, rank: usize) -> u64 {
        // SAFETY: the call succeeded, so that its array of counts has an element for each rank.
        unsafe { counts.at(rank) }.max(0) as u64
    }

    fn parts(&self, counts: Counts, datatype: Datatype) -> Vec<u64> {
        if counts.is_absent() || self.native.is_null_datatype(datatype) {
            return vec![0; self.size];
        }
        let bytes = self.native.type_size(datatype);
        (0..self.size)
            .map(|rank| self.count_at(counts, rank).saturating_mul(bytes))
            .collect()
    }

    fn parts_of_types(&self, counts: Counts, types: Word) -> Vec<u64> {
        if counts.is_absent() || types == 0 {
            return vec![0; self.size];
        }
        let part = |rank: usize| self.part_of_type(counts, types, rank);
        (0..self.size).map(part).collect()
    }

    /// The part of `rank` where each rank has a type of its own.
    fn part_of_type(&self, counts: Counts, types: Word, rank: usize) -> u64 {
        let count = self.count_at(counts, rank);
        if count == 0 {
            return 0; // the type may be MPI_DATATYPE_NULL then
        }
        // SAFETY: as for counts; a handle for each rank.
        let datatype = unsafe {
            self.native
                .read_handle(types + rank * self.native.abi.handle_bytes)
        };
        count.saturating_mul(self.native.type_size(datatype))
    }
}
