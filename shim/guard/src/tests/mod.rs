//! Test of the promise, on simulated ranks: their clocks, their noise, and the calls that they
//! make.

mod asynchronous;
mod epochs;
pub(super) mod machine;
mod persistent;
mod saved;
mod soon;
mod taken_back;

use std::sync::Arc;

use super::*;
use crate::cells::KeyedCell;
use crate::policy::{BUDGET_PART, LAG_CALLS, LONG_LAG_CALLS, MIN_CALLS_TO_TRY};
use machine::{Machine, Noise, challenger};
use treepie_collective::Operation;

fn key(operation: Operation, bytes: u64) -> CellKey {
    CellKey::new(operation, 0, Some(bytes), false)
}

const ALLREDUCE: Operation = Operation::Allreduce;

/// Duration of a typical native collective, in nanoseconds.
const NATIVE: f64 = 50_000.0;

/// Returns `count` machines of three ranks that make `calls` calls of one cell, by plans that take
/// these fractions of the native time.
fn machines(count: u64, calls: u64, ratios: &[f64]) -> Vec<Machine> {
    let run = |seed| {
        let mut machine = Machine::new(3, seed, ratios);
        for _ in 0..calls {
            machine.call(key(ALLREDUCE, 8), NATIVE);
        }
        machine
    };
    (0..count).map(run).collect()
}

fn ended_with(machines: &[Machine], state: State) -> usize {
    let any = |machine: &&Machine| machine.summaries().iter().any(|one| one.state == state);
    machines.iter().filter(any).count()
}

/// Checks that trials took at most one hundredth, plus one block that took longer than any before.
fn assert_promise_is_kept(machine: &Machine) {
    for one in machine.summaries() {
        let overshoot = 8 * one.longest;
        assert!(one.excess <= one.time / BUDGET_PART + overshoot, "{one:?}");
    }
    let most = 1.012 * machine.native_time + 8.0 * machine.longest_excess;
    let (took, native) = (machine.time, machine.native_time);
    assert!(took <= most, "{took} for {native} by the MPI alone");
}

#[test]
fn a_plan_ten_times_slower_costs_one_part_in_a_hundred_and_one_call() {
    for calls in [1_000, 20_000] {
        let all = machines(60, calls, &[10.0]);
        for machine in &all {
            let loss = machine.time - machine.native_time;
            let most = 0.01 * machine.native_time + machine.longest_excess;
            assert!(loss <= most, "{loss} of {}", machine.native_time);
            assert_promise_is_kept(machine);
        }
        assert_eq!(ended_with(&all, State::Adopted), 0);
        let dropped = ended_with(&all, State::Dropped);
        assert!(dropped >= 50 || calls < 20_000, "{dropped} of 60");
    }
}

#[test]
fn of_equal_plans_at_most_one_cell_in_fifty_adopts_one() {
    for ratios in [&[1.0][..], &[1.0; 3]] {
        let all = machines(500, 6_000, ratios);
        let adopted = ended_with(&all, State::Adopted);
        assert!(adopted <= 10, "{adopted} of 500");
        all.iter().for_each(assert_promise_is_kept);
    }
}

#[test]
fn a_faster_plan_is_adopted_and_a_slower_one_is_not() {
    let half = machines(60, 10_000, &[0.5]);
    assert!(ended_with(&half, State::Adopted) >= 59);
    let time: f64 = half.iter().map(|machine| machine.time).sum();
    let native: f64 = half.iter().map(|machine| machine.native_time).sum();
    assert!(time < 0.65 * native, "{time} of {native}");
    let second = machines(60, 12_000, &[1.5, 0.6]);
    assert!(ended_with(&second, State::Adopted) >= 57);
    for ratio in [1.05, 1.2, 2.0] {
        let all = machines(100, 6_000, &[ratio]);
        let adopted = ended_with(&all, State::Adopted);
        assert!(adopted <= 1, "{adopted} at {ratio}");
        all.iter().for_each(assert_promise_is_kept);
    }
}

#[test]
fn a_short_call_is_judged_by_what_it_takes_when_it_is_repeated() {
    for (native, expected) in [(400.0, 38..=40), (NATIVE, 0..=10)] {
        let mut adopted = 0;
        for seed in 0..40 {
            let mut machine = Machine::new(2, seed, &[0.6]);
            machine.cold = 4.0 * native;
            for _ in 0..200_000 {
                machine.call(key(ALLREDUCE, 8), native);
            }
            adopted += usize::from(machine.summaries()[0].state == State::Adopted);
        }
        assert!(expected.contains(&adopted), "{adopted} of 40 at {native}");
    }
}

