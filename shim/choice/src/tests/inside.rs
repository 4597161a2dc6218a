//! Levels inside a host.

use std::collections::HashMap;

use super::*;
use treepie_base::Cluster;
use treepie_platform::{Contents, Host, Identity, Inside, Level, Link, Platform};

/// A rank on each core of hosts with 2 sockets of 4 NUMA nodes of 8 cores.
fn bound(hosts: usize) -> Vec<Identity> {
    let on = |rank: usize| {
        let (host, core) = (rank / 64, rank % 64);
        let group = |cores: usize| Some(core / cores * cores);
        Identity {
            host: format!("n{host}"),
            groups: [group(32), group(8), group(32), None, group(1)],
        }
    };
    (0..64 * hosts).map(on).collect()
}

fn numbers(hosts: usize) -> Locality {
    let host_of_rank: Vec<usize> = (0..64 * hosts).map(|rank| rank / 64).collect();
    Locality::Numbers {
        cluster_of_rank: Cluster::list(host_of_rank.iter().copied()),
        host_of_rank,
        inside: Inside::of(&bound(hosts)),
    }
}

fn all(locality: &Locality) -> Vec<usize> {
    (0..locality.ranks()).collect()
}

/// Hosts 2 us apart, whose ranks are 0.4 us apart between sockets, 0.2 inside.
fn platform(hosts: usize) -> Platform {
    let link = |microseconds: f64| Link::linear(1e-6 * microseconds, 1e-7, 1e-10).unwrap();
    let level = |name: &str, microseconds: f64| Level {
        name: name.to_owned(),
        link: link(microseconds),
    };
    let mut contents = grids::one_cluster(hosts, 64, link(2.0)).contents().clone();
    for (number, host) in contents.hosts.iter_mut().enumerate() {
        host.name = format!("n{number}");
    }
    contents.clusters[Cluster(0)].levels = vec![level("node", 0.4), level("socket", 0.2)];
    Platform::new(Contents {
        inside: Inside::of(&bound(hosts)),
        ..contents
    })
    .unwrap()
}

#[test]
fn on_one_host_sockets_stand_for_clusters_that_are_near_and_numa_nodes_are_inside() {
    let locality = numbers(1);
    let (clusters, network) = locality.of(&all(&locality));
    assert_eq!((clusters.count(), clusters.closer().len()), (2, 1));
    assert!(!clusters.are_far());
    assert!(network.is_some_and(|network| network.is_in_memory()));
    // With ranks of one NUMA node and its neighbour, NUMA nodes; with ranks of one, none.
    let (clusters, _) = locality.of(&(0..16).collect::<Vec<_>>());
    assert_eq!((clusters.count(), clusters.closer().len()), (2, 0));
    let (clusters, network) = locality.of(&[8, 9, 10]);
    assert_eq!((clusters.count(), network), (1, None));
}

#[test]
fn on_several_hosts_sockets_and_numa_nodes_are_levels_below_hosts() {
    for locality in [
        numbers(3),
        Locality::Platform {
            platform: platform(3),
            eager_limit: 4096,
        },
    ] {
        let (clusters, _) = locality.of(&all(&locality));
        assert_eq!((clusters.count(), clusters.closer().len()), (3, 2));
    }
}

#[test]
fn links_inside_a_measured_host_are_those_of_the_closest_level_that_is_shared() {
    let locality = Locality::Platform {
        platform: platform(1),
        eager_limit: 4096,
    };
    let (clusters, network) = locality.of(&all(&locality));
    let network = network.unwrap();
    assert_eq!((network.clusters(), clusters.count()), (2, 2));
    assert!(network.is_near() && !clusters.are_far());
    let latency = |to| (1e7 * network.link(0, to).unwrap().latency()).round();
    assert_eq!([1, 8, 32].map(latency), [2.0, 2.0, 4.0]);
    let network = Network::between_near_hosts(&platform(2), &(0..128).collect::<Vec<_>>());
    let network = network.unwrap();
    let latency = |to| (1e7 * network.link(0, to).unwrap().latency()).round();
    assert_eq!([1, 8, 32, 64].map(latency), [2.0, 2.0, 4.0, 20.0]);
}

/// Of the messages of a broadcast, one is sent to the other socket, and one to each other NUMA
/// node.
#[test]
fn a_broadcast_has_a_leader_of_each_socket_and_of_each_numa_node() {
    let locality = numbers(1);
    let (clusters, network) = locality.of(&all(&locality));
    let call = Uniform {
        operation: Operation::Bcast,
        bytes: 8,
        root: 5,
    };
    let algorithm = Algorithm::find(Operation::Bcast, "grid-flat").unwrap();
    let plans = algorithm.plans(&call, network.as_ref(), &clusters, 8);
    let mut crossed = HashMap::new();
    for (from, plan) in plans.iter().enumerate() {
        for step in plan.steps() {
            if let Action::Send { to, .. } = step.action {
                *crossed
                    .entry((from / 32 != to / 32, from / 8 != to / 8))
                    .or_insert(0) += 1;
            }
        }
    }
    assert_eq!(crossed[&(true, true)], 1);
    assert_eq!(crossed[&(false, true)], 6);
    assert_eq!(crossed[&(false, false)], 56);
}

#[test]
fn algorithms_with_leaders_are_tried_on_a_host_of_two_sockets_and_nothing_runs_unmeasured() {
    let locality = numbers(1);
    let (clusters, network) = locality.of(&all(&locality));
    let mut chooser = Chooser::new(network.map(std::sync::Arc::new), &clusters, None);
    for operation in [Operation::Bcast, Operation::Allreduce, Operation::Barrier] {
        let choice = chooser.choose(operation, Some(8), 0, false, &clusters);
        assert!(choice.algorithm.is_none());
        let tried = chooser.challengers(&choice, Some(8));
        let names: Vec<String> = tried.iter().map(|one| one.candidate.to_string()).collect();
        assert!(
            names.iter().any(|name| name.starts_with("grid-")),
            "{operation}: {names:?}"
        );
    }
}

#[test]
fn groups_that_do_not_fit_hosts_and_ranks_are_refused() {
    let hosts = vec![
        Host {
            name: "a".into(),
            ranks: vec![0, 1],
        },
        Host {
            name: "b".into(),
            ranks: vec![2],
        },
    ];
    let with = |groups: &[usize]| {
        let inside = Inside {
            level: "socket".into(),
            group_of_rank: groups.to_vec(),
        };
        let contents = Contents {
            hosts: hosts.clone(),
            inside: vec![inside],
            ..Contents::default()
        };
        Platform::new(contents).unwrap_err().to_string()
    };
    assert_eq!(
        with(&[0]),
        "inside[0].groups: 1 ranks have a group, and there are 3 ranks"
    );
    let twice = "inside[0].groups: group 0 is on a and on b; give groups of different hosts \
                 different numbers";
    assert_eq!(with(&[0, 1, 0]), twice);
}
