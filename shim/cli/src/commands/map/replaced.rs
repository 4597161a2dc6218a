//! Placing for the collectives that the replay will run, in place of those of the MPI.
//!
//! What plans send follows from where ranks are, and where ranks should be from what is sent: one
//! follows the other for some rounds, and the best is kept, each placement with its own plans.

use std::path::PathBuf;

use clap::Args;
use treepie_collective::Locality;
use treepie_placement::{Options, Outcome as Placed, Placement, Strategy};
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_profile::settings::Collectives;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use super::{Arguments, Job, search};
use treepie_launch::error::CommandError;
use treepie_report::collectives;
use treepie_report::input::traffic::Input;

/// More rounds of plans and placements did not find better ones on any of the sample jobs.
const ROUNDS: u32 = 3;

/// Which collectives the replay replaces.
#[derive(Debug, Args)]
pub struct ReplacedOptions {
    /// Place for the collectives that a replay with these on --platform will run, not for those of
    /// the MPI: auto, or bcast=grid-chain,allreduce=auto,... as TREEPIE_COLLECTIVES
    #[arg(long, value_name = "WHO", value_parser = known, requires = "platform", conflicts_with = "model")]
    collectives: Option<Collectives>,
}

/// A setting of collectives whose strategies exist.
fn known(text: &str) -> Result<Collectives, String> {
    let collectives: Collectives = text.parse()?;
    collectives.check().map_err(|unknown| unknown.to_string())?;
    Ok(collectives)
}

/// What the replay runs, and where.
#[derive(Debug)]
pub struct Replaced {
    collectives: Collectives,
    platform: Platform,
    file: PathBuf,
}

impl Replaced {
    /// What the command line says of it.
    ///
    /// # Errors
    /// A platform that cannot be read.
    pub fn new(arguments: &Arguments, input: &Input) -> Result<Option<Self>, CommandError> {
        let named = arguments.replaced.collectives.as_ref();
        let (Some(collectives), Some(file)) = (named, &arguments.machine.above.platform) else {
            return Ok(None);
        };
        if !input.is_profile() {
            return Err(CommandError::usage(format!(
                "{}: has no calls of collectives for --collectives to run; give a profile",
                arguments.profile.display()
            )));
        }
        Ok(Some(Replaced {
            collectives: collectives.clone(),
            platform: PlatformFile::read(file)?.platform,
            file: file.clone(),
        }))
    }

    /// The input as a run would leave it whose ranks are on these leaves.
    ///
    /// # Errors
    /// Hosts that the platform does not have.
    pub fn input(
        &self,
        input: &Input,
        topology: &Topology,
        leaf_of_rank: &[usize],
    ) -> Result<Input, CommandError> {
        let Input::Profile(profile) = input else {
            return Err(CommandError::failed("no profile".to_owned()));
        };
        let host = |&leaf: &usize| topology.leaf(leaf).host.clone().unwrap_or_default();
        let hosts: Vec<String> = leaf_of_rank.iter().map(host).collect();
        let platform = self.platform.for_job(&hosts).map_err(|mismatch| {
            CommandError::failed(format!("{}: {mismatch}", self.file.display()))
        })?;
        let locality = Locality::Platform {
            platform,
            eager_limit: profile.native_family().usual_eager_limit(),
        };
        let foreseen = profile.foreseen(&self.collectives, locality);
        Ok(Input::Profile(Box::new(foreseen)))
    }

    /// What runs which collectives of a foreseen run, in one line.
    pub fn text(&self, foreseen: &Input) -> String {
        let Input::Profile(profile) = foreseen else {
            return String::new();
        };
        let all = collectives::for_profile(profile, None);
        let words: Vec<String> = all
            .iter()
            .map(|one| {
                let by = one.plan.as_deref().unwrap_or("the MPI");
                format!("{} by {by}", one.collective)
            })
            .collect();
        format!(
            "  collectives as {} runs them on {}: {}\n",
            self.collectives,
            self.file.display(),
            match words.is_empty() {
                true => "none was called".to_owned(),
                false => words.join(", "),
            }
        )
    }
}

impl Job {
    /// Places for the plans that the replay will run. A placement counts with the plans that it
    /// leads to, and where the ranks are now is one.
    pub(super) fn place_for_plans(
        &self,
        replaced: &Replaced,
        arguments: &Arguments,
        options: &Options,
    ) -> Result<Placed, CommandError> {
        let how = &arguments.how;
        let at = |leaves: &[usize]| -> Result<Matrix, CommandError> {
            replaced
                .input(&self.input, &self.topology, leaves)?
                .matrix(&arguments.choice)
        };
        let cost = |matrix: &Matrix, leaves: &[usize]| self.value(self.objective, matrix, leaves);
        let before = self.before(how, &self.input.matrix(&arguments.choice)?)?;
        let mut matrix = at(&before)?;
        let identity_cost = cost(&matrix, &before);
        let mut best = Placed {
            strategy: Strategy::Identity,
            placement: Placement {
                leaf_of_rank: before.clone(),
            },
            cost: identity_cost,
            identity_cost,
        };
        let mut last = before;
        for _ in 0..ROUNDS {
            let budget = how.budget.map(|budget| budget / ROUNDS);
            let found = search::within(budget, options, |options| {
                self.placed(how, &matrix, options)
            })?;
            let leaves = &found.placement.leaf_of_rank;
            if *leaves == last {
                break;
            }
            last.clone_from(leaves);
            matrix = at(leaves)?;
            let with_its_plans = cost(&matrix, leaves);
            if with_its_plans < best.cost {
                best = Placed {
                    cost: with_its_plans,
                    identity_cost,
                    ..found
                };
            }
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_that_does_not_exist_is_refused_with_those_that_do() {
        assert!(known("auto").is_ok());
        assert!(known("bcast=grid-chain,allreduce=auto").is_ok());
        let error = known("bcast=teleport").expect_err("there is none");
        assert!(
            error.starts_with("bcast has no algorithm `teleport`; known are native, auto, "),
            "{error}"
        );
    }
}
