//! Operations that the application has requests for.

use std::sync::Arc;

use treepie_mpi::native::Native;
use treepie_mpi::{Request, Word};

use super::running::Running;
use crate::by_request::{ByRequest, key};

/// Operations that were not told to be complete, and persistent ones.
pub(super) static OPEN: ByRequest<Arc<Running>> = ByRequest::new();

/// Whether there are none.
#[inline(always)]
pub fn are_none() -> bool {
    OPEN.is_empty()
}

/// The operations among these requests.
pub fn among(native: &Native, requests: impl Iterator<Item = Request>) -> Vec<Arc<Running>> {
    let placed = placed_among(native, requests).into_iter();
    placed.map(|(_, running)| running).collect()
}

/// The operations among these requests, with their places among them.
pub fn placed_among(
    native: &Native,
    requests: impl Iterator<Item = Request>,
) -> Vec<(usize, Arc<Running>)> {
    OPEN.with(|open| {
        let find = |(at, request)| Some((at, open.get(&key(native, request))?.clone()));
        requests.enumerate().filter_map(find).collect()
    })
}

/// Whether an operation uses an object of the application's with this handle.
pub fn use_handle(handle: Word) -> bool {
    OPEN.with(|open| open.values().any(|running| running.uses(handle)))
}
