//! Identity of this process in the record, and the world whose ranks are used in all counts.

use once_cell::sync::OnceCell;
use treepie_base::{Process, Rank};
use treepie_mpi::Group;
use treepie_mpi::native::{Native, NativeError};

/// This process in the job.
#[derive(Debug)]
pub struct Identity {
    /// Number in the launcher's world.
    pub process: Process,
    /// Rank in the application's world.
    pub rank: Rank,
    /// Name of its host.
    pub host: String,
    /// Cores that it may run on, in Linux's list format.
    pub allowed_cores: String,
    /// Group of the application's world, to whose ranks all ranks are translated.
    pub world: Group,
}

static IDENTITY: OnceCell<Identity> = OnceCell::new();

/// Sets the identity of this process, once.
pub fn identify(identity: Identity) {
    let _ = IDENTITY.set(identity);
}

/// Returns the identity of this process, once it is known.
pub fn identity() -> Option<&'static Identity> {
    IDENTITY.get()
}

/// Returns the world ranks of a group, and frees the group; `u32::MAX` for processes of another
/// world.
///
/// # Errors
/// A native call that failed.
pub fn world_ranks(
    native: &Native,
    group: Result<Group, NativeError>,
) -> Result<Vec<u32>, NativeError> {
    let identity = identity().ok_or(NativeError::UnknownFamily)?;
    let group = group?;
    let ranks = native.translate(group, identity.world);
    native.free_group(group);
    ranks
}
