//! Choices against the simulation, for exchanges under contention and between neighbours, and times
//! of the usual algorithms of native MPIs.

use std::sync::Arc;

use treepie_collective::grids::round;
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{Neighbourhoods, bound, grids};
use treepie_platform::Contention;

use super::*;

#[test]
fn every_usual_algorithm_of_a_native_mpi_has_a_time() {
    let numbers: Vec<usize> = (0..24).map(|rank| rank / 6).collect();
    let wan = |_, _| grids::wan(10.0, 100.0);
    let network = grids::of_numbers(&numbers, 4, |_| grids::lan(), wan);
    for family in Family::ALL {
        for operation in Operation::all() {
            for bytes in [0, 8, 4096, 1 << 20] {
                let usual = family.usual_algorithm(operation, 24, bytes);
                let Some(algorithm) = Algorithm::find(operation, usual) else {
                    continue;
                };
                let flow = family.segments(operation, usual);
                let reading = Reading {
                    network: &network,
                    clusters: None,
                    ordered: false,
                    flow,
                    one_by_one: OneByOne::Sends,
                };
                let call = Uniform {
                    operation,
                    bytes,
                    root: 0,
                };
                let found = reading.times(algorithm, &call);
                assert!(
                    found.end.is_finite(),
                    "{family} {operation} {bytes}: {usual}"
                );
            }
        }
    }
}

#[test]
fn the_choice_counts_contention_in_the_phases_of_an_exchange() {
    // Clusters whose inside is slower than the links between them in a total exchange.
    let numbers: Vec<usize> = (0..16).map(|rank| rank / 8).collect();
    let slow = Contention {
        gamma: 150.0,
        ..Contention::NONE
    };
    for (operation, algorithm) in [
        (Operation::Alltoall, "flat"),
        (Operation::Allgather, "grid-lanes"),
    ] {
        let estimated = |contention: Contention| {
            let network = Arc::new(grids::congested(&numbers, 1, contention));
            let clusters = Clusters::of_network(&network);
            let mut chooser = Chooser::new(Some(network.clone()), &clusters, None);
            let choice = chooser.choose(operation, Some(64 << 10), 0, false, &clusters);
            let all = choice.considered();
            let of = all
                .iter()
                .find(|known| known.algorithm.name == algorithm)
                .unwrap();
            let segment = of.segment;
            let call = Uniform {
                operation,
                bytes: 64 << 10,
                root: 0,
            };
            let plans = of
                .algorithm
                .plans(&call, Some(&network), &clusters, segment);
            let simulated = simulate(&network, &plans, 1, Options::default()).unwrap();
            (of.seconds, simulated.seconds)
        };
        let ((free, _), (busy, simulated)) = (estimated(Contention::NONE), estimated(slow));
        assert!(busy > 1.2 * free, "{operation}: {busy} {free}");
        assert!(
            (busy / simulated - 1.0).abs() < 0.25,
            "{operation}: {busy} {simulated}"
        );
    }
}

#[test]
fn the_choice_relays_blocks_that_several_of_a_cluster_need_and_cuts_long_ones() {
    let network = Arc::new(grids::four_by_four());
    let choose = |all: Neighbourhoods, operation, bytes| {
        let clusters = Clusters::of_network(&network).with_neighbourhoods(Arc::new(all));
        let mut chooser = Chooser::new(Some(network.clone()), &clusters, Some(Family::OpenMpi));
        let choice = chooser.choose(operation, Some(bytes), 0, false, &clusters);
        let least = bound(&network, &clusters, operation, bytes, 0);
        let algorithm = choice.algorithm.map(|algorithm| algorithm.name);
        (
            algorithm,
            choice.seconds.unwrap() / least,
            choice.native_seconds().unwrap() / least,
        )
    };
    let (algorithm, ours, native) = choose(round(15), Operation::NeighborAllgather, 64 << 10);
    assert_eq!(algorithm, Some("grid-relay"));
    assert!(ours < 1.1 && native > 3.0, "{ours} {native}");
    let torus = Neighbourhoods::grid(&[(4, true), (4, true)]);
    let (algorithm, ours, native) = choose(torus.clone(), Operation::NeighborAlltoall, 64 << 10);
    assert_eq!(algorithm, Some("flat"));
    assert!(ours < 1.1 && native > 1.25, "{ours} {native}");
    // No message uses a rendezvous, and no block is sent twice.
    let (algorithm, ..) = choose(torus, Operation::NeighborAlltoall, 64);
    assert_eq!(algorithm, None);
}
