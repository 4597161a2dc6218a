//! Cell of a call, from arguments that MPI requires to be equal on all ranks.

use treepie_guard::CellKey;
use treepie_mpi::Call;
use treepie_mpi::native::Native;

use crate::bytes::bytes_of;
use crate::ground::Ground;

/// Returns the cell of a call.
pub fn key(native: &Native, call: &Call, ground: &Ground, ordered: bool) -> CellKey {
    let bytes = bytes_of(native, call, ground);
    CellKey::new(call.operation, call.root as u32, bytes, ordered)
}
