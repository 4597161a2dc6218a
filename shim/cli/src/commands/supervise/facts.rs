//! Facts of an attempt that has ended.

use std::path::{Path, PathBuf};

use treepie_launch::family::Family;
use treepie_launch::watched::Watched;
use treepie_launch::written::is_ours;
use treepie_launch::{self, allocation};
use treepie_profile::partial_profiles::directory_of;
use treepie_resilience::supervision::{End, Facts, Host, PartialProfileCount, Statuses};

use crate::commands::profile::merged;
use crate::commands::supervise::supervisor::Supervisor;

impl<'a> Supervisor<'a> {
    /// Profiles that the ranks left: a complete one if all of them reached `MPI_Finalize`.
    pub(super) fn profiles(&mut self, output: &Path) -> Profiles {
        let parts = directory_of(output);
        if output.exists() || !parts.is_dir() || !is_ours(&parts) {
            let finalized = output.exists();
            return Profiles {
                finalized,
                left: None,
                path: finalized.then(|| output.to_owned()),
            };
        }
        match merged(&parts, output) {
            Ok(profile) => Profiles {
                finalized: false,
                left: Some(PartialProfileCount {
                    partial_profiles: profile.ranks - profile.missing_ranks.len(),
                    ranks: profile.ranks,
                }),
                path: Some(output.to_owned()),
            },
            Err(error) => {
                self.job.log.line(&error.to_string());
                Profiles {
                    finalized: false,
                    left: None,
                    path: None,
                }
            }
        }
    }

    /// End of an attempt. Hosts are only tested if that can make a difference.
    pub(super) fn end(
        &self,
        watched: &Watched,
        profiles: &Profiles,
        hosts: Option<&[Host]>,
    ) -> End {
        let mut facts = Facts {
            status: watched.status,
            statuses: match self.job.launcher.family {
                Family::Hydra => Statuses::Bare,
                _ => Statuses::Shell,
            },
            finalized: profiles.finalized,
            left: profiles.left,
            heard: watched.heard.clone(),
            silent_hosts: Vec::new(),
            stopped_by: self.signals.asked_to_end(),
            stalled: watched.stalled,
        };
        if let (false, None, Some(hosts)) = (facts.finalized, facts.stopped_by, hosts)
            && hosts.len() > 1
        {
            facts.silent_hosts = self.silent(hosts.iter().map(|host| host.name.clone()).collect());
        }
        facts.end()
    }

    pub(super) fn silent(&self, hosts: Vec<String>) -> Vec<String> {
        allocation::silent(&self.job.launcher, &hosts, self.job.arguments.host_timeout)
    }
}

/// Files that show the progress of the ranks of an attempt.
pub(crate) struct Profiles {
    finalized: bool,
    left: Option<PartialProfileCount>,
    pub(crate) path: Option<PathBuf>,
}
