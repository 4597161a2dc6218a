//! Links and disks used by images, and their servers.

use strum::Display;
use treepie_base::{Cluster, List};
use treepie_collective::Network;
use treepie_collective::read::simulate::Occupancy;
use treepie_platform::Platform;

use super::fair::{Bottleneck, Flow};
use crate::checkpoint::costs::Costs;
use crate::checkpoint::error::ExperimentError;

/// Message size in bytes at which links have the rate of long messages.
const LONG: u64 = 1 << 20;

/// Location of checkpoint servers. A rank uses a server of its own cluster if there is one, and
/// otherwise one of all, round-robin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Servers {
    /// This number of machines in addition to the ranks' in each cluster, with the same network
    /// cards.
    InEachCluster(usize),
    /// These hosts of the platform, by name.
    Hosts(Vec<String>),
}

/// Bottleneck of the last image of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
pub enum Limit {
    /// The network card of a host.
    #[strum(serialize = "a host's card")]
    Card,
    /// Uplink of a cluster.
    #[strum(serialize = "a cluster's uplink")]
    Uplink,
    /// Downlink of a cluster.
    #[strum(serialize = "a cluster's downlink")]
    Downlink,
    /// The card of a server that is not one of the platform's hosts.
    #[strum(serialize = "a server's card")]
    ServerCard,
    /// The disk of a server.
    #[strum(serialize = "a server's disk")]
    ServerDisk,
    /// The disk of a host, which stores a copy.
    #[strum(serialize = "the local disks")]
    LocalDisk,
    /// Rate of one connection between clusters, or of memory on one host.
    #[strum(serialize = "one connection")]
    Connection,
}

/// A server.
#[derive(Debug, Clone, Copy)]
struct Server {
    cluster: Cluster,
    /// Its host, if that is one of the platform.
    host: Option<usize>,
}

/// All links and disks, by their indices in one list.
pub(crate) struct Routes<'a> {
    network: &'a Network,
    servers: Vec<Server>,
    capacities: Vec<f64>,
    kinds: Vec<Limit>,
    /// Maximum rate at which an image is read, in bytes per second.
    memory: f64,
    /// Index of the first card; those of the first cluster, server and disk follow. Each of the
    /// first three has two entries: out and in, up and down, card and disk.
    cards: usize,
    clusters: usize,
    of_servers: usize,
    disks: usize,
}

impl<'a> Routes<'a> {
    /// Lists the links of a network of all ranks of a platform.
    ///
    /// # Errors
    /// The platform does not have a host, or there is no server.
    pub fn new(
        platform: &Platform,
        network: &'a Network,
        servers: &Servers,
        costs: &Costs,
    ) -> Result<Self, ExperimentError> {
        let servers = placed(platform, network, servers)?;
        let mut routes = Routes {
            network,
            capacities: Vec::new(),
            kinds: Vec::new(),
            memory: costs.memory,
            cards: 0,
            clusters: 2 * network.hosts(),
            of_servers: 2 * network.hosts() + 2 * network.clusters(),
            disks: 2 * (network.hosts() + network.clusters() + servers.len()),
            servers,
        };
        let mut card_of_host = vec![f64::INFINITY; network.hosts()];
        for (&host, &cluster) in network.host_of().iter().zip(network.cluster_of()) {
            card_of_host[host] = card(network, cluster, costs);
        }
        for rate in card_of_host {
            routes.add([(rate, Limit::Card), (rate, Limit::Card)]);
        }
        for cluster in network.all_clusters() {
            let up = rate(network.uplink(cluster, LONG));
            let down = rate(network.downlink(cluster, LONG));
            routes.add([(up, Limit::Uplink), (down, Limit::Downlink)]);
        }
        for server in routes.servers.clone() {
            let rate = match server.host {
                // Images that enter it pass the host's own card.
                Some(_) => f64::INFINITY,
                None => card(network, server.cluster, costs),
            };
            routes.add([
                (rate, Limit::ServerCard),
                (costs.server_disk, Limit::ServerDisk),
            ]);
        }
        let disk = (costs.local_disk, Limit::LocalDisk);
        routes.add(std::iter::repeat_n(disk, network.hosts()));
        Ok(routes)
    }

    fn add(&mut self, links: impl IntoIterator<Item = (f64, Limit)>) {
        for (rate, kind) in links {
            self.capacities.push(rate);
            self.kinds.push(kind);
        }
    }

    /// Bytes per second of each link and disk.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Kind of a bottleneck, for users.
    pub fn limit(&self, bottleneck: Bottleneck) -> Limit {
        match bottleneck {
            Bottleneck::Link(place) => self.kinds[place],
            Bottleneck::Itself => Limit::Connection,
        }
    }

