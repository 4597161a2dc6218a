//! Placement that a replay applies: one that is valid on the hosts of this job, or one that is
//! computed for them from a profile. Process 0 does this for all ranks.
//!
//! ```text
//!   profile ---------------------------------------> placed on these hosts
//!   placement --> same shape? --yes--> remapped
//!                     | no
//!                     v
//!                 its profile beside it? --yes-----> placed on these hosts
//!                     | no
//!                     v
//!                 the plain run, and why
//! ```

use std::path::{Path, PathBuf};
use std::time::Instant;

use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_placement::allocation::{Allocation, Movement, Placed, Recorded, needs_machines};
use treepie_placement::binding::LaunchedProcess;
use treepie_placement::file::PlacementFile;
use treepie_placement::seat::Seats;
use treepie_process::log;
use treepie_profile::Profile;
use treepie_profile::any::Replayable;
use treepie_profile::settings::{Apply, Settings};
use treepie_topology::Topology;
use treepie_traffic::{Layer, Metric};

use super::cluster_network::ClusterNetwork;
use super::input::{Kept, Seated};
use super::request_error::RequestError;
use crate::binding::Target;

/// Placement or profile that fits the number of ranks, before the ranks' locations are known.
pub struct ReplayFile {
    path: PathBuf,
    file: Replayable,
    apply: Apply,
}

/// Result that is applied on the hosts of this job.
pub struct Settled {
    /// New ranks, if ranks change.
    pub new_rank: Option<List<Process, Rank>>,
    /// Binding of processes, if they are bound.
    pub binding: Option<Target>,
    /// Source of the placement, for people.
    pub source: String,
}

/// Topology and cores of a placement for this job.
struct JobPlacement {
    topology: Topology,
    leaf_of_rank: List<Rank, Leaf>,
    leaf_of_process: List<Process, Leaf>,
    permutation: List<Process, Rank>,
}

impl From<Placed> for JobPlacement {
    fn from(placed: Placed) -> JobPlacement {
        JobPlacement {
            topology: placed.topology,
            leaf_of_rank: placed.leaf_of_rank,
            leaf_of_process: placed.leaf_of_process,
            permutation: placed.permutation,
        }
    }
}

impl JobPlacement {
    /// Lets processes keep the ranks equal to their numbers.
    fn keep(&mut self, seated: &Seated, allocation: &Allocation) -> Option<Kept> {
        let seats = Seats {
            topology: &self.topology,
            leaf_of_process: &self.leaf_of_process,
            depth: allocation.alike_below(),
        };
        let kept = seated.keep(&mut self.permutation, Some(seats))?;
        for (&rank, &leaf) in self.permutation.iter().zip(&self.leaf_of_process) {
            self.leaf_of_rank[rank] = leaf;
        }
        Some(kept)
    }
}

impl ReplayFile {
    /// Reads the file that the settings name.
    ///
    /// # Errors
    /// A file that cannot be read, is neither placement nor profile, or is for another number of
    /// ranks.
    pub fn read(path: &Path, settings: &Settings, ranks: usize) -> Result<Self, RequestError> {
        Ok(ReplayFile {
            path: path.to_owned(),
            file: Replayable::read_for(path, ranks)?,
            apply: settings.apply,
        })
    }

