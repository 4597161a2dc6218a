//! Costs of methods that transfer pieces of data from one rank to another.
//!
//! After the report on remote memory access (R. Prou, 2015, HAL hal-01252752, chapters 2 and 3):
//! samples determine whether pieces are sent separately or gathered. A method is sampled with one
//! piece and with several, each time until the origin knows that all have arrived. For n pieces of
//! m bytes the better of two methods is the one with the smaller
//!
//! ```text
//!   one(m) + (n - 1) further(m)
//! ```
//!
//! which is the report's inequality between eager and gather, with each side measured as a whole:
//! including the copies, the datatype and the answer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{Display, VariantArray};
use thiserror::Error;

use treepie_traffic::windows::EpochKind;

/// Method that transfers pieces, separated by gaps at both ends, from one rank to another.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Display,
    VariantArray,
    Serialize,
    Deserialize,
)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum TransferMethod {
    /// A message for each, all started before the first wait.
    Send,
    /// One message with a datatype of all.
    Vector,
    /// One message into which all are packed, and from which they are unpacked.
    Packed,
    /// A put for each, and a flush.
    Put,
    /// One put with a datatype of all at both ends, and a flush.
    PutVector,
    /// One put of contiguous copies with a datatype at the target, and a flush: gathering.
    PutJoined,
    /// A get for each, and a flush.
    Get,
    /// An accumulate for each, and a flush.
    Accumulate,
}

impl TransferMethod {
    /// All methods.
    pub const ALL: &'static [TransferMethod] = Self::VARIANTS;
}

/// Cost of a method with pieces of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WayCost {
    /// Bytes of a piece.
    pub bytes: u64,
    /// Seconds of one piece, until the origin knows that it has arrived.
    pub one: f64,
    /// Seconds that each further piece adds.
    pub further: f64,
}

/// Reason why numbers are not costs of methods.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WaysError {
    /// Two samples have the same size.
    #[error("{way} has two samples of {bytes} bytes; keep one of them")]
    Twice {
        /// The method.
        way: TransferMethod,
        /// The size.
        bytes: u64,
    },
    /// A value that cannot be a cost.
    #[error("{what} has the cost {value}; a number from 0 was expected")]
    Cost {
        /// The method or the kind of epoch.
        what: String,
        /// The cost in seconds.
        value: f64,
    },
}

/// Measured costs of methods from one rank to another, and of epochs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ways {
    costs: BTreeMap<TransferMethod, Vec<WayCost>>,
    epochs: BTreeMap<EpochKind, f64>,
}

impl Ways {
    /// Costs by method, in any order of sizes, and seconds of an epoch of each kind with one put of
    /// 8 bytes; for `LockAll` those of the put and a flush.
    ///
    /// # Errors
    /// Two costs have the same size, or a cost is negative.
    pub fn new(
        mut costs: BTreeMap<TransferMethod, Vec<WayCost>>,
        epochs: BTreeMap<EpochKind, f64>,
    ) -> Result<Self, WaysError> {
        let check = |what: String, value: f64| {
            if value.is_finite() && value >= 0.0 {
                Ok(())
            } else {
                Err(WaysError::Cost { what, value })
            }
        };
        costs.retain(|_, costs| !costs.is_empty());
        for (&way, costs) in &mut costs {
            costs.sort_by_key(|cost| cost.bytes);
            if let Some(pair) = costs.windows(2).find(|pair| pair[0].bytes == pair[1].bytes) {
                let bytes = pair[0].bytes;
                return Err(WaysError::Twice { way, bytes });
            }
            for cost in costs {
                check(way.to_string(), cost.one)?;
                check(way.to_string(), cost.further)?;
            }
        }
        for (kind, &seconds) in &epochs {
            check(kind.to_string(), seconds)?;
        }
        Ok(Ways { costs, epochs })
    }

    /// All measured costs, from small pieces to large ones.
    pub fn costs(&self) -> &BTreeMap<TransferMethod, Vec<WayCost>> {
        &self.costs
    }

    /// Seconds of an epoch of each kind with one put of 8 bytes.
    pub fn epochs(&self) -> &BTreeMap<EpochKind, f64> {
        &self.epochs
    }

    /// Cost of a method with pieces of `bytes` bytes: linear between two samples, above the last
    /// one proportional to the size. `None` if it was not measured.
    pub fn cost(&self, way: TransferMethod, bytes: f64) -> Option<WayCost> {
        let costs = self.costs.get(&way)?;
        let size = |cost: &WayCost| cost.bytes as f64;
        let above = costs.partition_point(|cost| size(cost) < bytes);
        let (first, last) = (costs.first()?, costs.last()?);
        let mixed = |one: f64, further: f64| WayCost {
            bytes: bytes as u64,
            one,
            further,
        };
        if above == 0 {
            return Some(mixed(first.one, first.further));
        }
        let Some(upper) = costs.get(above) else {
            let times = bytes / size(last).max(1.0);
            return Some(mixed(last.one * times, last.further * times));
        };
        let lower = &costs[above - 1];
        let place = (bytes - size(lower)) / (size(upper) - size(lower));
        let between = |from: f64, to: f64| from + (to - from) * place;
        Some(mixed(
            between(lower.one, upper.one),
            between(lower.further, upper.further),
        ))
    }

