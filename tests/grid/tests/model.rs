//! The model of the links does what a grid's file requests.
#![allow(clippy::unwrap_used)] // a test may panic

use std::path::Path;

use proptest::prelude::*;
use treepie_base::Cluster;
use treepie_grid::model::{Model, Time};
use treepie_platform::grid::Grid;

const MILLISECOND: Time = 1_000_000;

/// Two clusters of two hosts: hosts 0 and 1, hosts 2 and 3.
fn grid() -> Grid {
    let text = "treepie: grid\nversion: 1\nwan_latency_us: 10000\nclusters:\n\
        - {name: a, hosts: 2, latency_us: 100, mbit: 1000, uplink_mbit: 100}\n\
        - {name: b, hosts: 2, latency_us: 100, mbit: 1000, uplink_mbit: 100}\n";
    Grid::from_text(Path::new("two.grid.yaml"), text).unwrap()
}

/// Arrival times of these packets `(at, from, to, bytes)`.
fn arrivals(packets: &[(Time, usize, usize, f64)]) -> Vec<Time> {
    arrivals_on(&grid(), packets)
}

fn arrivals_on(grid: &Grid, packets: &[(Time, usize, usize, f64)]) -> Vec<Time> {
    let mut model = Model::new(grid);
    let mut arrived = vec![0; packets.len()];
    let mut order: Vec<usize> = (0..packets.len()).collect();
    order.sort_by_key(|&packet| packets[packet].0);
    let mut note = |all: Vec<treepie_grid::model::Delivered<usize>>| {
        for delivered in all {
            arrived[delivered.packet] = delivered.at;
        }
    };
    for packet in order {
        let (at, from, to, bytes) = packets[packet];
        note(model.advance(at));
        // Each host has one connection to each other.
        model.send(at, (from, to), 0, bytes, packet);
    }
    note(model.advance(Time::MAX));
    arrived
}

fn near(found: Time, milliseconds: f64) {
    let found = found as f64 / MILLISECOND as f64;
    assert!(
        (found / milliseconds - 1.0).abs() < 1e-3,
        "{found} ms for {milliseconds} ms"
    );
}

#[test]
fn a_packet_alone_needs_the_latency_and_its_own_length() {
    // 1,250 bytes need 0.1 ms at 100 Mbit/s and 0.01 ms at 1 Gbit/s.
    let times = arrivals(&[(0, 0, 1, 1250.0)]);
    near(times[0], 0.110);
    // The uplink starts while the packet is still leaving the host's own link.
    let times = arrivals(&[(0, 0, 2, 1250.0)]);
    near(times[0], 10.100);
}

#[test]
fn what_is_sent_after_links_changed_takes_the_new_ones() {
    let text = "treepie: grid\nversion: 1\nwan_latency_us: 2000\nclusters:\n\
        - {name: a, hosts: 2, latency_us: 100, mbit: 1000, uplink_mbit: 10}\n\
        - {name: b, hosts: 2, latency_us: 300, mbit: 1000, uplink_mbit: 10}\n";
    let changed = Grid::from_text(Path::new("changed.grid.yaml"), text).unwrap();
    let mut model = Model::new(&grid());
    model.send(0, (0, 2), 0, 1250.0, 0);
    model.change(&changed);
    model.send(20 * MILLISECOND, (0, 2), 0, 1250.0, 1);
    model.send(20 * MILLISECOND, (2, 3), 0, 1250.0, 2);
    let mut arrived = [0; 3];
    for delivered in model.advance(Time::MAX) {
        arrived[delivered.packet] = delivered.at;
    }
    // In flight with the old latency, it uses the new link into its cluster.
    near(arrived[0], 10.0 + 1.0);
    near(arrived[1], 20.0 + 2.0 + 1.0);
    near(arrived[2], 20.0 + 0.310);
}

#[test]
fn a_flow_reaches_the_rate_of_its_narrowest_link() {
    let packets: Vec<_> = (0..1000).map(|_| (0, 0, 2, 12_500.0)).collect();
    let times = arrivals(&packets);
    // 12.5 MB at 100 Mbit/s.
    near(*times.iter().max().unwrap(), 10.0 + 1000.0);
    assert!(times.is_sorted(), "packets of a flow keep their order");
}

#[test]
fn flows_of_a_cluster_share_its_uplink() {
    let packets: Vec<_> = (0..1000)
        .flat_map(|n| [(n, 0, 2, 12_500.0), (n, 1, 3, 12_500.0)])
        .collect();
    let times = arrivals(&packets);
    near(*times.iter().max().unwrap(), 10.0 + 2000.0);
    let last = |first: usize| *times.iter().skip(first).step_by(2).max().unwrap();
    // Fair: both end at nearly the same time.
    assert!(last(0).abs_diff(last(1)) < 3 * MILLISECOND);
}

