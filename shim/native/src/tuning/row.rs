//! Row of a tuning: the calls of one operation and size.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::knobs::{Library, UnknownKnob};
use treepie_base::convert;
use treepie_collective::{Algorithm, Operation};

/// Calls of an operation on communicators with this number of ranks, of bytes from this row's
/// number up to the next row's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Collective operation.
    #[serde(with = "convert")]
    pub operation: Operation,
    /// Number of ranks of the communicator.
    pub ranks: usize,
    /// Bytes of the message, or of the block of one rank (of a pair of ranks in an all-to-all).
    pub from_bytes: u64,
    /// Algorithm that was proven to be faster; `None` if the MPI's default stays.
    #[serde(with = "default_name")]
    pub algorithm: Option<String>,
    /// Its seconds for a call, by the slowest rank; the default's if that stays.
    #[serde(rename = "us", with = "micros")]
    pub seconds: f64,
    /// Seconds of the default.
    #[serde(rename = "native_us", with = "micros")]
    pub native_seconds: f64,
    /// True if time ran out before the order was clear.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// Seconds of the other algorithms that were tried.
    #[serde(
        default,
        with = "micros_by_name",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub others: BTreeMap<String, f64>,
    /// Fastest of Treepie's plans that were proven to be faster than the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Seconds of all plans that were tried.
    #[serde(
        default,
        with = "micros_by_name",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub plans: BTreeMap<String, f64>,
    /// Seconds of other operations with the same result that were proven to be faster.
    #[serde(
        default,
        with = "micros_by_name",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub slower_than: BTreeMap<String, f64>,
}

impl Row {
    /// Returns the speedup by the algorithm: 1.5 if the default takes 1.5 times as long.
    pub fn factor(&self) -> f64 {
        self.native_seconds / self.seconds
    }

    /// Returns the plan that was proven to be faster, and its speedup.
    pub fn plan_factor(&self) -> Option<(&str, f64)> {
        let name = self.plan.as_deref()?;
        Some((name, self.native_seconds / self.plans.get(name)?))
    }

    /// Returns the speedup by the faster of both: 1 if the default stays.
    pub fn best_factor(&self) -> f64 {
        let plan = self.plan_factor().map_or(1.0, |(_, factor)| factor);
        self.factor().max(plan)
    }

    /// Returns the seconds of `algorithm`, if it was measured here.
    pub(super) fn seconds_of(&self, algorithm: &str) -> Option<f64> {
        match self.algorithm.as_deref() == Some(algorithm) {
            true => Some(self.seconds),
            false => self.others.get(algorithm).copied(),
        }
    }
}

/// Reason why a row is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowError {
    /// The MPI does not have the algorithm.
    #[error(transparent)]
    Unknown(#[from] UnknownKnob),
    /// It is replaced by another one, or is an error, among this number of ranks.
    #[error("{operation} by {name} is not for {ranks} ranks; take the row out, or measure again")]
    Ranks {
        /// Collective operation.
        operation: Operation,
        /// Name of the algorithm.
        name: String,
        /// Number of ranks.
        ranks: usize,
    },
    /// Treepie has no such plan.
    #[error("{operation} has no plan {name}; take it out, or measure again")]
    Plan {
        /// Collective operation.
        operation: Operation,
        /// Name of the plan.
        name: String,
    },
    /// It gives wrong results if operations do not commute.
    #[error(
        "{operation} by {name} is wrong for operations that do not commute; take the row out, or \
         write `commutative: true` where no program has such operations"
    )]
    Order {
        /// Collective operation.
        operation: Operation,
        /// Name of the algorithm.
        name: String,
    },
}

impl Row {
    pub(super) fn check(&self, library: Library, commutative: bool) -> Result<(), RowError> {
        let plans = self.plans.keys().chain(&self.plan);
        let mut unknown = plans.filter(|name| Algorithm::find(self.operation, name).is_none());
        if let Some(name) = unknown.next() {
            let (operation, name) = (self.operation, name.clone());
            return Err(RowError::Plan { operation, name });
        }
        let Some(name) = &self.algorithm else {
            return Ok(());
        };
        let knob = library.knob(self.operation, name)?;
        let (operation, name, ranks) = (self.operation, name.clone(), self.ranks);
        if !knob.allows(ranks) {
            return Err(RowError::Ranks {
                operation,
                name,
                ranks,
            });
        }
        if knob.reorders() && !commutative && !library.checks_order() {
            return Err(RowError::Order { operation, name });
        }
        Ok(())
    }
}

/// Algorithms by name, the MPI's own choice by `default`.
mod default_name {
    use serde::{Deserialize, Deserializer, Serializer};

    const DEFAULT: &str = "default";

    pub fn serialize<S: Serializer>(name: &Option<String>, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(name.as_deref().unwrap_or(DEFAULT))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
        Ok(Some(String::deserialize(input)?).filter(|name| name != DEFAULT))
    }
}

/// Seconds as microseconds, to a nanosecond.
mod micros {
    use serde::{Deserializer, Serializer};
    use treepie_base::convert;

    pub fn serialize<S: Serializer>(seconds: &f64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_f64((seconds * 1e9).round() / 1e3)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
        convert::number(input, |us| match us.is_finite() && us > 0.0 {
            true => Ok(us / 1e6),
            false => Err(format!(
                "{us} is no time; microseconds above 0 were expected"
            )),
        })
    }
}

/// Times by name, as [`micros`].
mod micros_by_name {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Micros(#[serde(with = "super::micros")] f64);

    pub fn serialize<S: Serializer>(
        times: &BTreeMap<String, f64>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.collect_map(times.iter().map(|(name, &seconds)| (name, Micros(seconds))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        let times = BTreeMap::<String, Micros>::deserialize(input)?;
        Ok(times
            .into_iter()
            .map(|(name, time)| (name, time.0))
            .collect())
    }
}
