//! Learning between the runs of an application: selects the placement that is tried next, the one
//! that is used, and the time of its next comparison.
//!
//! ```text
//! policy      every constant
//! experience  the runs of an application, and judgements on its counted traffic
//! judge       candidates by counted traffic, for the locations of processes
//! comparison  two ways to run it: pairs of runs, and the standing of a candidate
//! next        the next run
//! display     knowledge about an application, for people
//! ```

mod comparison;
mod display;
mod experience;
mod judge;
mod next;
mod policy;
#[cfg(test)]
mod tests;

pub use comparison::{RunEvidence, Standing};
pub use experience::{Arm, Candidate, End, Experience, Judgement, Run};
pub use judge::Case;
pub use next::{Knowledge, Next, next};
pub use policy::{MAX_AGE_SECONDS, MAX_AHEAD_SECONDS};
