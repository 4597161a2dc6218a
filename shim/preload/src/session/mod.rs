//! Life cycle of a job under Treepie: settings and the agreement of all ranks when MPI starts, the
//! profile when it ends, and partial profiles after an abnormal exit.
//!
//! ```text
//!            MPI_Init                                  MPI_Finalize
//! Before ------------> Starting --agree, adopt--> Running ------------> Ended
//!                         |                                               ^
//!                         +---- nothing to do, or ranks do not agree -----+
//! ```

mod cluster_network;
mod decision;
mod draft;
pub mod errors;
pub mod exits;
mod finish;
mod guard_results;
mod hosts;
mod input;
mod launched;
mod learning;
mod local_order;
mod meeting;
mod monitor;
mod obstacle;
mod order;
mod partial;
mod parts;
pub mod phases;
mod program;
mod redundancy;
mod replay;
mod request;
mod request_error;
mod run;
mod signals;
mod site;
pub mod start;
mod state;
mod tuning;
mod wanted;
