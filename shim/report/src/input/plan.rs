//! A plan of a collective requested by the user, simulated on a platform.

use std::sync::Arc;

use clap::Args;
use treepie_choice::predict::network_of;
use treepie_collective::read::simulate::{Options, Outcome, simulate};
use treepie_collective::{Amount, Clusters, Composition, Problem};
use treepie_platform::Platform;

use super::collective::Collective;
use super::neighbours;
use crate::input::choice::size;
use treepie_launch::error::CommandError;

/// Plan to show.
#[derive(Debug, Args)]
pub struct PlanChoice {
    /// For a platform: simulate a collective on it and draw the steps of each rank in time, such as
    /// bcast=grid-ecef, allreduce=grid-direct or bcast=grid-chain/16K@binomial/flat
    #[arg(long, value_name = "COLLECTIVE=ALGORITHM")]
    pub plan: Option<String>,
    /// Bytes of the plan's message, or of one rank's block: 64, 16K, 1M
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "64K", requires = "plan")]
    pub bytes: u64,
    /// Bytes of the plan's largest message
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "48K", requires = "plan")]
    pub segment: u64,
    /// Rank of the plan's root
    #[arg(long, value_name = "RANK", default_value = "0", requires = "plan")]
    pub root: usize,
    /// Neighbours of each rank for the plan of neighbor-allgather and similar collectives:
    /// torus:4x4, mesh:2x8, or a matrix or profile, in which each sender has an edge to its
    /// receiver
    #[arg(
        long,
        visible_alias = "neighbors",
        value_name = "GRID|FILE",
        requires = "plan"
    )]
    pub neighbours: Option<String>,
}

/// A plan simulated in time.
pub struct Simulated {
    /// The collective.
    pub collective: Collective,
    /// The requested plan.
    pub composition: Composition,
    /// Bytes of the message, or of one rank's block.
    pub bytes: u64,
    /// Bytes of the largest message.
    pub segment: u64,
    /// Number of ranks.
    pub ranks: usize,
    /// Course of the plan in time.
    pub outcome: Outcome,
}

impl PlanChoice {
    /// Simulates the requested plan, if any, on the ranks of `platform`.
    ///
    /// # Errors
    /// The words do not name a plan, or the platform does not have the root: usage.
    pub fn on(&self, platform: &Platform) -> Result<Option<Simulated>, CommandError> {
        let Some(words) = &self.plan else {
            return Ok(None);
        };
        let (collective, composition) = parse(words)?;
        let operation = collective.operation;
        if self.root >= platform.ranks() {
            return Err(CommandError::usage(format!(
                "--root {}: the platform has the ranks 0 to {}; name one of them",
                self.root,
                platform.ranks() - 1
            )));
        }
        let network = network_of(platform).ok_or_else(|| {
            CommandError::failed("the platform lacks some of its own ranks; probe it again")
        })?;
        let clusters = Clusters::of_network(&network);
        let mut clusters = clusters.for_plan(&composition).into_owned();
        if let Some(text) = &self.neighbours {
            let all = neighbours::read(text, network.ranks())?;
            clusters = clusters.with_neighbourhoods(Arc::new(all));
        }
        if operation.is_among_neighbours() && self.neighbours.is_none() {
            return Err(CommandError::usage(format!(
                "--plan {words}: depends on the neighbours of each rank; name them: --neighbours \
                 torus:4x4, mesh:2x8 or a matrix"
            )));
        }
        let amount = Amount::Each(self.bytes);
        let problem = Problem {
            operation,
            root: self.root,
            amount: &amount,
            clusters: &clusters,
            ordered: false,
            network: Some(&network),
            unit_bytes: 1,
        };
        let segment = composition.segment.unwrap_or(self.segment.max(1));
        let plans = composition.algorithm.describe(&problem).plans(segment);
        let options = Options {
            timeline: true,
            ..Options::default()
        };
        let outcome = simulate(&network, &plans, 1, options)
            .map_err(|error| CommandError::failed(format!("--plan {words}: {error}")))?;
        Ok(Some(Simulated {
            collective,
            composition,
            bytes: self.bytes,
            segment,
            ranks: network.ranks(),
            outcome,
        }))
    }
}

fn parse(words: &str) -> Result<(Collective, Composition), CommandError> {
    let wrong = |problem: String| CommandError::usage(format!("--plan {words}: {problem}"));
    let (collective, name) = words.split_once('=').ok_or_else(|| {
        wrong("a collective and an algorithm were expected, such as bcast=grid-ecef".to_owned())
    })?;
    let collective: Collective = collective
        .parse()
        .map_err(|unknown| wrong(format!("{unknown}")))?;
    let operation = collective.operation;
    if !operation.has_equal_blocks() {
        return Err(wrong(format!(
            "{operation} has another size for every rank; take its form with one size for all"
        )));
    }
    let composition = Composition::parse(operation, name);
    let composition = composition.map_err(|error| wrong(error.to_string()))?;
    Ok((collective, composition))
}
