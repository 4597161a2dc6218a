//! A profile as long tables: messages by pair of ranks, layer and phase; calls by rank and class.

use treepie_base::Rank;
use treepie_profile::{Phase, Profile, Times};
use treepie_traffic::Layer;

use super::columns::{Column, Columns, Values, number, whole};
use crate::input::choice::MatrixChoice;

/// The host of each rank; empty if the profile does not have it.
pub(super) fn hosts(profile: &Profile) -> Vec<String> {
    let mut of_process = vec![String::new(); profile.ranks];
    for host in &profile.hosts {
        for process in &host.processes {
            if let Some(name) = of_process.get_mut(process.0) {
                name.clone_from(&host.name);
            }
        }
    }
    let host = |process: &treepie_base::Process| of_process.get(process.0).cloned();
    let hosts = profile.process_of_rank.iter().map(host);
    hosts.map(Option::unwrap_or_default).collect()
}

/// The cores that each rank was allowed to use; empty if the profile does not have them.
pub(super) fn cores(profile: &Profile) -> Vec<String> {
    let cores = |process: &treepie_base::Process| profile.allowed_cores.get(*process).cloned();
    let cores = profile.process_of_rank.iter().map(cores);
    cores.map(Option::unwrap_or_default).collect()
}

/// The selected phases: one without a name if the run was not divided.
fn phases<'a>(profile: &'a Profile, choice: &MatrixChoice) -> Vec<Option<&'a Phase>> {
    match profile.phases.is_empty() {
        true => vec![None],
        false => {
            let is_chosen = |phase: &&Phase| {
                let chosen = choice.phase.as_ref();
                chosen.is_none_or(|name| *name == phase.name)
            };
            profile.phases.iter().filter(is_chosen).map(Some).collect()
        }
    }
}

fn name(phase: Option<&Phase>) -> String {
    phase.map_or_else(String::new, |phase| phase.name.clone())
}

/// `sender, receiver, sender_host, receiver_host, layer, phase, messages, bytes`.
pub(super) fn messages(profile: &Profile, choice: &MatrixChoice) -> Columns {
    let hosts = hosts(profile);
    let (mut senders, mut receivers, mut counts, mut bytes) = (vec![], vec![], vec![], vec![]);
    let (mut from, mut to, mut layers, mut names) = (vec![], vec![], vec![], vec![]);
    for phase in phases(profile, choice) {
        for layer in choice.layers() {
            let traffic = match phase {
                Some(phase) => profile.traffic_of_phase(phase, &[layer], choice.model),
                None => profile.traffic_by(&[layer], choice.model),
            };
            for (sender, receiver, moved) in traffic.entries() {
                senders.push(number(sender));
                receivers.push(number(receiver));
                from.push(hosts.get(sender).cloned().unwrap_or_default());
                to.push(hosts.get(receiver).cloned().unwrap_or_default());
                layers.push(layer.to_string());
                names.push(name(phase));
                counts.push(whole(moved.messages));
                bytes.push(whole(moved.bytes));
            }
        }
    }
    columns([
        ("sender", Values::Whole(senders)),
        ("receiver", Values::Whole(receivers)),
        ("sender_host", Values::Text(from)),
        ("receiver_host", Values::Text(to)),
        ("layer", Values::Text(layers)),
        ("phase", Values::Text(names)),
        ("messages", Values::Whole(counts)),
        ("bytes", Values::Whole(bytes)),
    ])
}

/// `rank, host, phase, class, calls, seconds`; `None` if times were not measured.
pub(super) fn calls(profile: &Profile, choice: &MatrixChoice) -> Option<Columns> {
    let hosts = hosts(profile);
    let (mut ranks, mut counts, mut seconds) = (vec![], vec![], vec![]);
    let (mut on, mut names, mut classes) = (vec![], vec![], vec![]);
    let mut is_measured = false;
    for phase in phases(profile, choice) {
        let times: Option<&Times> = match phase {
            Some(phase) => phase.times.as_ref(),
            None => profile.times.as_ref(),
        };
        for (class, of_ranks) in times.into_iter().flat_map(|times| &times.classes) {
            is_measured = true;
            for (rank, time) in of_ranks.iter_enumerated() {
                let Rank(rank) = rank;
                ranks.push(number(rank));
                on.push(hosts.get(rank).cloned().unwrap_or_default());
                names.push(name(phase));
                classes.push(class.to_string());
                counts.push(whole(time.calls));
                seconds.push(time.nanoseconds as f64 / 1e9);
            }
        }
    }
    is_measured.then(|| {
        columns([
            ("rank", Values::Whole(ranks)),
            ("host", Values::Text(on)),
            ("phase", Values::Text(names)),
            ("class", Values::Text(classes)),
            ("calls", Values::Whole(counts)),
            ("seconds", Values::Real(seconds)),
        ])
    })
}

fn columns<const N: usize>(all: [(&'static str, Values); N]) -> Columns {
    let all = all.into_iter();
    Columns(all.map(|(name, values)| Column { name, values }).collect())
}

/// Messages and bytes of all selected layers from rank to rank.
pub(super) fn edges(profile: &Profile, choice: &MatrixChoice) -> Vec<(usize, usize, u64, u64)> {
    let layers: Vec<Layer> = choice.layers();
    let phase = phases(profile, choice)[0].filter(|_| choice.phase.is_some());
    let traffic = match phase {
        Some(phase) => profile.traffic_of_phase(phase, &layers, choice.model),
        None => profile.traffic_by(&layers, choice.model),
    };
    let edge = |(from, to, moved): (usize, usize, treepie_traffic::Traffic)| {
        (from, to, moved.messages, moved.bytes)
    };
    traffic.entries().map(edge).collect()
}
