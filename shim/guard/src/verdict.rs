//! Rule of the guard: conditions for a won pair, and for a decision.

use crate::block::AgreedPair;
use crate::call::{CallSemantics, Form};
use crate::evidence::{Evidence, TrialEvidence, TrialPair, UseEvidence, UsePair};
use crate::policy::{Policy, RECENT_PAIRS};
use crate::times::AgreedTimes;

/// Decision on a candidate, or on the plan in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// More pairs are needed; or the plan in use stays.
    Open,
    /// It has won single calls, and is worth rows of calls.
    WorthRows,
    /// It is faster.
    Faster,
    /// It is slower, or not faster by a provable difference.
    NotFaster,
}

/// Applies the rule. All ranks have the same evidence, and so the same verdict.
///
/// A candidate is faster if it won pairs at the odds of the policy, by a sequential sign test, and
/// if its periods were no longer in at least as many pairs as they were longer: its savings in a
/// call must not be lost until the next one. Single calls of a cell that has rows only prove that
/// it is worth rows. It is not faster if either test favours the native MPI, or its pairs are used
/// up.
///
/// The plan in use is no longer faster if the last eight or the last sixteen pairs favour the
/// native MPI, by their calls or by their periods.
pub(crate) fn verdict(evidence: &Evidence, policy: &Policy) -> Verdict {
    match evidence {
        Evidence::Trial(trial) => verdict_on_trial(trial, policy),
        Evidence::Use(last) if is_revoked(last, policy) => Verdict::NotFaster,
        Evidence::Use(_) => Verdict::Open,
    }
}

fn verdict_on_trial(trial: &TrialEvidence, policy: &Policy) -> Verdict {
    let keeps_periods = trial.periods.wins >= trial.periods.losses;
    let has_won = |odds| keeps_periods && trial.signs.favour(odds);
    let has_lost = [trial.signs, trial.periods]
        .into_iter()
        .any(|signs| signs.mirrored().favour(policy.drop_odds));
    let judged = trial.signs.wins + trial.signs.losses;
    let max_pairs = match judged {
        0 => policy.max_unknown_pairs,
        _ => policy.max_pairs,
    };
    if trial.is_screening && has_won(policy.screening_odds) {
        Verdict::WorthRows
    } else if !trial.is_screening && has_won(policy.adoption_odds) {
        Verdict::Faster
    } else if has_lost || judged >= policy.max_judged_pairs || trial.pairs >= max_pairs {
        Verdict::NotFaster
    } else {
        Verdict::Open
    }
}

fn is_revoked(last: &UseEvidence, policy: &Policy) -> bool {
    let favours_native = |pairs, is_lost: fn(&UsePair) -> bool| {
        last.against(pairs, is_lost).favour(policy.revocation_odds)
    };
    [RECENT_PAIRS / 2, RECENT_PAIRS].into_iter().any(|pairs| {
        favours_native(pairs, |pair| pair.is_lost)
            || favours_native(pairs, |pair| pair.loses_period)
    })
}

/// Returns the result of a pair of a trial.
pub(crate) fn judge_trial_pair(
    pair: &AgreedPair,
    calls: CallSemantics,
    policy: &Policy,
) -> TrialPair {
    let saved = saved(&pair.plan, &pair.native, calls);
    let saves =
        is_faster(&pair.plan, &pair.native, calls, policy) && saved > policy.guard_overhead_ns;
    let [native, plan] = [pair.native.period, pair.plan.period];
    match calls.form {
        // If ranks may leave early, their savings must not be lost until the next call.
        Form::Blocking => TrialPair {
            is_won: saves && (calls.synchronises() || plan <= native),
            keeps_period: None,
        },
        // The time until then includes the program's own work, and varies.
        Form::Nonblocking | Form::Persistent => TrialPair {
            is_won: saves,
            keeps_period: Some(!policy.is_gain(plan.saturating_sub(native), plan)),
        },
    }
}

/// Returns the result of a pair with the plan in use.
pub(crate) fn judge_use_pair(pair: &AgreedPair, calls: CallSemantics, policy: &Policy) -> UsePair {
    let [native, plan] = [pair.native.period, pair.plan.period];
    UsePair {
        is_lost: is_faster(&pair.native, &pair.plan, calls, policy),
        loses_period: policy.is_gain(plan.saturating_sub(native), plan),
    }
}

/// True if a call took less time than another, by a sufficient fraction of the time of a rank that
/// does not wait.
pub(crate) fn is_faster(
    call: &AgreedTimes,
    other: &AgreedTimes,
    calls: CallSemantics,
    policy: &Policy,
) -> bool {
    policy.is_gain(saved(call, other, calls), other.without_waiting(calls))
}

