//! The objectives by name.

use strum::{Display, IntoStaticStr, VariantArray};

use crate::hardware::Hardware;
use crate::objective::thesis::{coupe_min, makespan_comm, temps_comm};
use crate::target::nodes::NetworkNodes;
use treepie_base::{Leaf, Rank, Slice, from_name};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

/// Objective of a placement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Objective {
    /// DistComm: sum of traffic times distance (thesis 1.4.1).
    #[default]
    Sum,
    /// The most loaded link of the tree: its traffic times its length. Links of single leaves are
    /// left out if there are others: the traffic of a rank crosses the link of its leaf in any
    /// placement.
    Congestion,
    /// Both: the square root of their product.
    Mixture,
    /// TempsComm (thesis 1.4.1). Throughputs that were not measured are the inverse of the
    /// distances, which makes it DistComm.
    TempsComm,
    /// MakespanComm (thesis 1.4.1), in the same terms: the pair of ranks that takes longest.
    MakespanComm,
    /// CoupeMin (thesis 1.4.1): the cut of the highest level first, then of the next.
    CoupeMin,
}

impl Objective {
    /// All objectives, in the order in which reports show them.
    pub const ALL: &'static [Objective] = Self::VARIANTS;

    /// The best estimate of the time, minimized by default: DistComm on trees; the mixture on other
    /// networks, whose links are shared by ranks.
    pub fn usual(network: Option<&NetworkNodes>) -> Self {
        match network {
            Some(_) => Objective::Mixture,
            None => Objective::Sum,
        }
    }

    /// Cost of a placement. For [`Objective::CoupeMin`], the cut of the highest level at which the
    /// tree branches. On a network, hop-bytes for the objectives that are only defined on trees.
    ///
    /// # Panics
    /// Panics if `leaf_of_rank` is not a list of leaves of the ranks.
    pub fn value<'a>(
        self,
        matrix: &Matrix,
        hardware: impl Into<Hardware<'a>>,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> f64 {
        let hardware = hardware.into();
        let topology = hardware.topology;
        match self {
            Objective::Congestion => hardware.max_link_load(matrix, leaf_of_rank),
            Objective::Mixture => {
                let sum = hardware.hop_bytes(matrix, leaf_of_rank);
                (sum * hardware.max_link_load(matrix, leaf_of_rank)).sqrt()
            }
            _ if self == Objective::Sum || hardware.network.is_some() => {
                hardware.hop_bytes(matrix, leaf_of_rank)
            }
            Objective::MakespanComm => {
                makespan_comm(matrix, topology, leaf_of_rank, &throughputs(topology))
            }
            Objective::CoupeMin => {
                let branches = topology.widest_arities().into_iter().position(|a| a > 1);
                coupe_min(matrix, topology, leaf_of_rank)[branches.unwrap_or(0)]
            }
            _ => temps_comm(matrix, topology, leaf_of_rank, &throughputs(topology)),
        }
    }

    /// Costs by which placements are compared: the first number that differs decides. Placements
    /// that are equal by this objective are compared by hop-bytes.
    pub(crate) fn key(
        self,
        matrix: &Matrix,
        hardware: Hardware,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> Vec<f64> {
        let sum = || hardware.hop_bytes(matrix, leaf_of_rank);
        match self {
            Objective::CoupeMin => coupe_min(matrix, hardware.topology, leaf_of_rank),
            Objective::Sum => vec![sum()],
            Objective::Mixture => {
                let (sum, load) = (sum(), hardware.max_link_load(matrix, leaf_of_rank));
                vec![(sum * load).sqrt(), sum, load]
            }
            _ => vec![self.value(matrix, hardware, leaf_of_rank), sum()],
        }
    }
}

from_name!(Objective, "objective", "dist-comm" => Objective::Sum);

/// The inverse of the distances.
fn throughputs(topology: &Topology) -> Vec<f64> {
    let distances = topology.level_distances().iter();
    distances.map(|distance| 1.0 / distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_objective_is_read_back_from_its_name() {
        for &objective in Objective::ALL {
            assert_eq!(objective.to_string().parse(), Ok(objective));
        }
        assert!("latency".parse::<Objective>().is_err());
    }
}
