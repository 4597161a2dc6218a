//! Neighbourhood collectives: who the neighbours are is known, so that their
//! messages are counted, not modelled.

use super::collectives::{Arguments, Reader};
use super::communicators::Communicator;
use crate::api::host::host;

/// The messages of one call: receiver as a rank of the application's world, and
/// bytes. Nothing is allocated.
#[inline]
pub fn messages<'a>(
    communicator: &'a Communicator,
    arguments: &'a Arguments,
) -> impl Iterator<Item = (u32, u64)> + 'a {
    let neighbours = communicator.neighbours();
    let reader = host().map(|host| Reader::new(host, arguments, neighbours.len()));
    let to_all = reader.as_ref().and_then(Reader::to_all);
    let to_one = move |at| reader.as_ref().map_or(0, |reader| reader.to_one(at));
    neighbours
        .iter()
        .enumerate()
        .filter_map(move |(at, &partner)| Some((partner?, to_all.unwrap_or_else(|| to_one(at)))))
}
