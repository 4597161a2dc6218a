//! Coarsening: heavy-edge matching, repeated.

use crate::coarsen::graph::Graph;
use crate::random::Random;

/// A graph whose vertices represent one or more ranks.
#[derive(Debug)]
pub(crate) struct Coarse {
    /// Edges between them.
    pub graph: Graph,
    /// Number of ranks in each vertex.
    pub sizes: Vec<u32>,
}

/// One coarsening step.
#[derive(Debug)]
pub struct Step {
    /// The smaller graph.
    pub coarse: Coarse,
    /// Its vertex for each vertex of the larger graph.
    pub vertex_of: Vec<u32>,
}

/// Pairs vertices along heavy edges (heavy-edge matching, Karypis and Kumar 1998), visiting them in
/// random order. A vertex takes the neighbour with the largest edge weight per rank of the pair. No
/// pair represents more than `largest` ranks.
pub(crate) fn coarsened(fine: &Coarse, largest: u32, random: &mut Random) -> Step {
    let order = fine.graph.order();
    let partner = matching(fine, largest, random);
    let mut vertex_of = vec![Graph::OUTSIDE; order];
    let mut firsts: Vec<u32> = Vec::with_capacity(order);
    for vertex in 0..order {
        if vertex_of[vertex] == Graph::OUTSIDE {
            let new = firsts.len() as u32;
            vertex_of[vertex] = new;
            vertex_of[partner[vertex] as usize] = new;
            firsts.push(vertex as u32);
        }
    }
    let sizes = firsts.iter().map(|&first| {
        let (first, second) = (first as usize, partner[first as usize] as usize);
        match first == second {
            true => fine.sizes[first],
            false => fine.sizes[first] + fine.sizes[second],
        }
    });
    let sizes = sizes.collect();
    let graph = merged(fine, &firsts, &partner, &vertex_of);
    Step {
        coarse: Coarse { graph, sizes },
        vertex_of,
    }
}

/// The partner of each vertex; itself if it has none.
fn matching(fine: &Coarse, largest: u32, random: &mut Random) -> Vec<u32> {
    let order = fine.graph.order();
    let mut visit: Vec<u32> = (0..order as u32).collect();
    for last in (1..order).rev() {
        visit.swap(last, random.below(last + 1));
    }
    let mut partner = vec![Graph::OUTSIDE; order];
    for vertex in visit.into_iter().map(|vertex| vertex as usize) {
        if partner[vertex] != Graph::OUTSIDE {
            continue;
        }
        let mut best = (vertex, 0.0);
        for (neighbour, weight) in fine.graph.row(vertex) {
            let free = partner[neighbour] == Graph::OUTSIDE;
            if !free || fine.sizes[vertex] + fine.sizes[neighbour] > largest {
                continue;
            }
            let value = weight / f64::from(fine.sizes[neighbour]);
            if value > best.1 {
                best = (neighbour, value);
            }
        }
        partner[vertex] = best.0 as u32;
        partner[best.0] = vertex as u32;
    }
    partner
}

/// The graph of the pairs.
fn merged(fine: &Coarse, firsts: &[u32], partner: &[u32], vertex_of: &[u32]) -> Graph {
    let mut sum = vec![0.0; firsts.len()];
    let mut touched: Vec<u32> = Vec::new();
    Graph::from_rows(firsts.iter().enumerate().map(|(new, &first)| {
        let (first, second) = (first as usize, partner[first as usize] as usize);
        touched.clear();
        for member in [first, second]
            .into_iter()
            .take(1 + usize::from(first != second))
        {
            for (neighbour, weight) in fine.graph.row(member) {
                let other = vertex_of[neighbour];
                if other as usize == new {
                    continue;
                }
                if sum[other as usize] == 0.0 {
                    touched.push(other);
                }
                sum[other as usize] += weight;
            }
        }
        touched.sort_unstable();
        let row = touched.iter();
        row.map(|&other| (other, std::mem::take(&mut sum[other as usize])))
            .collect()
    }))
}