#[test]
fn a_plan_that_gains_only_beside_calls_of_the_mpi_is_not_adopted() {
    for seed in 0..40 {
        let mut machine = Machine::new(3, seed, &[1.1]);
        machine.borrowed = 0.6 * NATIVE;
        for _ in 0..20_000 {
            machine.call(key(ALLREDUCE, 8), NATIVE);
        }
        let one = machine.summaries()[0];
        assert_eq!((one.state, one.won >= 3), (State::Dropped, true), "{one:?}");
        assert_promise_is_kept(&machine);
    }
}

#[test]
fn calls_that_are_left_for_good_are_not_to_be_given_to_the_guard() {
    let mut guards: [Guard; 2] =
        [(); 2].map(|()| Guard::new(1, Mode::Adopt, Arc::default(), Arc::default()));
    for guard in &mut guards {
        guard.offer(key(ALLREDUCE, 8), Vec::new());
        assert!(!guard.enter(key(ALLREDUCE, 8), || 0).is_for_good);
        guard.offer(key(ALLREDUCE, 8), Vec::new());
    }
    // One rank continues to use the guard, and counts like the other.
    let before = guards[0].calls();
    assert!(guards[0].enter(key(ALLREDUCE, 8), || 0).is_for_good);
    assert_eq!(guards[0].calls(), before);
    let values = guards.each_mut().map(|guard| guard.begin(0));
    assert_eq!(values[0][..2], values[1][..2], "hashes of all calls");
}

/// The savings of a plan in its calls are lost after them: for example if the MPI calls the
/// progress hook in other calls.
#[test]
fn a_started_plan_that_only_moves_its_time_elsewhere_is_not_adopted() {
    let of_cell = key(ALLREDUCE, 8).of_form(Form::Nonblocking);
    for seed in 0..40 {
        let mut machine = Machine::new(3, seed, &[0.5]);
        machine.later = 0.7 * NATIVE;
        for _ in 0..10_000 {
            machine.call(of_cell, NATIVE);
        }
        assert_ne!(machine.summaries()[0].state, State::Adopted);
    }
}

#[test]
fn a_rank_that_is_late_each_time_changes_no_decision() {
    for (ratio, expected) in [(0.5, State::Adopted), (1.3, State::Dropped)] {
        let mut found = 0;
        for seed in 0..40 {
            let mut machine = Machine::new(3, seed, &[ratio]);
            machine.noise = Noise {
                late: Some((2, 5e6)),
                ..Noise::USUAL
            };
            for _ in 0..4_000 {
                machine.call(key(ALLREDUCE, 8), NATIVE);
            }
            found += usize::from(machine.summaries()[0].state == expected);
        }
        assert!(found >= 38, "{found} of 40 at {ratio}");
    }
}

#[test]
fn ranks_that_call_different_things_run_the_native_mpi_and_nobody_waits_alone() {
    let mut machine = Machine::new(3, 1, &[0.3]);
    for call in 0..3_000 {
        // Rank 1 has other counts, and so other cells, in each third call.
        let other = if call % 3 == 0 { 4096 } else { 8 };
        let bytes = |rank| if rank == 1 { other } else { 8 };
        machine.call_each(|rank| key(ALLREDUCE, bytes(rank)), NATIVE);
        assert!(!machine.ran_plan);
    }
    assert!(matches!(machine.events[..], [Event::Different]));
}

#[test]
fn an_error_on_one_rank_closes_the_guard_on_all() {
    let mut machine = Machine::new(3, 1, &[0.3]);
    for call in 0..3_000 {
        if call == 2_000 {
            machine.guards[1].fail();
        }
        machine.call(key(ALLREDUCE, 8), NATIVE);
    }
    assert!(!machine.ran_plan);
    assert!(matches!(machine.events.last(), Some(Event::Failed)));
    assert_eq!(machine.summaries()[0].state, State::Closed);
}

#[test]
fn what_a_native_collective_takes_before_it_is_warm_is_no_gain() {
    let mut adopted = 0;
    for seed in 0..100 {
        let mut machine = Machine::new(3, seed, &[1.0]);
        for call in 0..4_000 {
            let time = if call < 5 { 4.0 * NATIVE } else { NATIVE };
            machine.call(key(ALLREDUCE, 8), time);
        }
        adopted += usize::from(machine.summaries()[0].state == State::Adopted);
    }
    assert!(adopted <= 4, "{adopted} of 100");
}

