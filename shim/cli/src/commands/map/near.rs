//! Placement of the ranks with the most traffic to other nodes next to the network interfaces.

use treepie_base::{Leaf, Rank, Slice};
use treepie_launch::error::CommandError;
use treepie_placement::near::{Interfaces, Seats};
use treepie_placement::objective::dist_comm;
use treepie_placement::{Outcome as Placed, Placement};
use treepie_report::levels::Situation;
use treepie_report::near::{NearNetwork, depth_of_nodes};
use treepie_report::words::pluralize;
use treepie_topology::{Device, Topology};

use crate::commands::map::arguments::{Arguments, NearOptions};
use crate::commands::map::job::Job;

/// Largest relative increase of the placement's cost for placing ranks near interfaces.
const MOST_ADDED: f64 = 0.01;

/// Result of the search for cores near interfaces.
#[derive(Debug)]
pub enum Near {
    /// It was not requested.
    NotAsked,
    /// Nothing changes, with the reason.
    Nothing(String),
    /// Cores differ in their distance from interfaces.
    Seated(Interfaces),
}

impl NearOptions {
    /// Moves ranks of each node to other cores.
    ///
    /// # Errors
    /// No node has the given interfaces.
    pub fn seat(
        &self,
        arguments: &Arguments,
        job: &Job,
        placed: &mut Placed,
    ) -> Result<Near, CommandError> {
        let Some(text) = &self.near else {
            return Ok(Near::NotAsked);
        };
        let topology = &job.topology;
        let interfaces = chosen(text, topology)?;
        if !interfaces.differ() {
            return Ok(Near::Nothing(why_nothing(&interfaces)));
        }
        if interfaces.nodes() == 1 {
            let reason = "all ranks are on one node, so that nothing goes through its interface";
            return Ok(Near::Nothing(reason.to_owned()));
        }
        let matrix = job.input.matrix(&arguments.choice)?;
        let seats = Seats {
            bytes: &job.input.bytes(&arguments.choice)?,
            affinity: &matrix,
            topology,
            interfaces: &interfaces,
            constraints: &job.constraints,
            leaf_of_rank: &placed.placement.leaf_of_rank,
        };
        let value = |leaves: &Slice<Rank, Leaf>| job.value(job.objective, &matrix, leaves);
        let most = (1.0 + MOST_ADDED) * placed.cost;
        let most = most.min(placed.identity_cost.max(placed.cost)) * (1.0 + 1e-9);
        let gained = placed.cost < placed.identity_cost;
        let budget = match gained {
            true => MOST_ADDED * dist_comm(&matrix, topology, seats.leaf_of_rank),
            // If the ranks are already optimal, no loss is allowed.
            false => 0.0,
        };
        for budget in [budget, 0.0] {
            let leaf_of_rank = seats.near_interfaces(budget)?;
            let cost = value(&leaf_of_rank);
            if cost <= most {
                placed.cost = cost;
                placed.placement = Placement { leaf_of_rank };
                break;
            }
        }
        Ok(Near::Seated(interfaces))
    }
}

impl Near {
    /// Report of the change.
    pub fn report(
        &self,
        topology: &Topology,
        before: Situation,
        after: Situation,
    ) -> Option<NearNetwork> {
        match self {
            Near::Seated(interfaces) => NearNetwork::new(topology, interfaces, before, after),
            _ => None,
        }
    }

    /// Reason why nothing changes, in one line.
    pub fn text(&self) -> String {
        match self {
            Near::Nothing(reason) => format!("  --near is without effect: {reason}\n"),
            _ => String::new(),
        }
    }
}

/// The interfaces named by `text`.
fn chosen(text: &str, topology: &Topology) -> Result<Interfaces, CommandError> {
    let depth = depth_of_nodes(topology);
    if text == "network" {
        return Ok(Interfaces::of_network(topology, depth));
    }
    let all = topology
        .leaves()
        .iter()
        .flat_map(|leaf| leaf.devices.iter());
    let mut known: Vec<&str> = all
        .filter(|device| device.kind.is_network())
        .map(|device| &*device.name)
        .collect();
    known.sort_unstable();
    known.dedup();
    let names: Vec<&str> = text.split(',').map(str::trim).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(CommandError::usage(format!(
            "--near {text}: no node has a network interface called `{name}`; {}",
            if known.is_empty() {
                "none is known at all".to_owned()
            } else {
                format!("write network, or some of {}", known.join(", "))
            }
        )));
    }
    let is_named = |_, device: &Device| names.contains(&&*device.name);
    Ok(Interfaces::new(topology, depth, is_named))
}

fn why_nothing(interfaces: &Interfaces) -> String {
    match interfaces.alike() {
        0 => {
            "no network interface of these nodes is known; name an hwloc XML file with --topology \
              (`lstopo machine.xml`), or take the profile anew where hwloc reads PCI devices"
                .to_owned()
        }
        some => format!(
            "interfaces are next to all cores alike on {}",
            pluralize(some, "node")
        ),
    }
}
