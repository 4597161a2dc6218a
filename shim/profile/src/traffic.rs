//! Traffic of a profile: the sum of its layers, and collectives expanded to messages.

use std::collections::HashMap;

use crate::phases::Phase;
use crate::profile::Profile;
use treepie_base::{List, Rank};
use treepie_collective::{Clusters, Network, Record, Volume};
use treepie_native::traffic::{Model, expand, expand_as_run};
use treepie_traffic::times::CallClass;
use treepie_traffic::{Layer, Traffic, TrafficMatrix};

impl Profile {
    /// Returns the sum of the traffic between ranks in some layers. Collectives that plans ran are
    /// expanded as they were run; the others with the algorithms that the job's MPI usually
    /// chooses: that part is modelled, not counted.
    pub fn traffic(&self, layers: &[Layer]) -> TrafficMatrix {
        self.traffic_by(layers, None)
    }

    /// Returns the traffic like [`Profile::traffic`], with all collectives expanded by `model`, if
    /// one is given.
    pub fn traffic_by(&self, layers: &[Layer], model: Option<Model>) -> TrafficMatrix {
        let counted = (&self.matrices()[..], &self.collectives[..]);
        self.sum(counted, layers, model)
    }

    /// Returns the traffic of one of the phases, like [`Profile::traffic_by`].
    pub fn traffic_of_phase(
        &self,
        phase: &Phase,
        layers: &[Layer],
        model: Option<Model>,
    ) -> TrafficMatrix {
        let counted = (&phase.matrices()[..], &phase.collectives[..]);
        self.sum(counted, layers, model)
    }

    /// Returns the traffic of some of the collectives, like [`Profile::traffic_by`].
    pub fn traffic_of_collectives<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
        model: Option<Model>,
    ) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.ranks);
        self.expand(records, model, &mut sum);
        sum
    }

    /// Returns the sum of some counted layers.
    fn sum(
        &self,
        (matrices, records): (&[(Layer, &TrafficMatrix)], &[Record]),
        layers: &[Layer],
        model: Option<Model>,
    ) -> TrafficMatrix {
        let mut sum = TrafficMatrix::new(self.ranks);
        for (layer, counted) in matrices {
            if layers.contains(layer) {
                let merged = sum.merge(counted);
                debug_assert!(merged.is_ok(), "{merged:?}");
            }
        }
        if layers.contains(&Layer::Collectives) {
            self.expand(records, model, &mut sum);
        }
        sum
    }

    /// Adds the messages of collectives.
    fn expand<'a>(
        &self,
        records: impl IntoIterator<Item = &'a Record>,
        model: Option<Model>,
        into: &mut TrafficMatrix,
    ) {
        let host = self.native_family();
        // Many records belong to one communicator.
        let mut seen: HashMap<&[u32], (Clusters, Option<Network>)> = HashMap::new();
        for record in records {
            let as_run = record.plan.as_ref().zip(self.locality.as_ref());
            let (Some((plan, locality)), None) = (as_run, model) else {
                expand(record, model.unwrap_or(Model::Native(host)), host, into);
                continue;
            };
            let (clusters, network) = seen.entry(&record.group).or_insert_with(|| {
                let ranks: Vec<usize> = record.group.iter().map(|&rank| rank as usize).collect();
                locality.of(&ranks)
            });
            if let Some(run) = plan.as_run(record.operation, clusters, network.as_ref()) {
                expand_as_run(record, &run, into);
            }
        }
    }

    /// Returns the model of the job's MPI.
    pub fn native_model(&self) -> Model {
        Model::Native(self.native_family())
    }

    /// Returns the family whose rules the job's MPI usually follows to choose algorithms.
    pub fn native_family(&self) -> treepie_native::Family {
        treepie_native::Family::of_family(&self.mpi.family)
    }

    /// Returns the bytes that each rank moved with the calls of a class: sent for sends, received
    /// for receives. For collectives, the rank's own message or block of each call. Waiting, and
    /// calls that are in no layer, move none.
    pub fn bytes_of_class(&self, class: CallClass) -> List<Rank, u64> {
        let mut bytes: List<Rank, u64> = vec![0; self.ranks].into();
        let mut add = |rank, more: u64| bytes[Rank(rank)] = bytes[Rank(rank)].saturating_add(more);
        let layer = match class {
            CallClass::Send | CallClass::Receive => Layer::PointToPoint,
            CallClass::Neighbourhood => Layer::Neighbourhood,
            CallClass::OneSided => Layer::OneSided,
            CallClass::Collective => {
                for record in &self.collectives {
                    for (at, &rank) in record.group.iter().enumerate() {
                        add(rank as usize, share(&record.volume, at));
                    }
                }
                return bytes;
            }
            _ => return bytes,
        };
        for (_, traffic) in self.matrices().into_iter().filter(|(l, _)| *l == layer) {
            for (from, to, Traffic { bytes, .. }) in traffic.entries() {
                add(
                    if class == CallClass::Receive {
                        to
                    } else {
                        from
                    },
                    bytes,
                );
            }
        }
        bytes
    }
}

/// Returns the share of the rank `at` of a communicator in a collective's volume.
fn share(volume: &Volume, at: usize) -> u64 {
    match volume {
        Volume::Uniform(bytes) => *bytes,
        Volume::PerRank(parts) => parts.get(at).copied().unwrap_or(0),
        Volume::Pairs(pairs) => pairs
            .iter()
            .filter(|(from, ..)| *from as usize == at)
            .fold(0, |sum, (_, _, bytes, _)| sum.saturating_add(*bytes)),
    }
}