    /// Seconds of `pieces` pieces of `bytes` bytes.
    pub fn seconds(&self, way: TransferMethod, pieces: f64, bytes: f64) -> Option<f64> {
        let cost = self.cost(way, bytes)?;
        Some(cost.one + (pieces - 1.0).max(0.0) * cost.further)
    }

    /// The number of pieces of `bytes` bytes from which `other` is faster than `way`; `None` if it
    /// is not for all larger numbers, or was not measured.
    pub fn pieces_from(
        &self,
        way: TransferMethod,
        other: TransferMethod,
        bytes: u64,
    ) -> Option<u64> {
        let (way, other) = (
            self.cost(way, bytes as f64)?,
            self.cost(other, bytes as f64)?,
        );
        let (more, saved) = (other.one - way.one, way.further - other.further);
        if more < 0.0 {
            (saved >= 0.0).then_some(1)
        } else {
            (saved > 0.0).then(|| (more / saved).floor() as u64 + 2)
        }
    }

    /// The largest size of pieces, in bytes, up to which `other` is faster than `way` with `pieces`
    /// of them; `None` if it is not with the smallest measured size. The size of the last sample
    /// means "all".
    pub fn bytes_up_to(
        &self,
        way: TransferMethod,
        other: TransferMethod,
        pieces: u64,
    ) -> Option<u64> {
        let gain = |bytes: u64| {
            let seconds = |way| self.seconds(way, pieces as f64, bytes as f64);
            Some(seconds(way)? - seconds(other)?)
        };
        let mut last: Option<(u64, f64)> = None;
        for bytes in self.costs.get(&way)?.iter().map(|cost| cost.bytes) {
            let gained = gain(bytes)?;
            if gained <= 0.0 {
                let (from, before) = last?;
                let place = before / (before - gained);
                return Some(from + ((bytes - from) as f64 * place) as u64);
            }
            last = Some((bytes, gained));
        }
        last.map(|(bytes, _)| bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn costs(samples: &[(u64, f64, f64)]) -> Vec<WayCost> {
        let cost = |&(bytes, one, further)| WayCost {
            bytes,
            one,
            further,
        };
        samples.iter().map(cost).collect()
    }

    fn ways() -> Ways {
        let of_ways = [
            (
                TransferMethod::Put,
                costs(&[(64, 10.0, 2.0), (8, 10.0, 1.0)]),
            ),
            (
                TransferMethod::PutJoined,
                costs(&[(8, 14.0, 0.5), (64, 14.0, 4.0)]),
            ),
        ];
        Ways::new(of_ways.into(), BTreeMap::new()).unwrap()
    }

    #[test]
    fn costs_are_on_lines_between_samples_and_grow_with_the_size_beyond() {
        let ways = ways();
        assert_eq!(ways.seconds(TransferMethod::Put, 5.0, 8.0), Some(14.0));
        assert_eq!(ways.seconds(TransferMethod::Put, 5.0, 1.0), Some(14.0));
        assert_eq!(ways.seconds(TransferMethod::Put, 3.0, 36.0), Some(13.0));
        assert_eq!(ways.seconds(TransferMethod::Put, 2.0, 128.0), Some(24.0));
        assert_eq!(ways.seconds(TransferMethod::Get, 1.0, 8.0), None);
    }

    #[test]
    fn thresholds_are_where_both_sides_of_the_inequality_are_equal() {
        let ways = ways();
        // 10 + (n - 1) > 14 + (n - 1) / 2 from n = 10 on.
        assert_eq!(
            ways.pieces_from(TransferMethod::Put, TransferMethod::PutJoined, 8),
            Some(10)
        );
        assert_eq!(
            ways.pieces_from(TransferMethod::Put, TransferMethod::PutJoined, 64),
            None
        );
        assert_eq!(
            ways.pieces_from(TransferMethod::PutJoined, TransferMethod::Put, 64),
            Some(1)
        );
        // Faster with few pieces only.
        assert_eq!(
            ways.pieces_from(TransferMethod::PutJoined, TransferMethod::Put, 8),
            None
        );
        // With 101 pieces 50 - 4 are gained at 8 bytes, and 204 are lost at 64.
        let up_to = ways
            .bytes_up_to(TransferMethod::Put, TransferMethod::PutJoined, 101)
            .unwrap();
        assert_eq!(up_to, 8 + (56.0 * 46.0 / 250.0) as u64);
        assert_eq!(
            ways.bytes_up_to(TransferMethod::Put, TransferMethod::PutJoined, 2),
            None
        );
        assert_eq!(
            ways.bytes_up_to(TransferMethod::PutJoined, TransferMethod::Put, 2),
            Some(64)
        );
    }

    #[test]
    fn costs_that_nothing_has_are_refused() {
        let error = |samples: &[(u64, f64, f64)]| {
            let of_ways = [(TransferMethod::PutVector, costs(samples))].into();
            Ways::new(of_ways, BTreeMap::new()).unwrap_err().to_string()
        };
        assert_eq!(
            error(&[(8, 1.0, 1.0), (8, 2.0, 1.0)]),
            "put-vector has two samples of 8 bytes; keep one of them"
        );
        assert_eq!(
            error(&[(8, 1.0, -1.0)]),
            "put-vector has the cost -1; a number from 0 was expected"
        );
    }
}
