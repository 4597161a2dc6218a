#![allow(clippy::unwrap_used)]
use crate::allocation::*;
use crate::binding::LaunchedProcess;
use crate::seat;
use treepie_base::{Cluster, Leaf, List, Process, Rank, Slice};
use treepie_topology::networks::{Host as Hung, Lattice, Network, Site};
use treepie_topology::{Machine, Topology};
use treepie_traffic::Matrix;

/// Sockets of cores, numbered round-robin over the sockets, as firmware often does.
fn machine(sockets: usize, cores: usize) -> Machine {
    let children = [vec![sockets], vec![cores; sockets]];
    let units = (0..sockets * cores).map(|leaf| vec![leaf % cores * sockets + leaf / cores]);
    let names = vec!["socket".into(), "core".into()];
    Machine::from_levels(None, names, &children, units.collect()).unwrap()
}

/// Processes on the named hosts, each allowed to use all cores.
fn on(hosts: &[&str], cores: usize) -> List<Process, LaunchedProcess> {
    let process = |host: &&str| LaunchedProcess {
        host: (*host).to_owned(),
        allowed: (0..cores).collect(),
    };
    hosts.iter().map(process).collect()
}

fn bound(places: &[(&str, usize)]) -> List<Process, LaunchedProcess> {
    let process = |(host, core): &(&str, usize)| LaunchedProcess {
        host: (*host).to_owned(),
        allowed: vec![*core],
    };
    places.iter().map(process).collect()
}

fn allocation(processes: &Slice<Process, LaunchedProcess>) -> Allocation {
    Allocation::new(processes, |_| Some(machine(2, 2)), None).unwrap()
}

/// Ranks i and i + half communicate.
fn pairs(ranks: usize) -> Matrix {
    let half = ranks / 2;
    let entries = (0..half).flat_map(|i| [(i, i + half, 9.0), (i + half, i, 9.0)]);
    Matrix::from_entries(ranks, entries).unwrap()
}

fn recorded<'a>(placed: &'a Placed) -> Recorded<'a> {
    Recorded {
        topology: &placed.topology,
        leaf_of_rank: &placed.leaf_of_rank,
        leaf_of_process: &placed.leaf_of_process,
    }
}

/// Hosts of both ranks of each pair.
fn hosts_of_pairs(
    permutation: &Slice<Process, Rank>,
    processes: &Slice<Process, LaunchedProcess>,
) -> Vec<(String, String)> {
    let mut process_of: List<Rank, Process> = Process::list(vec![0; permutation.len()]);
    for (process, &rank) in permutation.iter_enumerated() {
        process_of[rank] = process;
    }
    let host = |rank: usize| processes[process_of[Rank(rank)]].host.clone();
    let half = permutation.len() / 2;
    (0..half).map(|i| (host(i), host(i + half))).collect()
}

#[test]
fn processes_get_the_cores_that_they_are_bound_to_and_the_others_what_is_left() {
    let mut processes = bound(&[("b", 1), ("a", 0), ("b", 0)]);
    processes.extend(on(&["b"], 4));
    let found = allocation(&processes);
    // Core 1 of a host is the first of its second socket.
    assert_eq!(found.leaf_of_process(), Leaf::list([2, 4, 0, 1]));
    assert_eq!(found.topology().hosts(), ["b", "a"]);
}

#[test]
fn hardware_threads_lead_to_their_core() {
    let children = [vec![2]];
    let units = vec![vec![0, 2], vec![1, 3]].into();
    let machine = Machine::from_levels(None, vec!["core".into()], &children, units).unwrap();
    let process = |allowed: &[usize]| LaunchedProcess {
        host: "a".into(),
        allowed: allowed.to_vec(),
    };
    let threads = List::from(vec![process(&[1, 3]), process(&[2])]);
    let found = Allocation::new(&threads, |_| Some(machine.clone()), None).unwrap();
    assert_eq!(found.leaf_of_process(), Leaf::list([1, 0]));
}

#[test]
fn more_processes_than_cores_share_them_and_are_placed_all_the_same() {
    let processes = on(&["a", "a", "a", "b", "b", "b"], 1);
    let found = Allocation::new(&processes, |_| None, None).unwrap();
    assert_eq!(found.leaf_of_process(), Leaf::list([0, 0, 0, 1, 1, 1]));
    let placed = found.placed(&pairs(6), Movement::Ranks).unwrap();
    let crossing = hosts_of_pairs(&placed.permutation, &processes);
    assert_eq!(crossing.iter().filter(|(a, b)| a != b).count(), 1);
    let still = found.placed(&pairs(6), Movement::Processes).unwrap();
    assert_eq!(still.permutation, Rank::list([0, 1, 2, 3, 4, 5]));
}

