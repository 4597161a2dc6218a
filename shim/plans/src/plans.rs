//! Plans of this rank: from the setting, the choice, the guard, or sizes that all ranks know.

use treepie_choice::Form;
use treepie_collective::{Algorithm, Composition, PlanRun, Problem};
use treepie_process::log;
use treepie_profile::settings::Runner;
use treepie_record as record;

use super::chosen::{Chosen, Key};
use super::execute::Prepared;
use super::ground::Ground;
use super::setup::Setup;
use super::sizes;

/// Returns this rank's plan; `None` if the native MPI runs the call.
pub fn make(runner: &Runner, setup: &Setup, ground: &Ground, key: &Key) -> Option<Chosen> {
    let problem = problem(ground, key);
    let bytes = key.bytes();
    let (composition, segment) = match runner {
        Runner::Native | Runner::BySize(_) => return None,
        Runner::Plan(plan) => {
            let usual = || ground.segment(plan.algorithm, key, bytes);
            let segment = plan.segment.unwrap_or_else(usual);
            let reason = "as the setting says";
            tell(ground, key, bytes, &plan.name(), segment, reason);
            (plan.clone(), segment)
        }
        Runner::Auto => {
            let predicted = bytes.filter(|_| ground.is_between_near() && !key.ordered);
            if predicted.is_some_and(|bytes| ground.is_left_to_native(bytes)) {
                return None;
            }
            let is_known = ground.clusters.are_far() || predicted.is_some();
            if !(is_known || setup.reproducible && key.operation.reduces()) {
                return None;
            }
            let choice = ground.choose(key, bytes);
            let name = choice
                .algorithm
                .map_or("native", |algorithm| algorithm.name);
            tell(ground, key, bytes, name, choice.segment, &choice.reason());
            let segment = ground.largest_message(&choice, bytes);
            (choice.algorithm?.into(), segment)
        }
    };
    if let Some(requirement) = composition.algorithm.unmet(&problem) {
        let reason = format!("{} needs {requirement}", composition.algorithm.name);
        tell(ground, key, bytes, "native", segment, &reason);
        return None;
    }
    let plan = (&composition, segment);
    Some(planned(ground, &problem, key.form, plan))
}

fn problem<'a>(ground: &'a Ground, key: &'a Key) -> Problem<'a> {
    Problem {
        ordered: key.ordered,
        unit_bytes: key.unit,
        ..ground.problem(key.operation, key.root, &key.amount)
    }
}

/// Returns this rank's plan of an algorithm, in messages of up to `segment` bytes; `None` if it
/// does not serve the call.
pub fn of_key(
    ground: &Ground,
    key: &Key,
    composition: &Composition,
    segment: u64,
) -> Option<Chosen> {
    let problem = problem(ground, key);
    let serves = composition.algorithm.unmet(&problem).is_none();
    serves.then(|| planned(ground, &problem, key.form, (composition, segment)))
}

/// Returns this rank's plan that the guard selects; `None` if it does not serve the call.
pub fn make_guarded(
    ground: &Ground,
    key: &Key,
    (algorithm, segment): (&'static Algorithm, u64),
) -> Option<Chosen> {
    let segment = guarded_segment(ground, key, (algorithm, segment));
    of_key(ground, key, &algorithm.into(), segment)
}

/// Returns the largest message, in bytes, of a plan that the guard selects.
pub fn guarded_segment(
    ground: &Ground,
    key: &Key,
    (algorithm, segment): (&'static Algorithm, u64),
) -> u64 {
    match segment {
        // Unknown to a tuning.
        0 => ground.segment(algorithm, key, key.bytes()),
        known => known,
    }
}

/// Returns this rank's plan for sizes that all ranks know.
pub fn make_sized(ground: &Ground, key: &Key, sized: &sizes::BySize) -> Chosen {
    let segment = ground.eager_limit();
    let (name, reason) = (sized.algorithm.name, &sized.reason);
    tell(ground, key, None, name, segment, reason);
    let problem = ground.problem(key.operation, key.root, &key.amount);
    let plan = (&sized.algorithm.into(), segment);
    planned(ground, &problem, key.form, plan)
}

/// Returns this rank's plan of an algorithm, in messages of up to `segment` bytes.
fn planned(
    ground: &Ground,
    problem: &Problem,
    form: Form,
    (composition, segment): (&Composition, u64),
) -> Chosen {
    let segment = (segment / problem.unit_bytes.max(1)).max(1);
    let clusters = problem.clusters.for_plan(composition);
    let problem = Problem {
        clusters: &clusters,
        ..problem.clone()
    };
    let plan = composition
        .algorithm
        .plan(&problem, ground.rank(), form.flow(segment));
    Chosen {
        plan: Prepared::new(plan),
        run: run(composition, segment, (problem.unit_bytes, problem.ordered)),
    }
}

/// Returns the plan as it is counted: its algorithm, in messages of up to `segment` units.
pub fn run(
    composition: &Composition,
    segment: u64,
    (unit_bytes, ordered): (u64, bool),
) -> record::Plan {
    record::plan(PlanRun {
        algorithm: composition.name(),
        segment,
        unit_bytes,
        ordered,
    })
}

/// Logs the choice and its reason, once for each plan, on rank 0.
pub fn tell(
    ground: &Ground,
    key: &Key,
    bytes: Option<u64>,
    algorithm: &str,
    segment: u64,
    reason: &str,
) {
    if ground.rank() != 0 {
        return;
    }
    let amount = match bytes {
        Some(bytes) => format!("{bytes} bytes"),
        None => "uneven parts".to_owned(),
    };
    let clusters = &ground.clusters;
    let form = match key.form {
        Form::Blocking => "",
        Form::Started(_) => "started ",
    };
    let cut = match segment {
        // The MPI decides.
        0 => String::new(),
        _ => format!(", in messages of up to {segment} bytes"),
    };
    log::info(&format!(
        "{form}{} of {amount} on {} ranks in {} cluster(s), root {}: {algorithm}{cut} ({reason})",
        key.operation,
        clusters.ranks(),
        clusters.count(),
        key.root
    ));
}
