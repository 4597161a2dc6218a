//! End-to-end tests: real jobs under real MPIs, each run with and without the
//! library and compared.
//!
//! The harness starts a job like a user, through its MPI's launcher, in a separate process group
//! and with a time limit; a job that does not end is shown with the stacks of all its processes.
//! The tests are in `tests/`, the jobs in `jobs/` and `programs/`; `scripts/build` builds both, and
//! a test whose job is not built fails and reports it. Nothing is skipped.
//!
//! ```no_run
//! use treepie_tests::{Job, Library, Mpi};
//!
//! let plain = Job::new(Mpi::OpenMpi, 4, "ring").run().succeeded();
//! let permuted = Job::new(Mpi::OpenMpi, 4, "ring")
//!     .with(Library::Permuted(vec![2, 0, 3, 1]))
//!     .run()
//!     .succeeded();
//! treepie_tests::assert_same_output(&plain, &permuted);
//! ```

pub mod artifacts;
pub mod book;
pub mod coverage;
pub mod document;
pub mod expected;
pub mod header;
pub mod hosts;
pub mod interface;
mod job;
mod library;
mod longer;
pub mod monitoring;
mod mpi;
mod outcome;
pub mod permutations;
pub mod placements;
mod processes;
pub mod random_programs;
pub mod results;
pub mod sources;
pub mod stores;
pub mod strategies;
mod turns;
pub mod two_clusters;
mod watched;

pub use job::Job;
pub use library::Library;
pub use longer::longer;
pub use mpi::{Mpi, find_command};
pub use outcome::{Outcome, assert_same_output};
pub use watched::run_watched;

/// Like [`under_each_mpi`], and with the feature `all-mpis` an additional test for each MPI of
/// [`Mpi::FURTHER`]: `scripts/test night`.
#[macro_export]
macro_rules! under_all_mpis {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn open_mpi() {
                super::$name($crate::Mpi::OpenMpi);
            }

            #[test]
            fn mpich() {
                super::$name($crate::Mpi::Mpich);
            }

            #[test]
            #[cfg(feature = "all-mpis")]
            fn open_mpi_5() {
                super::$name($crate::Mpi::OpenMpi5);
            }

            #[test]
            #[cfg(feature = "all-mpis")]
            fn open_mpi_6() {
                super::$name($crate::Mpi::OpenMpi6);
            }

            #[test]
            #[cfg(feature = "all-mpis")]
            fn mpich_5() {
                super::$name($crate::Mpi::Mpich5);
            }

            #[test]
            #[cfg(feature = "all-mpis")]
            fn standard_abi() {
                super::$name($crate::Mpi::StandardAbi);
            }

            #[test]
            #[cfg(feature = "all-mpis")]
            fn intel() {
                super::$name($crate::Mpi::Intel);
            }
        }
    )+};
}

/// Makes one test for each MPI out of functions `fn(Mpi)`:
/// `name::open_mpi` and `name::mpich`.
#[macro_export]
macro_rules! under_each_mpi {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn open_mpi() {
                super::$name($crate::Mpi::OpenMpi);
            }

            #[test]
            fn mpich() {
                super::$name($crate::Mpi::Mpich);
            }
        }
    )+};
}
