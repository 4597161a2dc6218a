//! Platform of the job: from a file, or measured here, inside the job's own `MPI_Init`
//! (`TREEPIE_PROBE=auto`).
//!
//! ```text
//!   file --> does it know the hosts? --> do a few latencies fit? --> used
//!                    | no                        | no
//!                    +---------> measured <------+
//! ```
//!
//! A file that has clusters by the names of their hosts, but not all links, is completed: missing
//! links are measured in any case.
//!
//! The measurement is in `treepie_platform::probe`; this module carries its messages.

mod source;
#[expect(unsafe_code, reason = "messages that go on while others begin")]
mod wire;

pub use source::{File, PlatformSource, PlatformUnknown, identity, measured, settle};
