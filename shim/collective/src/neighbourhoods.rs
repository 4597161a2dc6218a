//! Topology of a communicator for its neighbourhood collectives: senders and receivers, and the
//! block of the receiver to which a block of the sender belongs.
//!
//! ```text
//!   rank 0, block 2 ----edge----> rank 3, block 0
//! ```
//!
//! Two ranks may have several edges between them, a rank may have edges to itself, and a place at
//! the border of a grid may have none (MPI-4.1, section 8.6). In a graph, the k-th edge of the
//! sender to a rank is the k-th of that rank from it. In a Cartesian topology it is the one in the
//! opposite direction: a block sent downwards arrives from above, also if both are the same rank.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::operation::Operation;

/// Neighbours of one rank, in the order of the arguments of its calls; `None` for a missing one
/// (`MPI_PROC_NULL`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Neighbours {
    /// Sources of blocks.
    pub sources: Vec<Option<u32>>,
    /// Destinations of blocks.
    pub destinations: Vec<Option<u32>>,
}

/// Kind of topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Layout {
    /// A grid: for each dimension the neighbour below, then the one above.
    Cartesian,
    /// A graph, distributed or not.
    Graph,
}

/// End of an edge: a rank, and the place among its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// Rank.
    pub rank: usize,
    /// Place among the blocks that it sends, or receives.
    pub block: usize,
}

/// Neighbourhoods of all ranks of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbourhoods {
    /// For each rank and block that it sends, its destination.
    outgoing: Vec<Vec<Option<End>>>,
    /// For each rank and block that it receives, its source.
    incoming: Vec<Vec<Option<End>>>,
}

impl Neighbourhoods {
    /// Neighbourhoods from the neighbours of every rank; `None` if two ranks disagree on an edge.
    pub fn new(layout: Layout, ranks: &[Neighbours]) -> Option<Self> {
        let incoming: Vec<Vec<Option<End>>> = ranks
            .iter()
            .map(|rank| vec![None; rank.sources.len()])
            .collect();
        let mut all = Neighbourhoods {
            outgoing: Vec::with_capacity(ranks.len()),
            incoming,
        };
        let places = places_by_source(ranks);
        for (rank, neighbours) in ranks.iter().enumerate() {
            let mut seen: HashMap<u32, usize> = HashMap::new();
            let mut ends = Vec::with_capacity(neighbours.destinations.len());
            for (block, destination) in neighbours.destinations.iter().enumerate() {
                let Some(destination) = *destination else {
                    ends.push(None);
                    continue;
                };
                let place = match layout {
                    Layout::Cartesian => block ^ 1,
                    Layout::Graph => {
                        let before = seen.entry(destination).or_default();
                        *before += 1;
                        let places = places.get(destination as usize)?.get(&(rank as u32))?;
                        *places.get(*before - 1)?
                    }
                };
                let receiver = ranks.get(destination as usize)?;
                let source = receiver.sources.get(place).copied().flatten();
                if source != Some(rank as u32) {
                    return None;
                }
                all.incoming[destination as usize][place] = Some(End { rank, block });
                ends.push(Some(End {
                    rank: destination as usize,
                    block: place,
                }));
            }
            all.outgoing.push(ends);
        }
        let all_come = ranks.iter().zip(&all.incoming).all(|(rank, ends)| {
            let mut both = rank.sources.iter().zip(ends);
            both.all(|(source, end)| source.is_some() == end.is_some())
        });
        all_come.then_some(all)
    }

    /// Grid of these dimensions, its ranks row by row, each dimension a ring if its flag is set: as
    /// in `MPI_Cart_create`.
    pub fn grid(dimensions: &[(usize, bool)]) -> Self {
        let ranks: usize = dimensions.iter().map(|&(length, _)| length).product();
        let neighbours = |rank: usize| {
            let mut beside = Vec::with_capacity(2 * dimensions.len());
            let mut step = ranks;
            for &(length, is_ring) in dimensions {
                step /= length.max(1);
                let place = rank / step.max(1) % length.max(1);
                let at = |to: usize| Some((rank - place * step + to * step) as u32);
                beside.push(match place {
                    0 if is_ring => at(length - 1),
                    0 => None,
                    _ => at(place - 1),
                });
                beside.push(match place + 1 == length {
                    true if is_ring => at(0),
                    true => None,
                    false => at(place + 1),
                });
            }
            Neighbours {
                sources: beside.clone(),
                destinations: beside,
            }
        };
        let all: Vec<Neighbours> = (0..ranks).map(neighbours).collect();
        let grid = Neighbourhoods::new(Layout::Cartesian, &all);
        grid.unwrap_or(Neighbourhoods {
            outgoing: Vec::new(),
            incoming: Vec::new(),
        })
    }

    /// Graph with these edges, each a sender and a receiver, in their order at both ends.
    pub fn graph(ranks: usize, edges: &[(u32, u32)]) -> Option<Self> {
        let mut all = vec![Neighbours::default(); ranks];
        for &(from, to) in edges {
            all.get_mut(from as usize)?.destinations.push(Some(to));
            all.get_mut(to as usize)?.sources.push(Some(from));
        }
        Neighbourhoods::new(Layout::Graph, &all)
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.outgoing.len()
    }

    /// Destination of each block that `rank` sends.
    pub fn outgoing(&self, rank: usize) -> &[Option<End>] {
        &self.outgoing[rank]
    }

