//! Which ranks of a communicator are near each other.

/// The ranks of a communicator in clusters. Clusters are numbered by their lowest
/// rank, and none is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl Clusters {
    /// Clusters from any number for each rank: ranks with the same number are in
    /// the same cluster.
    pub fn new(numbers: &[usize]) -> Self {
        let mut seen = std::collections::HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut of = Vec::with_capacity(numbers.len());
        for (rank, number) in numbers.iter().enumerate() {
            let cluster = *seen.entry(number).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[cluster].push(rank);
            of.push(cluster);
        }
        Clusters { of, members }
    }

    /// All ranks in one cluster.
    pub fn one(ranks: usize) -> Self {
        Clusters::new(&vec![0; ranks])
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

    /// The rank that speaks for `cluster` where `root` is the root: the root for
    /// its own cluster, the lowest rank for others.
    pub fn coordinator(&self, cluster: usize, root: usize) -> usize {
        match self.of[root] == cluster {
            true => root,
            false => self.members[cluster][0],
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
