//! The parts of the report, from top to bottom.

use treepie_topology::networks::Network;

use super::facts::Facts;
use super::page::Page;
use super::pictures;
use super::sources::Sources;
use crate::html::cards::cards;
use crate::html::gains::{what_is_left, what_was_gained};
use crate::html::heading::capitalized;
use crate::input::plan::Simulated;
use crate::levels;
use crate::picture::scale::Unit;
use crate::summary::Summary;
use crate::table::Table;
use crate::words::{file_name, pluralize};
use crate::{
    collectives, guard, locations, phases, placement, plan, platform, platform_picture, units,
    windows,
};

/// Maximum number of blocks; more are left to `treepie show --json`.
const MOST_BLOCKS: usize = 64;

/// Writes all sections.
///
/// # Errors
/// Drawing fails.
pub fn write(
    page: &mut Page,
    facts: &Facts,
    sources: &Sources,
    plan: Option<&Simulated>,
) -> Result<(), String> {
    page.cards(&cards(facts, sources));
    where_it_ran(page, facts, sources)?;
    what_crosses(page, facts)?;
    what_was_gained(page, facts, sources);
    what_is_left(page, facts, sources);
    if let Some((path, file)) = &sources.platform {
        page.section("platform", "The platform");
        page.paragraph(&platform::describe(&file.platform));
        let drawing = platform_picture::drawing(&file_name(path), &file.platform);
        page.figure("map", "Clusters with the latencies within and between them, and the time of a message by its size", &drawing)?;
        if let Some(plan) = plan {
            page.heading(&plan::describe(plan));
            let took = units::seconds(plan.outcome.seconds);
            let words =
                format!("What each rank does when, as simulated on this platform: {took} in all");
            page.figure("plan", &words, &plan::gantt(plan))?;
        }
        page.end_section();
    }
    if !facts.summary.notes.is_empty() {
        page.section("how", "The run");
        page.list(&facts.summary.notes);
        page.end_section();
    }
    Ok(())
}

/// Writes the hosts, and the ranks on each block of cores.
fn where_it_ran(page: &mut Page, facts: &Facts, sources: &Sources) -> Result<(), String> {
    page.section("where", "Ranks and cores");
    if facts.summary.hosts.len() > 1 {
        let mut table = Table::new(["host", "processes"]);
        for host in facts.summary.hosts.iter().take(MOST_BLOCKS) {
            table.row([host.name.clone(), host.processes.to_string()]);
        }
        page.table("hosts", &table);
    }
    for (number, devices) in facts.summary.devices.iter().enumerate() {
        page.heading(&format!(
            "Network interfaces and GPUs of {}",
            devices.title()
        ));
        page.table(&format!("devices-{number}"), &devices.table());
    }
    if !facts.summary.locations.is_empty() {
        page.heading("Hosts on the network, as their system told");
        page.table("locations", &locations::table(&facts.summary.locations));
    }
    let machine = match &facts.machine {
        Ok(machine) => machine,
        Err(reason) => {
            page.paragraph(&format!("Nothing is known of the cores: {reason}"));
            page.end_section();
            return Ok(());
        }
    };
    if let Some((_, file)) = &sources.placement {
        let moved = file
            .permutation
            .iter_enumerated()
            .filter(|(process, rank)| process.0 != rank.0);
        page.paragraph(&format!(
            "The placement ({}) gives {} of {} another rank than the launcher.",
            file.strategy,
            moved.count(),
            pluralize(file.ranks, "process")
        ));
    }
    page.figure(
        "tree",
        "The tree of the machine with its ranks; a line is the broader the more bytes go over it",
        &pictures::tree(machine),
    )?;
    let before = placement::blocks(&machine.topology, &machine.before.leaf_of_rank);
    let after = machine
        .after
        .as_ref()
        .map(|after| placement::blocks(&machine.topology, &after.state.leaf_of_rank));
    page.table("ranks", &blocks_table(&before, after.as_deref()));
    if before.len() > MOST_BLOCKS {
        page.paragraph(&format!(
            "The first {MOST_BLOCKS} of {} are listed.",
            before.len()
        ));
    }
    page.end_section();
    Ok(())
}

fn blocks_table(before: &[(String, String)], after: Option<&[(String, String)]>) -> Table {
    let Some(after) = after else {
        let mut table = Table::new(["cores of", "ranks"]);
        for (name, ranks) in before.iter().take(MOST_BLOCKS) {
            table.row([name, ranks]);
        }
        return table;
    };
    let mut table = Table::new(["cores of", "ranks before", "after"]);
    let mut names: Vec<&String> = before.iter().map(|(name, _)| name).collect();
    names.extend(
        after
            .iter()
            .map(|(name, _)| name)
            .filter(|&name| before.iter().all(|(other, _)| other != name)),
    );
    let of = |blocks: &[(String, String)], searched: &String| {
        let found = blocks.iter().find(|(name, _)| name == searched);
        found.map_or("-".to_owned(), |(_, ranks)| ranks.clone())
    };
    for name in names.into_iter().take(MOST_BLOCKS) {
        table.row([name.clone(), of(before, name), of(after, name)]);
    }
    table
}