#[test]
fn two_thousand_short_cells_try_nothing() {
    let mut machine = Machine::new(3, 1, &[0.3]);
    for round in 0..3 {
        for root in 0..2_000 {
            let of_root = CellKey::new(Operation::Bcast, root, Some(8), false);
            machine.call(of_root, NATIVE);
            assert!(!machine.ran_plan, "round {round}, root {root}");
        }
    }
    assert!(machine.summaries().is_empty());
    assert!(machine.exchanges <= 8, "{}", machine.exchanges);
}

#[test]
fn what_is_only_reported_never_runs_but_in_trials() {
    let mut machine = Machine::reporting(3, 7, &[0.4]);
    let mut plans = 0;
    for _ in 0..6_000 {
        machine.call(key(ALLREDUCE, 8), NATIVE);
        plans += u32::from(machine.ran_plan);
    }
    let one = machine.summaries()[0];
    assert_eq!(one.state, State::Proven, "{one:?}");
    assert!(one.won >= 7 && plans < 40, "{plans}: {one:?}");
}

#[test]
fn what_an_earlier_run_found_runs_from_the_start_and_is_checked_after_eight_pairs() {
    for (ratio, expected) in [(0.5, State::Adopted), (2.0, State::TakenBack)] {
        let of_cell = key(ALLREDUCE, 8);
        let known = AdoptedPlan {
            key: of_cell,
            challenger: challenger(0, None),
            native: NATIVE as u64,
            plan: (0.5 * NATIVE) as u64,
        };
        let mut machine = Machine::knowing(3, 3, &[ratio], known);
        machine.call(of_cell, NATIVE);
        assert!(machine.ran_plan);
        for _ in 0..300 {
            machine.call(of_cell, NATIVE);
        }
        let one = machine.summaries()[0];
        assert_eq!((one.state, one.won + one.lost), (expected, 8), "{one:?}");
    }
}

#[test]
fn a_plan_whose_ranks_leave_early_and_wait_in_the_next_call_is_not_adopted() {
    let of_cell = key(Operation::Bcast, 1 << 20);
    for seed in 0..40 {
        let mut machine = Machine::new(3, seed, &[0.5]);
        // The wait before the next call takes at least the time that the plan saves in the call.
        machine.later = 0.7 * NATIVE;
        for _ in 0..6_000 {
            machine.call(of_cell, NATIVE);
        }
        assert_ne!(machine.summaries()[0].state, State::Adopted);
    }
}

#[test]
fn calls_that_overlap_are_worth_the_time_from_one_to_the_next() {
    for (operation, expected) in [(Operation::Bcast, 30_000), (ALLREDUCE, 2_000_000)] {
        let mut one = KeyedCell::new(key(operation, 8), None, 1);
        for call in 0..200 {
            if let (_, Some(measured)) = one.cell.enter(|| call * 30_000) {
                one.cell.leave(&measured, 2_000_000, Work::default());
            }
        }
        one.offer(vec![challenger(0, None)]);
        let mut values = Vec::new();
        one.cell.values(&mut values);
        one.cell.judge(&values, Mode::Adopt);
        assert_eq!(one.cell.ledger.time(), 200 * expected);
    }
}

/// Returns the number of calls of one cell until the exchange that began is completed.
fn lag(guard: &mut Guard, of_cell: CellKey) -> u64 {
    let mut calls = 0;
    while guard.due(true) != Due::Complete {
        if guard.due(true) == Due::Begin {
            guard.begin(0);
            calls = 0;
        }
        guard.enter(of_cell, || 0);
        calls += 1;
    }
    calls
}

#[test]
fn an_exchange_has_many_calls_to_end_in_where_these_may_overlap() {
    for (operation, expected) in [(Operation::Bcast, LONG_LAG_CALLS), (ALLREDUCE, LAG_CALLS)] {
        let mut guard = Guard::new(1, Mode::Adopt, Arc::default(), Arc::default());
        guard.offer(key(operation, 8), Vec::new());
        assert_eq!(lag(&mut guard, key(operation, 8)), expected);
    }
}

/// Two exchanges show the times of calls and exchanges, the others carry one block each: of 1, 2,
/// 4, 8 and 8 pairs until the plan is adopted.
#[test]
fn each_exchange_waits_for_the_block_that_it_is_to_tell_of() {
    for others in [0, 1] {
        let mut machine = Machine::new(3, 1, &[0.5]);
        (machine.noise.sigma, machine.noise.spikes) = (0.0, 0.0);
        while machine.events.is_empty() {
            (0..50).for_each(|_| machine.call(key(Operation::Bcast, 65_536), 5e6));
            (0..others).for_each(|_| machine.call(key(Operation::Barrier, 0), 1e6));
        }
        let exchanges = machine.exchanges;
        assert!(exchanges <= 7, "{exchanges} with {others} calls of another");
    }
}