#[test]
fn a_profile_is_placed_where_the_processes_are_now_however_they_were_dealt_out() {
    for hosts in [
        ["a", "a", "a", "a", "b", "b", "b", "b"],
        ["b", "a", "b", "a", "b", "a", "b", "a"],
    ] {
        let processes = on(&hosts, 4);
        let placed = allocation(&processes)
            .placed(&pairs(8), Movement::Ranks)
            .unwrap();
        for (one, other) in hosts_of_pairs(&placed.permutation, &processes) {
            assert_eq!(one, other, "{hosts:?}");
        }
        let again = allocation(&processes)
            .placed(&pairs(8), Movement::Ranks)
            .unwrap();
        assert_eq!(again, placed);
    }
}

#[test]
fn binding_moves_processes_on_their_own_host_only() {
    let processes = on(&["a", "a", "b", "b"], 4);
    let found = allocation(&processes);
    // 0 and 1 communicate, and 2 and 3: each pair belongs on one socket.
    let matrix = Matrix::from_entries(4, [(0, 1, 5.0), (2, 3, 5.0)]).unwrap();
    let placed = found.placed(&matrix, Movement::Processes).unwrap();
    assert_eq!(placed.permutation, Rank::list([0, 1, 2, 3]));
    for (rank, &leaf) in placed.leaf_of_rank.iter_enumerated() {
        assert_eq!(leaf.0 / 4, rank.0 / 2, "{:?}", placed.leaf_of_rank);
    }
    assert_eq!(
        placed
            .topology
            .distance(placed.leaf_of_rank[Rank(0)], placed.leaf_of_rank[Rank(1)]),
        2
    );
}

#[test]
fn ranks_are_placed_around_one_that_has_to_stay_where_no_host_is_alike() {
    // Rank 0 does not communicate, so that it is best alone on the other host.
    let processes = on(&["a", "a", "a", "b"], 4);
    let allocation = allocation(&processes);
    let entries = [(1, 2, 9.0), (2, 3, 9.0), (1, 3, 9.0), (1, 0, 1.0)];
    let matrix = Matrix::from_entries(4, entries).unwrap();
    let free = allocation.placed(&matrix, Movement::Ranks).unwrap();
    assert_eq!(free.permutation[Process(3)], Rank(0));
    let kept = allocation.placed_around(&matrix, &[Process(0)]).unwrap();
    assert_eq!(kept.permutation[Process(0)], Rank(0));
    let mut exchanged = free.permutation.clone();
    seat::keep(&mut exchanged, Process(0), None);
    let mut leaf_of_rank = Leaf::list([0; 4]);
    for (&rank, &leaf) in exchanged.iter().zip(&kept.leaf_of_process) {
        leaf_of_rank[rank] = leaf;
    }
    let cost = |leaf_of_rank: &Slice<Rank, Leaf>| allocation.cost(&matrix, leaf_of_rank);
    assert!(cost(&free.leaf_of_rank) < cost(&kept.leaf_of_rank));
    assert!(cost(&kept.leaf_of_rank) <= cost(&leaf_of_rank));
}

#[test]
fn on_the_hosts_of_the_placement_it_holds_as_it_is() {
    let processes = on(&["a", "a", "a", "a", "b", "b", "b", "b"], 4);
    let found = allocation(&processes);
    let placed = found.placed(&pairs(8), Movement::Ranks).unwrap();
    let carried = found.remap(recorded(&placed)).unwrap();
    assert!(!carried.moved);
    assert_eq!(carried.permutation, placed.permutation);
    assert!(!needs_machines(&placed.topology, &processes));
}

#[test]
fn on_other_hosts_of_the_same_shape_ranks_that_shared_a_host_share_one_again() {
    let before = on(&["a", "a", "a", "a", "b", "b", "b", "b"], 4);
    let placed = allocation(&before)
        .placed(&pairs(8), Movement::Ranks)
        .unwrap();
    for hosts in [
        ["c", "c", "c", "c", "d", "d", "d", "d"],
        ["b", "b", "b", "b", "a", "a", "a", "a"],
        ["d", "b", "d", "b", "d", "b", "d", "b"],
    ] {
        let now = on(&hosts, 4);
        let carried = allocation(&now).remap(recorded(&placed)).unwrap();
        assert!(carried.moved);
        for (one, other) in hosts_of_pairs(&carried.permutation, &now) {
            assert_eq!(one, other, "{hosts:?}");
        }
        let mut named = carried.topology.hosts();
        named.sort_unstable();
        let mut job: Vec<&str> = hosts.to_vec();
        job.sort_unstable();
        job.dedup();
        assert_eq!(named, job);
    }
}

