//! Nodes that are near to each node.

use crate::target::nodes::NetworkNodes;
use treepie_topology::networks::{DIMENSION_LIMIT, Lattice, Network};

/// Length of the list of a node of a torus or mesh: the nodes at distances 1 and 2 in three
/// dimensions.
const ON_LATTICES: usize = 24;

/// Length of the list of a node of other networks: a group of a dragonfly is nearly as large.
const ELSEWHERE: usize = 32;

/// Number of offsets examined around a node of a lattice.
const OFFSETS: usize = 1 << 10;

/// A list of other nodes for each node, the nearest first.
pub(crate) struct NearNodes {
    starts: Vec<u32>,
    nodes: Vec<u32>,
}

impl NearNodes {
    pub(crate) fn new(nodes: &NetworkNodes) -> Self {
        let lists: Vec<Vec<u32>> = match nodes.network() {
            Network::Lattice(lattice) => on_lattice(lattice, nodes),
            _ => by_position(nodes),
        };
        let mut near = NearNodes {
            starts: vec![0],
            nodes: Vec::new(),
        };
        for list in lists {
            near.nodes.extend(list);
            near.starts.push(near.nodes.len() as u32);
        }
        near
    }

    /// Nodes near to a node, the nearest first; without the node itself.
    #[inline]
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.nodes[start as usize..end as usize]
    }
}

/// The nodes at each position.
fn at_positions(nodes: &NetworkNodes) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; nodes.network().positions() + 1];
    for node in 0..nodes.count() {
        starts[nodes.position(node) + 1] += 1;
    }
    for position in 1..starts.len() {
        starts[position] += starts[position - 1];
    }
    let mut next = starts.clone();
    let mut there = vec![0; nodes.count()];
    for node in 0..nodes.count() {
        let slot = &mut next[nodes.position(node)];
        there[*slot as usize] = node as u32;
        *slot += 1;
    }
    (starts, there)
}

/// Offsets by increasing distance.
fn offsets(lattice: &Lattice) -> Vec<([isize; DIMENSION_LIMIT], u32)> {
    let dimensions = lattice.sizes().len();
    let mut found = vec![([0; DIMENSION_LIMIT], 0)];
    let mut shell = found.clone();
    for _ in 0..lattice.sizes().iter().sum::<usize>() {
        let mut next = Vec::new();
        for &(offset, length) in &shell {
            // Each offset is reached once: only the last dimension that moved, or a later one,
            // moves further.
            let last = (0..dimensions).rev().find(|&d| offset[d] != 0).unwrap_or(0);
            for dimension in last..dimensions {
                for step in [1_isize, -1] {
                    if offset[dimension] * step >= 0 {
                        let mut further: [isize; DIMENSION_LIMIT] = offset;
                        further[dimension] += step;
                        next.push((further, length + lattice.lengths()[dimension]));
                    }
                }
            }
        }
        found.extend(next.iter().copied());
        if found.len() > OFFSETS || next.is_empty() {
            break;
        }
        shell = next;
    }
    found.sort_by_key(|&(_, length)| length);
    found
}

fn on_lattice(lattice: &Lattice, nodes: &NetworkNodes) -> Vec<Vec<u32>> {
    let (starts, there) = at_positions(nodes);
    let offsets = offsets(lattice);
    let sizes = lattice.sizes();
    let moved = |at: &[usize; DIMENSION_LIMIT], offset: &[isize; DIMENSION_LIMIT]| {
        let mut to = *at;
        for (dimension, &size) in sizes.iter().enumerate() {
            let (size, step) = (size as isize, offset[dimension]);
            let wraps = lattice.wraps()[dimension];
            // More than halfway round is nearer in the other direction.
            if wraps && (2 * step > size || 2 * step <= -size) {
                return None;
            }
            let coordinate = at[dimension] as isize + step;
            to[dimension] = match wraps {
                true => coordinate.rem_euclid(size) as usize,
                false if (0..size).contains(&coordinate) => coordinate as usize,
                false => return None,
            };
        }
        lattice.position(&to[..sizes.len()])
    };
    let list = |node: usize| {
        let at = lattice.coordinates(nodes.position(node));
        let mut list = Vec::with_capacity(ON_LATTICES);
        for (offset, _) in &offsets {
            let Some(position) = moved(&at, offset) else {
                continue;
            };
            let here = starts[position] as usize..starts[position + 1] as usize;
            list.extend(there[here].iter().filter(|&&other| other as usize != node));
            if list.len() >= ON_LATTICES {
                break;
            }
        }
        if list.len() < 6 {
            list.extend(around(node, nodes.count()).take(ON_LATTICES - list.len()));
        }
        list
    };
    (0..nodes.count()).map(list).collect()
}

/// Nodes with near numbers: in a scattered allocation this is the only information.
fn around(node: usize, count: usize) -> impl Iterator<Item = u32> {
    let steps = (1..count).flat_map(move |step| [node + step, (node + count * 2 - step) % count]);
    steps
        .filter(move |&other| other < count && other != node)
        .map(|other| other as u32)
}

fn by_position(nodes: &NetworkNodes) -> Vec<Vec<u32>> {
    let (starts, there) = at_positions(nodes);
    let used: Vec<usize> = (0..nodes.network().positions())
        .filter(|&p| starts[p] < starts[p + 1])
        .collect();
    let mut lists = vec![Vec::new(); nodes.count()];
    let mut order: Vec<(u32, usize)> = Vec::new();
    for (number, &position) in used.iter().enumerate() {
        order.clear();
        // Of equally distant positions, those just behind this one come first.
        let others = (0..used.len()).map(|step| used[(number + step) % used.len()]);
        order.extend(others.map(|other| (nodes.network().distance(position, other), other)));
        let most = (ELSEWHERE + 1).min(order.len());
        if most < order.len() {
            let rank = |&(distance, other): &(u32, usize)| {
                (
                    distance,
                    (other + used[used.len() - 1] + 1 - position) % (used[used.len() - 1] + 1),
                )
            };
            order.select_nth_unstable_by_key(most, rank);
            order.truncate(most);
        }
        order.sort_by_key(|&(distance, other)| (other != position, distance));
        let mut near: Vec<u32> = Vec::new();
        for &(_, other) in &order {
            near.extend(&there[starts[other] as usize..starts[other + 1] as usize]);
            if near.len() > ELSEWHERE {
                break;
            }
        }
        for &node in &there[starts[position] as usize..starts[position + 1] as usize] {
            let others = near.iter().copied().filter(|&other| other != node);
            lists[node as usize] = others.take(ELSEWHERE).collect();
        }
    }
    lists
}
