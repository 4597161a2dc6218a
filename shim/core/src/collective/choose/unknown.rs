//! The choice for blocks whose sizes MPI does not tell all ranks: whether small ones of a cluster go
//! together to others ([`told`](crate::collective::told)), by the time of small ones alone. Large
//! ones go straight to their receivers either way.
//!
//! Nothing but operation and network is looked at, not even the root: that the leaders are told
//! sizes has to be known before anything is, of which one rank may know more than others.

use super::choice::Unpredicted;
use super::{Choice, Class, Considered, Known, WORTH};
use crate::collective::algorithms::Price;
use crate::collective::network::MessageCosts;
use crate::collective::{Algorithm, Clusters, Uniform};

/// Bytes that stand for those of small blocks.
const SMALL: u64 = 64;

/// Bytes that stand for those of blocks which do not go along.
const LARGE: u64 = 64 << 10;

impl Known {
    /// Small blocks together, in messages of up to `eager` bytes; `None` where that gains too
    /// little.
    pub(super) fn aggregated(
        &self,
        class: Class,
        clusters: &Clusters,
        eager: u64,
    ) -> Option<Choice> {
        let named = |name| Algorithm::find(class.operation, name);
        let together = named("grid-aggregate").filter(|one| one.allows(clusters.ranks()))?;
        let alone = named("flat")?;
        let of = |strategy, bytes| self.in_whole_blocks(strategy, class, bytes, clusters);
        let considered = [together, alone].map(|strategy| Considered {
            strategy,
            segment: eager,
            seconds: of(strategy, SMALL),
        });
        let gains = considered[0].seconds < WORTH * considered[1].seconds
            && WORTH * of(together, LARGE) <= of(alone, LARGE);
        gains.then(|| Choice {
            strategy: Some(together),
            segment: eager,
            seconds: None,
            unpredicted: Unpredicted::UnknownSizes,
            considered: considered.to_vec(),
            native: None,
        })
    }

    /// Seconds of a strategy for equal blocks that are not cut, from the cluster in the middle.
    fn in_whole_blocks(
        &self,
        strategy: &'static Algorithm,
        class: Class,
        bytes: u64,
        clusters: &Clusters,
    ) -> f64 {
        let costs = MessageCosts::new(&self.network, bytes);
        let call = Uniform {
            operation: class.operation,
            bytes,
            root: clusters.leader(self.network.centre()),
        };
        let input = self.input(&call, false, clusters, &costs);
        match strategy.candidate.price(false) {
            Some(Price::Estimated(estimate)) => estimate(&input),
            Some(Price::Read) | None => f64::INFINITY,
        }
    }
}