#[test]
fn a_way_between_two_clusters_may_be_slower_than_their_uplinks() {
    let text = "treepie: grid\nversion: 1\nwan_latency_us: 10000\nclusters:\n\
        - {name: a, hosts: 2, latency_us: 100, mbit: 1000}\n\
        - {name: b, hosts: 1, latency_us: 100, mbit: 1000}\n\
        - {name: c, hosts: 1, latency_us: 100, mbit: 1000}\n\
        links:\n- {between: [a, b], latency_us: 5000, mbit: 50}\n";
    let grid = Grid::from_text(Path::new("three.grid.yaml"), text).unwrap();
    assert_eq!(
        [(0, 1), (1, 0), (0, 2)].map(|(from, to)| grid.mbit(Cluster(from), Cluster(to))),
        [50.0, 50.0, 1000.0]
    );
    // 12.5 MB from each host of a: those to b share 50 Mbit/s, those to c have the
    // host's own rate.
    let flow = |from, to| vec![(0, from, to, 12_500.0); 1000];
    let times = arrivals_on(&grid, &[flow(0, 2), flow(1, 2)].concat());
    near(*times.iter().max().unwrap(), 5.0 + 4000.0);
    let times = arrivals_on(&grid, &flow(0, 3));
    near(*times.iter().max().unwrap(), 10.0 + 100.0);
}

#[test]
fn a_connection_has_its_own_rate_and_several_share_that_of_the_way() {
    let text = "treepie: grid\nversion: 1\nwan_latency_us: 10000\nclusters:\n\
        - {name: a, hosts: 4, latency_us: 100, mbit: 1000}\n\
        - {name: b, hosts: 1, latency_us: 100, mbit: 1000}\n\
        links:\n- {between: [a, b], latency_us: 5000, mbit: 120, connection_mbit: 50}\n";
    let grid = Grid::from_text(Path::new("window.grid.yaml"), text).unwrap();
    let [a, b] = [0, 1].map(Cluster);
    assert_eq!((grid.mbit(a, b), grid.link_mbit(a, b)), (50.0, 120.0));
    // 6.25 MB on each connection: alone, and two, at 50 Mbit/s; four at 30 each.
    let flow = |from| vec![(0, from, 4, 12_500.0); 500];
    for (connections, milliseconds) in [(1, 1000.0), (2, 1000.0), (4, 1000.0 * 200.0 / 120.0)] {
        let packets: Vec<_> = (0..connections).flat_map(flow).collect();
        let times = arrivals_on(&grid, &packets);
        near(*times.iter().max().unwrap(), 5.0 + milliseconds);
    }
    // A neighbour's packet waits at most for the one that is on the shared link, for 0.83 ms, and
    // not for those queued by a slow connection.
    let times = arrivals_on(
        &grid,
        &[flow(0), vec![(MILLISECOND, 1, 4, 1250.0)]].concat(),
    );
    let taken = (times[500] - MILLISECOND) as f64 / MILLISECOND as f64;
    assert!((5.2..5.3 + 0.84).contains(&taken), "{taken} ms");
}

#[test]
fn both_directions_have_the_full_rate() {
    let packets: Vec<_> = (0..1000)
        .flat_map(|_| [(0, 0, 2, 12_500.0), (0, 2, 0, 12_500.0)])
        .collect();
    near(*arrivals(&packets).iter().max().unwrap(), 10.0 + 1000.0);
}

#[test]
fn a_neighbour_does_not_wait_behind_what_is_still_on_its_way() {
    // Host 2 is about to get 10 MB from the other cluster; a packet that its neighbour sends
    // meanwhile arrives long before.
    let mut packets: Vec<_> = (0..800).map(|_| (0, 0, 2, 12_500.0)).collect();
    packets.push((MILLISECOND, 3, 2, 1250.0));
    let times = arrivals(&packets);
    near(times[800] - MILLISECOND, 0.110);
}

proptest! {
    #[test]
    fn every_packet_arrives_once_and_never_before_its_latency(
        packets in prop::collection::vec(
            (0_u64..50_000_000, 0_usize..4, 0_usize..4, 40.0_f64..65_000.0), 1..80
        )
    ) {
        let packets: Vec<_> = packets.into_iter().filter(|p| p.1 != p.2).collect();
        let times = arrivals(&packets);
        for (&(at, from, to, _), &arrived) in packets.iter().zip(&times) {
            let latency = if from / 2 == to / 2 { MILLISECOND / 10 } else { 10 * MILLISECOND };
            prop_assert!(arrived >= at + latency);
        }
    }
}

#[test]
fn every_grid_of_the_profiles_can_be_read() {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let files = std::fs::read_dir(profiles).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let grids: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(".grid.yaml"))
        .map(|path| Grid::read(&path).unwrap())
        .collect();
    assert!(grids.len() >= 7, "{}", grids.len());
}
