//! The parts of the report, from top to bottom.

use treepie_topology::networks::Network;

use super::facts::{Facts, State};
use super::page::{Card, Page};
use super::pictures;
use super::sources::Sources;
use crate::clusters::{self, BetweenClusters};
use crate::input::plan::Simulated;
use crate::input::topology::describe;
use crate::levels::{self, between};
use crate::picture::Unit;
use crate::summary::Summary;
use crate::table::Table;
use crate::words::{file_name, pluralize};
use crate::{
    collectives, guard, locations, phases, placement, plan, platform, times, units, windows,
};

/// More blocks than this are left to `treepie show --json`.
const MOST_BLOCKS: usize = 64;

/// The application's command.
pub fn title(summary: &Summary) -> String {
    match summary.command.as_str() {
        "" => summary.file.clone(),
        command => command.to_owned(),
    }
}

/// `16 ranks on mygale, Open MPI v4.1.4, 2026-11-21T04:03:48Z`.
pub(crate) fn facts_line(summary: &Summary) -> String {
    let hosts = match &summary.hosts[..] {
        [host] => host.name.clone(),
        hosts => pluralize(hosts.len(), "host"),
    };
    let ranks = pluralize(summary.ranks, "rank");
    format!("{ranks} on {hosts}, {}, {}", summary.mpi, summary.date)
}

/// Program and sources of the page.
pub(crate) fn footer(origin: &str) -> String {
    format!("treepie {}, from {origin}", env!("CARGO_PKG_VERSION"))
}

/// Names of the files that a report is made of.
pub fn files_of(sources: &Sources) -> String {
    let mut files = vec![file_name(&sources.before.0)];
    files.extend(sources.after.as_ref().map(|(path, _)| file_name(path)));
    files.extend(sources.placement.as_ref().map(|(path, _)| file_name(path)));
    files.extend(sources.platform.as_ref().map(|(path, _)| file_name(path)));
    files.join(", ")
}

/// All sections.
///
/// # Errors
/// Errors of drawing.
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
        let drawing = platform::drawing(&file_name(path), &file.platform);
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
        page.section("how", "How it was run");
        page.list(&facts.summary.notes);
        page.end_section();
    }
    Ok(())
}

/// The figures that matter.
fn cards(facts: &Facts, sources: &Sources) -> Vec<Card> {
    let summary = &facts.summary;
    let bytes = |value: f64| Unit::Bytes.text(value);
    let mut cards = Vec::new();
    if let Ok(machine) = &facts.machine {
        let whole: f64 = machine.crossings.iter().map(|c| c.bytes_before).sum();
        if let (Some(top), Some(after)) = (machine.crossings.first(), &machine.after) {
            let change =
                |id, name: String, before: f64, after: f64, text: &dyn Fn(f64) -> String| Card {
                    id,
                    name,
                    value: units::change(before, after),
                    detail: format!("{} to {}", text(before), text(after)),
                    better: (before != after).then_some(after < before),
                };
            if let Some([first, second]) = between_clusters(facts, sources) {
                cards.push(change(
                    "clusters",
                    "bytes between clusters".into(),
                    first.bytes,
                    second.bytes,
                    &bytes,
                ));
            }
            let short = top.between.split(" (").next().unwrap_or(&top.between);
            cards.push(change(
                "top-level",
                format!("bytes {short}"),
                top.bytes_before,
                top.bytes_after,
                &bytes,
            ));
            let sum = after.gain.sum;
            let what = match &after.gain.network {
                Some(_) => "bytes x links of the network",
                None => "DistComm, bytes x distance",
            };
            cards.push(change(
                "dist-comm",
                what.into(),
                sum.identity,
                sum.placement,
                &|value| units::count(value.round()),
            ));
            if let Some(network) = &after.gain.network {
                cards.push(change(
                    "most-loaded",
                    "most loaded link of the network".into(),
                    network.most_loaded.identity,
                    network.most_loaded.placement,
                    &bytes,
                ));
            } else if let Some(link) = after.gain.links.first() {
                cards.push(change(
                    "busiest-link",
                    format!("busiest link of a {}", link.name),
                    link.before,
                    link.after,
                    &bytes,
                ));
            }
        } else if let Some(top) = machine.crossings.first() {
            let short = top.between.split(" (").next().unwrap_or(&top.between);
            cards.push(Card {
                id: "top-level",
                name: format!("bytes {short}"),
                value: bytes(top.bytes_before),
                detail: format!("{} of all", units::share(top.bytes_before, whole)),
                better: None,
            });
        }
    }
    let times = facts.after.as_ref().and_then(|after| after.times.as_ref());
    if let (Some(before), Some(after)) = (&summary.times, times) {
        let [before, after] = [before, after].map(|times| times.longest_seconds());
        cards.insert(
            0,
            Card {
                id: "seconds",
                name: "time of the slowest rank".into(),
                value: units::change(before, after),
                detail: format!("{} to {}", units::seconds(before), units::seconds(after)),
                better: (before != after).then_some(after < before),
            },
        );
    }
    cards.push(Card {
        id: "sent",
        name: match &facts.after {
            Some(_) => "sent in all, before".into(),
            None => "sent in all".into(),
        },
        value: bytes(summary.bytes as f64),
        detail: some_messages(summary),
        better: None,
    });
    cards
}