/// Returns the nanoseconds that a call saved compared with another.
fn saved(call: &AgreedTimes, other: &AgreedTimes, calls: CallSemantics) -> u64 {
    let [call, other] = [call, other].map(|one| one.duration(calls));
    other.saturating_sub(call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{CellKey, Key};
    use treepie_collective::Operation;

    const POLICY: Policy = Policy::for_candidates(1);

    fn calls(operation: Operation) -> CallSemantics {
        CellKey::new(operation, 0, Some(8), false).semantics()
    }

    fn times(least: u64, most: u64, period: u64) -> AgreedTimes {
        AgreedTimes {
            least,
            most,
            period,
            is_known: true,
        }
    }

    fn pair(native: u64, plan: u64, plan_period: u64) -> AgreedPair {
        AgreedPair {
            native: times(native, native, 1_000),
            plan: times(plan, plan, plan_period),
        }
    }

    #[test]
    fn a_rank_that_is_late_hides_no_gain_and_skew_is_none() {
        let calls = calls(Operation::Allreduce);
        let native = times(50_000, 5_050_000, 0);
        let is_faster = |least, most| is_faster(&times(least, most, 0), &native, calls, &POLICY);
        // All wait 5 ms for one rank, which itself takes 50 us, or 40.
        assert!(is_faster(40_000, 5_040_000));
        assert!(!is_faster(49_500, 5_049_500));
        // One side waits less, the other more by the same amount.
        assert!(!is_faster(10_000, 5_090_000));
    }

    #[test]
    fn a_tie_or_less_than_two_per_cent_is_no_gain() {
        assert!(POLICY.is_gain(21, 1_000));
        assert!(!POLICY.is_gain(20, 1_000));
        assert!(!POLICY.is_gain(0, 0));
        assert!(POLICY.is_gain(u64::MAX - 1, u64::MAX));
    }

    #[test]
    fn a_plan_has_to_save_the_overhead_of_the_guard() {
        let won = |native, plan| {
            let pair = pair(native, plan, 1_000);
            judge_trial_pair(&pair, calls(Operation::Allreduce), &POLICY).is_won
        };
        assert_eq!([won(300, 240), won(300, 239)], [false, true]);
        // If calls are long, the fraction counts.
        assert_eq!([won(10_000, 9_801), won(10_000, 9_799)], [false, true]);
    }

    #[test]
    fn odds_of_twenty_for_each_candidate_adopt_and_single_calls_only_lead_to_rows() {
        let won = |wins, is_screening, candidates| {
            let mut trial = TrialEvidence::default();
            (trial.signs.wins, trial.is_screening) = (wins, is_screening);
            verdict(
                &Evidence::Trial(&trial),
                &Policy::for_candidates(candidates),
            )
        };
        // n wins in a row have odds of (2^(n+1) - 1) / (n + 1).
        assert_eq!(
            [won(6, false, 1), won(7, false, 1)],
            [Verdict::Open, Verdict::Faster]
        );
        assert_eq!(
            [won(8, false, 3), won(9, false, 3)],
            [Verdict::Open, Verdict::Faster]
        );
        assert_eq!(
            [won(3, true, 1), won(4, true, 1)],
            [Verdict::Open, Verdict::WorthRows]
        );
    }

    /// Returns the verdict on a plan in use after `count` equal pairs following others.
    fn use_verdict(evidence: &mut UseEvidence, pair: &AgreedPair, count: usize) -> Verdict {
        let result = judge_use_pair(pair, calls(Operation::Bcast), &POLICY);
        (0..count).for_each(|_| evidence.add(result));
        verdict(&Evidence::Use(evidence), &POLICY)
    }

    #[test]
    fn eight_lost_pairs_in_a_row_end_the_use_of_a_plan() {
        let evidence = &mut UseEvidence::default();
        for _ in 0..5 {
            let won = pair(100, 50, 1_000);
            assert_eq!(use_verdict(evidence, &won, 8), Verdict::Open);
        }
        let lost = pair(100, 150, 1_000);
        assert_eq!(use_verdict(evidence, &lost, 7), Verdict::Open);
        assert_eq!(use_verdict(evidence, &lost, 1), Verdict::NotFaster);
    }

    #[test]
    fn a_plan_that_only_moves_the_time_elsewhere_is_found_out_by_the_periods() {
        let evidence = &mut UseEvidence::default();
        assert_eq!(
            use_verdict(evidence, &pair(100, 50, 1_000), 8),
            Verdict::Open
        );
        let moved = pair(100, 50, 1_100);
        assert_eq!(use_verdict(evidence, &moved, 8), Verdict::NotFaster);
    }
}
