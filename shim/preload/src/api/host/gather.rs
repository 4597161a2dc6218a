//! Bytes of any length from all ranks to rank 0, along a binomial tree.

use super::{Host, HostError};
use crate::api::Word;

/// Sends what this rank and those below it in the tree have towards rank 0.
/// Round r joins ranks that differ in bit r: ceil(log2 ranks) rounds. The parts
/// arrive in no promised order; each says itself whose it is.
///
/// # Errors
/// A call of the host's that failed.
pub fn gather(host: &Host, comm: Word, mut bytes: Vec<u8>) -> Result<Vec<u8>, HostError> {
    let (rank, size) = (host.rank(comm)?, host.size(comm)?);
    let mut bit = 1;
    while bit < size {
        if rank & bit != 0 {
            send_bytes(host, comm, rank - bit, &bytes)?;
            return Ok(Vec::new());
        }
        if rank + bit < size {
            receive_bytes(host, comm, rank + bit, &mut bytes)?;
        }
        bit <<= 1;
    }
    Ok(bytes)
}

/// Sends bytes after their number.
///
/// # Errors
/// A call of the host's that failed.
pub fn send_bytes(host: &Host, comm: Word, to: usize, bytes: &[u8]) -> Result<(), HostError> {
    host.send(comm, to, &(bytes.len() as u64).to_le_bytes())?;
    host.send(comm, to, bytes)
}

/// Receives what [`send_bytes`] sent to the end of `bytes`.
///
/// # Errors
/// A call of the host's that failed.
pub fn receive_bytes(
    host: &Host,
    comm: Word,
    from: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), HostError> {
    let mut length = [0; 8];
    host.receive(comm, from, &mut length)?;
    let start = bytes.len();
    bytes.resize(start + u64::from_le_bytes(length) as usize, 0);
    host.receive(comm, from, &mut bytes[start..])
}