#[test]
fn a_host_of_the_job_may_be_one_that_the_placement_left_free() {
    let before = on(&["a", "a", "b", "b", "c", "c"], 4);
    let found = allocation(&before);
    let recorded = Recorded {
        topology: found.topology(),
        leaf_of_rank: &Leaf::list([0, 4, 1, 5]),
        leaf_of_process: &Leaf::list([0, 1, 4, 5]),
    };
    let now = on(&["c", "c", "b", "b"], 4);
    let carried = allocation(&now).remap(recorded).unwrap();
    assert_eq!(carried.topology.leaf(Leaf(0)).host.as_deref(), Some("c"));
    assert_eq!(carried.topology.leaf(Leaf(4)).host.as_deref(), Some("b"));
    assert_eq!(carried.permutation, Rank::list([0, 2, 1, 3]));
}

#[test]
fn the_numbers_of_cores_are_those_of_the_new_hosts() {
    let before = on(&["a", "a"], 4);
    let matrix = Matrix::from_entries(2, [(0, 1, 1.0)]).unwrap();
    let placed = allocation(&before)
        .placed(&matrix, Movement::Ranks)
        .unwrap();
    let now = on(&["c", "c"], 4);
    let other = Machine::from_levels(
        None,
        vec!["socket".into(), "core".into()],
        &[vec![2], vec![2, 2]],
        vec![vec![7], vec![6], vec![5], vec![4]].into(),
    )
    .unwrap();
    let found = Allocation::new(&now, |_| Some(other.clone()), None).unwrap();
    let carried = found.remap(recorded(&placed)).unwrap();
    assert_eq!(carried.topology.leaf(Leaf(0)).os_index, Some(7));
}

#[test]
fn another_shape_is_refused_and_said_to_be_one() {
    let before = on(&["a", "a", "a", "a", "b", "b", "b", "b"], 4);
    let placed = allocation(&before)
        .placed(&pairs(8), Movement::Ranks)
        .unwrap();
    let refusal = |processes: &Slice<Process, LaunchedProcess>,
                   machine: fn(&str) -> Option<Machine>| {
        let found = Allocation::new(processes, machine, None).unwrap();
        found.remap(recorded(&placed)).unwrap_err().to_string()
    };
    let two_by_two = |_: &str| Some(machine(2, 2));
    let four = on(&["c", "c", "d", "d", "e", "e", "f", "f"], 4);
    assert_eq!(
        refusal(&four, two_by_two),
        "is for 2 hosts, and the job runs on 4"
    );
    let uneven = on(&["c", "c", "c", "c", "c", "d", "d", "d"], 8);
    assert!(
        refusal(&uneven, two_by_two)
            .starts_with("has 4 ranks on a, a host of 4 cores, and no host")
    );
    let same = on(&["c", "c", "c", "c", "d", "d", "d", "d"], 4);
    assert!(refusal(&same, |_| Some(machine(1, 4))).contains("no host of the job that is left"));
    let few = on(&["a", "b"], 4);
    assert_eq!(
        refusal(&few, two_by_two),
        "is for 8 processes, and the job has 2"
    );
}

#[test]
fn processes_bound_elsewhere_than_the_placement_has_ranks_are_told_of() {
    let before = bound(&[("a", 0), ("a", 2)]);
    let matrix = Matrix::from_entries(2, [(0, 1, 1.0)]).unwrap();
    let placed = allocation(&before)
        .placed(&matrix, Movement::Ranks)
        .unwrap();
    let found = allocation(&bound(&[("a", 0), ("a", 1)]));
    assert_eq!(
        found.remap(recorded(&placed)).unwrap_err().to_string(),
        "has no rank on core 2 of a, counted from 0, where process 1 is bound"
    );
}

/// The shape 2:2 with the pairs 0-2 and 1-3 on its nodes.
fn bare() -> (Topology, List<Rank, Leaf>) {
    let topology = Topology::from_arities("2:2").unwrap();
    (topology, Leaf::list([0, 2, 1, 3]))
}

