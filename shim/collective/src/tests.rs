//! Names of algorithms, and locality of ranks: in clusters, on levels, on links.

use crate::algorithms::algorithm::Algorithm;
use crate::clusters::Clusters;
use crate::grids;
use crate::network::links::{Distance, Network};
use crate::operation::Operation;
use crate::plan::builder::Builder;
use crate::plan::range::Range;
use crate::plan::step::Action;
use treepie_base::Cluster;

#[test]
fn a_communicator_of_some_ranks_has_its_part_of_the_platform() {
    let platform = grids::platform();
    // The third cluster's two hosts, its coordinator among them, and one rank of the first.
    let network = Network::new(&platform, &[8, 11, 1, 10]).unwrap();
    assert_eq!((network.clusters(), network.hosts()), (2, 3));
    assert_eq!(network.cluster_of(), [1, 1, 0, 1].map(Cluster));
    // Rank 11 of the world leads its cluster; the leader of the first, 3, is not here.
    assert_eq!(network.leaders().raw, [2, 1]);
    let milliseconds = |from, to| 1e3 * network.link(from, to).unwrap().latency();
    assert_eq!(milliseconds(0, 2).round(), 9.0);
    assert_eq!(milliseconds(2, 0).round(), 3.0);
    assert_eq!(network.distance(1, 3), Distance::Host);
    assert_eq!(network.distance(0, 3), Distance::Cluster);
    let clusters = Clusters::of_network(&network);
    let last = Cluster(1);
    assert_eq!(
        (clusters.leader(last), clusters.leader_towards(last, 3)),
        (1, 3)
    );
    assert_eq!(Network::new(&platform, &[0, 16]), None);
}

#[test]
fn levels_that_part_nothing_or_everything_are_left_out() {
    let two = Clusters::new(&[0, 0, 0, 0, 1, 1, 1, 1]);
    let levels = |numbers: &[usize]| two.clone().with_closer(numbers).closer().len();
    assert_eq!(levels(&[0, 0, 1, 1, 2, 2, 3, 3]), 1);
    assert_eq!(levels(&[0, 0, 0, 0, 1, 1, 1, 1]), 0);
    assert_eq!(levels(&[0, 1, 2, 3, 4, 5, 6, 7]), 0);
    // Numbers of different clusters are different groups.
    let closer = two.with_closer(&[0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(closer.closer(), [vec![0, 0, 1, 1, 2, 2, 3, 3]]);
}

#[test]
fn names_are_unique_for_each_operation_and_each_operation_keeps_its_order_somehow() {
    for operation in Operation::all() {
        let all = || Algorithm::of(operation).flat_map(|s| s.aliases.iter().chain([&s.name]));
        let names: Vec<&str> = all().copied().collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{operation}: {names:?}");
        assert!(
            Algorithm::of(operation).any(|s| s.keeps_order()),
            "{operation}"
        );
    }
}

#[test]
fn names_without_grid_stay_those_of_the_algorithms_on_clusters() {
    let mut hidden: Vec<&str> = Operation::all()
        .flat_map(|operation| Algorithm::of(operation).map(move |known| (operation, known.name)))
        .filter_map(|(operation, name)| {
            let rest = name.strip_prefix("grid-")?;
            let found = Algorithm::find(operation, rest).map(|found| found.name);
            (found != Some(name)).then_some(rest)
        })
        .collect();
    hidden.sort_unstable();
    hidden.dedup();
    assert_eq!(hidden, ["binomial", "chain", "flat"]);
}

#[test]
fn ranks_of_one_host_share_out_what_passes_between_clusters_only_where_one_cannot_fill_the_link() {
    let on_two_hosts = |mbit: f64| {
        let numbers = [0, 0, 0, 0, 1, 1, 1, 1];
        grids::of_numbers(&numbers, 4, |_| grids::lan(), |_, _| grids::wan(10.0, mbit))
    };
    assert_eq!(on_two_hosts(100.0).lanes(), 1);
    // Messages of three others are added up on the host while one is sent.
    assert!(on_two_hosts(100_000.0).lanes() > 1);
    assert_eq!(grids::narrow_connections().lanes(), 4);
    assert_eq!(grids::four_by_four().lanes(), 4);
}

#[test]
fn uplinks_are_as_fast_as_the_fastest_link_out_and_faster_where_pairs_together_were() {
    let (mib, plain) = (1 << 20, grids::unequal());
    // 100 Mbit/s towards the second cluster, 20 and 50 towards the others.
    let [first, second, third] = [0, 1, 2].map(Cluster);
    let fastest = plain.between(first, second).unwrap().gap(mib);
    assert_eq!(plain.uplink(first, mib), fastest);
    assert_eq!(
        plain.downlink(third, mib),
        plain.between(first, third).unwrap().gap(mib)
    );
    assert_eq!(plain.pairs_to_fill(first), 1);
    let narrow = grids::narrow_connections();
    let alone = narrow.between(first, second).unwrap().gap(mib);
    assert!((narrow.uplink(first, mib) - alone / 4.0).abs() < 1e-6 * alone);
    assert_eq!(narrow.pairs_to_fill(first), 4);
}

#[test]
fn ranges_for_several_ranks_go_a_segment_to_each_round_robin() {
    let plan = Builder::plan(4, |builder| {
        builder.send_round_robin([(5, Range::input(0, 9)), (3, Range::input(20, 4))]);
    });
    let sent: Vec<_> = plan
        .steps()
        .iter()
        .map(|step| match &step.action {
            Action::Send { to, range, .. } => (*to, range.start, range.length),
            other => panic!("only sends: {other:?}"),
        })
        .collect();
    assert_eq!(sent, [(5, 0, 4), (3, 20, 4), (5, 4, 4), (5, 8, 1)]);
}