    /// True if the hardware of these processes' hosts must be known.
    pub fn needs_machines(&self, processes: &Slice<Process, LaunchedProcess>) -> bool {
        match &self.file {
            Replayable::Profile(_) => true,
            Replayable::Placement(file) => needs_machines(&file.topology, processes),
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the placement for these locations of the processes; `network` has their clusters.
    /// Processes that are `seated` keep the ranks equal to their numbers, if ranks change.
    ///
    /// # Errors
    /// A placement of another shape whose profile is not beside it.
    pub fn settle(
        self,
        allocation: &Allocation,
        network: &ClusterNetwork,
        seated: &Seated,
    ) -> Result<Settled, RequestError> {
        let none = Seated::none();
        let seated = match self.apply {
            Apply::Bind => &none,
            Apply::Permute | Apply::Both => seated,
        };
        let name = self.path.display().to_string();
        let placed = |path: &Path, profile: &Profile| {
            let found = self.placed(path, profile, allocation, network, seated)?;
            let source = format!("{}, placed at the start", path.display());
            Ok(self.settled(found, source))
        };
        let file = match &self.file {
            Replayable::Profile(profile) => return placed(&self.path, profile),
            Replayable::Placement(file) => file,
        };
        let recorded = Recorded {
            topology: &file.topology,
            leaf_of_rank: &file.assignment,
            leaf_of_process: &file.leaf_of_process,
        };
        let error = match allocation.remap(recorded) {
            Ok(carried) => {
                // Another part of the network: a placement for its distances is better.
                let stretched = carried.stretch.filter(|&stretch| stretch > 1.0 + 1e-9);
                if stretched.is_some()
                    && let Some((path, profile)) = profile_beside(&self.path, file)
                {
                    log::info(&format!(
                        "{name}: its hosts had other distances; placed anew from {}",
                        path.display()
                    ));
                    return placed(&path, &profile);
                }
                let how = match (carried.moved, carried.stretch) {
                    (false, _) => String::new(),
                    (true, None) => {
                        ", carried over to other hosts or cores of the same shape".into()
                    }
                    (true, Some(stretch)) => format!(
                        ", carried over to other hosts by their distances; near ones are \
                         {stretch:.2} times as far apart"
                    ),
                };
                log::info(&format!("{name}: applied{how}"));
                let mut found = JobPlacement {
                    topology: carried.topology,
                    leaf_of_rank: carried.leaf_of_rank,
                    leaf_of_process: carried.leaf_of_process,
                    permutation: carried.permutation,
                };
                if let Some(kept) = found.keep(seated, allocation) {
                    kept.tell();
                }
                return Ok(self.settled(found, name + &how));
            }
            Err(error) => error,
        };
        let Some((path, profile)) = profile_beside(&self.path, file) else {
            return Err(RequestError::allocation(&self.path, error));
        };
        log::warn(&format!(
            "{name}: {error}; placed anew from {}",
            path.display()
        ));
        placed(&path, &profile)
    }

    fn placed(
        &self,
        path: &Path,
        profile: &Profile,
        allocation: &Allocation,
        network: &ClusterNetwork,
        seated: &Seated,
    ) -> Result<JobPlacement, RequestError> {
        let began = Instant::now();
        let movement = match self.apply {
            Apply::Bind => Movement::Processes,
            Apply::Permute | Apply::Both => Movement::Ranks,
        };
        let traffic = profile.traffic(Layer::ALL);
        let matrix = traffic.exact_affinity(Metric::Size)?;
        let measured = network.measured(allocation, traffic.total());
        let allocation = measured.as_ref().unwrap_or(allocation);
        let placed = allocation
            .placed(&matrix, movement)
            .map_err(|error| RequestError::allocation(path, error))?;
        let (before, after) = placed.costs;
        log::info(&format!(
            "{}: {} ranks placed in {:.3} s, {} {before} -> {after}",
            path.display(),
            profile.ranks,
            began.elapsed().as_secs_f64(),
            match allocation.network() {
                Some(nodes) => format!("bytes x links on a {}", nodes.network().describe()),
                None => "DistComm".to_owned(),
            }
        ));
        let mut found = JobPlacement::from(placed);
        if let Some(mut kept) = found.keep(seated, allocation) {
            if kept.exchanges() {
                let cost = |found: &JobPlacement| allocation.cost(&matrix, &found.leaf_of_rank);
                // A placement around them may cost less.
                let around = allocation.placed_around(&matrix, seated.processes());
                let around = around.map(JobPlacement::from).ok();
                found = match around {
                    Some(around) if cost(&around) < cost(&found) => around,
                    _ => found,
                };
                kept.costs = Some((after, cost(&found)));
            }
            kept.tell();
        }
        Ok(found)
    }

    fn settled(&self, found: JobPlacement, source: String) -> Settled {
        let new_rank = found.permutation;
        let target = |leaf_of_process| Target {
            topology: found.topology,
            leaf_of_process,
        };
        let (new_rank, binding) = match self.apply {
            Apply::Permute => (Some(new_rank), None),
            // If ranks do not change, process i is rank i.
            Apply::Bind => (None, Some(target(found.leaf_of_rank.raw.into()))),
            Apply::Both => (Some(new_rank), Some(target(found.leaf_of_process))),
        };
        Settled {
            new_rank,
            binding,
            source,
        }
    }
}

/// Returns the profile that a placement was made from, if it is beside it and fits.
fn profile_beside(path: &Path, file: &PlacementFile) -> Option<(PathBuf, Box<Profile>)> {
    let name = Path::new(file.profile.as_ref()?).file_name()?;
    let beside = path.with_file_name(name);
    let profile = Profile::read(&beside).ok()?;
    (profile.ranks == file.ranks).then(|| (beside, Box::new(profile)))
}
