//! Operations for which the application has requests.

use std::sync::Arc;

use treepie_mpi::native::Native;
use treepie_mpi::{Request, Word};

use super::running::Running;
use crate::by_request::{ByRequest, key};

/// Non-blocking operations whose completion was not reported yet, and persistent ones.
pub(super) static OPEN: ByRequest<Arc<Running>> = ByRequest::new();

/// True if there are none.
#[inline(always)]
pub fn are_none() -> bool {
    OPEN.is_empty()
}

/// Returns the operations among these requests.
pub fn among(native: &Native, requests: impl Iterator<Item = Request>) -> Vec<Arc<Running>> {
    let placed = placed_among(native, requests).into_iter();
    placed.map(|(_, running)| running).collect()
}

/// Returns the operations among these requests, with their indices.
pub fn placed_among(
    native: &Native,
    requests: impl Iterator<Item = Request>,
) -> Vec<(usize, Arc<Running>)> {
    OPEN.with(|open| {
        let find = |(at, request)| Some((at, open.get(&key(native, request))?.clone()));
        requests.enumerate().filter_map(find).collect()
    })
}

/// True if an operation uses an object of the application with this handle.
pub fn use_handle(handle: Word) -> bool {
    OPEN.with(|open| open.values().any(|running| running.uses(handle)))
}
