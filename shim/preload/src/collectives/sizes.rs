//! Sizes that MPI tells some ranks alone, told to all: what plans need that group uneven blocks by
//! cluster, or order them by size.
//!
//! Whether they are told is a function of what all ranks know: the settings, the number of calls of
//! the operation on the communicator, and what came out of earlier times, which was the same on all
//! ([`Telling`]). Ranks that do not agree on a block find it out together, from the same rows. What
//! is remembered here is kept apart from plans, of which each rank remembers others.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

use treepie_core::collective::choose::uneven::{self, Telling};
use treepie_core::collective::{Algorithm, Amount, Operation, Problem, Requirement};
use treepie_core::files::configuration::Runner;

use super::communicator::Communicator;
use super::execute::{Prepared, Spaces};
use super::perform;
use super::unit::Unit;
use crate::mpi::native::Native;
use crate::mpi::{Handle, Op, c_int};

/// At most so many sizes are remembered with what was chosen for them.
const MOST_KNOWN: usize = 64;

/// What a communicator remembers of uneven calls.
#[derive(Debug, Default)]
pub struct Uneven(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    telling: HashMap<Operation, Telling>,
    chosen: HashMap<(Operation, usize, Amount), Option<BySize>>,
    /// Plans that tell rows of so many bytes.
    plans: HashMap<usize, Arc<Prepared>>,
}

/// What was chosen for sizes that all know.
#[derive(Debug, Clone)]
pub struct BySize {
    /// The strategy.
    pub strategy: &'static Algorithm,
    /// Why, for the log.
    pub reason: String,
    /// Whether it gains more than telling the sizes, and choosing for them, costs.
    is_worth: bool,
}

impl Uneven {
    /// Counts a call; whether its sizes are told. To be asked before anything that one rank alone
    /// may find out.
    pub fn is_due(
        &self,
        runner: &Runner,
        communicator: &Communicator,
        operation: Operation,
    ) -> bool {
        if operation.tells_all_sizes() {
            return false;
        }
        match runner {
            Runner::Native => false,
            Runner::Algorithm(name) => Algorithm::find(operation, name)
                .is_some_and(|known| known.requires.contains(&Requirement::KnownSizes)),
            Runner::Auto => {
                let (clusters, network) = (&communicator.clusters, &communicator.network);
                let is_grid = clusters.count() > 1 && network.is_some();
                let mut remembered = self.0.lock();
                is_grid
                    && clusters.ranks() <= uneven::MOST_RANKS
                    && remembered.telling.entry(operation).or_default().is_due()
            }
        }
    }

    /// The choice for bytes that were told, and when they are told next; `None` where ranks did not
    /// agree on them.
    pub fn choose(
        &self,
        communicator: &Communicator,
        operation: Operation,
        root: usize,
        amount: &Amount,
    ) -> Option<BySize> {
        let mut remembered = self.0.lock();
        let Remembered {
            telling, chosen, ..
        } = &mut *remembered;
        if chosen.len() >= MOST_KNOWN {
            chosen.clear();
        }
        let key = (operation, root, amount.clone());
        let found = chosen
            .entry(key)
            .or_insert_with(|| choose(communicator, operation, root, amount));
        let is_worth = found.as_ref().is_some_and(|found| found.is_worth);
        telling.entry(operation).or_default().learn(is_worth);
        found.clone()
    }

    /// The plan that tells all rows of so many bytes.
    fn plan(&self, communicator: &Communicator, bytes: usize) -> Option<Arc<Prepared>> {
        let mut remembered = self.0.lock();
        if let Some(plan) = remembered.plans.get(&bytes) {
            return Some(plan.clone());
        }
        let operation = Operation::Allgather;
        let amount = Amount::Each(bytes as u64);
        let problem = communicator.problem(operation, 0, &amount);
        let strategy = Algorithm::find(operation, "grid-exchange")?;
        let segment = communicator.eager_limit();
        let plan = strategy.plan(&problem, communicator.rank(), segment);
        let plan = Arc::new(Prepared::new(plan));
        remembered.plans.insert(bytes, plan.clone());
        Some(plan)
    }
}

/// By simulation, with what telling the sizes costs.
fn choose(
    communicator: &Communicator,
    operation: Operation,
    root: usize,
    amount: &Amount,
) -> Option<BySize> {
    let network = communicator.network.as_deref()?;
    let problem: Problem = communicator.problem(operation, root, amount);
    let found = uneven::quickest(&problem, communicator.eager_limit())?;
    let numbers = match amount {
        Amount::Table(_) => 2 * problem.ranks(),
        _ => problem.ranks(),
    };
    let telling = uneven::telling(network, (numbers * size_of::<u64>()) as u64);
    let milliseconds = |seconds: f64| format!("{:.3} ms", 1e3 * seconds);
    Some(BySize {
        strategy: found.strategy,
        reason: format!(
            "all ranks know the sizes: predicted {}, {} without, {} to tell them",
            milliseconds(found.seconds),
            milliseconds(found.unknown),
            milliseconds(telling)
        ),
        is_worth: found.unknown - found.seconds > telling + uneven::choosing(problem.ranks()),
    })
}

/// All ranks tell all others their sizes: the amount that all know, or, where they do not agree,
/// the one that this rank knows.
///
/// # Errors
/// MPI's code, as from an error inside a plan.
pub fn tell_all(
    native: &Native,
    communicator: &Communicator,
    (operation, root): (Operation, usize),
    own: Amount,
) -> Result<Amount, c_int> {
    let ranks = communicator.clusters.ranks();
    let Some(row) = uneven::row(&own) else {
        return Ok(own);
    };
    let Some(plan) = communicator
        .uneven
        .plan(communicator, size_of_val(row.as_slice()))
    else {
        return Ok(own);
    };
    let mut rows = vec![0_u64; row.len() * ranks];
    let place = communicator.next_call();
    let spaces = Spaces {
        unit: Unit::byte(native),
        input: row.as_ptr() as usize,
        output: rows.as_mut_ptr() as usize,
        scratch: 0,
        op: Op::ABSENT,
    };
    if let Err(code) = perform(native, communicator, place, &plan, spaces) {
        // What is under way may still use them.
        std::mem::forget((row, rows));
        return Err(code);
    }
    Ok(uneven::told(operation, root, ranks, &rows).unwrap_or(own))
}