    /// The flows of a wave: for each rank, the image to its server, and the copy that stays on the
    /// disk of its host.
    pub fn images(&self) -> Vec<Flow> {
        let mut used: List<Cluster, usize> = vec![0; self.network.clusters()].into();
        let mut flows = Vec::new();
        for (rank, &cluster) in self.network.cluster_of().iter().enumerate() {
            let number = used[cluster];
            used[cluster] += 1;
            flows.push(self.to_server(rank, self.server_of(cluster, number)));
            flows.push(Flow {
                links: vec![self.disks + self.network.host_of()[rank]],
                weight: 1.0,
                most: self.memory,
            });
        }
        flows
    }

    /// The server of rank `number` of its cluster.
    fn server_of(&self, cluster: Cluster, number: usize) -> usize {
        let near = |&place: &usize| self.servers[place].cluster == cluster;
        let near: Vec<usize> = (0..self.servers.len()).filter(near).collect();
        match near.len() {
            0 => number % self.servers.len(),
            count => near[number % count],
        }
    }

    fn to_server(&self, rank: usize, place: usize) -> Flow {
        let server = self.servers[place];
        let (host, cluster) = (
            self.network.host_of()[rank],
            self.network.cluster_of()[rank],
        );
        let mut links = vec![self.of_servers + 2 * place + 1];
        let mut most = self.memory;
        if server.host != Some(host) {
            links.push(self.cards + 2 * host);
            links.push(match server.host {
                Some(there) => self.cards + 2 * there + 1,
                None => self.of_servers + 2 * place,
            });
        }
        if server.cluster != cluster {
            links.push(self.clusters + 2 * cluster.0);
            links.push(self.clusters + 2 * server.cluster.0 + 1);
            let connection = self.network.between(cluster, server.cluster);
            most = connection.map_or(most, |link| rate(link.gap(LONG)).min(most));
        }
        Flow {
            links,
            weight: 1.0,
            most,
        }
    }

    /// The links that messages use: index, share of the time for which they occupy it while ranks
    /// communicate for `seconds`, and the number of ranks that use it.
    pub fn messages(&self, occupancy: &Occupancy, seconds: f64) -> Vec<(usize, f64, f64)> {
        let sides = [
            (self.cards, &occupancy.card_out),
            (self.cards + 1, &occupancy.card_in),
            (self.clusters, &occupancy.uplink.raw),
            (self.clusters + 1, &occupancy.downlink.raw),
        ];
        let all = sides.into_iter().flat_map(|(first, links)| {
            let number = move |(number, link)| (first + 2 * number, link);
            links.iter().enumerate().map(number)
        });
        let used = all.filter(|(_, link)| link.seconds > 0.0);
        used.map(|(place, link)| (place, (link.seconds / seconds).min(1.0), link.ranks as f64))
            .collect()
    }
}

/// Bytes per second of a link on which a long message takes `seconds`.
fn rate(seconds: f64) -> f64 {
    if seconds > 0.0 {
        LONG as f64 / seconds
    } else {
        f64::INFINITY
    }
}

/// The rate of a card in a cluster: that between two of its hosts, or the default if no such link
/// is known.
fn card(network: &Network, cluster: Cluster, costs: &Costs) -> f64 {
    let link = network.between_hosts(cluster);
    link.map_or(costs.card, |link| rate(link.gap(LONG)))
}

fn placed(
    platform: &Platform,
    network: &Network,
    servers: &Servers,
) -> Result<Vec<Server>, ExperimentError> {
    let placed: Vec<Server> = match servers {
        Servers::InEachCluster(count) => network
            .all_clusters()
            .flat_map(|cluster| std::iter::repeat_n(cluster, *count))
            .map(|cluster| Server {
                cluster,
                host: None,
            })
            .collect(),
        Servers::Hosts(names) => {
            let find = |name: &String| on_host(platform, network, name);
            names.iter().map(find).collect::<Result<_, _>>()?
        }
    };
    if placed.is_empty() {
        Err(ExperimentError::NoServer)
    } else {
        Ok(placed)
    }
}

fn on_host(platform: &Platform, network: &Network, name: &str) -> Result<Server, ExperimentError> {
    let host = platform.hosts().iter().find(|host| host.name == *name);
    let rank = host.and_then(|host| host.ranks.first().copied());
    let rank = rank.ok_or_else(|| ExperimentError::UnknownHost(name.to_owned()))?;
    Ok(Server {
        cluster: network.cluster_of()[rank],
        host: Some(network.host_of()[rank]),
    })
}
