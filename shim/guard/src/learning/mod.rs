//! What earlier runs of an application say of its next one: which placement is tried, what was
//! decided, when it is looked at again.
//!
//! ```text
//! experience  the runs of an application, and what its counted traffic promised
//! judge       what counted traffic promises where processes are
//! standing    two ways to run it: pairs of runs, and what they have shown
//! next        what the next run does
//! words       the same for people
//! ```

mod experience;
mod judge;
mod next;
mod standing;
#[cfg(test)]
mod tests;
mod words;

pub use experience::{Arm, Candidate, End, Experience, Judgement, Run};
pub use judge::Case;
pub use next::{AHEAD, MEMORY, Next, State, next};
pub use standing::{Evidence, Found};
