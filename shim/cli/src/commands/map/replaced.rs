//! Placement for the collectives that the replay will run, instead of those of the MPI.
//!
//! The traffic of plans follows from the location of ranks, and the best location of ranks from the
//! traffic: both are computed in turn for some rounds, and the best is kept, each placement with
//! its own plans.

use std::path::PathBuf;

use treepie_base::{Leaf, Rank, Slice};
use treepie_collective::Locality;
use treepie_launch::error::CommandError;
use treepie_platform::Platform;
use treepie_platform::file::PlatformFile;
use treepie_profile::settings::Collectives;
use treepie_report::collectives;
use treepie_report::input::traffic::Input;
use treepie_topology::Topology;

use crate::commands::map::arguments::Arguments;

/// Collectives that the replay runs, and their platform.
#[derive(Debug)]
pub struct Replaced {
    collectives: Collectives,
    platform: Platform,
    file: PathBuf,
}

impl Replaced {
    /// Reads the replaced collectives of the command line.
    ///
    /// # Errors
    /// The platform cannot be read.
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

    /// The profile that a run with ranks on these leaves would produce.
    ///
    /// # Errors
    /// The platform does not have the hosts.
    pub fn input(
        &self,
        input: &Input,
        topology: &Topology,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> Result<Input, CommandError> {
        let Input::Profile(profile) = input else {
            return Err(CommandError::failed("no profile".to_owned()));
        };
        let host = |&leaf: &Leaf| topology.leaf(leaf).host.clone().unwrap_or_default();
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

    /// Algorithm of each collective in a predicted run, in one line.
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
            if words.is_empty() {
                "none was called".to_owned()
            } else {
                words.join(", ")
            }
        )
    }
}

#[cfg(test)]
mod tests {
    use treepie_profile::settings::Collectives;

    #[test]
    fn a_strategy_that_does_not_exist_is_refused_with_those_that_do() {
        let known = str::parse::<Collectives>;
        assert!(known("auto").is_ok());
        let known = str::parse::<Collectives>;
        assert!(known("bcast=grid-chain,allreduce=auto").is_ok());
        let error = known("bcast=teleport").expect_err("there is none");
        assert!(
            error.starts_with("bcast has no algorithm `teleport`; known are native, auto, "),
            "{error}"
        );
    }
}
