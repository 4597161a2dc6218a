//! A plan in trial, and what was found of it.

use std::mem;

use super::block::AgreedPair;
use super::contender::Contender;
use super::key::Key;
use super::times::{Typical, is_quicker};
use super::{Form, State};
use treepie_base::proof::Signs;

/// What a challenger that was not tried may take of the native way's time, in thousandths: one that
/// takes less is as good as found.
const UNTRIED: u64 = 700;

/// The same where something has to be made for it first, which the budget pays for, too.
const UNMADE: u64 = 900;

/// Odds that a challenger is not quicker, for one that is dropped early.
const DROP_ODDS: u32 = 5;

/// After so many pairs a challenger that is neither adopted nor dropped is not worth more.
const ENOUGH_PAIRS: u32 = 64;

/// After so many pairs, whether or not their times are known.
const MOST_PAIRS: u32 = 4 * ENOUGH_PAIRS;

/// After so many pairs of none of which the times are known.
const MOST_UNKNOWN: u32 = 32;

/// Nanoseconds by which a call whose plan is adopted, and which therefore asks the guard, takes
/// longer than one that is left to the native MPI: 40 to 90 were measured. Both sides of a trial
/// have them, so that a plan must save them, too.
const ASKED: u64 = 60;

/// A challenger, and what was found of it.
#[derive(Debug, Clone)]
pub(super) struct Tried<C> {
    pub challenger: C,
    pub state: State,
    pub plan: Typical,
    pub signs: Signs,
    /// The same of single calls, where it has won those: they stand between calls of the other
    /// side, which is not what a program has that calls again and again.
    alone: Option<Signs>,
    /// Whether it took no longer from its start to that of the next call, where it is started.
    periods: Signs,
    /// The longest of its calls in trials.
    pub longest: u64,
    /// What it took in each pair, in thousandths of what the native way took.
    per_mille: Typical,
    /// Nanoseconds that its calls have saved since it was adopted; fewer than none where they lose.
    pub saved: i64,
    /// Pairs that it was in.
    pub pairs: u32,
    /// Pairs of its last block.
    pub last_block: usize,
}

impl<C: Contender> Tried<C> {
    pub fn new(challenger: C) -> Self {
        Tried {
            challenger,
            state: State::Warming,
            plan: Typical::default(),
            signs: Signs::default(),
            alone: None,
            periods: Signs::default(),
            longest: 0,
            per_mille: Typical::default(),
            saved: 0,
            pairs: 0,
            last_block: 0,
        }
    }

    /// Whether something may have to be made before its first call.
    pub(crate) fn needs_making(&self) -> bool {
        self.pairs == 0 && self.challenger.needs_making()
    }

    /// It has won by single calls: from now on it has to by rows of them.
    pub(crate) fn try_in_rows(&mut self) {
        self.alone = Some(mem::take(&mut self.signs));
        self.plan = Typical::default();
        self.per_mille = Typical::of(self.per_mille.median());
    }

    /// Whether it is tried so.
    pub(crate) fn is_in_rows(&self) -> bool {
        self.alone.is_some()
    }

    /// In a pair it took so many nanoseconds, and the native way so many.
    pub fn took(&mut self, nanoseconds: u64, native: u64) {
        self.longest = self.longest.max(nanoseconds);
        let per_mille = u128::from(nanoseconds) * 1000 / u128::from(native.max(1));
        self.per_mille
            .add(u64::try_from(per_mille).unwrap_or(u64::MAX));
    }

    /// What it may take of the native way's time, in thousandths: the challenger of which this is
    /// the least is tried next. So what is much quicker is soon found among those that hardly are,
    /// and what is slower costs one pair as long as another is not.
    pub fn expected(&self) -> u64 {
        let unknown = match self.needs_making() {
            true => UNMADE,
            false => UNTRIED,
        };
        self.per_mille.median().unwrap_or(unknown)
    }

    /// Nanoseconds by which one of its calls may take longer than the native way, which takes
    /// `native`: as much as the longest so far, and half of that at least; of what was never tried,
    /// all of it.
    pub(crate) fn longer_at_worst(&self, native: u64) -> u64 {
        match self.longest {
            0 => native,
            longest => longest.saturating_sub(native).max(native / 2),
        }
    }

    /// Pairs that it won and lost, by single calls and by rows.
    pub(crate) fn all_signs(&self) -> Signs {
        let alone = self.alone.unwrap_or_default();
        Signs {
            wins: alone.wins + self.signs.wins,
            losses: alone.losses + self.signs.losses,
        }
    }

    /// Adds a pair of a trial.
    pub fn judge(&mut self, key: &impl Key, pair: &AgreedPair) {
        let saves = pair.plan.is_quicker_than(&pair.native, key)
            && pair.plan.saves(&pair.native, key) > ASKED;
        let [native, plan] = [pair.native.period, pair.plan.period];
        match key.form() {
            // Where ranks may leave early, what they save must not be lost until the next call.
            Form::Blocking => self.watch(saves && (key.synchronises() || plan <= native)),
            // The program's own work is in the time until then, and varies.
            Form::Nonblocking | Form::Persistent => {
                self.watch(saves);
                count(&mut self.periods, !is_quicker(native, plan));
            }
        }
    }

    /// Adds a pair of a watch.
    pub fn watch(&mut self, is_won: bool) {
        count(&mut self.signs, is_won);
    }

    /// Whether it is quicker, at these odds, and nothing says that what it saves is lost elsewhere.
    pub fn is_quicker(&self, odds: u32) -> bool {
        self.signs.favour(odds) && self.periods.wins >= self.periods.losses
    }

    /// Whether it is no candidate any more.
    pub fn is_done(&self) -> bool {
        let judged = self.signs.wins + self.signs.losses;
        let all = [self.signs, self.periods];
        let is_lost = all
            .into_iter()
            .any(|signs| signs.mirrored().favour(DROP_ODDS));
        let most = if judged == 0 {
            MOST_UNKNOWN
        } else {
            MOST_PAIRS
        };
        is_lost || judged >= ENOUGH_PAIRS || self.pairs >= most
    }
}

fn count(signs: &mut Signs, is_won: bool) {
    match is_won {
        true => signs.wins += 1,
        false => signs.losses += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::CellKey;
    use super::super::tests::machine::{challenger, of_native};
    use super::super::times::Agreed;
    use super::*;
    use treepie_collective::Operation;

    #[test]
    fn what_has_to_be_made_first_is_tried_behind_a_plan_that_gains() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let mut plan = Tried::new(challenger(0, None));
        let made = Tried::new(of_native(&key));
        assert!(plan.expected() < made.expected());
        plan.took(750, 1_000);
        assert!(plan.expected() < made.expected());
        (0..2).for_each(|_| plan.took(950, 1_000));
        assert!(made.expected() < plan.expected());
    }

    #[test]
    fn a_plan_has_to_save_what_asking_for_it_costs() {
        let key = CellKey::new(Operation::Allreduce, 0, Some(8), false);
        let won = |native: u64, plan: u64| {
            let call = |duration| Agreed {
                least: duration,
                most: duration,
                period: duration,
                is_known: true,
            };
            let mut tried = Tried::new(challenger(0, None));
            tried.judge(
                &key,
                &AgreedPair {
                    native: call(native),
                    plan: call(plan),
                },
            );
            tried.signs.wins
        };
        assert_eq!([won(300, 240), won(300, 239)], [0, 1]);
        // Where calls are long, it is the share that counts.
        assert_eq!([won(10_000, 9_801), won(10_000, 9_799)], [0, 1]);
    }
}
