//! Merged counts of the ranks, layer by layer and phase by phase.

use std::collections::BTreeMap;

use crate::partial_profiles::kind::MessageKind;
use crate::partial_profiles::records::Records;
use crate::times::Times;
use treepie_base::Rank;
use treepie_collective::{Record, Volume, size_class};
use treepie_traffic::{Traffic, TrafficMatrix};

/// Counts of one phase or of the whole run.
pub(super) struct Layers {
    pub(super) point_to_point: TrafficMatrix,
    pub(super) one_sided: TrafficMatrix,
    pub(super) neighbourhood: TrafficMatrix,
    pub(super) collectives: Records,
}

/// Phase, merged from the ranks that were in it.
pub(super) struct MergedPhase {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) longest: u64,
    pub(super) layers: Layers,
    pub(super) times: Option<Times>,
}

impl Layers {
    pub(super) fn new(ranks: usize) -> Self {
        Layers {
            point_to_point: TrafficMatrix::new(ranks),
            one_sided: TrafficMatrix::new(ranks),
            neighbourhood: TrafficMatrix::new(ranks),
            collectives: Records::default(),
        }
    }

    /// Adds the counts of `rank`. All ranks are below the order of the matrices.
    pub(super) fn add(
        &mut self,
        rank: Rank,
        counted: &BTreeMap<(MessageKind, Rank), Traffic>,
        records: Records,
    ) {
        let own = rank.0;
        for (&(kind, Rank(partner)), &traffic) in counted {
            match kind {
                MessageKind::PointToPoint => self.point_to_point.add(own, partner, traffic),
                MessageKind::Neighbourhood => self.neighbourhood.add(own, partner, traffic),
                MessageKind::Put => self.one_sided.add(own, partner, traffic),
                MessageKind::Got => self.one_sided.add(partner, own, traffic),
            }
        }
        for record in records.into_vec() {
            self.collectives.add(record);
        }
    }
}

pub(super) fn named_phase((name, phase): (String, MergedPhase)) -> crate::Phase {
    let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
    crate::Phase {
        name,
        start_seconds: seconds(phase.start),
        end_seconds: seconds(phase.end),
        seconds: seconds(phase.longest),
        point_to_point: phase.layers.point_to_point,
        one_sided: phase.layers.one_sided,
        neighbourhood: phase.layers.neighbourhood,
        collectives: reported(phase.layers.collectives),
        times: phase.times,
    }
}

/// Returns the records, after those of all ranks were merged. For an `MPI_Alltoallv` each rank has
/// recorded the data that it sends, so that the size class of the call is only known now. If the
/// rank that counts the calls left no partial profile, there was at least one call.
pub(super) fn reported(records: Records) -> Vec<Record> {
    let mut records = records.into_vec();
    for record in &mut records {
        record.calls = record.calls.max(1);
        if let Volume::Pairs(pairs) = &record.volume {
            let total = pairs
                .iter()
                .fold(0u64, |sum, pair| sum.saturating_add(pair.2));
            let ranks = record.group.len() as u64;
            let blocks = record.calls.saturating_mul(ranks * ranks);
            record.size_class = size_class(total / blocks.max(1));
        }
    }
    records
}
