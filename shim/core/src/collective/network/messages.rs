//! What messages of one size meet in a network: where the size stands among the samples of links is
//! looked up once.

use super::links::Places;
use super::{Common, Hop, Network};

/// What messages of one size meet.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    network: &'a Network,
    bytes: u64,
    places: Places,
}

impl<'a> Messages<'a> {
    pub(super) fn new(network: &'a Network, bytes: u64) -> Self {
        Messages {
            network,
            bytes,
            places: network.links.places(bytes),
        }
    }

    /// Their size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    fn on(&self, link: Option<usize>) -> Hop {
        link.map_or(Hop::default(), |link| {
            self.network.links.hop(link, &self.places)
        })
    }

    /// From one cluster to another; nothing from one to itself.
    pub fn between(&self, from: usize, to: usize) -> Hop {
        self.on(self.network.place_between(from, to))
    }

    /// From every cluster to every other, row by row.
    pub fn all_between(&self) -> impl Iterator<Item = Hop> {
        let hops = self.network.links.hops(&self.places);
        let between = self.network.between.iter();
        between.map(move |link| link.map_or(Hop::default(), |link| hops[link]))
    }

    /// On the link that [`Network::within`] names.
    pub fn within(&self, cluster: usize) -> Hop {
        self.on(self.network.place_within(cluster))
    }

    /// On the link that [`Network::on_host`] names.
    pub fn on_host(&self, cluster: usize) -> Hop {
        self.on(self.network.place_on_host(cluster))
    }

    /// Seconds that one occupies the uplink of a cluster.
    pub fn leaving(&self, cluster: usize) -> f64 {
        self.occupied(self.network.uplink[cluster])
    }

    /// Seconds that one occupies the downlink of a cluster.
    pub fn entering(&self, cluster: usize) -> f64 {
        self.occupied(self.network.downlink[cluster])
    }

    fn occupied(&self, common: Option<Common>) -> f64 {
        common.map_or(0.0, |common| common.seconds(self.on(Some(common.link)).gap))
    }
}
