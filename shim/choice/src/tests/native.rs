//! Knobs of native collectives, and collectives that keep their defaults.

use super::*;
use crate::native::Native;
use treepie_collective::grids::{lan, of_numbers, that_respond_to_exchanges, wan};

/// Four hosts of four ranks.
fn four_hosts() -> Network {
    let numbers: Vec<usize> = (0..16).map(|rank| rank / 4).collect();
    of_numbers(&numbers, 4, |_| lan(), |_, _| wan(10.0, 100.0))
}

/// Milliseconds measured on the emulated grid of four hosts with four ranks each.
#[test]
fn what_open_mpi_5_takes_on_four_hosts_is_predicted() {
    let native = Native::new(Arc::new(four_hosts()), Family::OpenMpi).with_han();
    for (operation, bytes, measured) in [
        (Operation::Bcast, 8, 20.7),
        (Operation::Bcast, 65536, 48.1),
        (Operation::Bcast, 1 << 20, 611.8),
        (Operation::Bcast, 4 << 20, 2411.0),
        (Operation::Reduce, 8, 21.3),
        (Operation::Reduce, 1024, 41.5),
        (Operation::Reduce, 65536, 50.8),
        (Operation::Reduce, 1 << 20, 787.5),
        (Operation::Allreduce, 8, 31.7),
        (Operation::Allreduce, 1024, 52.4),
        (Operation::Allreduce, 65536, 98.3),
        (Operation::Allreduce, 1 << 20, 854.2),
        (Operation::Allgather, 8, 21.7),
        (Operation::Gather, 8, 21.3),
        (Operation::Scatter, 8, 21.0),
        (Operation::Barrier, 0, 21.7),
    ] {
        let call = Uniform {
            operation,
            bytes,
            root: 0,
        };
        let told = 1e3 * native.seconds(&call, false);
        let error = told / measured - 1.0;
        println!("{operation} of {bytes}: {told:.1} ms, {measured} ms");
        assert!(
            error.abs() < 0.1,
            "{operation} of {bytes}: {told:.1} ms, {measured} ms"
        );
    }
}

#[test]
fn han_leaves_to_others_what_has_no_two_levels_alike() {
    let on = |numbers: &[usize], each| {
        let network = of_numbers(numbers, each, |_| lan(), |_, _| wan(10.0, 100.0));
        network.one_of_each_host().is_some()
    };
    assert!(on(&[0, 0, 1, 1], 2));
    // One rank on each host, one host, hosts of two ranks and of one.
    assert!(!on(&[0, 0, 1, 1], 1));
    assert!(!on(&[0, 0, 0], 3));
    assert!(!on(&[0, 0, 1], 2));
}

/// `tuned` sends a few bytes to all ranks together, in one latency; HAN needs two.
#[test]
fn a_short_broadcast_is_left_to_tuned_and_not_to_han() {
    let network = Arc::new(four_hosts());
    let clusters = Clusters::of_network(&network);
    let tuned = Chooser::new(Some(network), &clusters, Some(Family::OpenMpi));
    let chosen = |mut chooser: Chooser| {
        let choice = chooser.choose(Operation::Bcast, Some(8), 0, false, &clusters);
        choice.algorithm.map(|algorithm| algorithm.name)
    };
    assert_eq!(chosen(tuned.clone()), None);
    assert!(chosen(tuned.with_han()).is_some());
}

/// Seconds of the native collective in the simulator, by its usual algorithm.
fn simulated_native(network: &Network, family: Family, call: &Uniform) -> f64 {
    let ranks = network.ranks();
    let usual = family.usual_algorithm(call.operation, ranks, call.bytes);
    let algorithm = Algorithm::find(call.operation, usual).unwrap();
    let plans = algorithm.plans(call, None, &Clusters::one(ranks), LARGEST_MESSAGE);
    simulate(network, &plans, 1, Options::default())
        .unwrap()
        .seconds
}

/// Number of choices that are the better of the native collective and Treepie's best, as determined
/// by the simulator, in clusters with contention: with the native one read without contention, and
/// with it. If the two differ by less than 2 %, either is right.
#[test]
fn contention_in_native_exchanges_makes_more_choices_right() {
    let (mut calls, mut before, mut now) = (0, 0, 0);
    let all = that_respond_to_exchanges().into_iter();
    for (_, network) in all.filter(|(_, network)| network.ranks() <= 32) {
        let network = Arc::new(network);
        let free = Arc::new((*network).clone().without_contention());
        let clusters = Clusters::of_network(&network);
        for family in Family::ALL {
            let mut chooser = Chooser::new(Some(network.clone()), &clusters, Some(family));
            let unaware = Native::new(free.clone(), family);
            for operation in [Operation::Alltoall, Operation::ReduceScatterBlock] {
                // Longer blocks MPICH exchanges by another algorithm, which no plan has.
                for bytes in [KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB] {
                    let choice = chooser.choose(operation, Some(bytes), 0, false, &clusters);
                    let ours = choice.considered()[0];
                    let call = Uniform {
                        operation,
                        bytes,
                        root: 0,
                    };
                    let ratio = simulated(&network, &clusters, &call, &ours)
                        / simulated_native(&network, family, &call);
                    let is_right = |is_ours| (ratio - 1.0).abs() < 0.02 || is_ours == (ratio < 1.0);
                    let was_chosen = ours.seconds < MIN_GAIN_RATIO * unaware.seconds(&call, false);
                    let is_chosen = choice.algorithm.is_some();
                    calls += 1;
                    before += usize::from(is_right(was_chosen));
                    now += usize::from(is_right(is_chosen));
                }
            }
        }
    }
    println!("of {calls} choices {before} were right without contention, {now} are with it");
    assert!(
        now > before && 100 * now > 85 * calls,
        "{calls} {before} {now}"
    );
}
