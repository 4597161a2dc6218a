//! What native collectives are told to take, and what is left to them.

use super::*;
use crate::collective::choose::native::Native;
use crate::collective::grids::{lan, of_numbers, wan};

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

/// `tuned` sends a few bytes to all at once, in one latency; HAN needs two.
#[test]
fn a_short_broadcast_is_left_to_tuned_and_not_to_han() {
    let network = Arc::new(four_hosts());
    let clusters = Clusters::of_network(&network);
    let tuned = Chooser::new(Some(network), &clusters, Some(Family::OpenMpi));
    let chosen = |mut chooser: Chooser| {
        let choice = chooser.choose(Operation::Bcast, Some(8), 0, false, &clusters);
        choice.strategy.map(|strategy| strategy.name)
    };
    assert_eq!(chosen(tuned.clone()), None);
    assert!(chosen(tuned.with_han()).is_some());
}