#[test]
fn a_bare_shape_is_taken_at_its_word_on_one_host_and_fitted_to_several() {
    let (topology, leaf_of_rank) = bare();
    let recorded = Recorded {
        topology: &topology,
        leaf_of_rank: &leaf_of_rank,
        leaf_of_process: &Leaf::list(0..4),
    };
    for hosts in [["x", "x", "x", "x"], ["x", "x", "y", "y"]] {
        let carried = allocation(&on(&hosts, 1)).remap(recorded).unwrap();
        assert_eq!(carried.permutation, Rank::list([0, 2, 1, 3]), "{hosts:?}");
        assert!(!carried.moved);
    }
    let dealt = on(&["x", "y", "x", "y"], 1);
    let carried = allocation(&dealt).remap(recorded).unwrap();
    for (one, other) in hosts_of_pairs(&carried.permutation, &dealt) {
        assert_eq!(one, other);
    }
    let leaves_are_hosts = allocation(&on(&["x", "y", "z", "w"], 1));
    assert!(!leaves_are_hosts.remap(recorded).unwrap().moved);
    let uneven = allocation(&on(&["x", "x", "x", "y"], 1)).remap(recorded);
    assert_eq!(
        uneven.unwrap_err().to_string(),
        "is for 2 sockets of 2 cores, and the job has 3, 1 processes on its hosts"
    );
}

#[test]
fn a_graph_is_reordered_for_its_members_and_left_alone_where_it_is_well() {
    let processes = on(&["a", "b", "a", "b"], 4);
    let found = allocation(&processes);
    // A line: each half belongs on one host.
    let line = Matrix::from_entries(4, [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0)]).unwrap();
    let new_rank = reordered(&line, found.topology(), found.leaf_of_process())
        .unwrap()
        .unwrap();
    assert_eq!(new_rank[Process(0)].0 / 2, new_rank[Process(2)].0 / 2);
    let at_home = on(&["a", "a", "b", "b"], 4);
    let found = allocation(&at_home);
    let none = reordered(&line, found.topology(), found.leaf_of_process());
    assert_eq!(none, Ok(None));
    // Fewer nodes than members: two nodes for four members, on different hosts.
    let two = Matrix::from_entries(2, [(0, 1, 1.0)]).unwrap();
    let apart = allocation(&on(&["a", "b", "b", "a"], 4));
    let new_rank = reordered(&two, apart.topology(), apart.leaf_of_process())
        .unwrap()
        .unwrap();
    let host_of = |rank: usize| {
        let member = new_rank.position(|&new| new == Rank(rank)).unwrap();
        apart.leaf_of_process()[member].0 / 4
    };
    assert_eq!(host_of(0), host_of(1));
}

#[test]
fn a_dense_matrix_is_placed_by_its_heaviest_entries_and_judged_by_all() {
    let ranks = 64;
    let dealt: Vec<String> = (0..ranks).map(|rank| format!("n{}", rank % 16)).collect();
    let hosts: Vec<&str> = dealt.iter().map(String::as_str).collect();
    let allocation = allocation(&on(&hosts, 4));
    let weight = |from: usize, to: usize, heavy: bool| match from / 4 == to / 4 {
        true if heavy => 100.0,
        _ => 1.0,
    };
    let matrix = |heavy: bool| {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let pairs = pairs.filter(|(from, to)| from != to);
        let entries = pairs.map(|(from, to)| (from, to, weight(from, to, heavy)));
        Matrix::from_entries(ranks, entries).unwrap()
    };
    // Four consecutive ranks belong on one host, and were distributed to four.
    let placed = allocation.placed(&matrix(true), Movement::Ranks).unwrap();
    let host = |rank: usize| placed.leaf_of_rank[Rank(rank)].0 / 4;
    assert!((0..ranks).all(|rank| host(rank) == host(rank / 4 * 4)));
    let leaves = &placed.leaf_of_rank;
    let cost = crate::objective::dist_comm(&matrix(true), &placed.topology, leaves);
    assert_eq!(placed.costs.1, cost);
    // Nothing is gained if all are alike, and no rank moves.
    let alike = allocation.placed(&matrix(false), Movement::Ranks).unwrap();
    assert!(
        alike
            .permutation
            .iter_enumerated()
            .all(|(process, rank)| process.0 == rank.0)
    );
    let dense = allocation
        .placed(&matrix(true), Movement::Processes)
        .unwrap();
    assert!(dense.costs.1 <= dense.costs.0);
}

