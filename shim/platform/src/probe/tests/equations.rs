//! Equations of pLogP, and rounds of disjoint pairs.

use proptest::prelude::*;

use super::simulated::near;
use crate::probe::measure::{gap_of_train, latency_of_round_trips};
use crate::probe::{isolated_gap, tournament};

#[test]
fn kielmanns_equations_give_back_what_a_link_is_made_of() {
    let (latency, g0, gm) = (5e-3, 4e-6, 2e-3);
    let empty_trip = 2.0 * (latency + g0);
    near(latency_of_round_trips(empty_trip, g0), latency, 1e-9);
    let trip = latency + gm + latency + g0;
    near(isolated_gap(trip, empty_trip, g0), gm, 1e-9);
    let train = |count: f64| 2.0 * latency + count * g0;
    near(gap_of_train(train(1.0), train(128.0), 128), g0, 1e-9);
}

proptest! {
    #[test]
    fn a_tournament_has_every_pair_once_and_nobody_twice_in_a_round(participants in 0_usize..40) {
        let rounds = tournament(participants);
        let expected = match participants {
            0 | 1 => 0,
            _ => participants - 1 + participants % 2,
        };
        prop_assert_eq!(rounds.len(), expected);
        let mut pairs: Vec<(usize, usize)> = rounds.concat();
        pairs.sort_unstable();
        let all: Vec<_> = (0..participants).flat_map(|a| (a + 1..participants).map(move |b| (a, b))).collect();
        prop_assert_eq!(pairs, all);
        for round in rounds {
            let mut seen: Vec<usize> = round.iter().flat_map(|&(a, b)| [a, b]).collect();
            let count = seen.len();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), count);
        }
    }
}
