//! Total-order broadcast on a token ring, as in annex A of the LaPIe thesis: RBP (Chang and
//! Maxemchuk 1984), its flaw, and its correction (iRBP, Euro-Par 2003), in a discrete simulation.
//!
//! Treepie does not use it (determinants are already ordered for each receiver); it is kept in
//! tests as part of the thesis.
//!
//! ```text
//! network    events in time: messages that are lost or late, crashes, suspicions
//! process    one process: data, orders, delivery after k moves of the token
//! views      members of the ring after a suspicion
//! ```
#![allow(clippy::unwrap_used)]

mod network;
mod process;
mod views;

use network::{Outcome, Schedule, run};

/// The annex's comparison, which is not simulated: maximum number of messages of Chandra and
/// Toueg's consensus for a broadcast.
fn messages_of_consensus(n: u64) -> u64 {
    (4 + 2 * n) * (n - 1)
}

#[test]
fn a_broadcast_without_loss_takes_two_messages_to_each_other_process() {
    let expected = [
        (4, 6, 36),
        (6, 10, 80),
        (8, 14, 140),
        (16, 30, 540),
        (32, 62, 2_108),
        (64, 126, 8_316),
    ];
    for (n, ring, consensus) in expected {
        let broadcasts = 50;
        let found = run(&Schedule::quiet(n, n, broadcasts));
        assert_eq!(found.messages, ring * broadcasts as u64, "{n} processes");
        assert_eq!(messages_of_consensus(n as u64), consensus);
        // Fewer by the factor of the number of processes plus two.
        assert_eq!(consensus, ring * (n as u64 + 2));
    }
}

/// Mean seconds from a broadcast to its delivery by all, with 10 broadcasts per second.
fn latency(n: usize, k: usize) -> f64 {
    run(&Schedule::poisson(n, k, 400)).mean_latency
}

#[test]
fn figure_a_1_latency_grows_with_n_for_k_n_and_is_bounded_by_a_core() {
    let sizes = [4, 8, 16, 32, 64];
    // If the token only moves with messages, k of them must follow: k/10 s on average, 6.4 s if all
    // of 64 belong to the core.
    for k in [4, 8, 16, 32, 64] {
        let least = k as f64 / 10.0;
        let core: Vec<f64> = sizes
            .into_iter()
            .filter(|&n| n >= k)
            .map(|n| latency(n, k))
            .collect();
        for found in &core {
            assert!(
                (0.8 * least..1.4 * least + 0.1).contains(found),
                "k {k}: {core:?}"
            );
        }
    }
    let all: Vec<f64> = sizes.into_iter().map(|n| latency(n, n)).collect();
    for (pair, sizes) in all.windows(2).zip(sizes.windows(2)) {
        let (growth, size) = (pair[1] / pair[0], sizes[1] as f64 / sizes[0] as f64);
        assert!((0.8 * size..1.2 * size).contains(&growth), "{all:?}");
    }
    assert!(all[4] > 5.0 && latency(64, 4) < 0.1 * all[4], "{all:?}");
}

/// The error among the processes that never stopped; `None` if all delivered the same in the same
/// order.
fn disagreement(outcome: &Outcome) -> Option<String> {
    let correct = outcome.correct();
    let first = correct.first()?;
    let differs = correct
        .iter()
        .find(|process| process.delivered != first.delivered);
    differs.map(|other| {
        format!(
            "{}: {:?}, {}: {:?}",
            first.number, first.delivered, other.number, other.delivered
        )
    })
}

#[test]
fn all_correct_processes_deliver_all_in_one_order_on_10_000_random_schedules() {
    let (mut excluded, mut changed) = (0, 0);
    for seed in 0..10_000 {
        let outcome = run(&Schedule::random(seed, true));
        assert_eq!(disagreement(&outcome), None, "seed {seed}");
        for process in outcome.correct() {
            let all = outcome.sent_by_correct();
            let missing = all.iter().find(|one| !process.delivered.contains(one));
            assert_eq!(missing, None, "seed {seed}: process {}", process.number);
        }
        excluded += usize::from(outcome.was_excluded_alive);
        changed += usize::from(outcome.views > 0);
    }
    // The schedules have enough changes of view to make this test meaningful.
    assert!(changed > 5_000, "{changed} views changed");
    assert!(excluded > 500, "{excluded} processes excluded wrongly");
}

#[test]
fn rbp_lets_a_wrongly_excluded_process_deliver_alone_and_the_mend_stops_it() {
    let delivers_alone = |outcome: &Outcome| {
        let correct = outcome.correct();
        let is_alone = |number: usize, message| {
            let others = correct.iter().filter(|other| other.number != number);
            others.clone().count() > 0
                && others
                    .clone()
                    .all(|other| !other.delivered.contains(message))
        };
        correct.iter().any(|process| {
            let mut delivered = process.delivered.iter();
            delivered.any(|message| is_alone(process.number, message))
        })
    };
    let mut alone = 0;
    for seed in 0..200 {
        alone += usize::from(delivers_alone(&run(&Schedule::cut_off(seed, false))));
        let mended = run(&Schedule::cut_off(seed, true));
        assert!(!delivers_alone(&mended), "seed {seed}");
        assert_eq!(disagreement(&mended), None, "seed {seed}");
    }
    assert!(alone > 20, "{alone} of 200 schedules show the flaw");
}
