//! Placements in the formats of launchers: files and options by which a launcher puts each rank
//! where a placement says, so that nothing is left to permute.
//!
//! | form | for | how it is used |
//! |---|---|---|
//! | [`Form::OpenMpi`] | Open MPI 1.7 to 5 | 4: `mpirun --rankfile FILE`; 5: `mpirun --map-by rankfile:file=FILE` |
//! | [`Form::OpenMpiPhysical`] | Open MPI 1.5 and 1.6 | as the TreeMatch thesis prints it (figure 1.8) |
//! | [`Form::Hydra`] | MPICH, Intel MPI, MVAPICH | `mpiexec -f FILE`, with [`Binding::hydra`] |
//! | [`Form::Slurm`] | Slurm | `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`, with [`Binding::slurm`] |
//! | [`Form::Flux`] | Flux | `flux run --taskmap=hostfile:FILE`, with [`Binding::flux`] |
//! | [`Form::ParaStation`] | ParaStation | `PSI_HOSTFILE=FILE PSI_NODES_SORT=none mpiexec` |
//! | [`Form::Pbs`] | PBS | a file of nodes as `PBS_NODEFILE` names it |
//! | [`Form::Cray`] | Cray MPICH | `MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE` |
//! | [`Form::Pjm`] | Fujitsu's job manager (Fugaku) | `pjsub --mpi rank-map-hostfile=FILE` |
//!
//! A launcher that has no field for cores in its file puts the ranks of one host on that host, and
//! their cores follow from options: see [`Binding`].

mod binding;
mod slots;
#[cfg(test)]
mod tests;
mod write;

pub use binding::Binding;
pub use slots::{Slot, slots};
pub use write::write;

use std::path::Path;

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// The forms that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Form {
    /// `rank 0=host slot=SOCKET:CORE`, counted logically.
    OpenMpi,
    /// `rank 0=host slot=pSOCKET:CORE`.
    OpenMpiPhysical,
    /// `host:count`, hosts in the order of the ranks.
    Hydra,
    /// The host of each rank, one a line.
    Slurm,
    /// The host of each rank, one a line.
    Flux,
    /// The host of each rank, one a line.
    #[strum(serialize = "parastation")]
    ParaStation,
    /// The host of each rank, one a line.
    Pbs,
    /// The ranks in the order of the job's cores, separated by commas.
    Cray,
    /// The node of each rank as a coordinate, `(3)`, one a line.
    Pjm,
}

impl Form {
    /// The form that a file's name gives away: `.rankfile`, `.hostfile`,
    /// `MPICH_RANK_ORDER`.
    pub fn from_path(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_str()?;
        if name.starts_with("MPICH_RANK_ORDER") {
            return Some(Form::Cray);
        }
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("rankfile") => Some(Form::OpenMpi),
            Some("hostfile") => Some(Form::Hydra),
            _ if name == "rankfile" => Some(Form::OpenMpi),
            _ => None,
        }
    }
}

from_name!(Form, "form of rank file");
