//! Sharing, gathering and exchange of values, adopted by all ranks or by none.

use std::hint::black_box;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::group::Group;
use super::group::gather_bytes;
use crate::native::NativeError;

/// Text that libraries of all ranks must have in common: the version, and a number that is raised
/// with each change of a shared type, or of a result that ranks compute alike, within a version.
pub(super) static VERSION: &str = concat!("treepie ", env!("CARGO_PKG_VERSION"), ", messages 9");

/// Returns this library's version. It is read as it is in the file, where `strings` finds it and
/// tests can change it.
pub(super) fn version() -> &'static str {
    black_box(VERSION)
}

/// Reason why a value is not adopted.
#[derive(Debug, Error)]
pub enum ShareError {
    /// A native call failed.
    #[error(transparent)]
    Native(#[from] NativeError),
    /// Rank 0 has another library.
    #[error(
        "the library of rank {rank} is {own}, that of rank 0 is {found}; preload the same \
         libtreepie.so on all ranks"
    )]
    Version {
        /// Rank of this process.
        rank: usize,
        /// Version of its library.
        own: &'static str,
        /// Version of rank 0's library.
        found: String,
    },
    /// The received value is not the one that was sent: a defect.
    #[error("rank {rank} cannot read what other ranks sent: {problem} (please report)")]
    Unreadable {
        /// Rank of this process.
        rank: usize,
        /// Decoding error.
        problem: postcard::Error,
    },
    /// Another rank could not read its value, and reports why.
    #[error("rank {rank} could not read what other ranks sent")]
    Elsewhere {
        /// First such rank.
        rank: usize,
    },
}

impl ShareError {
    /// True if this rank is to report it: one rank reports a failure that all know.
    pub fn is_reported_here(&self) -> bool {
        match self {
            ShareError::Elsewhere { .. } => false,
            ShareError::Native(error) => error.is_reported_here(),
            ShareError::Version { .. } | ShareError::Unreadable { .. } => true,
        }
    }
}

/// Returns rank 0's value, which it passes as `mine`, on all ranks. Collective.
///
/// # Errors
/// A native call that failed; a value that some rank cannot read, which is an error on all ranks.
pub fn share<T>(group: &impl Group, mine: Option<T>) -> Result<T, ShareError>
where
    T: Serialize + DeserializeOwned,
{
    let encoded = mine.as_ref().map(|value| encode(&(version(), value)));
    let bytes = broadcast_any_length(encoded.unwrap_or_default(), |part| group.broadcast(part))?;
    let value = match mine {
        Some(value) => Ok(value),
        None => decode_shared(group.rank(), &bytes),
    };
    adopted_by_all(group, value)
}

/// Returns the value of each rank, in rank order, on rank 0; nothing elsewhere. Collective.
///
/// # Errors
/// A native call that failed; a value that rank 0 cannot read, which is an error on all ranks.
pub fn gather<T>(group: &impl Group, mine: &T) -> Result<Vec<T>, ShareError>
where
    T: Serialize + DeserializeOwned,
{
    let all = gather_bytes(group, encode(&(group.rank(), mine)))?;
    let values = match group.rank() {
        0 => decode_gathered(group.size(), &all),
        _ => Ok(Vec::new()),
    };
    adopted_by_all(group, unreadable(group.rank(), values))
}

/// Returns the value of each rank, in rank order, on all ranks. Collective.
///
/// # Errors
/// Those of [`share`].
pub fn gather_to_all<T>(group: &impl Group, mine: &T) -> Result<Vec<T>, ShareError>
where
    T: Serialize + DeserializeOwned,
{
    let all = gather(group, mine)?;
    share(group, (group.rank() == 0).then_some(all))
}

