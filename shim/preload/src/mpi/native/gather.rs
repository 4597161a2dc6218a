//! Bytes of any length from all ranks to rank 0, along a binomial tree, and from
//! some of them; numbers from rank 0 to all.

use super::{Native, NativeError};
use crate::mpi::Word;

/// Sends what this rank and those below it in the tree have towards rank 0.
/// Round r joins ranks that differ in bit r: ceil(log2 ranks) rounds. The parts
/// arrive in no promised order; each says itself whose it is.
///
/// # Errors
/// A native call that failed.
pub fn gather(native: &Native, comm: Word, mut bytes: Vec<u8>) -> Result<Vec<u8>, NativeError> {
    let (rank, size) = (native.rank(comm)?, native.size(comm)?);
    let mut bit = 1;
    while bit < size {
        if rank & bit != 0 {
            send_bytes(native, comm, rank - bit, &bytes)?;
            return Ok(Vec::new());
        }
        if rank + bit < size {
            receive_bytes(native, comm, rank + bit, &mut bytes)?;
        }
        bit <<= 1;
    }
    Ok(bytes)
}

/// Sends bytes after their number.
///
/// # Errors
/// A native call that failed.
pub fn send_bytes(native: &Native, comm: Word, to: usize, bytes: &[u8]) -> Result<(), NativeError> {
    native.send(comm, to, &(bytes.len() as u64).to_le_bytes())?;
    native.send(comm, to, bytes)
}

/// Receives what [`send_bytes`] sent to the end of `bytes`.
///
/// # Errors
/// A native call that failed.
pub fn receive_bytes(
    native: &Native,
    comm: Word,
    from: usize,
    bytes: &mut Vec<u8>,
) -> Result<(), NativeError> {
    let mut length = [0; 8];
    native.receive(comm, from, &mut length)?;
    let start = bytes.len();
    bytes.resize(start + u64::from_le_bytes(length) as usize, 0);
    native.receive(comm, from, &mut bytes[start..])
}

/// Rank 0's list, on every rank.
///
/// # Errors
/// A native call that failed.
pub fn broadcast_numbers(
    native: &Native,
    comm: Word,
    list: Vec<usize>,
) -> Result<Vec<usize>, NativeError> {
    let mut length = (list.len() as u64).to_le_bytes();
    native.broadcast(comm, &mut length)?;
    let mut bytes: Vec<u8> = list
        .iter()
        .flat_map(|&number| (number as u64).to_le_bytes())
        .collect();
    bytes.resize(u64::from_le_bytes(length) as usize * 8, 0);
    native.broadcast(comm, &mut bytes)?;
    let numbers = bytes.as_chunks::<8>().0.iter();
    Ok(numbers
        .map(|bytes| u64::from_le_bytes(*bytes) as usize)
        .collect())
}

/// The texts that the listed ranks read, in their order, on rank 0; nothing for
/// those that could not read theirs.
///
/// # Errors
/// A native call that failed.
pub fn texts_of(
    native: &Native,
    comm: Word,
    readers: &[usize],
    read: impl Fn() -> Option<String>,
) -> Result<Vec<Option<String>>, NativeError> {
    let rank = native.rank(comm)?;
    let mine = readers.contains(&rank).then(|| read().unwrap_or_default());
    if rank != 0 {
        if let Some(text) = mine {
            send_bytes(native, comm, 0, text.as_bytes())?;
        }
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for &reader in readers {
        let mut bytes = Vec::new();
        match reader {
            0 => bytes.extend(mine.iter().flat_map(|text| text.bytes())),
            _ => receive_bytes(native, comm, reader, &mut bytes)?,
        }
        let text = String::from_utf8(bytes).ok();
        texts.push(text.filter(|text| !text.is_empty()));
    }
    Ok(texts)
}
