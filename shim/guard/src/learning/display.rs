//! Knowledge about an application, in words.

use std::fmt;

use super::comparison::{RunEvidence, Standing};
use super::experience::Arm;
use super::next::Knowledge;
use super::policy::LARGE_RATIO;
use treepie_placement::worth::Worth;

impl Arm {
    /// Returns the name of the arm within a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Arm::Plain => "the plain order",
            Arm::Permute => "other ranks",
            Arm::Bind => "binding",
        }
    }
}

impl Knowledge {
    /// Returns the arm in use, except for runs that compare.
    pub fn used(&self) -> Arm {
        match self {
            Knowledge::Compared {
                candidate,
                standing: Standing::Likely | Standing::Proven,
                ..
            } => *candidate,
            Knowledge::Compared { known, .. } => *known,
            _ => Arm::Plain,
        }
    }
}

impl fmt::Display for Knowledge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Knowledge::Unknown => out.write_str("nothing is known yet: its traffic is counted"),
            Knowledge::NeverEnds => {
                out.write_str("no run reached MPI_Finalize, so that nothing can be learnt")
            }
            Knowledge::Counted => {
                out.write_str("its traffic is counted; the next run there judges what it promises")
            }
            Knowledge::NotWorth(Worth::None) => out.write_str("no placement saves anything"),
            Knowledge::NotWorth(_) => {
                out.write_str("a placement would save too little to be tried")
            }
            Knowledge::Compared {
                known,
                candidate,
                standing,
                evidence,
            } => {
                let (known, candidate) = (known.in_words(), candidate.in_words());
                match standing {
                    Standing::Open => {
                        write!(out, "{candidate} tried in turn with {known}: {evidence}")
                    }
                    Standing::Likely => write!(
                        out,
                        "{candidate} used, not proven yet: every run is at least {LARGE_RATIO} times as \
                         quick as with {known}; {evidence}"
                    ),
                    Standing::Proven => write!(out, "{candidate} used: {evidence}"),
                    Standing::Declined if evidence.pairs == 0 => write!(
                        out,
                        "{candidate} declined: every run takes longer than with {known}"
                    ),
                    Standing::Declined => write!(out, "{candidate} declined: {evidence}"),
                    Standing::Failed => write!(
                        out,
                        "{candidate} declined: a run with it failed, which {known} did not"
                    ),
                    Standing::Waiting => {
                        write!(out, "{candidate} tried: a run with it has not ended")
                    }
                    Standing::Deferred => write!(
                        out,
                        "{candidate} tried once: it took longer than every run with {known}, and \
                         is looked at once more later"
                    ),
                }
            }
        }
    }
}

/// `saves 12.3 % (8.0 to 16.1 %), 9 pairs`.
impl fmt::Display for RunEvidence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(gain) = self.gain else {
            return out.write_str("no pair of runs yet");
        };
        let word = if gain < 0.0 { "costs" } else { "saves" };
        write!(out, "{word} {:.1} %", 100.0 * gain.abs())?;
        let (low, high) = self.interval;
        if low.is_finite() && high.is_finite() {
            write!(out, " ({:.1} to {:.1} %)", 100.0 * low, 100.0 * high)?;
        }
        let plural = if self.pairs == 1 { "" } else { "s" };
        write!(out, ", {} pair{plural}", self.pairs)
    }
}
