//! Watch over a plan that was adopted: it is revoked when it gains no more, also under loads.

use super::super::*;
use super::machine::Machine;
use super::{ALLREDUCE, NATIVE, key};
use crate::policy::BUDGET_PART;

#[test]
fn a_plan_that_is_slower_after_a_change_is_taken_back_for_good() {
    for seed in 0..40 {
        let mut machine = Machine::new(3, seed, &[0.5]);
        let before = [6_000, 100_000][usize::from(seed % 8 == 0)];
        for _ in 0..before {
            machine.call(key(ALLREDUCE, 8), NATIVE);
        }
        assert_eq!(machine.summaries()[0].state, State::Adopted);
        machine.set_ratios(&[2.0]);
        // Until the budget covers a block of the watch, and two while it is in doubt: with noise.
        for _ in 0..before / 64 + 6_000 {
            machine.call(key(ALLREDUCE, 8), NATIVE);
        }
        assert_eq!(machine.summaries()[0].state, State::TakenBack);
        machine.set_ratios(&[0.5]);
        for _ in 0..5_000 {
            machine.call(key(ALLREDUCE, 8), NATIVE);
            assert!(!machine.ran_plan);
        }
    }
}

/// Returns a machine whose plan has taken a sixth of the native time in `calls` calls.
fn gaining_much(seed: u64, calls: u64) -> Machine {
    let mut machine = Machine::new(3, seed, &[1.0 / 6.0]);
    for _ in 0..calls {
        machine.call(key(ALLREDUCE, 8), NATIVE);
    }
    assert_eq!(machine.summaries()[0].state, State::Adopted);
    machine
}

#[test]
fn a_plan_that_gained_much_and_turns_bad_is_taken_back_soon() {
    for seed in 0..40 {
        let (before, within) = [(6_000, 1_600), (100_000, 3_300)][usize::from(seed % 8 == 0)];
        let mut machine = gaining_much(seed, before);
        machine.set_ratios(&[1.5]);
        let call = |machine: &mut Machine| machine.call(key(ALLREDUCE, 8), NATIVE);
        let calls = (0..8_000).take_while(|_| {
            call(&mut machine);
            machine.summaries()[0].state == State::Adopted
        });
        let calls = calls.count();
        assert!(calls <= within, "{calls} calls, {before} before");
    }
}

#[test]
fn a_load_that_was_there_before_a_plan_turns_bad_hides_it_not_for_long() {
    for seed in 0..40 {
        let mut machine = gaining_much(seed, 6_000);
        let call = |machine: &mut Machine, native| machine.call(key(ALLREDUCE, 8), native);
        for _ in 0..600 {
            call(&mut machine, 10.0 * NATIVE);
        }
        assert_eq!(machine.summaries()[0].state, State::Adopted);
        machine.set_ratios(&[1.5]);
        let calls = (0..20_000).take_while(|_| {
            call(&mut machine, NATIVE);
            machine.summaries()[0].state == State::Adopted
        });
        let calls = calls.count();
        assert!(calls <= 13_000, "{calls} calls");
    }
}

#[test]
fn a_plan_that_gains_much_stays_under_a_load_that_comes_and_goes_at_little_cost() {
    for seed in 0..20 {
        let mut machine = gaining_much(seed, 6_000);
        for call in 0..40_000 {
            let load = if call / 300 % 2 == 0 { 3.0 } else { 1.0 };
            machine.call(key(ALLREDUCE, 8), load * NATIVE);
        }
        let one = machine.summaries()[0];
        assert_eq!(one.state, State::Adopted, "{one:?}");
        assert!(one.excess <= one.time / BUDGET_PART, "{one:?}");
    }
}

#[test]
fn a_started_plan_that_is_slower_after_a_change_is_taken_back() {
    for seed in 0..20 {
        let of_cell = key(ALLREDUCE, 8).of_form(Form::Nonblocking);
        let mut machine = Machine::new(3, seed, &[0.5]);
        for _ in 0..10_000 {
            machine.call(of_cell, NATIVE);
        }
        let found = machine.summaries();
        assert_eq!(found[0].state, State::Adopted, "{found:?}");
        machine.set_ratios(&[2.0]);
        for _ in 0..10_000 {
            machine.call(of_cell, NATIVE);
        }
        assert_eq!(machine.summaries()[0].state, State::TakenBack);
    }
}
