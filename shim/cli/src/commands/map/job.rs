//! Ranks, their present location, and the cores that they may use.

use std::sync::Arc;

use treepie_base::{Leaf, List, Process, Rank, Slice};
use treepie_launch::error::CommandError;
use treepie_placement::NetworkNodes;
use treepie_placement::balance::in_blocks;
use treepie_placement::objective::Objective;
use treepie_placement::{
    Constraints, Hardware, Options, Outcome as Placed, PlacementError, Progress, Strategy, place,
};
use treepie_report::input::numbers;
use treepie_report::input::occupancy::leaf_of_rank;
use treepie_report::input::traffic::Input;
use treepie_report::words::pluralize;
use treepie_topology::Topology;
use treepie_traffic::Matrix;

use crate::commands::map::arguments::{Arguments, SearchOptions, processors};
use crate::commands::map::replaced::Replaced;
use crate::commands::map::search;
use crate::output::Working;

/// The ranks, their present location, and the cores that they may use.
pub(crate) struct Job {
    pub(crate) input: Input,
    pub(crate) topology: Topology,
    /// Positions of its nodes on a network that is not a tree.
    pub(crate) network: Option<NetworkNodes>,
    /// Objective that is minimized.
    pub(crate) objective: Objective,
    /// The leaves that may be used.
    pub(crate) usable: Topology,
    pub(crate) constraints: Constraints,
    /// Core of each process of the launcher, if known.
    pub(crate) leaf_of_process: Option<List<Process, Leaf>>,
    /// Present core of each rank, if known.
    current: Option<List<Rank, Leaf>>,
    pub(crate) loads: Option<List<Rank, f64>>,
    /// True if the loads are seconds outside MPI.
    pub(crate) loads_are_measured: bool,
    /// The collectives that the replay replaces.
    pub(crate) replaced: Option<Replaced>,
}

impl Job {
    pub(crate) fn new(arguments: &Arguments, input: Input) -> Result<Self, CommandError> {
        let limits = &arguments.limits;
        let how = &arguments.how;
        let replaced = Replaced::new(arguments, &input)?;
        let (topology, network) = arguments.machine.on_network(&input)?;
        let constraints = limits.constraints(&topology)?;
        let shares_cores = limits.share_cores() || how.strategy.balances_loads();
        let leaf_of_process = if input.is_profile() {
            input.leaf_of_process(&topology).map(Some)
        } else {
            Ok(None)
        };
        let leaf_of_process = match leaf_of_process {
            Err(_) if shares_cores => None,
            found => found?,
        };
        let by_process = leaf_of_process
            .as_ref()
            .map(|leaves| leaf_of_rank(leaves, &input.process_of_rank()));
        let current = match &how.current {
            Some(path) => Some(numbers::cores_of_ranks(path)?),
            None => by_process,
        };
        let anywhere = limits.reach_all_cores() || how.strategy.balances_loads();
        // A replay gives processes other ranks, and does not move them.
        let usable = match &leaf_of_process {
            Some(leaves) if !anywhere => topology.clone().allowing_only(&leaves.raw)?,
            _ => topology.clone(),
        };
        let measured = if how.strategy.balances_loads() && how.loads.is_none() {
            input.loads(&arguments.choice)
        } else {
            None
        };
        let usual = Objective::usual(network.as_ref());
        let listed = how.loads.as_deref().map(numbers::loads).transpose()?;
        Ok(Job {
            loads_are_measured: measured.is_some(),
            loads: listed.or(measured),
            replaced,
            input,
            topology,
            network,
            objective: how.objective.unwrap_or(usual),
            usable,
            constraints,
            leaf_of_process,
            current,
        })
    }

    fn options(&self, how: &SearchOptions) -> Options<'_> {
        Options {
            current: self.current.as_deref(),
            seed: how.seed.seed.unwrap_or_default(),
            effort: how.effort,
            threads: how.threads.unwrap_or_else(processors),
            constraints: (!self.constraints.is_empty()).then_some(&self.constraints),
            objective: self.objective,
            loads: self.loads.as_deref(),
            progress: None,
        }
    }

    pub(crate) fn place(&self, arguments: &Arguments) -> Result<Placed, CommandError> {
        let how = &arguments.how;
        let what = format!("placing {}", pluralize(self.input.ranks(), "rank"));
        let progress = Arc::new(Progress::default());
        let _working = (!arguments.printing.quiet).then(|| match how.time_limit {
            Some(limit) => Working::within(&what, limit),
            None => Working::through(&what, {
                let progress = progress.clone();
                move || progress.share()
            }),
        });
        let options = Options {
            progress: Some(&progress),
            ..self.options(how)
        };
        if let Some(replaced) = &self.replaced {
            return self.place_for_plans(replaced, arguments, &options);
        }
        let matrix = self.input.matrix(&arguments.choice)?;
        Ok(search::within(how.time_limit, &options, |options| {
            self.placed(how, &matrix, options)
        })?)
    }

    /// Places on the tree, or on the network that is not a tree.
    pub(crate) fn placed(
        &self,
        how: &SearchOptions,
        matrix: &Matrix,
        options: &Options,
    ) -> Result<Placed, PlacementError> {
        let hardware = Hardware {
            topology: &self.usable,
            network: self.network.as_ref(),
        };
        place(how.strategy, matrix, hardware, options)
    }

    /// Cost of a placement by an objective.
    pub(crate) fn value(
        &self,
        objective: Objective,
        matrix: &Matrix,
        leaf_of_rank: &Slice<Rank, Leaf>,
    ) -> f64 {
        let hardware = Hardware {
            topology: &self.topology,
            network: self.network.as_ref(),
        };
        objective.value(matrix, hardware, leaf_of_rank)
    }

    /// The core of each rank without the placement.
    pub(crate) fn before(
        &self,
        how: &SearchOptions,
        bytes: &Matrix,
    ) -> Result<List<Rank, Leaf>, CommandError> {
        match &self.current {
            Some(current) => Ok(current.clone()),
            None if how.strategy.balances_loads() => {
                Ok(in_blocks(&self.usable.allowed_leaves(), bytes.order()))
            }
            None => {
                let identity = place(Strategy::Identity, bytes, &self.usable, &self.options(how))?;
                Ok(identity.placement.leaf_of_rank)
            }
        }
    }
}
