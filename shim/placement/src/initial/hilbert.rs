//! Ranks and nodes along Hilbert curves (computed by the transposes of Skilling 2004).

use crate::initial::grid::Grid;
use crate::target::network::NetworkTarget;
use treepie_base::{List, Rank, Slot};
use treepie_topology::networks::Network;

/// Assigns ranks in the order of their curve to slots in the order of theirs. `None` if the network
/// has no coordinates.
pub(crate) fn along_hilbert(
    target: &NetworkTarget,
    grid: Option<&Grid>,
) -> Option<List<Rank, Slot>> {
    let nodes = target.nodes;
    let Network::Lattice(lattice) = nodes.network() else {
        return None;
    };
    let sizes = lattice.sizes();
    let bits = bits_of(sizes.iter().copied().max().unwrap_or(1));
    let mut slots: Vec<u32> = target.slots().to_vec();
    slots.sort_by_cached_key(|&slot| {
        let node = target.node_of_slot[slot as usize] as usize;
        let at = lattice
            .coordinates(nodes.position(node))
            .map(|coordinate| coordinate as u32);
        (hilbert(&at[..sizes.len()], bits), slot)
    });
    let mut ranks: Vec<usize> = (0..target.ranks).collect();
    if let Some(grid) = grid {
        let bits = bits_of(grid.extents.iter().copied().max().unwrap_or(1) as usize);
        ranks.sort_by_cached_key(|&rank| (hilbert(grid.at(rank), bits), rank));
    }
    let mut slot_of = List::from(vec![Slot(0); target.ranks]);
    for (&rank, &slot) in ranks.iter().zip(&slots) {
        slot_of[Rank(rank)] = Slot(slot as usize);
    }
    Some(slot_of)
}

fn bits_of(size: usize) -> u32 {
    usize::BITS - (size - 1).leading_zeros()
}

/// Index of a point on the Hilbert curve through a cube of `2^bits` cells a side.
fn hilbert(at: &[u32], bits: u32) -> u128 {
    let mut x = at.to_vec();
    let count = x.len();
    if bits == 0 {
        return 0;
    }
    let mut q = 1_u32 << (bits - 1);
    while q > 1 {
        let p = q - 1;
        for i in 0..count {
            if x[i] & q != 0 {
                x[0] ^= p;
            } else {
                let t = (x[0] ^ x[i]) & p;
                x[0] ^= t;
                x[i] ^= t;
            }
        }
        q >>= 1;
    }
    for i in 1..count {
        x[i] ^= x[i - 1];
    }
    let mut t = 0;
    let mut q = 1_u32 << (bits - 1);
    while q > 1 {
        if x[count - 1] & q != 0 {
            t ^= q - 1;
        }
        q >>= 1;
    }
    let mut place = 0_u128;
    for bit in (0..bits).rev() {
        for value in &x {
            place = place << 1 | u128::from((value ^ t) >> bit & 1);
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_on_the_curve_are_neighbours_in_the_cube() {
        for dimensions in 2..=3 {
            let side = 8_u32;
            let all = side.pow(dimensions as u32);
            let point = |cell: u32| -> Vec<u32> {
                (0..dimensions as u32)
                    .map(|d| cell / side.pow(d) % side)
                    .collect()
            };
            let mut order: Vec<u32> = (0..all).collect();
            order.sort_by_key(|&cell| hilbert(&point(cell), 3));
            for pair in order.windows(2) {
                let both = point(pair[0]).into_iter().zip(point(pair[1]));
                let apart: u32 = both.map(|(a, b)| a.abs_diff(b)).sum();
                assert_eq!(apart, 1);
            }
        }
    }
}
