//! Sizes that MPI gives to only some of the ranks. Plans need them that group uneven blocks by
//! cluster, or order them by size.
//!
//! | recipients | before | by |
//! |---|---|---|
//! | all ranks, of all sizes | a call from time to time, or the creation of a persistent request | [`Uneven::exchange`] |
//! | leaders, of their clusters' | each call of an algorithm that needs it | [`tell_leader`] |
//! | leaders, of their clusters' | the plan of a started call is made, in its operation | `started::work` |
//!
//! The decision to exchange all sizes is a function of values that all ranks know: the settings,
//! the number of calls of the operation on the ground, and the results of earlier exchanges, which
//! were the same on all ([`Exchanges`]). Each rank measures the cost of exchange and choice, and
//! sends it with its row: all ranks decide by the values of all, none by its own clock. Ranks that
//! do not agree on a block detect it together, from the same rows. The records here are separate
//! from the cached plans, which differ from rank to rank.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use treepie_choice::uneven::{self, Exchanges, MEASURED_WORDS, Measured};
use treepie_collective::{Algorithm, Amount, Operation, Problem, Requirement};
use treepie_mpi::native::Native;
use treepie_mpi::{Handle, Op, c_int};
use treepie_profile::settings::Runner;

use super::call_context::CallContext;
use super::execute::{Prepared, Spaces};
use super::ground::Ground;
use super::telling::Telling;
use super::unit::Unit;

/// Maximum number of remembered sizes with their choices.
const MOST_KNOWN: usize = 64;

/// A communicator's records of uneven calls.
#[derive(Debug, Default)]
pub struct Uneven(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    exchanges: HashMap<Operation, Exchanges>,
    /// Measured by this rank alone: no decision is based on it directly.
    measured: Measured,
    chosen: HashMap<(Operation, usize, Amount), Option<BySize>>,
    /// Plans that exchange rows of this many bytes.
    plans: HashMap<usize, Arc<Prepared>>,
}

/// Choice for sizes that all ranks know.
#[derive(Debug, Clone)]
pub struct BySize {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Reason, for the log.
    pub reason: String,
    /// Predicted gain in seconds over the algorithm that needs no sizes.
    gained: f64,
}

impl Uneven {
    /// Counts a call; true if its sizes are exchanged. To be called before any step that may fail
    /// on a single rank.
    pub fn is_due(&self, runner: &Runner, ground: &Ground, operation: Operation) -> bool {
        match needed(runner, ground, operation) {
            Needed::Nothing | Needed::ByLeaders => false,
            Needed::ByAll => true,
            Needed::Perhaps => {
                let mut remembered = self.0.lock();
                remembered.exchanges.entry(operation).or_default().is_due()
            }
        }
    }

    /// Returns the choice for exchanged sizes, at a `cost` on which all agree, and decides when
    /// they are exchanged next; `None` if ranks did not agree on them.
    pub fn choose(
        &self,
        ground: &Ground,
        (operation, root): (Operation, usize),
        amount: &Amount,
        cost: Option<f64>,
    ) -> Option<BySize> {
        let mut remembered = self.0.lock();
        let Remembered {
            exchanges,
            measured,
            chosen,
            ..
        } = &mut *remembered;
        if chosen.len() >= MOST_KNOWN {
            chosen.clear();
        }
        let start = Instant::now();
        let found = chosen
            .entry((operation, root, amount.clone()))
            .or_insert_with(|| {
                let otherwise = ground.choose_unknown(operation);
                choose(ground, (operation, root), amount, otherwise?)
            });
        measured.choice = start.elapsed().as_secs_f64();
        let gained = found.as_ref().map_or(0.0, |found| found.gained);
        exchanges.entry(operation).or_default().learn(gained, cost);
        found.clone()
    }

    /// Returns the plan that exchanges all rows of `bytes` bytes.
    fn plan(&self, ground: &Ground, bytes: usize) -> Option<Arc<Prepared>> {
        let mut remembered = self.0.lock();
        if let Some(plan) = remembered.plans.get(&bytes) {
            return Some(plan.clone());
        }
        let operation = Operation::Allgather;
        let amount = Amount::Each(bytes as u64);
        let problem = ground.problem(operation, 0, &amount);
        let algorithm = Algorithm::find(operation, "grid-exchange")?;
        let segment = ground.eager_limit();
        let plan = algorithm.plan(&problem, ground.rank(), segment);
        let plan = Arc::new(Prepared::new(plan));
        remembered.plans.insert(bytes, plan.clone());
        Some(plan)
    }
}

/// Ranks that need the sizes that MPI gives to only some ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// None.
    Nothing,
    /// The leaders of clusters, those of their ranks: a named algorithm needs it.
    ByLeaders,
    /// All ranks: a named algorithm needs it.
    ByAll,
    /// All ranks, if that gains more than it costs.
    Perhaps,
}

/// Returns the ranks that need the sizes of a call, by the settings; the same on all ranks.
pub fn needed(runner: &Runner, ground: &Ground, operation: Operation) -> Needed {
    // Neighbours know the sizes of the blocks that they exchange.
    if operation.tells_all_sizes() || operation.is_among_neighbours() {
        return Needed::Nothing;
    }
    match runner {
        Runner::Native | Runner::BySize(_) => Needed::Nothing,
        Runner::Plan(plan) if plan.algorithm.requires.contains(&Requirement::KnownSizes) => {
            Needed::ByAll
        }
        Runner::Plan(plan) if plan.algorithm.needs_leaders() => Needed::ByLeaders,
        Runner::Plan(_) => Needed::Nothing,
        Runner::Auto => {
            let (clusters, network) = (&ground.clusters, &ground.network);
            let is_grid = clusters.are_far() && network.is_some();
            match is_grid && clusters.ranks() <= uneven::MOST_RANKS {
                true => Needed::Perhaps,
                false => Needed::Nothing,
            }
        }
    }
}