    /// Source of each block that `rank` receives.
    pub fn incoming(&self, rank: usize) -> &[Option<End>] {
        &self.incoming[rank]
    }

    /// Ranks to which `rank` sends, except itself, from low to high.
    pub fn receivers(&self, rank: usize) -> Vec<usize> {
        distinct(&self.outgoing[rank], rank)
    }

    /// Ranks from which `rank` receives, except itself, from low to high.
    pub fn senders(&self, rank: usize) -> Vec<usize> {
        distinct(&self.incoming[rank], rank)
    }

    /// Number of edges of all ranks.
    pub fn edges(&self) -> usize {
        self.outgoing.iter().flatten().flatten().count()
    }

    /// Maximum number of blocks that a rank sends or receives.
    pub(crate) fn most_blocks(&self) -> usize {
        let both = self.outgoing.iter().chain(&self.incoming);
        both.map(Vec::len).max().unwrap_or(0)
    }

    /// True if a place of `rank` has no neighbour.
    pub fn has_borders(&self, rank: usize) -> bool {
        let mut both = self.outgoing[rank].iter().chain(&self.incoming[rank]);
        both.any(Option::is_none)
    }

    /// True if a collective has the same meaning in all MPI libraries. If two ranks have several
    /// edges, libraries differ in their assignment of blocks to edges.
    pub fn are_unambiguous(&self, operation: Operation) -> bool {
        operation.gathers_from_neighbours() || !self.has_repeated_edges()
    }

    /// True if a rank has several edges to another, or to itself: MPI libraries differ in their
    /// assignment of blocks to these.
    pub(crate) fn has_repeated_edges(&self) -> bool {
        self.outgoing.iter().any(|ends| {
            let mut ranks: Vec<usize> = ends.iter().flatten().map(|end| end.rank).collect();
            ranks.sort_unstable();
            ranks.windows(2).any(|pair| pair[0] == pair[1])
        })
    }
}

/// For each rank, the places of its sources, by source.
fn places_by_source(ranks: &[Neighbours]) -> Vec<HashMap<u32, Vec<usize>>> {
    let of_rank = |rank: &Neighbours| {
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (place, source) in rank.sources.iter().enumerate() {
            if let Some(source) = source {
                places.entry(*source).or_default().push(place);
            }
        }
        places
    };
    ranks.iter().map(of_rank).collect()
}

fn distinct(ends: &[Option<End>], own: usize) -> Vec<usize> {
    let ends = ends.iter().flatten().map(|end| end.rank);
    let mut ranks: Vec<usize> = ends.filter(|&rank| rank != own).collect();
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(rank: usize, block: usize) -> Option<End> {
        Some(End { rank, block })
    }

    #[test]
    fn in_a_graph_the_edges_of_two_ranks_belong_together_in_their_order() {
        let of = |sources: &[u32], destinations: &[u32]| Neighbours {
            sources: sources.iter().map(|&rank| Some(rank)).collect(),
            destinations: destinations.iter().map(|&rank| Some(rank)).collect(),
        };
        let ranks = [of(&[1, 0], &[1, 0, 1]), of(&[0, 0], &[0])];
        let all = Neighbourhoods::new(Layout::Graph, &ranks).unwrap();
        assert_eq!(all.outgoing(0), [end(1, 0), end(0, 1), end(1, 1)]);
        assert_eq!(all.incoming(1), [end(0, 0), end(0, 2)]);
        assert_eq!((all.edges(), all.most_blocks()), (4, 3));
        assert_eq!((all.receivers(0), all.senders(0)), (vec![1], vec![1]));
        // An edge that only one of both ranks lists is ignored.
        let one_sided = [of(&[], &[1]), of(&[], &[])];
        assert_eq!(Neighbourhoods::new(Layout::Graph, &one_sided), None);
        let other_sided = [of(&[], &[]), of(&[0], &[])];
        assert_eq!(Neighbourhoods::new(Layout::Graph, &other_sided), None);
        assert_eq!(Neighbourhoods::new(Layout::Graph, &[of(&[], &[7])]), None);
    }

    #[test]
    fn in_a_grid_what_goes_down_comes_from_above_also_from_the_same_rank() {
        let ring_of_two = Neighbourhoods::grid(&[(2, true)]);
        assert_eq!(ring_of_two.outgoing(0), [end(1, 1), end(1, 0)]);
        let alone = Neighbourhoods::grid(&[(1, true)]);
        assert_eq!(alone.outgoing(0), [end(0, 1), end(0, 0)]);
        assert!(ring_of_two.has_repeated_edges() && alone.has_repeated_edges());
        let line = Neighbourhoods::grid(&[(3, false)]);
        assert_eq!(line.outgoing(0), [None, end(1, 0)]);
        assert_eq!(line.outgoing(1), [end(0, 1), end(2, 0)]);
        assert!(line.has_borders(0) && !line.has_borders(1));
        assert!(!line.has_repeated_edges());
        let torus = Neighbourhoods::grid(&[(3, true), (4, true)]);
        let four = [end(9, 1), end(5, 0), end(0, 3), end(2, 2)];
        assert_eq!(torus.outgoing(1), four);
        assert_eq!((torus.ranks(), torus.edges()), (12, 48));
    }
}
