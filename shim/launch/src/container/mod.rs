//! Jobs whose programs run in containers. The library and its settings are passed into the
//! container, and the run-time that makes it is not preloaded.
//!
//! ```text
//!   mpirun -n 4 podman run IMAGE ./app         the user's command line
//!      |  table                                run-times and their options
//!      |  place                                position of options, image and program
//!      |  bound                                directories that ranks read and write
//!      |  options, pyxis                       options of this run-time for all of it
//!      v  trial                                can the container load the library?
//!   mpirun -n 4 podman run --volume=... --env=LD_PRELOAD=... IMAGE ./app
//! ```

mod bound;
mod container_command;
mod load;
mod options;
mod pyxis;
mod table;
mod trial;

pub use load::runtime_of_job;
pub use trial::{Obstacle, obstacle};

pub(crate) use container_command::is_runtime;
pub(crate) use load::load;

#[cfg(test)]
mod tests;
