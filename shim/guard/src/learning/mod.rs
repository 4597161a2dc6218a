//! Learning between the runs of an application: which placement is tried next, which one is used,
//! and when it is compared again.
//!
//! ```text
//! policy      every constant
//! experience  the runs of an application, and judgements on its counted traffic
//! judge       candidates by counted traffic, where processes are
//! comparison  two ways to run it: pairs of runs, and the standing of a candidate
//! next        the next run
//! display     knowledge of an application, for people
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
