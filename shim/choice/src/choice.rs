//! Choice for a class of calls, and the algorithms that were considered.

use std::fmt::Write as _;

use treepie_collective::Algorithm;

/// Choice for a class of calls.
#[derive(Debug, Clone)]
pub struct Choice {
    /// Algorithm; `None` for the native collective.
    pub algorithm: Option<&'static Algorithm>,
    /// Largest message in bytes.
    pub segment: u64,
    /// Predicted time in seconds, if a platform is known.
    pub seconds: Option<f64>,
    /// Reason why there is no prediction.
    pub(super) unpredicted: Unpredicted,
    pub(super) considered: Vec<Considered>,
    pub(super) native: Option<f64>,
}

/// Reason why a choice is by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Unpredicted {
    #[default]
    NoPlatform,
    /// Each rank knows only the sizes of its own blocks.
    UnknownSizes,
}

/// Algorithm with its best size of messages.
#[derive(Debug, Clone, Copy)]
pub struct Considered {
    /// Algorithm.
    pub algorithm: &'static Algorithm,
    /// Largest message in bytes.
    pub segment: u64,
    /// Predicted seconds.
    pub seconds: f64,
}

impl Choice {
    /// Algorithms that were considered, the fastest first.
    pub fn considered(&self) -> Vec<Considered> {
        let mut all = self.considered.clone();
        all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        all
    }

    /// Predicted seconds of the native collective, if its algorithms are known.
    pub fn native_seconds(&self) -> Option<f64> {
        self.native
    }

    /// Reason of the choice, in one line.
    pub fn reason(&self) -> String {
        let milliseconds = |seconds: f64| format!("{:.3} ms", 1e3 * seconds);
        let Some(seconds) = self.seconds else {
            return match (self.unpredicted, &self.considered[..]) {
                (Unpredicted::NoPlatform, _) => "no platform is known: by rule".to_owned(),
                (Unpredicted::UnknownSizes, [together, alone]) => format!(
                    "not all ranks know the sizes: small blocks are predicted to take {} together, \
                     {} alone",
                    milliseconds(together.seconds),
                    milliseconds(alone.seconds),
                ),
                (Unpredicted::UnknownSizes, _) => {
                    "not all ranks know the sizes: by rule".to_owned()
                }
            };
        };
        let mut text = format!("predicted {}", milliseconds(seconds));
        if let Some(native) = self.native {
            let _ = write!(text, "; the MPI's own {}", milliseconds(native));
        }
        let chosen = self.algorithm.map(|algorithm| algorithm.name);
        let next = self.considered().into_iter();
        let next = next.filter(|other| Some(other.algorithm.name) != chosen);
        for other in next.take(2) {
            let _ = write!(
                text,
                "; {} {}",
                other.algorithm.name,
                milliseconds(other.seconds)
            );
        }
        text
    }
}
