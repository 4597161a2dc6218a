//! Prediction of the profile of a run with replaced collectives.

use std::collections::HashMap;
use std::sync::Arc;

use crate::profile::Profile;
use crate::settings::{Collectives, Runner};
use treepie_choice::Chooser;
use treepie_collective::{Clusters, Locality, Network, Record};

/// Inputs of the plans of one communicator.
struct Communicator {
    clusters: Clusters,
    network: Option<Network>,
    chooser: Chooser,
}

impl Profile {
    /// Returns the profile of the same calls, run by `collectives` with `locality`, which has the
    /// same number of ranks: their traffic is that of the plans that would be chosen there.
    /// Operations are assumed to commute. If a call's operation lacks the algorithm, it is left to
    /// the native MPI.
    pub fn foreseen(&self, collectives: &Collectives, locality: Locality) -> Profile {
        let mut known: HashMap<Arc<[u32]>, Communicator> = HashMap::new();
        let mut foreseen = self.clone();
        let phases = foreseen.phases.iter_mut();
        let records = phases.flat_map(|phase| &mut phase.collectives);
        for record in records.chain(&mut foreseen.collectives) {
            record.plan = None;
            let bytes = (record.calls > 0).then(|| record.block_bytes());
            let named = match collectives.runner(record.operation).of(bytes) {
                Runner::Native | Runner::BySize(_) => continue,
                Runner::Auto => None,
                Runner::Plan(plan) => Some(plan),
            };
            let communicator = known
                .entry(record.group.clone())
                .or_insert_with(|| self.communicator(record, &locality));
            record.plan = communicator.chooser.foresee(
                record,
                named,
                &communicator.clusters,
                communicator.network.as_ref(),
            );
        }
        foreseen.locality = Some(locality);
        foreseen
    }

    fn communicator(&self, record: &Record, locality: &Locality) -> Communicator {
        let ranks: Vec<usize> = record.group.iter().map(|&rank| rank as usize).collect();
        let (clusters, network) = locality.of(&ranks);
        let shared = network.clone().map(Arc::new);
        Communicator {
            chooser: Chooser::new(shared, &clusters, Some(self.native_family())),
            clusters,
            network,
        }
    }
}