/// Traffic between the clusters that plans were made for, in both runs.
fn between_clusters(facts: &Facts, sources: &Sources) -> Option<[BetweenClusters; 2]> {
    let machine = facts.machine.as_ref().ok()?;
    let after = machine.after.as_ref().filter(|after| after.measured)?;
    let second = (&sources.after.as_ref()?.1, &after.state.bytes);
    clusters::before_and_after((&sources.before.1, &machine.before.bytes), second)
}

fn some_messages(summary: &Summary) -> String {
    format!(
        "{} messages, {} of ranks",
        units::count(summary.messages as f64),
        pluralize(summary.pairs, "ordered pair")
    )
}

/// Hosts, and the ranks on each block of cores.
fn where_it_ran(page: &mut Page, facts: &Facts, sources: &Sources) -> Result<(), String> {
    page.section("where", "What ran where");
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
            .iter()
            .enumerate()
            .filter(|(process, rank)| process != *rank);
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

/// Heat maps, layers, pairs, phases, times.
fn what_crosses(page: &mut Page, facts: &Facts) -> Result<(), String> {
    page.section("crosses", "What crosses what");
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

/// The links of the network, and what goes over them.
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

/// Which collectives are modelled, and which are as they were run.
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

/// A sentence's beginning.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Before and after, by level and by link, and in seconds where they were measured.
fn what_was_gained(page: &mut Page, facts: &Facts, sources: &Sources) {
    let Ok(machine) = &facts.machine else {
        return;
    };
    let Some(after) = &machine.after else {
        return;
    };
    page.section("gained", "What was gained");
    let planned = facts.after.as_ref();
    let planned = planned.filter(|summary| collectives::is_any_planned(&summary.collectives));
    page.paragraph(match (after.measured, planned) {
        (true, None) => "Counted in both runs: as the launcher started it, and in the replay.",
        (true, Some(_)) => "From both runs: as the launcher started it, and in the replay, where plans ran collectives; these are as run, the MPI's own modelled, and all else was counted.",
        (false, _) => "Counted in the first run, and computed for the placement. A profile taken in the replay (treepie replay ... -o after.profile.yaml), given as a further file, puts measurement in its place.",
    });
    let cost = |state: &State| state.situation().dist_comm(&machine.topology);
    let costs = (cost(&machine.before), cost(&after.state));
    // A network has its own distances, and its own table.
    let costs = machine.network.is_none().then_some(costs);
    let headings = ("before", "after");
    page.table(
        "levels",
        &levels::table(&machine.crossings, Unit::Bytes, headings, costs),
    );
    if let Some(table) = after.gain.links_table(Unit::Bytes) {
        page.table("links", &table);
    }
    if let Some([first, second]) = between_clusters(facts, sources) {
        page.paragraph(&format!("{}.", capitalized(&first.change(&second))));
    }
    if let Some(summary) = planned {
        page.heading("Collectives in the replay");
        page.table("replaced", &collectives::table(&summary.collectives));
    }
    if let Some(promised) = &after.promised {
        page.heading("What the placement promised, and what was measured");
        let mut table = Table::new(["bytes sent", "promised", "measured"]);
        for (promise, measured) in promised.iter().zip(&machine.crossings) {
            let texts =
                [promise.bytes_after, measured.bytes_after].map(|bytes| Unit::Bytes.text(bytes));
            table.row([promise.between.clone()].into_iter().chain(texts));
        }
        page.table("promised", &table);
    }
    let both = facts
        .summary
        .times
        .as_ref()
        .zip(facts.after.as_ref().and_then(|after| after.times.as_ref()));
    if let Some((first, second)) = both {
        page.heading("Time, of the rank that took longest");
        page.table("seconds", &times::change(first, second));
    }
    page.end_section();
}

/// Pairs that still communicate across, the bound, and the limits of the figures.
fn what_is_left(page: &mut Page, facts: &Facts, sources: &Sources) {
    page.section("left", "What is left");
    let mut lines = Vec::new();
    if let Ok(machine) = &facts.machine {
        match &machine.after {
            Some(after) => {
                lines.push(after.gain.crossing.text(Unit::Bytes));
                lines.extend(after.gain.bound_in_words().map(|words| format!("on these cores, {words}")));
            }
            None => lines.push(format!(
                "no placement has been computed for {}: how much of what goes {} could stay inside is not known",
                describe(&machine.topology),
                between(&machine.topology, 0)
            )),
        }
    }
    let summary = &facts.summary;
    lines.extend(phases::verdict(&summary.phases).map(|verdict| format!("phases: {verdict}")));
    let modelled: u64 = summary
        .layers
        .iter()
        .filter(|layer| layer.modelled)
        .map(|layer| layer.bytes)
        .sum();
    if modelled > 0 {
        let share = units::share(modelled as f64, summary.bytes as f64);
        let run = match facts.after {
            Some(_) => " of the first run",
            None => "",
        };
        lines.push(format!(
            "{share} of the bytes{run} are modelled, not counted"
        ));
    }
    page.list(&lines);
    page.heading("What to do next");
    page.command(&advice(facts, sources));
    page.end_section();
}

/// The next command.
fn advice(facts: &Facts, sources: &Sources) -> String {
    let profile = file_name(&sources.before.0);
    let job = format!(
        "mpirun -n {} {}",
        facts.summary.ranks, facts.summary.command
    );
    match (&sources.placement, &sources.after) {
        (None, _) => format!("treepie map {profile} -o app.placement.yaml"),
        (Some((path, _)), None) => {
            format!(
                "treepie replay {} -o after.profile.yaml -- {job}",
                file_name(path)
            )
        }
        (Some((path, _)), Some(_)) => format!("treepie replay {} -- {job}", file_name(path)),
    }
}
