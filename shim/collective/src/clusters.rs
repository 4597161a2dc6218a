//! The clusters of a communicator, the levels inside them, and its topology.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::algorithms::trees::Shape;
use crate::composition::Composition;
use crate::neighbourhoods::Neighbourhoods;
use treepie_platform::Inside;

/// The ranks of a communicator in clusters, those of a cluster in groups that are
/// closer still (hosts, sockets, ...). Clusters are numbered as who made them numbers them,
/// whatever the order of ranks is, and none is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clusters {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// The members of each cluster, one of each group of its widest level in turn.
    dealt: Vec<Vec<usize>>,
    /// Leader of each cluster.
    leaders: Vec<usize>,
    /// Number of each rank's group on each level inside clusters, the widest level first.
    closer: Vec<Vec<usize>>,
    /// They are near hosts of one cluster, or groups of one host.
    are_near: bool,
    /// The communicator's topology, if it has one.
    neighbourhoods: Option<Arc<Neighbourhoods>>,
    /// Shapes of the trees inside clusters that were asked for, the widest level first.
    shapes: Arc<[Shape]>,
    /// The parameter of the algorithm that was asked for.
    parameter: Option<u32>,
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
        Clusters::new(&vec![0; ranks])
    }

    /// Adds an inner level, unless it splits no group or leaves only single ranks: a number for
    /// each rank; ranks of a group with the same number form a group of the new level.
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
        self.with_dealt()
    }

    /// Deals the members of each cluster out by its widest level.
    fn with_dealt(mut self) -> Self {
        if let Some(widest) = self.closer.first() {
            let members = self.members.iter();
            self.dealt = members.map(|members| dealt(members, widest)).collect();
        }
        self
    }

    /// The same clusters without levels inside them.
    pub(crate) fn without_closer(&self) -> Self {
        Clusters {
            closer: Vec::new(),
            dealt: self.members.clone(),
            ..self.clone()
        }
    }

    /// Adds the levels inside hosts that these ranks of the world are bound to; with the names of
    /// those that count.
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

    /// The groups of the widest level as clusters that are near each other, where all ranks are in
    /// one cluster, and there is such a level.
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

    /// Marks the clusters as near hosts of one cluster, or groups of one host.
    pub(crate) fn with_nearness(self, are_near: bool) -> Self {
        Clusters { are_near, ..self }
    }

    /// Gives each cluster its leader.
    ///
    /// # Panics
    /// If a leader is not in its cluster.
    pub fn with_leaders(mut self, leaders: &[usize]) -> Self {
        let fits = |(cluster, &rank): (usize, &usize)| self.of[rank] == cluster;
        assert!(
            leaders.len() == self.count() && leaders.iter().enumerate().all(fits),
            "every cluster has a leader of its own"
        );
        self.leaders = leaders.to_vec();
        self
    }

    /// These ranks for a plan: with the trees and the parameter that it names, if it names some.
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

    /// The parameter of the algorithm, if one was asked for.
    pub(crate) fn parameter(&self) -> Option<u32> {
        self.parameter
    }

    /// The shape of trees on a level inside clusters, counted from the widest, if one was asked
    /// for.
    pub(crate) fn shape(&self, level: usize) -> Option<Shape> {
        let named = self.shapes.get(level).or(self.shapes.last());
        named.copied()
    }

    /// The same ranks with the topology of their communicator.
    ///
    /// # Panics
    /// If it has other ranks.
    pub fn with_neighbourhoods(mut self, neighbourhoods: Arc<Neighbourhoods>) -> Self {
        let ranks = neighbourhoods.ranks();
        assert_eq!(ranks, self.ranks(), "a neighbourhood for each rank");
        self.neighbourhoods = Some(neighbourhoods);
        self
    }

    /// The communicator's topology, if it is known to have one.
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

    /// Whether there are several, far enough from each other that a plan may replace the native
    /// collective by its predicted time alone: not near hosts of one, and not
    /// groups of one host.
    pub fn are_far(&self) -> bool {
        self.count() > 1 && !self.are_near
    }

    /// The cluster of a rank.
    pub fn of(&self, rank: usize) -> usize {
        self.of[rank]
    }

    /// The ranks of a cluster, from low to high.
    pub fn members(&self, cluster: usize) -> &[usize] {
        &self.members[cluster]
    }

    /// The ranks of a cluster, one of each host (of each group of its widest level) in turn: the
    /// first few have as many cards as there can be.
    pub(crate) fn dealt(&self, cluster: usize) -> &[usize] {
        &self.dealt[cluster]
    }

    /// The levels inside clusters: a number for each rank, the widest level first.
    pub fn closer(&self) -> &[Vec<usize>] {
        &self.closer
    }

    /// Leader of `cluster` where there is no root.
    pub fn leader(&self, cluster: usize) -> usize {
        self.leaders[cluster]
    }

    /// Leader of `cluster` where `root` is the root: the root for its own cluster, its
    /// [leader](Clusters::leader) for others.
    pub(crate) fn leader_towards(&self, cluster: usize, root: usize) -> usize {
        match self.of[root] == cluster {
            true => root,
            false => self.leaders[cluster],
        }
    }

    /// How many ranks of each cluster can send between clusters side by side: the size of the
    /// smallest.
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
    pub(crate) fn others_towards(&self, cluster: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.count();
        (1..count).map(move |distance| (cluster + count - distance) % count)
    }
}

/// One of each group in turn, from low to high in each.
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
