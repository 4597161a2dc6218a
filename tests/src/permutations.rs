//! Permutations of ranks for jobs.
//!
//! `p[i]` is the new rank of the launcher's process `i`.

use std::time::{SystemTime, UNIX_EPOCH};

/// The last process becomes rank 0, and so on.
pub fn reversed(ranks: usize) -> Vec<usize> {
    (0..ranks).rev().collect()
}

/// Process i becomes rank i + 1: no power of it except the last is its own inverse, so that a
/// confusion of a permutation with its inverse is detected.
pub fn rotated(ranks: usize) -> Vec<usize> {
    (0..ranks).map(|process| (process + 1) % ranks).collect()
}

/// A permutation drawn with a seed.
pub fn shuffled(ranks: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut permutation: Vec<usize> = (0..ranks).collect();
    for last in (1..ranks).rev() {
        permutation.swap(last, (next(&mut state) % (last as u64 + 1)) as usize);
    }
    permutation
}

/// A permutation drawn with a seed that gives every process another rank, and is not its own
/// inverse, if there are enough ranks: it detects everything that a fixed rotation does.
pub fn moving_all(ranks: usize, seed: u64) -> Vec<usize> {
    let moves_all = |drawn: &[usize]| {
        let moved = drawn
            .iter()
            .enumerate()
            .all(|(process, &rank)| process != rank);
        let is_inverse = |(process, &rank): (usize, &usize)| drawn[rank] == process;
        moved && (ranks < 3 || !drawn.iter().enumerate().all(is_inverse))
    };
    match ranks {
        0 | 1 => shuffled(ranks, seed),
        _ => (seed..)
            .map(|seed| shuffled(ranks, seed))
            .find(|drawn| moves_all(drawn))
            .expect("a rotation is one of them"),
    }
}

/// A new seed each time, printed so that a failure can be repeated; or the one in the variable
/// `SEED`.
///
/// # Panics
/// Panics if `SEED` is not a number.
pub fn seed() -> u64 {
    let seed = match std::env::var("SEED") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("SEED={text}: not a number")),
        Err(_) => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_nanos() as u64 % 1_000_000),
    };
    println!("random permutations of SEED={seed}");
    seed
}

/// `2,0,1`, the form of `TREEPIE_PERMUTATION`.
pub fn as_list(permutation: &[usize]) -> String {
    let numbers: Vec<String> = permutation.iter().map(usize::to_string).collect();
    numbers.join(",")
}

/// The next number of SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_drawn_once() {
        for seed in 0..20 {
            let mut permutation = shuffled(16, seed);
            permutation.sort_unstable();
            assert_eq!(permutation, (0..16).collect::<Vec<_>>());
        }
        assert_ne!(shuffled(16, 1), shuffled(16, 2));
    }

    #[test]
    fn every_rank_moves_and_a_confusion_with_the_inverse_shows() {
        assert_eq!(moving_all(1, 7), [0]);
        assert_eq!(moving_all(2, 7), [1, 0]);
        for (ranks, seed) in (3..9).flat_map(|ranks| (0..20).map(move |seed| (ranks, seed))) {
            let drawn = moving_all(ranks, seed);
            assert!(
                (0..ranks).all(|process| drawn[process] != process),
                "{drawn:?}"
            );
            assert!(
                (0..ranks).any(|process| drawn[drawn[process]] != process),
                "{drawn:?}"
            );
        }
    }
}
