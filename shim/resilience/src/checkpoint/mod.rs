//! Coordinated checkpoints in simulation: the cost of waves of checkpoints to a job.
//!
//! After Camille Coti's study of blocking and non-blocking coordinated checkpointing (2006, figures
//! 14 to 24; Coti et al., SC 2006). No process is saved. This module simulates a job that iterates
//! (compute, then messages), waves that start at every interval, and images that are sent to
//! checkpoint servers.
//!
//! ```text
//! program       plans of one iteration: the faces of BT, the vectors of CG
//! coordination  the messages by which ranks agree on a cut
//! routes        links, cards and disks used by images; the servers
//! fair          rates of flows that share links
//! course        one wave: its duration, and the progress of the job meanwhile
//! timeline      a sequence of waves: run time and number of waves
//! loggers       event loggers of message logging
//! experiment    all of it for a platform and a protocol
//! ```
//!
//! Messages are those of the plan simulator ([`treepie_collective::read::simulate`]): one iteration
//! is simulated message by message. Images are fluid: each has a rate, and rates are recomputed
//! whenever an image is complete. While ranks communicate, messages share a link with one share for
//! each rank that uses it.
//!
//! Times are in seconds, sizes in bytes and rates in bytes per second.

mod coordination;
mod costs;
mod course;
mod error;
mod experiment;
mod fair;
mod loggers;
mod program;
mod routes;
mod timeline;

pub use crate::checkpoint::costs::Costs;
pub use crate::checkpoint::error::ExperimentError;
pub use crate::checkpoint::experiment::{Experiment, Outcome, Protocol};
pub use coordination::{Coordination, message_count};
pub use course::{Course, Piece};
pub use loggers::Loggers;
pub use program::{Pattern, Program};
pub use routes::{Limit, Servers};
pub use timeline::{NeverEnds, Run, run};
