//! Results of a guard: for profiles, and for stores that later runs start from.

use super::cell::Cell;
use super::contender::Contender;
use super::key::Key;
use super::tried::Tried;
use super::{CellKey, State};
use treepie_choice::Challenger;

/// A plan that an earlier run adopted.
#[derive(Debug, Clone, Copy)]
pub struct Known<K = CellKey, C = Challenger> {
    /// The cell.
    pub key: K,
    /// The plan.
    pub challenger: C,
    /// Median of the native collective, in nanoseconds.
    pub native: u64,
    /// Median of the plan, in nanoseconds.
    pub plan: u64,
}

/// What was found of a plan in a cell, or of a cell in which none was tried.
#[derive(Debug, Clone, Copy)]
pub struct Summary<K = CellKey, C = Challenger> {
    /// The cell.
    pub key: K,
    /// The plan.
    pub plan: Option<C>,
    /// State of the plan; of the cell, where there is no plan.
    pub state: State,
    /// Pairs that the plan won.
    pub won: u32,
    /// Pairs that it lost.
    pub lost: u32,
    /// Median of the native collective, in nanoseconds, where it is agreed.
    pub native: Option<u64>,
    /// Median of the plan, in nanoseconds.
    pub with_plan: Option<u64>,
    /// The plan's longest call in trials, in nanoseconds.
    pub longest: u64,
    /// Calls of the cell, until it was left to the native MPI for good.
    pub calls: u64,
    /// Nanoseconds of those without what was only tried.
    pub time: u64,
    /// Nanoseconds that trials of the cell took beyond those.
    pub excess: u64,
    /// Nanoseconds that the plan has saved since it was adopted; fewer than none where it loses.
    pub saved: i64,
}

/// The results of a cell, one for each plan that was tried.
pub(super) fn summaries<K: Key, C: Contender>(
    cell: &Cell<K, C>,
    is_closed: bool,
) -> Vec<Summary<K, C>> {
    let of_cell = Summary {
        key: cell.key,
        plan: None,
        state: cell.state(),
        won: 0,
        lost: 0,
        native: cell.native.median(),
        with_plan: None,
        longest: 0,
        calls: cell.calls,
        time: cell.time(),
        excess: cell.excess,
        saved: 0,
    };
    let of_plan = |(at, tried): (usize, &Tried<C>)| {
        let signs = tried.all_signs();
        Summary {
            plan: Some(tried.challenger),
            state: tried.state,
            won: signs.wins,
            lost: signs.losses,
            with_plan: tried.plan.median(),
            longest: tried.longest,
            saved: cell.saved_by(at),
            ..of_cell
        }
    };
    let tried = cell.tried.iter().enumerate();
    let tried = tried.filter(|(_, tried)| tried.state != State::Warming);
    let mut all: Vec<Summary<K, C>> = tried.map(of_plan).collect();
    if all.is_empty() {
        all.push(of_cell);
    }
    if is_closed {
        for one in &mut all {
            if matches!(one.state, State::Warming | State::Trying | State::Adopted) {
                one.state = State::Closed;
            }
        }
    }
    all
}
