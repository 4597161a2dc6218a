//! Reported savings of plans.

use super::*;

/// Returns a machine without single long calls, which medians do not show.
fn machine(seed: u64, ratios: &[f64]) -> Machine {
    let mut machine = Machine::new(3, seed, ratios);
    machine.noise.spikes = 0.0;
    machine
}

/// Returns the reported savings, and the true ones without the cost of trials, as fractions of the
/// time of the MPI alone; means over all machines.
fn told_and_true(machines: &[Machine]) -> [f64; 2] {
    let of = |machine: &Machine| {
        let found = machine.summaries();
        let told: i64 = found.iter().map(|one| one.saved).sum();
        let spent = found.iter().map(|one| one.excess).max().unwrap_or(0);
        let saved = machine.native_time - machine.time + spent as f64;
        [told as f64, saved].map(|saved| saved / machine.native_time / machines.len() as f64)
    };
    let sum = |[told, saved]: [f64; 2], [more, longer]: [f64; 2]| [told + more, saved + longer];
    machines.iter().map(of).fold([0.0; 2], sum)
}

/// Checks that the reported savings are slightly below the true ones, but not more.
#[track_caller]
fn assert_true(machines: &[Machine]) {
    let [told, saved] = told_and_true(machines);
    let differs = told - saved;
    assert!((-0.04..0.01).contains(&differs), "{told} for {saved}");
}

fn called(mut machine: Machine, calls: usize) -> Machine {
    for _ in 0..calls {
        machine.call(key(ALLREDUCE, 8), NATIVE);
    }
    machine
}

#[test]
fn what_a_plan_saves_is_told_as_it_is() {
    for ratio in [0.2, 0.5, 0.8, 0.9, 1.2] {
        let made = (0..20).map(|seed| called(machine(seed, &[ratio]), 10_000));
        let machines: Vec<Machine> = made.collect();
        assert_true(&machines);
        for machine in &machines {
            let found = machine.summaries();
            let mut adopted = found.iter().filter(|one| one.state == State::Adopted);
            assert!(adopted.all(|one| one.saved > 0), "{found:?}");
        }
    }
}

#[test]
fn what_a_plan_loses_before_it_is_taken_back_counts_against_it() {
    let machines = (0..20).map(|seed| {
        let mut machine = called(machine(seed, &[0.8]), 10_000);
        let before = machine.summaries()[0];
        assert_eq!(before.state, State::Adopted);
        machine.set_ratios(&[3.0]);
        let machine = called(machine, 6_000);
        let after = machine.summaries()[0];
        assert_eq!(after.state, State::TakenBack);
        assert!(after.saved < before.saved, "{after:?}");
        machine
    });
    assert_true(&machines.collect::<Vec<Machine>>());
}

#[test]
fn what_is_only_reported_saves_nothing() {
    let machine = called(Machine::reporting(3, 1, &[0.5]), 10_000);
    let found = machine.summaries()[0];
    assert_eq!((found.state, found.saved), (State::Proven, 0));
}

#[test]
fn a_plan_that_an_earlier_run_found_saves_from_the_first_call_on() {
    let known = AdoptedPlan {
        key: key(ALLREDUCE, 8),
        challenger: challenger(0, None),
        native: NATIVE as u64,
        plan: NATIVE as u64 / 2,
    };
    let machines = (0..20).map(|seed| {
        let mut machine = Machine::knowing(3, seed, &[0.5], known);
        machine.noise.spikes = 0.0;
        called(machine, 2_000)
    });
    let machines: Vec<Machine> = machines.collect();
    assert_true(&machines);
    assert!(told_and_true(&machines)[0] > 0.4);
}