/// Hosts a and c in one cluster, b and d in another.
fn crossed(processes: &Slice<Process, LaunchedProcess>) -> Allocation {
    let clusters: List<Process, Cluster> = processes
        .iter()
        .map(|at| Cluster(usize::from(["b", "d"].contains(&&*at.host))))
        .collect();
    let network = network_of(processes, &clusters).unwrap();
    Allocation::new(processes, |_| Some(machine(2, 2)), Some(&network)).unwrap()
}

/// Ranks i and i + half communicate, and a little those of pairs 0 and 1, 2 and 3.
fn pairs_of_pairs(ranks: usize) -> Matrix {
    let between = (0..ranks / 2).step_by(2).map(|i| (i, i + 1, 1.0));
    let entries = pairs(ranks).entries().chain(between).collect::<Vec<_>>();
    Matrix::from_entries(ranks, entries).unwrap()
}

#[test]
fn hosts_of_one_cluster_are_near_to_each_other() {
    let processes = on(&["a", "a", "b", "b", "c", "c", "d", "d"], 4);
    let found = crossed(&processes);
    assert_eq!(found.topology().hosts(), ["a", "c", "b", "d"]);
    assert_eq!(found.leaf_of_process()[Process(2)], Leaf(8));
    let matrix = pairs_of_pairs(8);
    let placed = found.placed(&matrix, Movement::Ranks).unwrap();
    let hosts = hosts_of_pairs(&placed.permutation, &processes);
    let cluster = |host: &str| usize::from(["b", "d"].contains(&host));
    for pair in hosts.chunks(2) {
        assert_eq!(pair[0].0, pair[0].1, "{hosts:?}");
        assert_eq!(cluster(&pair[0].0), cluster(&pair[1].0), "{hosts:?}");
    }
    // Without the clusters, hosts in order are as good as any others.
    let unknown = allocation(&processes)
        .placed(&matrix, Movement::Ranks)
        .unwrap();
    assert_eq!(unknown.topology.hosts(), ["a", "b", "c", "d"]);
}

#[test]
fn a_placement_with_clusters_is_carried_over_by_clusters() {
    let processes = on(&["a", "a", "b", "b", "c", "c", "d", "d"], 4);
    let placed = crossed(&processes)
        .placed(&pairs_of_pairs(8), Movement::Ranks)
        .unwrap();
    let now = on(&["e", "e", "f", "f", "g", "g", "h", "h"], 4);
    let cluster = |host: &str| Cluster(usize::from(["g", "h"].contains(&host)));
    let clusters: List<Process, Cluster> = now.iter().map(|at| cluster(&at.host)).collect();
    let with = |clusters: &Slice<Process, Cluster>| {
        let network = network_of(&now, clusters).unwrap();
        let found = Allocation::new(&now, |_| Some(machine(2, 2)), Some(&network)).unwrap();
        found.remap(recorded(&placed))
    };
    let carried = with(&clusters).unwrap();
    let hosts = hosts_of_pairs(&carried.permutation, &now);
    for pair in hosts.chunks(2) {
        assert_eq!(pair[0].0, pair[0].1, "{hosts:?}");
        assert_eq!(cluster(&pair[0].0), cluster(&pair[1].0), "{hosts:?}");
    }
    assert_eq!(
        with(&Cluster::list([0, 0, 0, 0, 0, 0, 1, 1]))
            .unwrap_err()
            .to_string(),
        "has 2 hosts in one cluster, and no cluster of the job that is left has such hosts"
    );
    // If today's clusters are not known, only hosts count.
    assert!(allocation(&now).remap(recorded(&placed)).is_ok());
}

#[test]
fn clusters_that_no_tree_can_have_are_told_of() {
    let processes = on(&["a", "a", "b"], 4);
    let refusal = |clusters: &[usize]| {
        let refused = network_of(&processes, &Cluster::list(clusters.iter().copied()));
        refused.unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&[0, 1, 1]),
        "the processes of a are in the clusters 0 and 1; give those of one host one number"
    );
    assert_eq!(
        refusal(&[0, 1]),
        "2 processes have a cluster, and the job has 3; give one number for each"
    );
    let network = Topology::from_clusters(vec![vec!["a".into()]]).unwrap();
    let missing = Allocation::new(&processes, |_| None, Some(&network)).unwrap_err();
    assert!(missing.to_string().contains("host b is not in the network"));
}

/// A torus of 4x4x4 nodes with a host `nXYZ` at each.
fn torus() -> Site {
    let lattice = Lattice::torus(&[4, 4, 4]).unwrap();
    let hosts = (0..64).map(|position| {
        let at = lattice.coordinates(position);
        Hung {
            name: format!("n{}{}{}", at[0], at[1], at[2]),
            position,
        }
    });
    let hosts = hosts.collect();
    Site::new(Network::Lattice(lattice), hosts).unwrap()
}

