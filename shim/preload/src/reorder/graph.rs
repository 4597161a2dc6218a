//! Graph of a topology, from the arguments of the procedure that creates it. Invalid arguments give
//! no graph: the native MPI reports the error.

use std::slice;

use treepie_mpi::{Word, c_int};

use super::weights::are_absent;

/// Source, destination, weight.
pub type Edge = (u32, u32, u32);

/// Edges by the ranks of their nodes, with their weights.
pub struct Graph {
    /// Edges that this process knows.
    pub edges: Vec<Edge>,
    /// True if all processes know all edges.
    pub is_whole: bool,
}

/// Returns the numbers at `address`; none if there is no array.
///
/// # Safety
/// `address` is 0 or that of `count` ints.
pub unsafe fn numbers<'a>(address: Word, count: usize) -> &'a [c_int] {
    match count == 0 || address == 0 {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { slice::from_raw_parts(address as *const c_int, count) },
    }
}

fn count(word: Word) -> Option<usize> {
    usize::try_from(word as c_int).ok()
}

/// Returns a node of a graph with `members` nodes.
fn node(number: c_int, members: usize) -> Option<u32> {
    let node = u32::try_from(number).ok()?;
    ((node as usize) < members).then_some(node)
}

/// Returns the given weights; 1 each if there are none.
///
/// # Safety
/// `weights` is a constant for no weights, or the address of `count` ints.
unsafe fn weights<'a>(weights: Word, count: usize) -> impl Fn(usize) -> Option<u32> + 'a {
    let given = match are_absent(weights) {
        true => None,
        // SAFETY: the caller's promise.
        false => Some(unsafe { numbers(weights, count) }),
    };
    move |at| match given {
        None => Some(1),
        Some(given) => u32::try_from(*given.get(at)?).ok(),
    }
}

impl Graph {
    /// Builds a grid whose last dimension varies fastest: each node and the next one in each
    /// dimension, in both directions.
    ///
    /// # Safety
    /// `sizes` and `periods` have `dimensions` ints.
    pub unsafe fn cartesian(
        members: usize,
        dimensions: Word,
        sizes: Word,
        periods: Word,
    ) -> Option<Graph> {
        let dimensions = count(dimensions)?;
        // SAFETY: the caller's promise.
        let (sizes, periods) =
            unsafe { (numbers(sizes, dimensions), numbers(periods, dimensions)) };
        let sizes: Option<Vec<usize>> = sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
        let sizes = sizes?;
        let nodes = sizes
            .iter()
            .try_fold(1_usize, |nodes, &size| nodes.checked_mul(size))?;
        if dimensions == 0 || nodes == 0 || nodes > members {
            return None;
        }
        let mut edges = Vec::with_capacity(2 * dimensions * nodes);
        let mut stride = nodes;
        for (&size, &period) in sizes.iter().zip(periods) {
            stride /= size;
            for node in 0..nodes {
                let at = node / stride % size;
                let next = match (at + 1 < size, period != 0 && size > 1) {
                    (true, _) => node + stride,
                    (false, true) => node - at * stride,
                    (false, false) => continue,
                };
                let (node, next) = (node as u32, next as u32);
                edges.extend([(node, next, 1), (next, node, 1)]);
            }
        }
        Some(Graph {
            edges,
            is_whole: true,
        })
    }

    /// Builds the graph of `MPI_Graph_create`: the edges of node `i` end at `index[i]`.
    ///
    /// # Safety
    /// `index` has `nodes` ints, and its last one is the length of `edges`.
    pub unsafe fn listed(members: usize, nodes: Word, index: Word, edges: Word) -> Option<Graph> {
        let nodes = count(nodes).filter(|&nodes| nodes > 0 && nodes <= members)?;
        // SAFETY: the caller's promise.
        let ends = unsafe { numbers(index, nodes) };
        let all = usize::try_from(*ends.last()?).ok()?;
        // SAFETY: the caller's promise.
        let targets = unsafe { numbers(edges, all) };
        let mut edges = Vec::with_capacity(targets.len());
        let mut start = 0;
        for (from, &end) in ends.iter().enumerate() {
            let end = usize::try_from(end).ok()?;
            for &to in targets.get(start..end)? {
                edges.push((from as u32, node(to, nodes)?, 1));
            }
            start = end;
        }
        Some(Graph {
            edges,
            is_whole: true,
        })
    }

