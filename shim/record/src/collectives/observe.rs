//! Reads the parameters of a call's traffic from its arguments.

use treepie_collective::Operation;
use treepie_mpi::native::{Native, native};
use treepie_mpi::{Call, Counts, Datatype, DatatypeArray, Handle, Side};

/// Parameters of the traffic of a collective call.
#[derive(Clone)]
pub struct CallTraffic {
    /// Root, of collectives with one.
    pub root: Option<u32>,
    /// Amount of data.
    pub amount: Amount,
}

/// Amount of traffic, as far as one rank knows it.
#[derive(Clone)]
pub enum Amount {
    /// The message, or one rank's block, in bytes.
    Block(u64),
    /// Bytes of each rank's block.
    Blocks(Vec<u64>),
    /// Bytes that this rank sends to each other one.
    Sent(u32, Vec<u64>),
    /// Bytes that this rank sends to some others, each with its rank.
    SentTo(u32, Vec<(u32, u64)>),
}

/// Returns the root of a call that has one; the outer `None` if there is no such rank.
#[inline(always)]
fn root_of(call: &Call, size: usize) -> Option<Option<u32>> {
    if !call.operation.has_root() {
        return Some(None);
    }
    // MPICH reports success if an error handler dealt with the error.
    let root = u32::try_from(call.root).ok()?;
    ((root as usize) < size).then_some(Some(root))
}

/// Returns the number of elements of a block, as rank 0 sees the call, and their datatype; `None`
/// for calls whose ranks' blocks differ.
#[inline(always)]
fn block(call: &Call) -> Option<(i64, Datatype)> {
    use Operation::*;
    let sent = (call.send.count, call.send.datatype);
    let received = (call.receive.count, call.receive.datatype);
    let is_root = call.root == 0;
    let in_place = || native().is_some_and(|native| call.send.buffer == native.abi.in_place);
    Some(match call.operation {
        Barrier => (0, Datatype::ABSENT),
        Bcast | Reduce | Allreduce | Scan | Exscan => sent,
        Gather if is_root && in_place() => received,
        Gather => sent,
        Scatter if is_root => sent,
        Scatter | Allgather | Alltoall => received,
        ReduceScatterBlock => (call.receive.count, call.send.datatype),
        // Ranks' blocks differ, or only some ranks receive them.
        _ => return None,
    })
}

/// Returns rank 0's report of a call in which all ranks' blocks are equal: the root, and bytes.
/// `None` for others.
#[inline(always)]
pub fn observe_block(native: &Native, call: &Call, size: usize) -> Option<(Option<u32>, u64)> {
    let root = root_of(call, size)?;
    let (elements, datatype) = block(call)?;
    let bytes = match elements {
        1.. => native.type_size(datatype).saturating_mul(elements as u64),
        _ => 0,
    };
    Some((root, bytes))
}

/// Returns this rank's report of a call; `None` if another rank reports it.
pub fn observe(native: &Native, call: &Call, rank: u32, size: usize) -> Option<CallTraffic> {
    use Operation::*;
    let operation = call.operation;
    if operation.has_equal_blocks() {
        let seen = (rank == 0).then(|| observe_block(native, call, size))?;
        return seen.map(|(root, bytes)| CallTraffic {
            root,
            amount: Amount::Block(bytes),
        });
    }
    let root = root_of(call, size)?;
    let reader = Reader::new(native, &call.send, size);
    let in_place = call.send.buffer == native.abi.in_place;
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
            Amount::Blocks(reader.blocks(call.receive.counts, call.receive.datatype))
        }
        Scatterv => Amount::Blocks(reader.blocks(call.send.counts, call.send.datatype)),
        ReduceScatter => Amount::Blocks(reader.blocks(call.receive.counts, call.send.datatype)),
        Alltoallv if in_place => Amount::Sent(
            rank,
            reader.blocks(call.receive.counts, call.receive.datatype),
        ),
        Alltoallv => Amount::Sent(rank, reader.blocks(call.send.counts, call.send.datatype)),
        Alltoallw if in_place => Amount::Sent(
            rank,
            reader.blocks_of_types(call.receive.counts, call.receive.datatypes),
        ),
        Alltoallw => Amount::Sent(
            rank,
            reader.blocks_of_types(call.send.counts, call.send.datatypes),
        ),
        _ => return None,
    };
    Some(CallTraffic { root, amount })
}

/// Reader of one side of a call, in bytes.
pub struct Reader<'a> {
    native: &'a Native,
    send: &'a Side,
    size: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader for a call whose arrays have `size` elements.
    #[inline(always)]
    pub fn new(native: &'a Native, send: &'a Side, size: usize) -> Self {
        Reader { native, send, size }
    }

    /// Returns the bytes sent to every neighbour, for calls with one size for all.
    #[inline(always)]
    pub fn to_all(&self) -> Option<u64> {
        self.send.counts.is_absent().then(|| self.sent())
    }

    /// Returns the bytes sent to the neighbour `at`, for calls with a size for each.
    pub fn to_one(&self, at: usize) -> u64 {
        let Side {
            datatype,
            datatypes,
            counts,
            ..
        } = *self.send;
        if !datatypes.is_absent() {
            return self.block_of_type(counts, datatypes, at);
        }
        if self.native.is_null_datatype(datatype) || counts.is_absent() {
            return 0;
        }
        let size = self.native.type_size(datatype);
        self.count_at(counts, at).saturating_mul(size)
    }

    #[inline(always)]
    fn bytes(&self, count: i64, datatype: Datatype) -> u64 {
        self.native
            .type_size(datatype)
            .saturating_mul(count.max(0) as u64)
    }

    #[inline(always)]
    fn sent(&self) -> u64 {
        self.bytes(self.send.count, self.send.datatype)
    }

    fn count_at(&self, counts: Counts, rank: usize) -> u64 {
        counts.at(rank).max(0) as u64
    }

    fn blocks(&self, counts: Counts, datatype: Datatype) -> Vec<u64> {
        if counts.is_absent() || self.native.is_null_datatype(datatype) {
            return vec![0; self.size];
        }
        let bytes = self.native.type_size(datatype);
        (0..self.size)
            .map(|rank| self.count_at(counts, rank).saturating_mul(bytes))
            .collect()
    }

    fn blocks_of_types(&self, counts: Counts, types: DatatypeArray) -> Vec<u64> {
        if counts.is_absent() || types.is_absent() {
            return vec![0; self.size];
        }
        let block = |rank: usize| self.block_of_type(counts, types, rank);
        (0..self.size).map(block).collect()
    }

    /// Returns the bytes of the block of `rank` if each rank has its own type.
    fn block_of_type(&self, counts: Counts, types: DatatypeArray, rank: usize) -> u64 {
        let count = self.count_at(counts, rank);
        if count == 0 {
            return 0; // the type may be MPI_DATATYPE_NULL then
        }
        let datatype = types.at(self.native, rank);
        count.saturating_mul(self.native.type_size(datatype))
    }
}