#[test]
fn what_exchanges_took_during_other_calls_keeps_no_cell_from_a_trial() {
    let calls_until_adopted = |wait: u64| {
        // One without savings, which would pay for the other's trials.
        let mut machine = Machine::new(3, 3, &[1.0]);
        machine.wait = wait;
        (0..4_000).for_each(|_| machine.call(key(Operation::Bcast, 65_536), 2e6));
        machine.wait = 0;
        machine.set_ratios(&[0.5]);
        machine.events.clear();
        let calls = (0..10_000).take_while(|_| {
            machine.call(key(Operation::Reduce, 65_536), 2e6);
            machine.events.is_empty()
        });
        calls.count()
    };
    let [short, long] = [0, 100_000_000].map(calls_until_adopted);
    assert!(long < short + 1_000, "{long} for {short}");
}

#[test]
fn what_another_program_adopted_is_tried_first_and_nothing_else_changes() {
    let known = |place, operation| AdoptedPlan {
        key: key(operation, 8),
        challenger: challenger(place, None),
        native: 2,
        plan: 1,
    };
    for (operation, first) in [(ALLREDUCE, 2), (Operation::Reduce, 0)] {
        let proven: Arc<[AdoptedPlan]> = vec![known(2, operation)].into();
        let mut guard = Guard::new(1, Mode::Adopt, Arc::default(), proven);
        for _ in 0..MIN_CALLS_TO_TRY {
            let ticket = guard.enter(key(ALLREDUCE, 8), || 0);
            assert!(ticket.plan.is_none());
        }
        let of_cell = guard.undecided().unwrap();
        let all = (0..3).map(|place| challenger(place, Some(500)));
        guard.offer(of_cell, all.collect());
        let one = guard.cells.get(&of_cell).unwrap();
        let tried = [0, 3].map(|at| one.candidate(at).map(|tried| tried.candidate.to_string()));
        let first = challenger(first, None).candidate.to_string();
        assert_eq!(tried, [Some(first), None]);
        assert!(one.candidate(2).is_some());
    }
}

#[test]
fn what_is_made_for_a_call_is_not_in_its_time_and_has_to_be_paid_for() {
    let blocks_of = |cost: u64| {
        let mut machine = Machine::new(2, 5, &[1.0]);
        let mut made = false;
        let mut trials = 0;
        for _ in 0..2_000 {
            machine.making = (!made).then_some(cost);
            machine.call(key(ALLREDUCE, 8), NATIVE);
            made |= machine.ran_plan;
            trials += u32::from(machine.ran_plan);
        }
        let one = machine.summaries()[0];
        assert!(one.longest < cost, "{one:?}");
        trials
    };
    // The time of 2,000 calls of the MPI pays for 20 of them.
    assert!(blocks_of(50 * NATIVE as u64) < blocks_of(5 * NATIVE as u64));
}

#[test]
fn an_algorithm_of_the_mpi_is_made_where_the_time_of_the_calls_pays_for_it() {
    // One hundredth of the time of 12,000 calls is that of 2 exchanges of 3 ms; those that show
    // their duration cost the same again.
    for operation in [ALLREDUCE, Operation::Bcast] {
        let trials_in = |calls: u64| {
            let mut machine = Machine::new(2, 5, &[]);
            (machine.tries_native, machine.of_exchange) = (true, 3_000_000);
            let mut trials = 0;
            for _ in 0..calls {
                machine.call(key(operation, 8), NATIVE);
                trials += u32::from(machine.ran_plan);
            }
            (trials, machine.exchanges)
        };
        let (trials, exchanges) = trials_in(4_000);
        assert_eq!((trials, exchanges <= 2), (0, true), "{operation}");
        assert!(trials_in(300_000).0 > 0, "{operation}");
    }
}

#[test]
fn plans_that_are_not_predicted_to_gain_are_not_tried() {
    for (predicted, tried) in [
        (vec![Some(950), Some(990)], 0),
        (vec![Some(800), Some(1500), Some(2500)], 2),
        (vec![], 0),
        (vec![None], 1),
        (vec![Some(950), None], 1),
    ] {
        let mut one = KeyedCell::new(key(ALLREDUCE, 8), None, 1);
        let all = predicted.iter().enumerate();
        one.offer(
            all.map(|(at, &per_mille)| challenger(at, per_mille))
                .collect(),
        );
        assert_eq!(one.cell.ledger.candidates.len(), tried, "{predicted:?}");
        let expected = if tried > 0 {
            State::Warming
        } else {
            State::Closed
        };
        assert_eq!(one.cell.state(), expected);
    }
}
