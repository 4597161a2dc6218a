//! Which ranks of a communicator are near each other.

use std::collections::HashMap;

use crate::collective::Network;

/// The ranks of a communicator in clusters, those of a cluster in groups that are
/// closer still (hosts, sockets, ...). Clusters are numbered as who made them numbers them, whatever
/// the order of ranks is, and none is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// The rank that speaks for each.
    speakers: Vec<usize>,
    /// Number of each rank's group, from the widest level inside clusters to the
    /// closest; ranks with the same number are in the same group.
    closer: Vec<Vec<usize>>,
}

impl Clusters {
    /// Clusters from any number for each rank: ranks with the same number are in
    /// the same cluster, and lower numbers come first.
    pub fn new(numbers: &[usize]) -> Self {
        let mut known = numbers.to_vec();
        known.sort_unstable();
        known.dedup();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); known.len()];
        let mut of = Vec::with_capacity(numbers.len());
        for (rank, number) in numbers.iter().enumerate() {
            let cluster = known.partition_point(|other| other < number);
            members[cluster].push(rank);
            of.push(cluster);
        }
        Clusters {
            of,
            speakers: members.iter().map(|members| members[0]).collect(),
            members,
            closer: Vec::new(),
        }
    }

    /// All ranks in one cluster.
    pub fn one(ranks: usize) -> Self {
        Clusters::new(&vec![0; ranks])
    }

    /// As a network has them: its clusters, the hosts in them, and the ranks that
    /// speak for clusters.
    pub fn of_network(network: &Network) -> Self {
        Clusters::new(network.cluster_of())
            .with_closer(network.host_of())
            .spoken_for_by(network.speakers())
    }

    /// The same clusters with one more level inside them: a number for each rank, and
    /// ranks with the same number are closer to each other than to the others of the
    /// level above. A level that parts nothing, or everything, is left out.
    pub fn with_closer(mut self, numbers: &[usize]) -> Self {
        assert_eq!(numbers.len(), self.ranks(), "a number for each rank");
        let above = self.closer.last().unwrap_or(&self.of).clone();
        let mut groups: HashMap<(usize, usize), usize> = HashMap::new();
        for (&above, &number) in above.iter().zip(numbers) {
            *groups.entry((above, number)).or_default() += 1;
        }
        let mut parted: HashMap<usize, usize> = HashMap::new();
        for &(above, _) in groups.keys() {
            *parted.entry(above).or_default() += 1;
        }
        let parts = parted.values().any(|&count| count > 1);
        let joins = groups.values().any(|&count| count > 1);
        if parts && joins {
            let mut order: HashMap<(usize, usize), usize> = HashMap::new();
            let level = above.iter().zip(numbers).map(|(&above, &number)| {
                let next = order.len();
                *order.entry((above, number)).or_insert(next)
            });
            let level = level.collect();
            self.closer.push(level);
        }
        self
    }

    /// The same clusters with a rank that speaks for each.
    ///
    /// # Panics
    /// If a speaker is not in its cluster.
    pub fn spoken_for_by(mut self, speakers: &[usize]) -> Self {
        let fits = |(cluster, &rank): (usize, &usize)| self.of[rank] == cluster;
        assert!(
            speakers.len() == self.count() && speakers.iter().enumerate().all(fits),
            "every cluster has a speaker of its own"
        );
        self.speakers = speakers.to_vec();
        self
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.of.len()
    }

    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The cluster of a rank.
    pub fn of(&self, rank: usize) -> usize {
        self.of[rank]
    }

    /// The ranks of a cluster, from low to high.
    pub fn members(&self, cluster: usize) -> &[usize] {
        &self.members[cluster]
    }

    /// The levels inside clusters: a number for each rank, the widest level first.
    pub fn closer(&self) -> &[Vec<usize>] {
        &self.closer
    }

    /// The rank that speaks for `cluster` where there is no root.
    pub fn speaker(&self, cluster: usize) -> usize {
        self.speakers[cluster]
    }

    /// The rank that speaks for `cluster` where `root` is the root: the root for
    /// its own cluster, its [speaker](Clusters::speaker) for others.
    pub fn coordinator(&self, cluster: usize, root: usize) -> usize {
        match self.of[root] == cluster {
            true => root,
            false => self.speakers[cluster],
        }
    }

    /// How many ranks of each cluster can work side by side between clusters: the
    /// size of the smallest.
    pub fn lanes(&self) -> usize {
        self.members.iter().map(Vec::len).min().unwrap_or(1)
    }

    /// The other clusters, starting behind `cluster`: so that clusters do not
    /// all send to the same one first.
    pub fn others(&self, cluster: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.count();
        (1..count).map(move |distance| (cluster + distance) % count)
    }

    /// The other clusters, in the order in which their messages to `cluster`
    /// come, if all send as in [`Clusters::others`].
    pub fn others_towards(&self, cluster: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.count();
        (1..count).map(move |distance| (cluster + count - distance) % count)
    }
}
