//! Clusters of a communicator, the levels inside them, and its topology.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::algorithms::trees::Shape;
use crate::composition::Composition;
use crate::neighbourhoods::Neighbourhoods;
use treepie_base::{Cluster, List, Slice};
use treepie_platform::Inside;

/// Ranks of a communicator in clusters, and those of a cluster in groups that are closer still
/// (hosts, sockets, ...). The caller numbers the clusters, independently of the order of ranks, and
/// none is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<Cluster>,
    members: List<Cluster, Vec<usize>>,
    /// Members of each cluster, one of each group of its widest level, round-robin.
    dealt: List<Cluster, Vec<usize>>,
    /// Leader of each cluster.
    leaders: List<Cluster, usize>,
    /// Group of each rank on each level inside clusters, widest level first.
    closer: Vec<Vec<usize>>,
    /// True if they are near hosts of one cluster, or groups of one host.
    are_near: bool,
    /// The communicator's topology, if it has one.
    neighbourhoods: Option<Arc<Neighbourhoods>>,
    /// Shapes that the user set for the trees inside clusters, widest level first.
    shapes: Arc<[Shape]>,
    /// Parameter that the user set for the algorithm.
    parameter: Option<u32>,
}

impl Clusters {
    /// Clusters from a number for each rank: ranks with the same number are in the same cluster,
    /// and lower numbers come first.
    pub fn new(numbers: &[impl Ord + Copy]) -> Self {
        let mut known = numbers.to_vec();
        known.sort_unstable();
        known.dedup();
        let mut members: List<Cluster, Vec<usize>> = vec![Vec::new(); known.len()].into();
        let mut of = Vec::with_capacity(numbers.len());
        for (rank, number) in numbers.iter().enumerate() {
            let cluster = Cluster(known.partition_point(|other| other < number));
            members[cluster].push(rank);
            of.push(cluster);
        }
        Clusters {
            of,
            leaders: members.iter().map(|members| members[0]).collect(),
            dealt: members.clone(),
            members,
            closer: Vec::new(),
            are_near: false,
            neighbourhoods: None,
            shapes: Arc::default(),
            parameter: None,
        }
    }

    /// All ranks in one cluster.
    pub fn one(ranks: usize) -> Self {
        Clusters::new(&vec![Cluster(0); ranks])
    }

    /// Adds an inner level, unless it splits no group or leaves only single ranks. `numbers` has an
    /// entry for each rank; ranks of a group with the same number form a group of the new level.
    pub fn with_closer(mut self, numbers: &[usize]) -> Self {
        assert_eq!(numbers.len(), self.ranks(), "a number for each rank");
        let above = match self.closer.last() {
            Some(closest) => closest.clone(),
            None => self.of.iter().map(|cluster| cluster.0).collect(),
        };
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
        self.with_dealt()
    }

    /// Orders the members of each cluster round-robin by its widest level.
    fn with_dealt(mut self) -> Self {
        if let Some(widest) = self.closer.first() {
            let members = self.members.iter();
            self.dealt = members.map(|members| dealt(members, widest)).collect();
        }
        self
    }

    /// Clusters without the levels inside them.
    pub(crate) fn without_closer(&self) -> Self {
        Clusters {
            closer: Vec::new(),
            dealt: self.members.clone(),
            ..self.clone()
        }
    }

