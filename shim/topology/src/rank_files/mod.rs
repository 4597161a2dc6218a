//! Placements in the formats of launchers: files and options by which a launcher puts each rank on
//! its core, so that no permutation is needed.
//!
//! | form | for | use |
//! |---|---|---|
//! | [`Form::OpenMpi`] | Open MPI 1.7 to 5 | 4: `mpirun --rankfile FILE`; 5: `mpirun --map-by rankfile:file=FILE` |
//! | [`Form::OpenMpiPhysical`] | Open MPI 1.5 and 1.6 | as in the TreeMatch thesis (figure 1.8) |
//! | [`Form::Hydra`] | MPICH, Intel MPI, MVAPICH | `mpiexec -f FILE`, with [`Binding::hydra`] |
//! | [`Form::Slurm`] | Slurm | `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`, with [`Binding::slurm`] |
//! | [`Form::Flux`] | Flux | `flux run --taskmap=hostfile:FILE`, with [`Binding::flux`] |
//! | [`Form::ParaStation`] | ParaStation | `PSI_HOSTFILE=FILE PSI_NODES_SORT=none mpiexec` |
//! | [`Form::Pbs`] | PBS | a file of nodes in the format of `PBS_NODEFILE` |
//! | [`Form::Cray`] | Cray MPICH | `MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=FILE` |
//! | [`Form::Pjm`] | Fujitsu's job manager (Fugaku) | `pjsub --mpi rank-map-hostfile=FILE` |
//!
//! A launcher without a field for cores in its file puts the ranks of one host on that host, and
//! their cores follow from options: see [`Binding`].

mod binding;
mod form;
mod slots;
#[cfg(test)]
mod tests;
mod write;

pub use binding::Binding;
pub use form::Form;
pub use slots::{LauncherSlot, slots};
pub use write::write;
