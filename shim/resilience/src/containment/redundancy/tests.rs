//! The rules compared with examples from their sources, and orders that repair broken sets.

use super::rules::set_sizes;
use super::*;
use crate::containment::domains::Domains;
use crate::containment::error::ContainmentError;
use treepie_base::{Leaf, Rank};

/// Hosts of `ranks` ranks each, in the order of ranks.
fn hosts(count: usize, ranks: usize) -> Domains {
    Domains::from_labels(
        &(0..count * ranks)
            .map(|rank| rank / ranks)
            .collect::<Vec<_>>(),
    )
}

/// Racks of `width` consecutive hosts of one rank.
fn racks(hosts: usize, width: usize) -> Vec<usize> {
    (0..hosts).map(|host| host / width).collect()
}

#[test]
fn redset_cuts_lines_as_its_source_does() {
    assert_eq!(set_sizes(16, 8), [8, 8]);
    assert_eq!(set_sizes(20, 8), [10, 10]);
    assert_eq!(set_sizes(23, 8), [12, 11]);
    assert_eq!(set_sizes(17, 5), [6, 6, 5]);
    assert_eq!(set_sizes(7, 8), [7]);
    assert_eq!(set_sizes(0, 8), [0; 0]);
}

#[test]
fn scr_takes_ranks_of_one_place_in_all_failure_groups() {
    let sets = scr(&hosts(4, 2), 4, Scheme::Xor).unwrap();
    assert_eq!(sets.members, [[0, 2, 4, 6], [1, 3, 5, 7]]);
    assert!(sets.breakage(&hosts(4, 2)).breaking.is_empty());
    let racks = Domains::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1]);
    let broken = sets.breakage(&racks);
    assert_eq!(broken.breaking, [(0, vec![0, 1]), (1, vec![0, 1])].into());
    let two_may_be_lost = Sets {
        scheme: Scheme::ReedSolomon(2),
        ..sets
    };
    assert!(two_may_be_lost.breakage(&racks).breaking.is_empty());
}

#[test]
fn unequal_hosts_leave_sets_of_one_which_protect_nothing() {
    let uneven = Domains::from_labels(&[0, 0, 0, 1, 1, 2]);
    let sets = scr(&uneven, 2, Scheme::Xor).unwrap();
    assert_eq!(sets.members, [vec![0, 3, 5], vec![1, 4], vec![2]]);
    assert_eq!(sets.unprotected(), 1);
    assert_eq!(sets.breakage(&uneven).breaking, [(0, vec![2])].into());
}

#[test]
fn fti_takes_hosts_in_the_order_of_their_first_ranks() {
    // Ranks distributed round-robin over hosts 3, 1, 0, 2.
    let hosts = Domains::from_labels(&[3, 1, 0, 2, 3, 1, 0, 2]);
    let sets = fti(&hosts, 2, Scheme::Partner).unwrap();
    assert_eq!(sets.members, [[0, 1], [4, 5], [2, 3], [6, 7]]);
    let uneven = Domains::from_labels(&[0, 0, 1]);
    assert!(matches!(
        fti(&uneven, 2, Scheme::Xor),
        Err(ContainmentError::UnequalHosts { host: 1, .. })
    ));
    assert!(fti(&hosts, 3, Scheme::Xor).is_err());
    assert!(fti(&hosts, 1, Scheme::Xor).is_err());
}

#[test]
fn veloc_makes_sets_of_eight_hosts_or_more() {
    let sizes = |count: usize| {
        let sets = veloc(&hosts(count, 2)).members;
        sets.iter().map(Vec::len).collect::<Vec<_>>()
    };
    assert_eq!(sizes(16), [8, 8]);
    assert_eq!(sizes(20), [10, 10]);
    assert_eq!(sizes(4), [4]);
    assert_eq!(veloc(&hosts(3, 2)).members, [[0, 2, 4]]);
}

