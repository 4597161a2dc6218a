//! Neighbourhood collectives: who the neighbours are is known, so that their
//! messages are counted, not modelled.

use super::collectives::{Arguments, Reader};
use super::communicators::Communicator;
use crate::api::host::host;

/// The messages of one call: receiver as a rank of the application's world, and
/// bytes.
pub fn messages<'a>(
    communicator: &'a Communicator,
    arguments: &Arguments,
) -> impl Iterator<Item = (u32, u64)> + 'a {
    let neighbours = communicator.neighbours();
    let bytes = host().map_or_else(Vec::new, |host| {
        Reader::new(host, arguments, neighbours.len()).to_each()
    });
    neighbours
        .iter()
        .zip(bytes)
        .filter_map(|(&partner, bytes)| Some((partner?, bytes)))
}
