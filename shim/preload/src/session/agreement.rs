//! What all ranks must agree on. Process 0 reads files and variables, decides,
//! and broadcasts: no rank acts on what it alone has seen.

use crate::api::host::{Host, HostError};
use treepie_core::files::configuration::LogLevel;

/// What every rank of the job does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// The job must end before the application starts.
    pub abort: bool,
    /// Traffic is counted, and a profile is written.
    pub record: bool,
    /// New rank of each process of the host's world, for a replay that permutes.
    pub permutation: Option<Vec<u32>>,
    /// From which level on messages are shown.
    pub log: LogLevel,
}

/// All levels, to read one from its number.
const LEVELS: [LogLevel; 5] = [
    LogLevel::Off,
    LogLevel::Error,
    LogLevel::Warn,
    LogLevel::Info,
    LogLevel::Debug,
];

impl Decision {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![
            u8::from(self.abort),
            u8::from(self.record),
            self.log as u8,
            u8::from(self.permutation.is_some()),
        ];
        for rank in self.permutation.iter().flatten() {
            bytes.extend_from_slice(&rank.to_le_bytes());
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Decision {
        let flag = |at: usize| bytes.get(at).is_some_and(|&byte| byte != 0);
        let level = bytes.get(2).copied().unwrap_or(0);
        let ranks = bytes.get(4..).unwrap_or_default().as_chunks::<4>().0;
        Decision {
            abort: flag(0),
            record: flag(1),
            log: LEVELS
                .into_iter()
                .find(|&known| known as u8 == level)
                .unwrap_or_default(),
            permutation: flag(3)
                .then(|| ranks.iter().map(|rank| u32::from_le_bytes(*rank)).collect()),
        }
    }
}

/// Process 0's decision, on every process of the world. Collective; `decide` is
/// called on process 0 only.
///
/// # Errors
/// A broadcast that failed.
pub fn agree(host: &Host, decide: impl FnOnce() -> Decision) -> Result<Decision, HostError> {
    let mine = match host.rank(host.world)? {
        0 => Some(decide()),
        _ => None,
    };
    let mut bytes = mine.as_ref().map(Decision::encode).unwrap_or_default();
    let mut length = (bytes.len() as u64).to_le_bytes();
    host.broadcast(host.world, &mut length)?;
    bytes.resize(u64::from_le_bytes(length) as usize, 0);
    host.broadcast(host.world, &mut bytes)?;
    Ok(mine.unwrap_or_else(|| Decision::decode(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_survives_the_broadcast() {
        for permutation in [None, Some(vec![]), Some(vec![2, 0, 70_000])] {
            let decision = Decision {
                abort: false,
                record: true,
                permutation,
                log: LogLevel::Debug,
            };
            assert_eq!(Decision::decode(&decision.encode()), decision);
        }
    }
}
