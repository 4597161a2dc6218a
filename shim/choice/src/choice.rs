//! What was chosen for a class of calls, and what came into question.

use std::fmt::Write as _;

use treepie_collective::Algorithm;

/// The choice for a class of calls.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The algorithm; `None` for the native collective.
    pub algorithm: Option<&'static Algorithm>,
    /// The largest message that it sends, in bytes.
    pub segment: u64,
    /// Its predicted time in seconds, where a platform is known.
    pub seconds: Option<f64>,
    /// Why there is none.
    pub(super) unpredicted: Unpredicted,
    pub(super) considered: Vec<Considered>,
    pub(super) native: Option<f64>,
}

/// Why a choice is by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Unpredicted {
    #[default]
    NoPlatform,
    /// Each rank knows the sizes of its own blocks alone.
    UnknownSizes,
}

/// An algorithm with its best size of messages.
#[derive(Debug, Clone, Copy)]
pub struct Considered {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// The largest message, in bytes.
    pub segment: u64,
    /// Predicted seconds.
    pub seconds: f64,
}

impl Choice {
    /// The algorithms that came into question, the quickest first.
    pub fn considered(&self) -> Vec<Considered> {
        let mut all = self.considered.clone();
        all.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        all
    }

    /// Predicted seconds of the native collective, where its algorithms are known.
    pub fn native_seconds(&self) -> Option<f64> {
        self.native
    }

    /// Why it was chosen, in one line.
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
