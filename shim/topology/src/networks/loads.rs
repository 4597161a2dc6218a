//! Loads that traffic puts on the links of a network.

use super::fabric::OUTSIDE;
use super::network::Network;

/// Traffic over every link by the stated routing.
#[derive(Debug, Clone, PartialEq)]
pub struct Loads {
    /// Load of each directed link, in bytes or the unit of the traffic.
    pub of_link: Vec<f64>,
    /// The most loaded link relative to its capacity; `None` if there is no traffic.
    pub most: Option<usize>,
    /// Load of that link divided by its capacity.
    pub most_load: f64,
    /// Mean of load divided by capacity over all links.
    pub mean: f64,
}

impl Loads {
    /// Computes the loads from traffic between positions: from, to, amount.
    pub fn new(network: &Network, traffic: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let mut of_link = vec![0.0; network.links()];
        for (from, to, amount) in traffic {
            network.route(from, to, &mut |link, share| of_link[link] += amount * share);
        }
        let (mut most, mut most_load, mut sum, mut count) = (None, 0.0, 0.0, 0);
        for (link, &load) in of_link.iter().enumerate() {
            if network.ends(link).is_none() {
                continue;
            }
            let relative = load / network.capacity(link);
            sum += relative;
            count += 1;
            if relative > most_load {
                (most, most_load) = (Some(link), relative);
            }
        }
        Loads {
            of_link,
            most,
            most_load,
            mean: sum / f64::from(count.max(1)),
        }
    }
}

/// Lower bound of the load of the most loaded link under any routing: traffic out of a part of the
/// network, divided by the capacity of the links that lead out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// Traffic divided by capacity.
    pub load: f64,
    /// The part: `a group`, `x < 4`.
    pub part: String,
}

/// Parts of a network, and the capacity of the links that lead out of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    name: String,
    part_of: Vec<u32>,
    capacity: Vec<f64>,
}

impl Partition {
    /// The partitions of a network with the strongest bounds.
    pub fn all(network: &Network) -> Vec<Partition> {
        let cuts = network.cuts().into_iter();
        let mut partitions: Vec<Partition> = cuts
            .map(|(name, part_of)| {
                let parts = part_of.iter().filter(|&&part| part != OUTSIDE);
                let count = parts.max().map_or(0, |&last| last as usize + 1);
                Partition {
                    name,
                    part_of,
                    capacity: vec![0.0; count],
                }
            })
            .collect();
        for (from, to, _, capacity) in network.all_links() {
            for partition in &mut partitions {
                let part = partition.part_of[from];
                if part != OUTSIDE && part != partition.part_of[to] {
                    partition.capacity[part as usize] += capacity;
                }
            }
        }
        partitions
    }
}

impl Floor {
    /// The largest lower bound of any of `partitions` for traffic between positions.
    pub fn new(partitions: &[Partition], traffic: &[(usize, usize, f64)]) -> Floor {
        let mut floor = Floor {
            load: 0.0,
            part: String::new(),
        };
        for partition in partitions {
            let mut sent = vec![0.0; partition.capacity.len()];
            let mut received = sent.clone();
            for &(from, to, amount) in traffic {
                let (from, to) = (partition.part_of[from], partition.part_of[to]);
                if from != to {
                    sent[from as usize] += amount;
                    received[to as usize] += amount;
                }
            }
            let both = sent.iter().zip(&received).zip(&partition.capacity);
            for ((&sent, &received), &capacity) in both {
                let load = f64::max(sent, received) / capacity;
                if capacity > 0.0 && load > floor.load {
                    floor = Floor {
                        load,
                        part: partition.name.clone(),
                    };
                }
            }
        }
        floor
    }
}
