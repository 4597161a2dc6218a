//! Who this process is in the record, and the world whose ranks everything is counted in.

use once_cell::sync::OnceCell;
use treepie_base::{Process, Rank};
use treepie_mpi::Group;
use treepie_mpi::native::{Native, NativeError};

/// This process in the job.
#[derive(Debug)]
pub struct Identity {
    /// Its number in the launcher's world.
    pub process: Process,
    /// Its number in the application's world.
    pub rank: Rank,
    /// Name of its host.
    pub host: String,
    /// The cores that it may run on, as Linux lists them.
    pub allowed_cores: String,
    /// The group of the application's world, which ranks are translated to.
    pub world: Group,
}

static IDENTITY: OnceCell<Identity> = OnceCell::new();

/// Sets who this process is, once.
pub fn identify(identity: Identity) {
    let _ = IDENTITY.set(identity);
}

/// Who this process is, once it is known.
pub fn identity() -> Option<&'static Identity> {
    IDENTITY.get()
}

/// The world ranks of a group, which is freed; `u32::MAX` for processes of another world.
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
