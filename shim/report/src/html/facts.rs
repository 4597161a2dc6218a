//! Facts on a job on a machine, before and after: computed here, written by the sections.

use treepie_base::{Leaf, List, Rank};
use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_placement::objective::Measures;
use treepie_profile::Profile;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use super::sources::Sources;
use crate::gain::Gain;
use crate::input::choice::MatrixChoice;
use crate::input::network;
use crate::input::occupancy::leaf_of_rank;
use crate::input::traffic::Input;
use crate::levels::{Crossing, Situation, crossings};
use crate::near::NearNetwork;
use crate::network::NetworkGain;
use crate::picture::panels::Picture;
use crate::picture::scale::Unit;
use crate::summary::Summary;
use crate::times::share_in_mpi;
use crate::verdict::{Evidence, Sent, Verdict, all_alike, on_several_nodes};
use crate::windows::judged::judgement::judge;
use crate::words::file_name;

/// Traffic and its location, owned.
pub struct State {
    /// Bytes from rank to rank.
    pub bytes: Matrix,
    /// Core of every rank.
    pub leaf_of_rank: List<Rank, Leaf>,
}

impl State {
    /// This state in the form used for comparisons.
    pub fn situation(&self) -> Situation<'_> {
        Situation {
            matrix: &self.bytes,
            leaf_of_rank: &self.leaf_of_rank,
        }
    }
}

/// The state after, and its source.
pub struct After {
    /// The state.
    pub state: State,
    /// Its name: `after (treematch)`.
    pub name: String,
    /// True if it is from a second profile; otherwise it follows from the placement.
    pub measured: bool,
    /// Links, pairs, bound.
    pub gain: Gain,
    /// Prediction of the placement, if it can be compared with a measurement.
    pub promised: Option<Vec<Crossing>>,
}

/// The job on its machine.
pub struct OnMachine {
    /// File with the traffic.
    pub profile: String,
    /// The machine.
    pub topology: Topology,
    /// Positions of its nodes on a network that is not a tree.
    pub network: Option<NetworkNodes>,
    /// The state before.
    pub before: State,
    /// The state after.
    pub after: Option<After>,
    /// Traffic across each level; the values of before repeated if there is no after.
    pub crossings: Vec<Crossing>,
}

impl OnMachine {
    /// Verdict on the placement, as `treepie map` gives it, for the job of a profile.
    pub(crate) fn verdict(&self, after: &After, profile: &Profile) -> Verdict {
        let several = |state: &State| on_several_nodes(&self.topology, &state.leaf_of_rank);
        let evidence = Evidence {
            what: match self.network {
                Some(_) => "bytes x links",
                None => "DistComm",
            },
            change: after.gain.sum,
            bound: after.gain.lower_bound,
            crossings: &self.crossings,
            network: after
                .gain
                .network
                .as_ref()
                .map(|network| network.in_words()),
            near: None,
            several_nodes: several(&self.before) || several(&after.state),
            all_alike: all_alike(&after.state.bytes),
            time_in_mpi: share_in_mpi(profile),
            sent: Some(Sent::of(profile)),
        };
        evidence.verdict()
    }
}

/// All facts of the report.
pub struct Facts {
    /// The job.
    pub summary: Summary,
    /// The job in its replay.
    pub after: Option<Summary>,
    /// The machine, or the reason why there is none.
    pub machine: Result<OnMachine, String>,
    /// Bytes between ranks, if there is no machine.
    pub by_rank: Option<Picture>,
    /// Reason why one-sided communication is not assessed with the given platform.
    pub windows_problem: Option<String>,
}

impl Facts {
    /// Computes all facts.
    ///
    /// # Errors
    /// The given machine does not fit, or the profile lacks the selected data. Without a given
    /// machine it may be unknown: the report states the reason.
    pub fn new(sources: &Sources, choice: &MatrixChoice) -> Result<Self, CommandError> {
        let (path, profile) = &sources.before;
        let mut summary = Summary::new(path, profile, choice.model);
        let windows_problem = judge_windows(&mut summary, sources);
        let after = sources.after.as_ref();
        let after = after.map(|(path, profile)| Summary::new(path, profile, choice.model));
        let named =
            sources.topology.is_some() || sources.placement.is_some() || sources.network.is_some();
        let machine = match OnMachine::new(sources, choice) {
            Err(error) if named => return Err(error),
            Err(error) => Err(error.to_string()),
            Ok(found) => Ok(found),
        };
        let by_rank = || -> Result<Picture, CommandError> {
            let bytes = Input::from_profile(path, profile.clone(), choice)?.bytes(choice)?;
            let (title, contents) = (file_name(path), choice.describe());
            Ok(Picture::by_rank(title, Unit::Bytes, contents, bytes))
        };
        Ok(Facts {
            by_rank: machine.is_err().then(by_rank).transpose()?,
            summary,
            after,
            machine,
            windows_problem,
        })
    }
}

