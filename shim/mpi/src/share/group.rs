//! Ranks that send bytes to each other: those of a communicator, and threads in tests.

use crate::native::{Failed, Native, NativeError, Requests};
use crate::{Comm, Word, c_int};

/// Tag of exchanges.
const EXCHANGE: c_int = 1;

/// Ranks that send bytes to each other.
pub trait Group {
    /// Returns this rank.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Returns rank 0's bytes on all ranks, which all know their number. Collective.
    fn broadcast(&self, bytes: &mut [u8]) -> Result<(), NativeError>;

    /// Returns the byte of each rank on all ranks. Collective.
    fn allgather(&self, mine: u8) -> Result<Vec<u8>, NativeError>;

    /// Sends bytes whose number the receiver knows.
    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), NativeError>;

    /// Receives bytes.
    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), NativeError>;

    /// Sends and receives concurrently.
    fn exchange(&self, to: (usize, &[u8]), from: (usize, &mut [u8])) -> Result<(), NativeError>;
}

/// Ranks of a communicator.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    native: &'a Native,
    comm: Comm,
    rank: usize,
    size: usize,
}

impl<'a> Members<'a> {
    /// Creates the ranks of `comm`, an intra-communicator on which nobody else sends now.
    ///
    /// # Errors
    /// A native call that failed.
    pub fn new(native: &'a Native, comm: Comm) -> Result<Self, NativeError> {
        Ok(Members {
            native,
            comm,
            rank: native.rank(comm)?,
            size: native.size(comm)?,
        })
    }
}

impl Group for Members<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn broadcast(&self, bytes: &mut [u8]) -> Result<(), NativeError> {
        self.native.broadcast(self.comm, bytes)
    }

    fn allgather(&self, mine: u8) -> Result<Vec<u8>, NativeError> {
        self.native.allgather(self.comm, &[mine])
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
        self.native.send(self.comm, to, bytes)
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), NativeError> {
        self.native.receive(self.comm, from, bytes)
    }

    fn exchange(
        &self,
        (to, out): (usize, &[u8]),
        (from, back): (usize, &mut [u8]),
    ) -> Result<(), NativeError> {
        let Members { native, comm, .. } = *self;
        let failed = |call| move |code| NativeError::from(Failed { call, code });
        let byte = native.byte();
        let into = (back.as_mut_ptr() as Word, back.len() as c_int, byte);
        let what = (out.as_ptr() as Word, out.len() as c_int, byte);
        let mut requests = Requests::default();
        // SAFETY: both buffers are borrowed until the loop below ends, when both messages are
        // complete; after an error the native MPI is not called again for them, and the job is
        // about to fail.
        unsafe {
            let request = native.begin_receive(into, from, EXCHANGE, comm);
            requests.push(native, request.map_err(failed("MPI_Irecv"))?, 0);
            let request = native.begin_send(what, to, EXCHANGE, comm);
            requests.push(native, request.map_err(failed("MPI_Isend"))?, 1);
        }
        while !requests.is_empty() {
            native
                .test(&mut requests, |_| ())
                .map_err(failed("MPI_Testsome"))?;
        }
        Ok(())
    }
}

/// Returns the bytes of all ranks on rank 0, concatenated in no particular order: each must
/// identify its rank. Along a binomial tree: round r joins ranks that differ in bit r, ceil(log2
/// ranks) rounds. Collective.
///
/// # Errors
/// A native call that failed.
pub fn gather_bytes(group: &impl Group, mut bytes: Vec<u8>) -> Result<Vec<u8>, NativeError> {
    let (rank, size) = (group.rank(), group.size());
    let mut bit = 1;
    while bit < size {
        if rank & bit != 0 {
            group.send(rank - bit, &(bytes.len() as u64).to_le_bytes())?;
            group.send(rank - bit, &bytes)?;
            return Ok(Vec::new());
        }
        if rank + bit < size {
            let mut length = [0; size_of::<u64>()];
            group.receive(rank + bit, &mut length)?;
            let start = bytes.len();
            bytes.resize(start + u64::from_le_bytes(length) as usize, 0);
            group.receive(rank + bit, &mut bytes[start..])?;
        }
        bit <<= 1;
    }
    Ok(bytes)
}
