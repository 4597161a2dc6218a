//! Reads from a call's arguments what its traffic depends on.

use treepie_core::affinity::collective::Operation;

use crate::api::host::Host;
use crate::api::{Word, c_int};

/// The arguments of a collective that its traffic depends on. What a procedure
/// does not have is 0 or 1.
#[derive(Debug, Clone, Copy)]
pub struct Arguments {
    /// Counts are `MPI_Count` in arrays, not `int`.
    pub large: bool,
    /// `sendbuf`, for `MPI_IN_PLACE`.
    pub send_buffer: Word,
    /// `sendcount` or `count`.
    pub send_count: i64,
    /// `sendtype` or `datatype`.
    pub send_type: Word,
    /// Address of `sendcounts`.
    pub send_counts: Word,
    /// Address of `sendtypes`.
    pub send_types: Word,
    /// `recvcount`.
    pub receive_count: i64,
    /// `recvtype`.
    pub receive_type: Word,
    /// Address of `recvcounts`.
    pub receive_counts: Word,
    /// `root`.
    pub root: c_int,
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

/// What this rank has to report of a call; nothing where another rank does.
pub fn observe(
    host: &Host,
    operation: Operation,
    arguments: &Arguments,
    rank: u32,
    size: usize,
) -> Option<Seen> {
    use Operation::*;
    let reader = Reader::new(host, arguments, size);
    let root = u32::try_from(arguments.root).unwrap_or(u32::MAX);
    if operation.has_root() && root as usize >= size {
        // MPICH reports success where an error handler took care of the error.
        return None;
    }
    let in_place = arguments.send_buffer == host.abi.in_place;
    let first = rank == 0;
    let reports = match operation {
        Gatherv | Scatterv => rank == root,
        Alltoallv | Alltoallw => true,
        _ => first,
    };
    if !reports {
        return None;
    }
    let amount = match operation {
        Barrier => Amount::Block(0),
        Bcast | Reduce | Allreduce | Scan | Exscan => Amount::Block(reader.sent()),
        Gather if rank == root && in_place => Amount::Block(reader.received()),
        Gather => Amount::Block(reader.sent()),
        Scatter if rank == root => Amount::Block(reader.sent()),
        Scatter | Allgather | Alltoall => Amount::Block(reader.received()),
        ReduceScatterBlock => {
            let size = host.type_size(arguments.send_type);
            Amount::Block(size.saturating_mul(arguments.receive_count.max(0) as u64))
        }
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
        // `receive_type` holds the address of an array here.
        Alltoallw if in_place => Amount::Sent(
            rank,
            reader.parts_of_types(arguments.receive_counts, arguments.receive_type),
        ),
        Alltoallw => Amount::Sent(
            rank,
            reader.parts_of_types(arguments.send_counts, arguments.send_types),
        ),
    };
    Some(Seen {
        root: operation.has_root().then_some(root),
        amount,
    })
}

/// Reads a call's arguments as bytes.
pub struct Reader<'a> {
    host: &'a Host,
    arguments: &'a Arguments,
    size: usize,
}

impl<'a> Reader<'a> {
    /// A reader for a call whose arrays have `size` elements.
    pub fn new(host: &'a Host, arguments: &'a Arguments, size: usize) -> Self {
        Reader {
            host,
            arguments,
            size,
        }
    }

    /// What is sent to every neighbour, for calls with one size for all.
    pub fn to_all(&self) -> Option<u64> {
        (self.arguments.send_counts == 0).then(|| self.sent())
    }

    /// What is sent to the neighbour `at`, for calls with a size for each.
    pub fn to_one(&self, at: usize) -> u64 {
        let arguments = self.arguments;
        match (arguments.send_counts, arguments.send_types) {
            (counts, 0) if self.host.is_null_datatype(arguments.send_type) || counts == 0 => 0,
            (counts, 0) => {
                let size = self.host.type_size(arguments.send_type);
                self.count_at(counts, at).saturating_mul(size)
            }
            (counts, types) => self.part_of_type(counts, types, at),
        }
    }

    fn sent(&self) -> u64 {
        let count = self.arguments.send_count.max(0) as u64;
        count.saturating_mul(self.host.type_size(self.arguments.send_type))
    }

    fn received(&self) -> u64 {
        let count = self.arguments.receive_count.max(0) as u64;
        count.saturating_mul(self.host.type_size(self.arguments.receive_type))
    }

    fn count_at(&self, counts: Word, rank: usize) -> u64 {
        // SAFETY: the call succeeded, so that its array of counts has an element
        // for each rank, of the width that the procedure takes.
        let count = unsafe {
            match self.arguments.large {
                true => *(counts as *const i64).add(rank),
                false => i64::from(*(counts as *const c_int).add(rank)),
            }
        };
        count.max(0) as u64
    }

    fn parts(&self, counts: Word, datatype: Word) -> Vec<u64> {
        if counts == 0 || self.host.is_null_datatype(datatype) {
            return vec![0; self.size];
        }
        let bytes = self.host.type_size(datatype);
        (0..self.size)
            .map(|rank| self.count_at(counts, rank).saturating_mul(bytes))
            .collect()
    }

    fn parts_of_types(&self, counts: Word, types: Word) -> Vec<u64> {
        if counts == 0 || types == 0 {
            return vec![0; self.size];
        }
        let part = |rank: usize| self.part_of_type(counts, types, rank);
        (0..self.size).map(part).collect()
    }

    /// The part of `rank` where each rank has a type of its own.
    fn part_of_type(&self, counts: Word, types: Word, rank: usize) -> u64 {
        let count = self.count_at(counts, rank);
        if count == 0 {
            return 0; // the type may be MPI_DATATYPE_NULL then
        }
        // SAFETY: as for counts; a handle for each rank.
        let datatype = unsafe {
            self.host
                .read_handle(types + rank * self.host.abi.handle_bytes)
        };
        count.saturating_mul(self.host.type_size(datatype))
    }
}