    /// Adds the levels inside hosts to which these ranks of the world are bound; returns the names
    /// of those that split a group.
    pub fn with_inside<'a>(self, inside: &'a [Inside], ranks: &[usize]) -> (Self, Vec<&'a str>) {
        inside
            .iter()
            .fold((self, Vec::new()), |(before, mut names), level| {
                let count = before.closer.len();
                let clusters = before.with_closer(&level.groups_of(ranks));
                if clusters.closer.len() > count {
                    names.push(level.level.as_str());
                }
                (clusters, names)
            })
    }

    /// Groups of the widest level as clusters that are near each other, if all ranks are in one
    /// cluster with such a level.
    pub(crate) fn parted_inside(mut self) -> Self {
        if self.count() > 1 || self.closer.is_empty() {
            return self;
        }
        let widest = self.closer.remove(0);
        Clusters {
            closer: self.closer,
            are_near: true,
            ..Clusters::new(&widest)
        }
        .with_dealt()
    }

    /// Sets whether the clusters are near hosts of one cluster, or groups of one host.
    pub(crate) fn with_nearness(self, are_near: bool) -> Self {
        Clusters { are_near, ..self }
    }

    /// Sets the leader of each cluster.
    ///
    /// # Panics
    /// If a leader is not in its cluster.
    pub fn with_leaders(mut self, leaders: &Slice<Cluster, usize>) -> Self {
        let fits = |(cluster, &rank): (Cluster, &usize)| self.of[rank] == cluster;
        assert!(
            leaders.len() == self.count() && leaders.iter_enumerated().all(fits),
            "every cluster has a leader of its own"
        );
        self.leaders = leaders.to_owned();
        self
    }

    /// Clusters for a plan: with the trees and the parameter that it names, if any.
    pub fn for_plan(&self, plan: &Composition) -> Cow<'_, Self> {
        if plan.is_plain() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Clusters {
            shapes: plan.shapes[..].into(),
            parameter: plan.parameter,
            ..self.clone()
        })
    }

    /// Parameter of the algorithm, if the user set one.
    pub(crate) fn parameter(&self) -> Option<u32> {
        self.parameter
    }

    /// Shape of trees on a level inside clusters, counted from the widest, if the user set one.
    pub(crate) fn shape(&self, level: usize) -> Option<Shape> {
        let named = self.shapes.get(level).or(self.shapes.last());
        named.copied()
    }

    /// Adds the topology of the communicator.
    ///
    /// # Panics
    /// If it has other ranks.
    pub fn with_neighbourhoods(mut self, neighbourhoods: Arc<Neighbourhoods>) -> Self {
        let ranks = neighbourhoods.ranks();
        assert_eq!(ranks, self.ranks(), "a neighbourhood for each rank");
        self.neighbourhoods = Some(neighbourhoods);
        self
    }

    /// Topology of the communicator, if one is known.
    pub fn neighbourhoods(&self) -> Option<&Neighbourhoods> {
        self.neighbourhoods.as_deref()
    }

    /// All ranks in one cluster, with the same topology.
    pub fn as_one(&self) -> Self {
        Clusters {
            neighbourhoods: self.neighbourhoods.clone(),
            ..Clusters::one(self.ranks())
        }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.of.len()
    }

    /// Number of clusters.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// All clusters, in order.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Cluster> + Clone + use<> {
        (0..self.count()).map(Cluster)
    }

    /// True if there are several, far enough from each other that a plan may replace the native
    /// collective by its predicted time alone: not near hosts of one cluster, and not groups of one
    /// host.
    pub fn are_far(&self) -> bool {
        self.count() > 1 && !self.are_near
    }

    /// Cluster of a rank.
    pub fn of(&self, rank: usize) -> Cluster {
        self.of[rank]
    }

    /// Ranks of a cluster, from low to high.
    pub fn members(&self, cluster: Cluster) -> &[usize] {
        &self.members[cluster]
    }

    /// Ranks of a cluster, one of each host (of each group of its widest level) round-robin: the
    /// first few use as many network cards as possible.
    pub(crate) fn dealt(&self, cluster: Cluster) -> &[usize] {
        &self.dealt[cluster]
    }

    /// Levels inside clusters: a number for each rank, widest level first.
    pub fn closer(&self) -> &[Vec<usize>] {
        &self.closer
    }

    /// Leader of `cluster` in a collective without a root.
    pub fn leader(&self, cluster: Cluster) -> usize {
        self.leaders[cluster]
    }

    /// Leader of `cluster` in a collective with this `root`: the root for its own cluster, its
    /// [leader](Clusters::leader) for others.
    pub(crate) fn leader_towards(&self, cluster: Cluster, root: usize) -> usize {
        match self.of[root] == cluster {
            true => root,
            false => self.leaders[cluster],
        }
    }

    /// Number of ranks of each cluster that can send between clusters in parallel: the size of the
    /// smallest cluster.
    pub fn lanes(&self) -> usize {
        self.members.iter().map(Vec::len).min().unwrap_or(1)
    }

    /// The other clusters, from the next one on, so that not all clusters send to the same one
    /// first.
    pub fn others(&self, cluster: Cluster) -> impl Iterator<Item = Cluster> + use<> {
        let count = self.count();
        (1..count).map(move |distance| Cluster((cluster.0 + distance) % count))
    }

    /// The other clusters, in the order in which their messages to `cluster` arrive, if all send as
    /// in [`Clusters::others`].
    pub(crate) fn others_towards(&self, cluster: Cluster) -> impl Iterator<Item = Cluster> + use<> {
        let count = self.count();
        (1..count).map(move |distance| Cluster((cluster.0 + count - distance) % count))
    }
}

/// Members, one of each group round-robin, from low to high in each.
fn dealt(members: &[usize], group_of: &[usize]) -> Vec<usize> {
    let mut met: HashMap<usize, usize> = HashMap::new();
    let mut by_turn: Vec<(usize, usize)> = members
        .iter()
        .map(|&member| {
            let turn = met.entry(group_of[member]).or_default();
            *turn += 1;
            (*turn, member)
        })
        .collect();
    by_turn.sort_by_key(|&(turn, _)| turn);
    by_turn.into_iter().map(|(_, member)| member).collect()
}