/// Sends a value to the rank `to`, and receives one from the rank `from`. Collective: each rank
/// sends one and receives one.
///
/// # Errors
/// A native call that failed; a value that some rank cannot read, which is an error on all ranks.
pub fn exchange<T>(group: &impl Group, to: usize, from: usize, mine: &T) -> Result<T, ShareError>
where
    T: Serialize + DeserializeOwned,
{
    let bytes = encode(mine);
    let mut length = [0; size_of::<u64>()];
    group.exchange(
        (to, &(bytes.len() as u64).to_le_bytes()),
        (from, &mut length),
    )?;
    let mut theirs = vec![0; u64::from_le_bytes(length) as usize];
    group.exchange((to, &bytes), (from, &mut theirs))?;
    let value = postcard::from_bytes(&theirs);
    adopted_by_all(group, unreadable(group.rank(), value))
}

/// Returns this rank's result, if all ranks have one; otherwise the error of the first rank that
/// has none, there, and elsewhere an error that names that rank.
pub(super) fn adopted_by_all<T>(
    group: &impl Group,
    mine: Result<T, ShareError>,
) -> Result<T, ShareError> {
    let verdicts = group.allgather(u8::from(mine.is_ok()))?;
    match verdicts.iter().position(|&verdict| verdict == 0) {
        Some(rank) if rank != group.rank() => Err(ShareError::Elsewhere { rank }),
        _ => mine,
    }
}

/// Encodes a value as bytes; empty if it cannot be written, which no rank can read.
pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(value).unwrap_or_default()
}

pub(super) fn unreadable<T>(rank: usize, value: postcard::Result<T>) -> Result<T, ShareError> {
    value.map_err(|problem| ShareError::Unreadable { rank, problem })
}

pub(super) fn decode_shared<T: DeserializeOwned>(
    rank: usize,
    bytes: &[u8],
) -> Result<T, ShareError> {
    let (found, rest) = unreadable(rank, postcard::take_from_bytes::<&str>(bytes))?;
    let own = version();
    if found != own {
        let found = found.to_owned();
        return Err(ShareError::Version { rank, own, found });
    }
    unreadable(rank, postcard::from_bytes(rest))
}

/// Decodes the values of `size` ranks, which come with their ranks, in any order.
pub(super) fn decode_gathered<T: DeserializeOwned>(
    size: usize,
    mut bytes: &[u8],
) -> postcard::Result<Vec<T>> {
    let mut values: Vec<Option<T>> = Vec::new();
    values.resize_with(size, || None);
    while !bytes.is_empty() {
        let ((rank, value), rest) = postcard::take_from_bytes::<(usize, T)>(bytes)?;
        let slot = values.get_mut(rank);
        *slot.ok_or(postcard::Error::DeserializeBadEncoding)? = Some(value);
        bytes = rest;
    }
    let all: Option<Vec<T>> = values.into_iter().collect();
    all.ok_or(postcard::Error::DeserializeUnexpectedEnd)
}

/// Number of bytes that are sent with their length in the first broadcast. Most values need no
/// second one.
pub(super) const FIRST: usize = 1024;

/// Returns the bytes of rank 0, on every rank: by one broadcast of a fixed length, and a second one
/// of the rest if there is more.
pub(super) fn broadcast_any_length(
    mut bytes: Vec<u8>,
    mut broadcast: impl FnMut(&mut [u8]) -> Result<(), NativeError>,
) -> Result<Vec<u8>, NativeError> {
    let mut first = (bytes.len() as u64).to_le_bytes().to_vec();
    first.extend(bytes.iter().take(FIRST));
    first.resize(size_of::<u64>() + FIRST, 0);
    broadcast(&mut first)?;
    let Some((length, start)) = first.split_first_chunk() else {
        return Ok(bytes); // it is longer than that
    };
    bytes.resize(u64::from_le_bytes(*length) as usize, 0);
    let middle = bytes.len().min(FIRST);
    let (beginning, rest) = bytes.split_at_mut(middle);
    beginning.copy_from_slice(&start[..beginning.len()]);
    if !rest.is_empty() {
        broadcast(rest)?;
    }
    Ok(bytes)
}
