//! Links and disks that images pass, and the servers that they go to.

use strum::Display;
use treepie_collective::Network;
use treepie_collective::read::simulate::Occupancy;
use treepie_platform::Platform;

use super::fair::{Bottleneck, Flow};
use crate::checkpoint::costs::Costs;
use crate::checkpoint::error::ExperimentError;

/// The size of which links' rates are those of long messages.
const LONG: u64 = 1 << 20;

/// Where images are stored. A rank uses a server of its own cluster if there is one, round-robin,
/// and else one of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Servers {
    /// So many machines beside the ranks' in each cluster, with cards as theirs.
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
    /// The card of a server beside the platform's hosts.
    #[strum(serialize = "a server's card")]
    ServerCard,
    /// The disk of a server.
    #[strum(serialize = "a server's disk")]
    ServerDisk,
    /// The disk of a host, where a copy stays.
    #[strum(serialize = "the local disks")]
    LocalDisk,
    /// Rate of one connection between clusters, or of memory on one host.
    #[strum(serialize = "one connection")]
    Connection,
}

/// A server.
#[derive(Debug, Clone, Copy)]
struct Server {
    cluster: usize,
    /// Its host, if that is one of the platform.
    host: Option<usize>,
}

/// All links and disks, by their places in one list.
pub(crate) struct Routes<'a> {
    network: &'a Network,
    servers: Vec<Server>,
    capacities: Vec<f64>,
    kinds: Vec<Limit>,
    /// The rate beyond which no image is read.
    memory: f64,
    /// Places of the first card, cluster, server and disk. The first three have two each: out and
    /// in, up and down, card and disk.
    cards: usize,
    clusters: usize,
    of_servers: usize,
    disks: usize,
}

impl<'a> Routes<'a> {
    /// The links of a network of all ranks of a platform.
    ///
    /// # Errors
    /// Hosts that the platform does not have; no server at all.
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
        for cluster in 0..network.clusters() {
            let up = rate(network.uplink(cluster, LONG));
            let down = rate(network.downlink(cluster, LONG));
            routes.add([(up, Limit::Uplink), (down, Limit::Downlink)]);
        }
        for server in routes.servers.clone() {
            let rate = match server.host {
                // What enters it passes the host's own card.
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

    /// Bytes a second of each link and disk.
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

    /// The flows of a wave: of each rank, the image to its server, and the copy that stays on the
    /// disk of its host.
    pub fn images(&self) -> Vec<Flow> {
        let mut used = vec![0; self.network.clusters()];
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

    /// The server of a rank that is number `number` in its cluster.
    fn server_of(&self, cluster: usize, number: usize) -> usize {
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
            links.push(self.clusters + 2 * cluster);
            links.push(self.clusters + 2 * server.cluster + 1);
            let connection = self.network.between(cluster, server.cluster);
            most = connection.map_or(most, |link| rate(link.gap(LONG)).min(most));
        }
        Flow {
            links,
            weight: 1.0,
            most,
        }
    }

    /// The links that messages pass: place, what share of the time they occupy it while ranks
    /// communicate for `seconds`, and the number of ranks that use it.
    pub fn messages(&self, occupancy: &Occupancy, seconds: f64) -> Vec<(usize, f64, f64)> {
        let sides = [
            (self.cards, &occupancy.card_out),
            (self.cards + 1, &occupancy.card_in),
            (self.clusters, &occupancy.uplink),
            (self.clusters + 1, &occupancy.downlink),
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

/// Bytes a second of a link on which a long message takes so long.
fn rate(seconds: f64) -> f64 {
    if seconds > 0.0 {
        LONG as f64 / seconds
    } else {
        f64::INFINITY
    }
}

/// The rate of a card in a cluster: that between two of its hosts, and the default where no such
/// link is known.
fn card(network: &Network, cluster: usize, costs: &Costs) -> f64 {
    let link = network.between_hosts(cluster);
    link.map_or(costs.card, |link| rate(link.gap(LONG)))
}

fn placed(
    platform: &Platform,
    network: &Network,
    servers: &Servers,
) -> Result<Vec<Server>, ExperimentError> {
    let placed: Vec<Server> = match servers {
        Servers::InEachCluster(count) => (0..network.clusters())
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
