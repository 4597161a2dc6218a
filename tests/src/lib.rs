//! End-to-end tests: real jobs under real MPIs, each run with and without the
//! library and compared.
//!
//! The harness starts a job as a user would, through its MPI's launcher, in a
//! process group of its own and with a time limit; a job that does not end is
//! shown with the stacks of all its processes. The tests are in `tests/`, the
//! jobs in `jobs/` and `programs/`; `scripts/build` builds both, and a test
//! whose job is not built fails and says so. Nothing is skipped.
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
pub mod expected;
mod job;
mod library;
mod mpi;
mod outcome;
pub mod permutations;
mod processes;
mod watched;

pub use job::Job;
pub use library::Library;
pub use mpi::Mpi;
pub use outcome::{Outcome, assert_same_output};
pub use watched::run_watched;

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