    /// Builds the graph of `MPI_Dist_graph_create`: number of sources, the sources, the number of
    /// edges of each, their destinations, their weights.
    ///
    /// # Safety
    /// The arrays have these lengths.
    pub unsafe fn distributed(members: usize, list: [Word; 5]) -> Option<Graph> {
        let [length, sources, degrees, destinations, given] = list;
        let length = count(length)?;
        // SAFETY: the caller's promise.
        let (sources, degrees) = unsafe { (numbers(sources, length), numbers(degrees, length)) };
        let degrees: Option<Vec<usize>> =
            degrees.iter().map(|&n| usize::try_from(n).ok()).collect();
        let degrees = degrees?;
        let all = degrees
            .iter()
            .try_fold(0_usize, |all, &degree| all.checked_add(degree))?;
        // SAFETY: the caller's promise.
        let (targets, weight) = unsafe { (numbers(destinations, all), weights(given, all)) };
        let mut edges = Vec::with_capacity(all);
        for (&source, &degree) in sources.iter().zip(&degrees) {
            let from = node(source, members)?;
            for at in edges.len()..edges.len() + degree {
                edges.push((from, node(*targets.get(at)?, members)?, weight(at)?));
            }
        }
        Some(Graph {
            edges,
            is_whole: false,
        })
    }

    /// Builds the outgoing edges of this process's node: number, neighbours and weights of incoming
    /// and of outgoing edges. A caller that knows this process's rank sets the source.
    ///
    /// # Safety
    /// The arrays have these lengths.
    pub unsafe fn adjacent(
        members: usize,
        incoming: [Word; 3],
        outgoing: [Word; 3],
    ) -> Option<Graph> {
        let list = |[length, neighbours, given]: [Word; 3]| {
            let length = count(length)?;
            // SAFETY: the caller's promise.
            let (ends, weight) = unsafe { (numbers(neighbours, length), weights(given, length)) };
            let edges = ends.iter().enumerate();
            let edges = edges.map(|(at, &end)| Some((OWN, node(end, members)?, weight(at)?)));
            let edges: Option<Vec<Edge>> = edges.collect();
            edges.filter(|edges| edges.len() == length)
        };
        // An edge is given at both of its ends; one is enough.
        list(incoming)?;
        Some(Graph {
            edges: list(outgoing)?,
            is_whole: false,
        })
    }
}

/// Source of an edge that stands for the caller's node.
pub const OWN: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn address(numbers: &[c_int]) -> Word {
        numbers.as_ptr() as Word
    }

    #[test]
    fn a_grid_joins_each_node_to_the_next_and_a_ring_the_last_to_the_first() {
        let (sizes, periods) = ([2, 3], [0, 1]);
        // SAFETY: two ints each.
        let graph = unsafe { Graph::cartesian(6, 2, address(&sizes), address(&periods)) }.unwrap();
        let mut ways: Vec<(u32, u32)> = graph.edges.iter().map(|&(a, b, _)| (a, b)).collect();
        ways.sort_unstable();
        let mut expected = Vec::new();
        for (a, b) in [
            (0, 3),
            (1, 4),
            (2, 5),
            (0, 1),
            (1, 2),
            (2, 0),
            (3, 4),
            (4, 5),
            (5, 3),
        ] {
            expected.extend([(a, b), (b, a)]);
        }
        expected.sort_unstable();
        assert_eq!(ways, expected);
        // SAFETY: as above.
        let too_large = unsafe { Graph::cartesian(5, 2, address(&sizes), address(&periods)) };
        assert!(too_large.is_none());
    }

    #[test]
    fn lists_that_make_no_sense_are_no_graph() {
        let (index, edges) = ([1, 2], [1, 7]);
        // SAFETY: two ints each.
        assert!(unsafe { Graph::listed(2, 2, address(&index), address(&edges)) }.is_none());
        let (sources, degrees, targets, negative) = ([0], [2], [1, 0], [3, -1]);
        let list = |weights: &[c_int]| {
            let arrays = [&sources[..], &degrees, &targets, weights];
            let [sources, degrees, targets, weights] = arrays.map(address);
            [1, sources, degrees, targets, weights]
        };
        // SAFETY: arrays of one, one, two and two ints.
        let (good, bad) = unsafe {
            (
                Graph::distributed(2, list(&[3, 4])),
                Graph::distributed(2, list(&negative)),
            )
        };
        assert_eq!(good.unwrap().edges, [(0, 1, 3), (0, 0, 4)]);
        assert!(bad.is_none());
    }
}
