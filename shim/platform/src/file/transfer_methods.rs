//! Costs of methods in their written form: one line for each size of pieces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contents::PlatformError;
use crate::numbers::{MICROSECONDS, rounded};
use crate::transfer_methods::{TransferMethod, WayCost, Ways};
use treepie_traffic::windows::EpochKind;

/// Columns of a line.
const COLUMNS: &str = "bytes one_us further_us";

/// The methods of a link.
#[derive(Serialize, Deserialize)]
pub(super) struct WaysText {
    /// Microseconds of an epoch with one put of 8 bytes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    epochs_us: BTreeMap<EpochKind, f64>,
    #[serde(flatten)]
    costs: BTreeMap<TransferMethod, Vec<String>>,
}

impl WaysText {
    pub(super) fn new(ways: &Ways) -> Self {
        let micro = |seconds: f64| rounded(seconds * MICROSECONDS);
        let row = |cost: &WayCost| {
            let (one, further) = (micro(cost.one), micro(cost.further));
            format!("{} {one} {further}", cost.bytes)
        };
        let of_way = |(&way, costs): (&TransferMethod, &Vec<WayCost>)| {
            (way, costs.iter().map(row).collect())
        };
        let of_kind = |(&kind, &seconds): (&EpochKind, &f64)| (kind, micro(seconds));
        WaysText {
            epochs_us: ways.epochs().iter().map(of_kind).collect(),
            costs: ways.costs().iter().map(of_way).collect(),
        }
    }

    /// Builds the methods; messages name `field`, the method and the line.
    pub(super) fn build(&self, field: &str) -> Result<Ways, PlatformError> {
        let mut costs = BTreeMap::new();
        for (&way, rows) in &self.costs {
            let rows = rows.iter().enumerate().map(|(place, row)| {
                cost_of(row).ok_or_else(|| {
                    let problem = format!("`{row}` is no line of `{COLUMNS}`; write three numbers");
                    PlatformError::new(format!("{field}.{way}[{place}]"), problem)
                })
            });
            costs.insert(way, rows.collect::<Result<Vec<_>, _>>()?);
        }
        let epochs = self.epochs_us.iter();
        let epochs = epochs.map(|(&kind, &micro)| (kind, micro / MICROSECONDS));
        Ways::new(costs, epochs.collect()).map_err(|error| PlatformError::new(field, error))
    }
}

fn cost_of(row: &str) -> Option<WayCost> {
    let words: Vec<&str> = row.split_whitespace().collect();
    let [bytes, one, further] = words.as_slice() else {
        return None;
    };
    let seconds = |word: &str| Some(word.parse::<f64>().ok()? / MICROSECONDS);
    Some(WayCost {
        bytes: bytes.parse().ok()?,
        one: seconds(one)?,
        further: seconds(further)?,
    })
}
