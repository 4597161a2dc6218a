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

/// Setup that all calls look at.
pub struct Setup {
    /// Runner of each collective.
    pub collectives: Collectives,
    /// Reductions do not depend on where ranks run.
    pub reproducible: bool,
    /// Locality of the ranks of the application's world.
    pub locality: Locality,
    /// The group of the application's world.
    pub world_group: Group,
    /// A communicator of this process alone that returns errors; one thread uses it at a time. Gone
    /// when nothing is replaced any more.
    pub(super) alone: Mutex<Option<OwnComm>>,
    /// The largest message, in bytes, that the native MPI sends at once, where nobody measured it.
    pub eager: u64,
    /// Open MPI's HAN does the native MPI's own collectives.
    pub is_han: bool,
    /// Version of the native MPI, whose decision tables hold, if it is known.
    pub version: Option<Version>,
    /// Whether plans are measured first.
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
    /// The lot by which guards draw, the same on all ranks.
    pub seed: u64,
    /// Driver of the progress of started collectives.
    pub progress: Progress,
}

impl Setup {
    /// Whether the native MPI reduces what a call names with the operation that it names.
    pub fn can_reduce(&self, native: &Native, call: &Call) -> bool {
        // Held over a call of the MPI, which waits for nobody else.
        let alone = self.alone.lock();
        alone
            .as_ref()
            .is_some_and(|own| native.can_reduce(call.receive.datatype, call.op, own.handle()))
    }
}

/// The MPI's family, as models of its collectives know it.
pub fn family(native: &Native) -> Family {
    match native.is_open_mpi {
        true => Family::OpenMpi,
        false => Family::Mpich,
    }
}

pub(super) static SETUP: OnceCell<Setup> = OnceCell::new();

/// The set-up while collectives are replaced.
#[inline(always)]
pub fn active() -> Option<&'static Setup> {
    match features::any(features::REPLACING) {
        true => SETUP.get(),
        false => None,
    }
}

/// Locality of the ranks of the application's world, as plans see it, while collectives are
/// replaced.
pub fn locality() -> Option<&'static Locality> {
    active().map(|setup| &setup.locality)
}
