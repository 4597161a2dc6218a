//! This rank's plans: by the setting, by the choice, by the guard, or by sizes that all ranks know.

use treepie_choice::{Form, are_bytes_known};
use treepie_collective::{Algorithm, Amount, PlanRun, Problem};
use treepie_process::log;
use treepie_profile::settings::Runner;
use treepie_record as record;

use super::communicator::{Chosen, Communicator, Key};
use super::execute::Prepared;
use super::setup::Setup;
use super::sizes;

/// Bytes of the message or of a rank's block, where all ranks know them.
pub fn bytes(key: &Key) -> Option<u64> {
    let mean =
        |parts: &[u64]| Some(parts.iter().sum::<u64>() * key.unit / parts.len().max(1) as u64);
    match &key.amount {
        Amount::Each(units) => Some(units * key.unit),
        Amount::Blocks(parts) if are_bytes_known(key.operation) => mean(parts),
        Amount::KnownBlocks(parts) | Amount::Table(parts) => mean(parts),
        Amount::Blocks(_) | Amount::Exchanged { .. } => None,
        Amount::ToldBlocks(_) | Amount::ToldRows { .. } => None,
    }
}

/// This rank's plan; `None` where the native MPI does it.
pub fn make(
    runner: &Runner,
    setup: &Setup,
    communicator: &Communicator,
    key: &Key,
) -> Option<Chosen> {
    let problem = problem(communicator, key);
    let bytes = bytes(key);
    let (strategy, segment) = match runner {
        Runner::Native => return None,
        Runner::Algorithm(name) => {
            let strategy = Algorithm::find(key.operation, name)?;
            let segment = communicator.segment(strategy, key, bytes);
            tell(
                communicator,
                key,
                bytes,
                strategy.name,
                segment,
                "as the setting says",
            );
            (strategy, segment)
        }
        Runner::Auto => {
            let is_grid = communicator.clusters.are_far();
            if !(is_grid || setup.reproducible && key.operation.reduces()) {
                return None;
            }
            let choice = communicator.choose(key, bytes);
            let name = choice.strategy.map_or("native", |strategy| strategy.name);
            tell(
                communicator,
                key,
                bytes,
                name,
                choice.segment,
                &choice.reason(),
            );
            let segment = communicator.largest_message(&choice, bytes);
            (choice.strategy?, segment)
        }
    };
    if let Some(requirement) = strategy.unmet(&problem) {
        let reason = format!("{} needs {requirement}", strategy.name);
        tell(communicator, key, bytes, "native", segment, &reason);
        return None;
    }
    let plan = (strategy, segment);
    Some(planned(communicator, &problem, key.form, plan))
}

fn problem<'a>(communicator: &'a Communicator, key: &'a Key) -> Problem<'a> {
    Problem {
        ordered: key.ordered,
        unit_bytes: key.unit,
        ..communicator.problem(key.operation, key.root, &key.amount)
    }
}

/// This rank's plan of a strategy, in messages of up to `segment` bytes; `None` where it does not
/// serve the call.
pub fn of_key(
    communicator: &Communicator,
    key: &Key,
    strategy: &'static Algorithm,
    segment: u64,
) -> Option<Chosen> {
    let problem = problem(communicator, key);
    let serves = strategy.unmet(&problem).is_none();
    serves.then(|| planned(communicator, &problem, key.form, (strategy, segment)))
}

/// This rank's plan that the guard says; `None` where it does not serve the call.
pub fn make_guarded(
    communicator: &Communicator,
    key: &Key,
    (algorithm, segment): (&'static Algorithm, u64),
) -> Option<Chosen> {
    let segment = guarded_segment(communicator, key, (algorithm, segment));
    of_key(communicator, key, algorithm, segment)
}

/// The largest message, in bytes, of a plan that the guard says.
pub fn guarded_segment(
    communicator: &Communicator,
    key: &Key,
    (algorithm, segment): (&'static Algorithm, u64),
) -> u64 {
    match segment {
        // A tuning does not know it.
        0 => communicator.segment(algorithm, key, bytes(key)),
        known => known,
    }
}

/// This rank's plan for sizes that all ranks know.
pub fn make_sized(communicator: &Communicator, key: &Key, sized: &sizes::BySize) -> Chosen {
    let segment = communicator.eager_limit();
    let (name, reason) = (sized.strategy.name, &sized.reason);
    tell(communicator, key, None, name, segment, reason);
    let problem = communicator.problem(key.operation, key.root, &key.amount);
    let plan = (sized.strategy, segment);
    planned(communicator, &problem, key.form, plan)
}

/// This rank's plan of a strategy, in messages of up to `segment` bytes.
fn planned(
    communicator: &Communicator,
    problem: &Problem,
    form: Form,
    (strategy, segment): (&'static Algorithm, u64),
) -> Chosen {
    let segment = (segment / problem.unit_bytes.max(1)).max(1);
    Chosen {
        plan: Prepared::new(strategy.plan(problem, communicator.rank(), form.flow(segment))),
        run: run(strategy, segment, (problem.unit_bytes, problem.ordered)),
    }
}

/// What is counted of a plan: its strategy, in messages of up to `segment` units.
pub fn run(strategy: &Algorithm, segment: u64, (unit_bytes, ordered): (u64, bool)) -> record::Plan {
    record::plan(PlanRun {
        algorithm: strategy.name.to_owned(),
        segment,
        unit_bytes,
        ordered,
    })
}

/// Says what was chosen and why, once for each plan, on rank 0.
pub fn tell(
    communicator: &Communicator,
    key: &Key,
    bytes: Option<u64>,
    strategy: &str,
    segment: u64,
    reason: &str,
) {
    if communicator.rank() != 0 {
        return;
    }
    let amount = match bytes {
        Some(bytes) => format!("{bytes} bytes"),
        None => "uneven parts".to_owned(),
    };
    let clusters = &communicator.clusters;
    let form = match key.form {
        Form::Blocking => "",
        Form::Started(_) => "started ",
    };
    log::info(&format!(
        "{form}{} of {amount} on {} ranks in {} cluster(s), root {}: {strategy}, in messages of up to \
         {segment} bytes ({reason})",
        key.operation,
        clusters.ranks(),
        clusters.count(),
        key.root
    ));
}
