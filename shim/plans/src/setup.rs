//! Facts about the job that replacing collectives needs, the same on all ranks.

use std::sync::Arc;

use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use treepie_choice::Progress;
use treepie_collective::Locality;
use treepie_mpi::native::{Native, OwnComm};
use treepie_mpi::{Call, Group};
use treepie_native::Family;
use treepie_native::knobs::Version;
use treepie_process::features;
use treepie_profile::GuardedCell;
use treepie_profile::settings::{Collectives, GuardMode};

use crate::guard::knobs::Knobs;
use crate::transport::Located;

/// Setup that all calls use.
pub struct Setup {
    /// Runner of each collective.
    pub collectives: Collectives,
    /// True if reductions must not depend on where ranks run.
    pub reproducible: bool,
    /// Locality of the ranks of the application's world.
    pub locality: Locality,
    /// Group of the application's world.
    pub world_group: Group,
    /// Communicator of this process alone that returns errors; one thread uses it at a time.
    /// Removed when replacing ends.
    pub(super) alone: Mutex<Option<OwnComm>>,
    /// Eager limit of the native MPI in bytes, if it was not measured.
    pub eager: u64,
    /// True if Open MPI's HAN runs the native MPI's own collectives.
    pub is_han: bool,
    /// Version of the native MPI, for its decision tables, if it is known.
    pub version: Option<Version>,
    /// Mode of the guard: whether and how plans are measured first.
    pub guard: GuardMode,
    /// The MPI's other algorithms that guards may try.
    pub knobs: Option<Arc<Knobs>>,
    /// Location of each rank of the application's world, if ranks of a host may share memory;
    /// otherwise empty.
    pub located: Vec<Located>,
    /// Findings of guards of earlier runs.
    pub known: Vec<GuardedCell>,
    /// Findings of guards in other programs.
    pub proven: Vec<GuardedCell>,
    /// Seed of the guards' random order, the same on all ranks.
    pub seed: u64,
    /// Driver of the progress of started collectives.
    pub progress: Progress,
}

impl Setup {
    /// True if the native MPI reduces the datatype of a call with its operation.
    pub fn can_reduce(&self, native: &Native, call: &Call) -> bool {
        // Held over a call of the MPI, which involves no other process.
        let alone = self.alone.lock();
        alone
            .as_ref()
            .is_some_and(|own| native.can_reduce(call.receive.datatype, call.op, own.handle()))
    }
}

/// Returns the MPI's family, as models of its collectives know it.
pub fn family(native: &Native) -> Family {
    match native.is_open_mpi {
        true => Family::OpenMpi,
        false => Family::Mpich,
    }
}

pub(super) static SETUP: OnceCell<Setup> = OnceCell::new();

/// Returns the setup while collectives are replaced.
#[inline(always)]
pub fn active() -> Option<&'static Setup> {
    match features::any(features::REPLACING) {
        true => SETUP.get(),
        false => None,
    }
}

/// Returns the locality of the ranks of the application's world, as plans see it, while collectives
/// are replaced.
pub fn locality() -> Option<&'static Locality> {
    active().map(|setup| &setup.locality)
}
