//! Collectives of a profile: those run by plans, whose messages are known, and those run by the
//! native MPI, whose messages are modelled.

use std::collections::BTreeMap;

use serde::Serialize;
use treepie_collective::{Operation, Record};
use treepie_native::traffic::Model;
use treepie_profile::Profile;
use treepie_traffic::Traffic;

use super::table::Table;
use super::units;
use crate::layers::LayerSummary;

/// Calls of one collective that were run by the same plan or model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CollectiveSummary {
    /// The operation: `bcast`.
    pub collective: String,
    /// Algorithm of the plan that ran it; `None` for the native collective.
    pub plan: Option<String>,
    /// Number of calls.
    pub calls: u64,
    /// Messages of all ranks.
    pub messages: u64,
    /// Bytes of all ranks.
    pub bytes: u64,
    /// Model from which the messages follow; `None` if they are as run.
    pub model: Option<String>,
}

impl CollectiveSummary {
    /// True if its messages are those of the plan that ran.
    pub(crate) fn is_as_run(&self) -> bool {
        self.model.is_none()
    }

    /// Source of its messages.
    fn source(&self) -> String {
        match &self.model {
            // For example of communicators of one rank: no model is needed.
            Some(_) if self.messages == 0 => "sends nothing".to_owned(),
            Some(model) => format!("modelled: {model}"),
            None => "as run".to_owned(),
        }
    }
}

/// The collectives of a profile, by operation, with messages as run or by a model: `model`, or that
/// of the job's MPI for calls without a plan.
pub fn for_profile(profile: &Profile, model: Option<Model>) -> Vec<CollectiveSummary> {
    let mut alike: BTreeMap<(Operation, Option<&str>), Vec<&Record>> = BTreeMap::new();
    for record in &profile.collectives {
        let plan = record.plan.as_ref().map(|plan| plan.algorithm.as_str());
        alike
            .entry((record.operation, plan))
            .or_default()
            .push(record);
    }
    let summary = |((operation, plan), records): ((Operation, Option<&str>), Vec<&Record>)| {
        let calls = records.iter().map(|record| record.calls);
        let sent = profile.traffic_of_collectives(records.iter().copied(), model);
        let Traffic { messages, bytes } = sent.total();
        let modelled = match (plan, model) {
            (Some(_), None) => None,
            (_, model) => Some(model.unwrap_or_else(|| profile.native_model()).to_string()),
        };
        CollectiveSummary {
            collective: operation.to_string(),
            plan: plan.map(str::to_owned),
            calls: calls.fold(0, u64::saturating_add),
            messages,
            bytes,
            model: modelled,
        }
    };
    alike.into_iter().map(summary).collect()
}

/// The layer of collectives: as run and modelled, as far as there are any.
pub fn layers(collectives: &[CollectiveSummary], layer: &str) -> Vec<LayerSummary> {
    let of = |as_run: bool| {
        let alike = || {
            collectives
                .iter()
                .filter(move |one| one.is_as_run() == as_run)
        };
        let sum = |of: fn(&CollectiveSummary) -> u64| alike().map(of).fold(0, u64::saturating_add);
        LayerSummary {
            layer: layer.to_owned(),
            messages: sum(|one| one.messages),
            bytes: sum(|one| one.bytes),
            modelled: !as_run,
            model: alike().find_map(|one| one.model.clone()),
            as_run,
        }
    };
    let sent = |layer: &LayerSummary| layer.messages > 0 || layer.bytes > 0;
    [true, false].map(of).into_iter().filter(sent).collect()
}

/// True if a plan ran any of them.
pub(crate) fn is_any_planned(collectives: &[CollectiveSummary]) -> bool {
    collectives.iter().any(|one| one.plan.is_some())
}

/// Lists each collective with its plan or the native MPI, and the source of its messages.
pub fn table(collectives: &[CollectiveSummary]) -> Table {
    let mut table = Table::new([
        "collective",
        "run by",
        "calls",
        "messages",
        "bytes",
        "known",
    ]);
    for one in collectives {
        table.row([
            one.collective.clone(),
            one.plan.clone().unwrap_or_else(|| "the MPI".to_owned()),
            units::count(one.calls as f64),
            units::count(one.messages as f64),
            units::bytes(one.bytes as f64),
            one.source(),
        ]);
    }
    table
}