#[test]
fn partners_break_only_where_neighbours_in_the_set_are_lost() {
    let sets = Sets {
        scheme: Scheme::Partner,
        members: vec![vec![0, 1, 2, 3]],
    };
    let broken = |labels: [usize; 4]| {
        let breakage = sets.breakage(&Domains::from_labels(&labels));
        breakage.breaking.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(broken([0, 1, 0, 1]), [0; 0]);
    assert_eq!(broken([0, 1, 1, 2]), [1]);
    assert_eq!(broken([0, 1, 2, 0]), [0]);
}

#[test]
fn a_byte_costs_what_the_schemes_say() {
    assert_eq!(Scheme::Partner.cost(8), 2.0);
    assert_eq!(Scheme::Xor.cost(8), 8.0 / 7.0);
    assert_eq!(Scheme::ReedSolomon(2).cost(8), 8.0 / 6.0);
    assert_eq!(Scheme::Xor.cost(1), 1.0);
}

#[test]
fn sixteen_hosts_of_four_racks_are_dealt_so_that_each_set_has_four_racks() {
    let rack_of_host = racks(16, 4);
    let in_order = fti(&hosts(16, 1), 4, Scheme::Xor).unwrap();
    let broken = in_order.breakage(&Domains::from_labels(&rack_of_host));
    assert_eq!((broken.breaking.len(), broken.inside), (4, 4));
    let order = dealt(&rack_of_host, 4);
    for set in order.chunks(4) {
        let mut there: Vec<usize> = set.iter().map(|&host| rack_of_host[host]).collect();
        there.sort_unstable();
        assert_eq!(there, [0, 1, 2, 3]);
    }
}

#[test]
fn dealing_is_perfect_wherever_that_is_possible() {
    for (sizes, least) in [
        (vec![5, 4, 4, 3, 2], 3),
        (vec![2; 10], 8),
        (vec![6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 3),
        (vec![7, 7, 7], 3),
        (vec![3, 3, 2, 2, 1], 4),
    ] {
        let spread = sizes.iter().enumerate();
        let domain_of_host: Vec<usize> = spread
            .flat_map(|(domain, &size)| std::iter::repeat_n(domain, size))
            .collect();
        let order = dealt(&domain_of_host, least);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..domain_of_host.len()));
        let sets = set_sizes(domain_of_host.len(), least);
        let most = sizes.iter().max().unwrap().div_ceil(sets.len());
        let mut left = order.into_iter();
        for size in sets {
            let set: Vec<usize> = left.by_ref().take(size).collect();
            for domain in 0..sizes.len() {
                let there = set.iter().filter(|&&host| domain_of_host[host] == domain);
                assert!(there.count() <= most, "{sizes:?}");
            }
        }
    }
}

#[test]
fn ranks_that_share_a_host_still_do_after_hosts_changed_places() {
    let labels = [0, 0, 1, 1, 2, 2, 3, 3];
    let hosts = Domains::from_labels(&labels);
    let leaves = Leaf::list([0, 1, 2, 3, 5, 4, 6, 7]);
    let order = dealt(&racks(4, 2), 2);
    let moved = moved_to(&order, &hosts, &leaves).unwrap();
    let mut sorted = moved.clone();
    sorted.sort_unstable();
    assert!(sorted == Leaf::list(0..8));
    for (host, &to) in order.iter().enumerate() {
        let there = [2 * host, 2 * host + 1].map(|rank| moved[Rank(rank)].0 / 2);
        assert_eq!(there, [to, to]);
    }
    // The sets follow: each has a host of both racks.
    let after: Vec<usize> = moved.iter().map(|leaf| leaf.0 / 2).collect();
    let sets = fti(&Domains::from_labels(&after), 2, Scheme::Xor).unwrap();
    let rack_of_rank: Vec<usize> = after.iter().map(|host| host / 2).collect();
    let broken = sets.breakage(&Domains::from_labels(&rack_of_rank));
    assert!(broken.breaking.is_empty());
    let uneven = Domains::from_labels(&[0, 0, 1]);
    assert!(moved_to(&[1, 0], &uneven, &Leaf::list(0..3)).is_err());
}

#[test]
fn configurations_name_every_host_once_and_begin_with_checkpoint_0() {
    let host = |number: usize| {
        (
            format!("n{number}"),
            vec![("RACK".to_owned(), format!("r{}", number / 2))],
        )
    };
    let hosts: Vec<NamedHost> = (0..4).map(host).collect();
    let text = scr_config(&hosts, "RACK", 8, Scheme::ReedSolomon(2), 300.4);
    assert_eq!(
        text,
        "SCR_COPY_TYPE=FILE\nSCR_CACHE_BYPASS=0\nSCR_CHECKPOINT_SECONDS=300\n\
         GROUPS=n0 RACK=r0\nGROUPS=n1 RACK=r0\nGROUPS=n2 RACK=r1\nGROUPS=n3 RACK=r1\n\
         CKPT=0 INTERVAL=1 GROUP=RACK TYPE=RS SET_SIZE=8 SET_FAILURES=2\n"
    );
    assert_eq!(
        fti_config(2, 4),
        "[basic]\nhead = 0\nnode_size = 2\ngroup_size = 4\n"
    );
    assert_eq!(
        veloc_config(),
        "mode = async\nscratch = /local/ckpt\npersistent = /shared/ckpt\nec_interval = 0\n"
    );
}
