//! The pictures of a report.

use treepie_placement::objective::link_traffic;
use treepie_placement::objective::{LinkLoad, all_link_loads};
use treepie_topology::{Topology, networks};

use super::facts::{OnMachine, State};
use crate::before_after::BeforeAfter;
use crate::input::topology::describe;
use crate::levels::Crossing;
use crate::picture::fabric::Fabric;
use crate::picture::panels::Picture;
use crate::picture::scale::Unit;
use crate::picture::tree::{Loads, MachineTree};
use crate::placement::ranks_on;
use crate::words::{file_name, pluralize};
use crate::{network_picture, units};

/// Draws the matrices in the order of the cores.
///
/// # Errors
/// Drawing fails.
pub fn heat_maps(machine: &OnMachine) -> Result<Picture, String> {
    let after = machine.after.as_ref();
    let pictured = BeforeAfter {
        title: format!(
            "{} on {}",
            file_name(&machine.profile),
            describe(&machine.topology)
        ),
        names: (
            if after.is_some() {
                "before"
            } else {
                "as it ran"
            }
            .to_owned(),
            after.map_or(String::new(), |after| after.name.clone()),
        ),
        topology: &machine.topology,
        network: machine.network.as_ref(),
        unit: Unit::Bytes,
    };
    let before = machine.before.situation();
    let picture = match after {
        Some(after) => pictured.pair(before, after.state.situation(), &machine.crossings),
        None => pictured.single(before, &machine.crossings),
    };
    picture.map_err(|error| error.to_string())
}

/// Draws the machine with the traffic over each of its links.
pub fn tree(machine: &OnMachine) -> MachineTree {
    let amounts = |of: fn(&Crossing) -> f64| -> Vec<(String, String)> {
        let whole: f64 = machine.crossings.iter().map(of).sum();
        let lines = machine.crossings.iter().map(|crossing| {
            let bytes = of(crossing);
            let share = units::share(bytes, whole);
            (
                crossing.between.clone(),
                format!("{}, {share}", Unit::Bytes.text(bytes)),
            )
        });
        lines.collect()
    };
    let loads = |title: &str, state: &State, beside| {
        let links = all_link_loads(&state.bytes, &machine.topology, &state.leaf_of_rank);
        let of_level = |level: &Vec<LinkLoad>| level.iter().map(LinkLoad::load).collect();
        Loads {
            title: title.to_owned(),
            of_link: links.iter().map(of_level).collect(),
            on_leaf: ranks_on(&machine.topology, &state.leaf_of_rank),
            beside,
        }
    };
    let first = if machine.after.is_some() {
        "before"
    } else {
        "as it ran"
    };
    let mut states = vec![loads(first, &machine.before, amounts(|c| c.bytes_before))];
    if let Some(after) = &machine.after {
        states.push(loads(&after.name, &after.state, amounts(|c| c.bytes_after)));
    }
    MachineTree {
        title: format!("ranks and links of {}", describe(&machine.topology)),
        unit: Unit::Bytes,
        topology: machine.topology.clone(),
        states,
    }
}

/// Draws the links of the network with the traffic over them; `None` without a network.
pub fn links(machine: &OnMachine) -> Option<Fabric> {
    let nodes = machine.network.as_ref()?;
    let network = nodes.network();
    let loads = |state: &State| {
        let traffic = link_traffic(&state.bytes, &machine.topology, nodes, &state.leaf_of_rank);
        networks::Loads::new(network, traffic)
    };
    let before = loads(&machine.before);
    let after = machine
        .after
        .as_ref()
        .map(|after| (after, loads(&after.state)));
    let title = format!(
        "{} on a {}",
        file_name(&machine.profile),
        network.describe()
    );
    let kinds = match &after {
        Some((after, loads)) => vec![("before", &before), (after.name.as_str(), loads)],
        None => vec![("as it ran", &before)],
    };
    Some(network_picture::picture(
        title,
        network,
        &kinds,
        Unit::Bytes,
    ))
}

/// Draws a machine without a job.
pub fn bare_tree(name: &str, topology: &Topology) -> MachineTree {
    let idle = |depth| vec![0.0; topology.node_count(depth)];
    let beside = (0..topology.depth()).map(|depth| {
        let level = &topology.levels()[depth].name;
        let number = pluralize(topology.node_count(depth + 1), level);
        let distance = topology.level_distances()[depth];
        (number, format!("distance {}", units::count(distance)))
    });
    MachineTree {
        title: describe(topology),
        unit: Unit::Bytes,
        topology: topology.clone(),
        states: vec![Loads {
            title: file_name(name),
            of_link: (1..=topology.depth()).map(idle).collect(),
            on_leaf: (0..topology.leaf_count())
                .map(|leaf| leaf.to_string())
                .collect(),
            beside: beside.collect(),
        }],
    }
}