/// True if leaders receive the sizes of a call: by the guard's algorithm, if there is one,
/// otherwise by the settings. Depends only on values that all ranks know.
pub fn are_told_to_leaders(
    runner: &Runner,
    ground: &Ground,
    operation: Operation,
    guarded: Option<&Algorithm>,
) -> bool {
    if let Some(algorithm) = guarded {
        return algorithm.needs_leaders();
    }
    match needed(runner, ground, operation) {
        Needed::ByLeaders => true,
        Needed::ByAll => false,
        Needed::Nothing | Needed::Perhaps => {
            *runner == Runner::Auto
                && !operation.tells_all_sizes()
                && ground.clusters.are_far()
                && ground
                    .choose_unknown(operation)
                    .is_some_and(Algorithm::needs_leaders)
        }
    }
}

/// Chooses by simulation: an algorithm that is faster than `otherwise`, or that one.
pub fn choose(
    ground: &Ground,
    (operation, root): (Operation, usize),
    amount: &Amount,
    otherwise: &'static Algorithm,
) -> Option<BySize> {
    let problem: Problem = ground.problem(operation, root, amount);
    let found = uneven::fastest(&problem, ground.eager_limit(), otherwise)?;
    let milliseconds = |seconds: f64| format!("{:.3} ms", 1e3 * seconds);
    Some(BySize {
        algorithm: found.algorithm,
        reason: format!(
            "all ranks know the sizes: predicted {}, {} without",
            milliseconds(found.seconds),
            milliseconds(found.unknown),
        ),
        gained: found.unknown - found.seconds,
    })
}

/// Result of an exchange of sizes.
pub struct Exchanged {
    /// Amount that all ranks know, or, if they do not agree, the one that this rank knows.
    pub amount: Amount,
    /// Cost in seconds of the exchange and the choice, as all ranks agree; `None` if a rank has not
    /// measured it yet.
    pub cost: Option<f64>,
}

impl Uneven {
    /// Exchanges the sizes of all ranks, and their measurements.
    ///
    /// # Errors
    /// MPI's code, as from an error inside a plan.
    pub fn exchange(
        &self,
        native: &Native,
        ground: &Ground,
        place: CallContext,
        (operation, root): (Operation, usize),
        own: Amount,
    ) -> Result<Exchanged, c_int> {
        let unknown = |amount| Exchanged { amount, cost: None };
        let ranks = ground.clusters.ranks();
        let Some(sizes) = uneven::row(&own) else {
            return Ok(unknown(own));
        };
        let measured = self.0.lock().measured.to_words();
        let row = [measured.as_slice(), &sizes].concat();
        let bytes = size_of_val(row.as_slice());
        let Some(plan) = self.plan(ground, bytes) else {
            return Ok(unknown(own));
        };
        let width = row.len();
        let start = Instant::now();
        let rows = told_by(native, ground, place, &plan, row, width * ranks)?;
        let seconds = start.elapsed().as_secs_f64();
        self.0.lock().measured.add_exchange(seconds);
        let words = rows.chunks(width).map(|row| [row[0], row[1]]);
        let cost = Measured::agreed(words);
        let sizes = rows.chunks(width).flat_map(|row| &row[MEASURED_WORDS..]);
        let sizes: Vec<u64> = sizes.copied().collect();
        let amount = uneven::from_rows(operation, root, ranks, &sizes);
        Ok(Exchanged {
            amount: amount.unwrap_or(own),
            cost,
        })
    }
}

/// Sends the sizes that MPI gives to this rank alone to the leader of its cluster; returns the
/// amount of the call as this rank knows it afterwards.
///
/// # Errors
/// Those of [`Uneven::exchange`].
pub fn tell_leader(
    native: &Native,
    ground: &Ground,
    place: CallContext,
    call: (Operation, usize),
    own: &Amount,
) -> Result<Amount, c_int> {
    let Some(telling) = Telling::new(ground, call, own) else {
        return Ok(own.clone());
    };
    let (row, words) = (telling.row.clone(), telling.words);
    let rows = told_by(native, ground, place, &telling.plan, row, words)?;
    Ok(telling.learn(ground, &rows))
}

/// Runs a plan that sends this rank's row to others, and returns the `words` words that it
/// receives.
fn told_by(
    native: &Native,
    ground: &Ground,
    place: CallContext,
    plan: &Prepared,
    row: Vec<u64>,
    words: usize,
) -> Result<Vec<u64>, c_int> {
    let mut rows = vec![0_u64; words];
    let spaces = Spaces {
        unit: Unit::byte(native),
        input: row.as_ptr() as usize,
        output: rows.as_mut_ptr() as usize,
        scratch: 0,
        op: Op::ABSENT,
    };
    if let Err(code) = ground.perform(native, place, plan, spaces) {
        // Messages in flight may still use them.
        std::mem::forget((row, rows));
        return Err(code);
    }
    Ok(rows)
}