/// Assesses one-sided communication, if there is any and a platform is among the files; returns the
/// problem if the platform does not have the hosts.
fn judge_windows(summary: &mut Summary, sources: &Sources) -> Option<String> {
    let (path, file) = sources.platform.as_ref()?;
    let profile = &sources.before.1;
    if profile.windows.is_empty() {
        return None;
    }
    match judge(profile, &file_name(path), &file.platform) {
        Ok(judgement) => {
            summary.one_sided = Some(judgement);
            None
        }
        Err(mismatch) => Some(format!("{}: {mismatch}", file_name(path))),
    }
}

impl OnMachine {
    /// Finds the cores, and computes the traffic between them.
    ///
    /// # Errors
    /// The machine cannot be read or is too small, or the profile lacks the selected data.
    pub fn new(sources: &Sources, choice: &MatrixChoice) -> Result<Self, CommandError> {
        let input = |(path, profile): &(std::path::PathBuf, _)| {
            Input::from_profile(path, Clone::clone(profile), choice)
        };
        let first = input(&sources.before)?;
        let placement = sources.placement.as_ref().map(|(_, file)| file);
        let topology = match (&sources.topology, placement) {
            (Some(named), _) => named.clone(),
            (None, Some(file)) => file.topology.clone(),
            (None, None) => first.topology(None)?,
        };
        // A placement has the positions of processes on its own machine.
        let of_placement = placement.filter(|file| file.topology == topology);
        let state = |input: &Input| -> Result<State, CommandError> {
            let leaf_of_process = match of_placement {
                Some(file) => file.leaf_of_process.clone(),
                None => input.leaf_of_process(&topology)?,
            };
            Ok(State {
                bytes: input.bytes(choice)?,
                leaf_of_rank: leaf_of_rank(&leaf_of_process, &input.process_of_rank()),
            })
        };
        let before = state(&first)?;
        let on_network = |(path, site): &(std::path::PathBuf, _)| {
            let name = path.display().to_string();
            network::beneath(site, &topology, &first.hosts(), &name)
        };
        let nodes = sources.network.as_ref().map(on_network).transpose()?;
        let promised = of_placement.map(|file| State {
            bytes: before.bytes.clone(),
            leaf_of_rank: file.assignment.clone(),
        });
        let measured = sources.after.as_ref().map(input).transpose()?;
        let measured = measured.as_ref().map(state).transpose()?;
        let promise = promised.as_ref();
        let promise = promise.map(|p| crossings(&topology, before.situation(), p.situation()));
        let after = match (measured, promised) {
            (Some(state), _) => Some((state, true, promise)),
            (None, Some(state)) => Some((state, false, None)),
            (None, None) => None,
        };
        let after = after.map(|(state, measured, promised)| After {
            gain: gain(&topology, nodes.as_ref(), &before, &state),
            name: match (measured, placement) {
                (false, Some(file)) => format!("after ({})", file.strategy),
                _ => "after, as measured".to_owned(),
            },
            state,
            measured,
            promised,
        });
        let last = after.as_ref().map_or(&before, |after| &after.state);
        Ok(OnMachine {
            profile: sources.before.0.display().to_string(),
            crossings: crossings(&topology, before.situation(), last.situation()),
            topology,
            network: nodes,
            before,
            after,
        })
    }

    /// The last known state.
    fn last(&self) -> &State {
        let after = self.after.as_ref();
        after.map_or(&self.before, |after| &after.state)
    }

    /// Traffic between nodes at cores next to an interface, if some cores are nearer than others.
    pub fn near_network(&self) -> Option<NearNetwork> {
        let (before, after) = (self.before.situation(), self.last().situation());
        NearNetwork::of_network(&self.topology, before, after)
    }

    /// Measures of the state before and the last one on the network.
    pub fn on_network(&self) -> Option<NetworkGain> {
        let nodes = self.network.as_ref()?;
        let of =
            |state: &State| Measures::new(&state.bytes, &self.topology, nodes, &state.leaf_of_rank);
        let after = self.last();
        Some(NetworkGain::between(nodes, &of(&self.before), &of(after)))
    }
}

/// Computes the gain; the bound is that of the used cores.
fn gain(topology: &Topology, nodes: Option<&NetworkNodes>, before: &State, after: &State) -> Gain {
    let mut used = after.leaf_of_rank.clone();
    used.sort_unstable();
    used.dedup();
    let alone = used.len() == after.leaf_of_rank.len();
    let usable = topology.clone().allowing_only(&used.raw).ok();
    let usable = usable.filter(|_| alone);
    let (before, after) = (before.situation(), after.situation());
    let Some(nodes) = nodes else {
        return Gain::new(topology, usable.as_ref(), before, after);
    };
    let network = NetworkGain::new(topology, nodes, usable.as_ref(), before, after);
    Gain::new(topology, None, before, after).on_network(network)
}