/// Writes heat maps, layers, pairs, phases and times.
fn what_crosses(page: &mut Page, facts: &Facts) -> Result<(), String> {
    page.section("crosses", "Traffic by link");
    if let Ok(machine) = &facts.machine {
        page.figure(
            "heat",
            "Traffic between ranks, in the order of the cores; the blocks are those of the machine",
            &pictures::heat_maps(machine)?.laid_out(),
        )?;
        if machine.after.is_none() {
            let cost = machine.before.situation().dist_comm(&machine.topology);
            page.table(
                "levels",
                &levels::single_table(&machine.crossings, Unit::Bytes, cost),
            );
        }
    }
    if let Ok(machine) = &facts.machine
        && let Some(words) = machine.near_network().and_then(|near| near.in_words())
    {
        page.paragraph(&format!("Exchanged {words}."));
    }
    on_network(page, facts)?;
    if let Some(picture) = &facts.by_rank {
        let words = "Traffic between ranks, in their order";
        page.figure("heat", words, &picture.laid_out())?;
    }
    page.heading("By kind of call");
    page.table("layers", &facts.summary.layer_table());
    collectives_of(page, &facts.summary);
    if !facts.summary.top_pairs.is_empty() {
        page.heading("The busiest pairs");
        page.table("pairs", &facts.summary.pair_table());
    }
    if let Some(busiest) = &facts.summary.busiest {
        let lines = busiest.text(facts.summary.symmetry);
        page.list(&lines.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    if !facts.summary.phases.is_empty() {
        page.heading("Phases, and how alike they are");
        page.table("phases", &phases::table(&facts.summary.phases));
    }
    if !facts.summary.windows.is_empty() {
        page.heading("One-sided communication, by window and kind of epoch");
        page.table("windows", &windows::table(&facts.summary.windows));
    }
    match (&facts.summary.one_sided, &facts.windows_problem) {
        (Some(judgement), _) => {
            page.heading("Joined puts and other epochs");
            page.list(&[judgement.caption()]);
            if !judgement.epochs.is_empty() {
                page.table("judged", &judgement.table());
                page.list(&judgement.worst);
            }
        }
        (None, Some(problem)) => page.list(std::slice::from_ref(problem)),
        (None, None) => {}
    }
    if !facts.summary.guard.is_empty() {
        page.heading("Guard on collectives: what was tried against the MPI's own choice");
        page.table("guard", &guard::table(&facts.summary.guard));
        page.list(guard::caption(&facts.summary.guard).as_slice());
    }
    if !facts.summary.guarded_epochs.is_empty() {
        page.heading("Guard on small puts: joined, against each on its own");
        let table = guard::epochs_table(&facts.summary.guarded_epochs);
        page.table("guarded-epochs", &table);
    }
    if let Some(times) = &facts.summary.times {
        page.heading("Time in MPI");
        page.table("times", &times.class_table());
    }
    page.end_section();
    Ok(())
}

/// Writes the links of the network, and the traffic over them.
fn on_network(page: &mut Page, facts: &Facts) -> Result<(), String> {
    let Ok(machine) = &facts.machine else {
        return Ok(());
    };
    let (Some(gain), Some(links)) = (machine.on_network(), pictures::links(machine)) else {
        return Ok(());
    };
    page.heading("The links of the network");
    let words = match machine.network.as_ref().map(|nodes| nodes.network()) {
        Some(Network::Lattice(_)) => {
            "Planes of the network: lines are links, dots the most loaded link out of the plane"
        }
        Some(Network::Dragonfly(_)) => {
            "Groups on a circle: lines are links between groups, dots the most loaded link inside"
        }
        Some(Network::FatTree(_)) => "Nodes at the bottom, the switches of each level above",
        _ => "Vertices on a circle, and the links between them",
    };
    page.figure("network", words, &links)?;
    page.table(
        "network-loads",
        &match machine.after {
            Some(_) => gain.table(Unit::Bytes),
            None => gain.single_table(Unit::Bytes),
        },
    );
    page.paragraph(&format!(
        "{}. Loads are those of this job alone, by the routing that is named.",
        capitalized(&gain.place())
    ));
    Ok(())
}

/// Writes the sources of the collectives' traffic: modelled, or as run.
fn collectives_of(page: &mut Page, summary: &Summary) {
    let modelled = summary.layers.iter().any(|layer| layer.modelled);
    let as_run = summary.layers.iter().any(|layer| layer.as_run);
    match (as_run, modelled) {
        (false, false) => (),
        (false, true) => page.paragraph("The traffic of collectives is modelled from their calls, groups and sizes; all else was counted."),
        (true, _) => page.paragraph("Collectives that plans ran have the messages of these plans, as run; the MPI's own are modelled from their calls, groups and sizes; all else was counted."),
    }
    if collectives::is_any_planned(&summary.collectives) {
        page.table("collectives", &collectives::table(&summary.collectives));
    }
    if let Some(between) = &summary.between_clusters {
        page.paragraph(&format!("{}.", capitalized(&between.text())));
    }
}