/// The names of a box of 2x2x2 nodes from a corner, in another order for each `step`.
fn corner(from: [usize; 3], step: usize) -> Vec<String> {
    let all = (0..8).map(|number| number * step % 8);
    let name = |number: usize| {
        let at: Vec<usize> = (0..3)
            .map(|axis| (from[axis] + (number >> axis & 1)) % 4)
            .collect();
        format!("n{}{}{}", at[0], at[1], at[2])
    };
    all.map(name).collect()
}

/// Two processes on each of these hosts.
fn two_on_each(hosts: &[String]) -> List<Process, LaunchedProcess> {
    let names = hosts.iter().flat_map(|host| [host.as_str(), host.as_str()]);
    on(&names.collect::<Vec<_>>(), 4)
}

fn on_torus(processes: &Slice<Process, LaunchedProcess>) -> Allocation {
    allocation(processes).on_network(torus()).unwrap()
}

/// Links between the hosts of ranks that differ in one bit above the lowest.
fn links_of_cube(
    permutation: &Slice<Process, Rank>,
    processes: &Slice<Process, LaunchedProcess>,
) -> u32 {
    let site = torus();
    let mut host_of = vec![""; permutation.len()];
    for (process, &rank) in permutation.iter_enumerated() {
        host_of[rank.0] = &processes[process].host;
    }
    let at = site.positions_of(&host_of).unwrap();
    let pairs = (0..16).flat_map(|rank| [2, 4, 8].map(|bit| (rank, rank ^ bit)));
    pairs
        .map(|(one, other)| site.network().distance(at[one], at[other]))
        .sum()
}

/// A cube of eight nodes of two ranks.
fn cube() -> Matrix {
    let entries = (0..16_usize).flat_map(|rank| {
        let across = [2, 4, 8].map(|bit| (rank, rank ^ bit, 1.0));
        across.into_iter().chain([(rank, rank ^ 1, 4.0)])
    });
    Matrix::from_entries(16, entries).unwrap()
}

#[test]
fn ranks_are_placed_by_the_distances_of_a_network() {
    let processes = two_on_each(&corner([0, 0, 0], 3));
    let found = on_torus(&processes);
    let placed = found.placed(&cube(), Movement::Ranks).unwrap();
    assert_eq!(links_of_cube(&placed.permutation, &processes), 48);
    assert_eq!(placed.costs.1, 24.0);
    assert!(placed.costs.0 > placed.costs.1);
    assert_eq!(found.cost(&cube(), &placed.leaf_of_rank), placed.costs.1);
    let moved = found.placed(&cube(), Movement::Processes).unwrap();
    assert_eq!(moved.permutation, Rank::list(0..16));
    assert_eq!(moved.costs.0, placed.costs.0);
}

#[test]
fn a_placement_is_carried_over_so_that_near_hosts_stay_near() {
    let then = two_on_each(&corner([0, 0, 0], 1));
    let placed = on_torus(&then).placed(&cube(), Movement::Ranks).unwrap();
    for step in [1, 3, 5, 7] {
        // Around the edge of the torus, with no name in common.
        let now = two_on_each(&corner([2, 3, 2], step));
        let carried = on_torus(&now).remap(recorded(&placed)).unwrap();
        assert!(carried.moved);
        assert!((carried.stretch.unwrap() - 1.0).abs() < 1e-9, "{step}");
        assert_eq!(links_of_cube(&carried.permutation, &now), 48, "{step}");
    }
    // Hosts twice as far apart, which the result reports.
    let apart: Vec<String> = (0..8)
        .map(|i| format!("n{}{}{}", 2 * (i & 1), 2 * (i >> 1 & 1), 2 * (i >> 2)))
        .collect();
    let carried = on_torus(&two_on_each(&apart)).remap(recorded(&placed));
    assert!((carried.unwrap().stretch.unwrap() - 2.0).abs() < 1e-9);
    // On the recorded hosts there is no search.
    let again = on_torus(&then).remap(recorded(&placed)).unwrap();
    assert_eq!((again.moved, again.stretch), (false, None));
}

#[test]
fn hosts_that_are_not_in_the_network_are_named() {
    let error = allocation(&on(&["n000", "x"], 4)).on_network(torus());
    let text = error.unwrap_err().to_string();
    assert!(text.starts_with("host x is not in the network"), "{text}");
}
