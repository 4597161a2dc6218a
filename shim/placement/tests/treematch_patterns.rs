//! Limits and splits of the thesis on TreeMatch (Tessier 2015, 2.4.2), and the
//! patterns of NAS CG and LU on nodes of two sockets of four cores.
#![allow(clippy::unwrap_used)] // a test may panic

use treepie_base::Leaf;
use treepie_placement::objective::{dist_comm, mean_of_directions};
use treepie_placement::treematch::{Parameters, aggregated, decomposed, group, smallest_first};
use treepie_placement::treematch::{PossibleGroups, group_count};
use treepie_placement::{Options, Strategy, place};
use treepie_topology::Topology;
use treepie_traffic::Matrix;

mod thesis;
use thesis::{cg_messages, lu_messages};

fn cost(strategy: Strategy, matrix: &Matrix, topology: &Topology) -> f64 {
    let outcome = place(strategy, matrix, topology, &Options::default()).unwrap();
    outcome.cost
}

#[test]
fn arities_are_split_into_primes_ascending_from_the_root() {
    assert_eq!(decomposed(&[100]), [2, 2, 5, 5]);
    assert_eq!(decomposed(&[4, 6]), [2, 2, 2, 3]);
    assert_eq!(decomposed(&[1, 7, 1]), [7]);
    assert_eq!(decomposed(&[1]), [0; 0]);
}

#[test]
fn splitting_arity_four_pays_from_eight_ranks_on() {
    assert!(2 * group_count(7, 2) > group_count(7, 4));
    assert!(2 * group_count(8, 2) < group_count(8, 4));
}

#[test]
fn thirty_thousand_groups_are_reached_where_the_table_says() {
    for (size, order, count) in [
        (2, 246, Some(30135)),
        (3, 58, Some(30856)),
        (4, 31, None),
        (5, 23, None),
        (6, 20, Some(38760)),
        (8, 18, None),
    ] {
        assert!(group_count(order - 1, size) < 30_000);
        assert!(group_count(order, size) >= 30_000);
        assert!(count.is_none_or(|count| group_count(order, size) == count));
    }
    for (order, size, count) in [
        (64, 2, 2016),
        (128, 2, 8128),
        (256, 2, 32640),
        (64, 4, 635_376),
        (100, 5, 75_287_520),
        (55, 11, 119_653_565_850),
        (5, 6, 0),
        (10_000, 5_000, u64::MAX),
    ] {
        assert_eq!(group_count(order, size), count);
    }
}

#[test]
fn grouping_turns_fast_at_the_threshold() {
    let exact = |ranks: usize| {
        let hierarchy = group(
            &Matrix::zero(ranks),
            &[ranks / 2, 2],
            &Parameters::default(),
        );
        hierarchy.unwrap().levels()[1].exact
    };
    assert!(exact(244));
    assert!(!exact(246));
}

#[test]
fn nas_patterns_cost_what_table_a_8_says() {
    for (name, ranks, packed, round_robin, treematch_h1, treematch_fast) in [
        ("cg", 64, 3_737_984., 3_737_984., 3_737_984., 3_737_984.),
        (
            "cg",
            128,
            12_087_040.,
            12_087_040.,
            12_087_040.,
            12_087_040.,
        ),
        (
            "cg",
            256,
            24_363_776.,
            24_363_776.,
            24_748_032.,
            24_363_776.,
        ),
        ("lu", 64, 75_010_240., 90_529_600., 68_867_160., 62_077_440.),
        (
            "lu",
            128,
            157_780_160.,
            188_818_880.,
            141_937_480.,
            131_914_560.,
        ),
        (
            "lu",
            256,
            331_079_680.,
            393_157_120.,
            292_281_280.,
            279_348_480.,
        ),
    ] {
        let matrix = if name == "cg" {
            cg_messages(ranks)
        } else {
            lu_messages(ranks)
        };
        let nodes = ranks / 8;
        let topology = Topology::from_arities(&format!("{nodes}:2:4")).unwrap();
        let topology = topology.with_numbering(&["socket", "core"]).unwrap();
        let case = format!("{name} {ranks}");
        // The table sums over ordered pairs.
        let ordered = |strategy| 2. * cost(strategy, &matrix, &topology);
        assert_eq!(ordered(Strategy::Packed), packed, "packed {case}");
        assert_eq!(
            ordered(Strategy::RoundRobin),
            round_robin,
            "round robin {case}"
        );
        assert_eq!(h1_on_pairs(&matrix), treematch_h1, "H1 {case}");
        let pairs = decomposed(&[nodes, 2, 4]);
        let fast = Parameters {
            exact_below: 0,
            ..Parameters::default()
        };
        let affinity = mean_of_directions(&matrix).unwrap();
        let grouped = group(&affinity, &pairs, &fast).unwrap();
        let leaves = Leaf::list(grouped.leaf_of_entity());
        assert_eq!(
            2. * dist_comm(&matrix, &topology, &leaves),
            treematch_fast,
            "fast {case}"
        );
        assert!(
            ordered(Strategy::TreeMatch) <= treematch_fast,
            "treematch {case}"
        );
        assert!(
            ordered(Strategy::Best) <= packed.min(treematch_fast),
            "best {case}"
        );
    }
}

/// Ordered cost on `N:2:4` of grouping in pairs throughout with the first heuristic alone, from the
/// traffic that remains between groups (thesis digest 2.1).
fn h1_on_pairs(matrix: &Matrix) -> f64 {
    let mut matrix = mean_of_directions(matrix).unwrap();
    let mut remaining = vec![matrix.total()];
    while matrix.order() > 1 {
        let pairs = PossibleGroups::new(&matrix, 2);
        let mut groups: Vec<Vec<usize>> = smallest_first(&pairs)
            .iter()
            .map(|&group| pairs.members(group).to_vec())
            .collect();
        groups.sort();
        matrix = aggregated(&matrix, &groups).unwrap();
        remaining.push(matrix.total());
    }
    // Beyond a core: everything; beyond a socket: two groupings; beyond a node: three.
    2. * (remaining[0] + remaining[2] + remaining[3])
}
