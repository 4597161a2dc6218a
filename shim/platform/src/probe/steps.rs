//! Steps of a probe on rank 0.

use treepie_base::Cluster;

use super::assemble::{Measured, RankPlaces, assemble};
use super::rounds::tournament;
use super::task::Task;
use crate::clustering::Partition;
use crate::contents::PlatformError;
use crate::description::{Mismatch, Platform};
use crate::inside::Identity;
use crate::latency::LatencyMatrix;
use crate::partial::PartialPlatform;
use crate::probe::initiator::Initiator;
use crate::probe::messenger::{Messenger, receive_value};
use crate::probe::options::{Options, Report};
use crate::probe::orders::{Pair, end, run_task};
use crate::probe::signature::all_clusters;

/// Leads the measurement, takes part in it, and assembles the answers.
pub(super) fn measure_all(
    messenger: &mut impl Messenger,
    identity: &Identity,
    options: &Options,
    known: Option<&PartialPlatform>,
) -> Result<Report, PlatformError> {
    let began = messenger.seconds();
    let mut identities = vec![identity.clone()];
    for rank in 1..messenger.ranks() {
        identities.push(receive_value(messenger, rank).unwrap_or_default());
    }
    let place = RankPlaces::new(&identities);
    let mut initiator = Initiator {
        messenger,
        options,
        began,
        left_out: Vec::new(),
    };
    let latencies = match known {
        Some(_) => Vec::new(),
        None => initiator.latencies(&place),
    };
    let latency_pairs = latencies.len();
    let matrix = LatencyMatrix::from_pairs(place.hosts.len(), latencies)
        .unwrap_or_else(|_| LatencyMatrix::default());
    let partition = match known {
        Some(known) => known.partition(&place.hosts),
        None => Partition::new(&matrix, options.tolerance),
    };
    let mut measured = Measured {
        latency_pairs,
        ..known.map_or_else(Measured::default, Measured::known)
    };
    initiator.links(&place, &partition, &mut measured);
    if options.ways {
        initiator.ways(&place, &partition, &mut measured);
    }
    if options.together {
        measured.parallel = initiator.together(&place, &partition);
    }
    if options.exchange {
        all_clusters(&mut initiator, &place, &partition, &mut measured);
    }
    end(initiator.messenger);
    measured.left_out = initiator.left_out;
    measured.seconds = initiator.messenger.seconds() - began;
    let platform = assemble(&place, &partition, &matrix, measured, options)?;
    let platform = match known {
        Some(known) => known.completed(platform)?,
        None => platform,
    };
    Ok(Report { platform })
}

/// Measures the latencies of a few pairs of clusters, disjoint ones simultaneously, and compares
/// them with those of `platform`.
pub(super) fn compare(
    messenger: &mut impl Messenger,
    platform: &Platform,
    factor: f64,
) -> Result<(), Mismatch> {
    let leader = |cluster: Cluster| platform.clusters()[cluster].leader;
    let pairs = tournament(platform.clusters().len())
        .into_iter()
        .next()
        .unwrap_or_default();
    let ranks: Vec<Pair> = pairs.iter().map(|&(a, b)| (leader(a), leader(b))).collect();
    let answers = run_task(messenger, &Task::Latency, &ranks);
    end(messenger);
    let found = pairs.iter().zip(answers);
    let measured: Vec<(Cluster, Cluster, f64)> = found
        .filter_map(|(&(a, b), answer)| Some((a, b, answer?.seconds()?)))
        .collect();
    platform.check_latencies(&measured, factor)
}
