//! Cards at the top of the page: the most important numbers first.

use treepie_placement::worth::{NOTHING, saved};

use super::facts::Facts;
use super::page::Card;
use super::sources::Sources;
use crate::clusters::{self, BetweenClusters};
use crate::picture::scale::Unit;
use crate::summary::Summary;
use crate::units;
use crate::words::pluralize;

/// True if a value fell, false if it rose; `None` if the change does not count.
fn is_better(before: f64, after: f64) -> Option<bool> {
    match saved(before, after) {
        part if part >= NOTHING => Some(true),
        part if part <= -NOTHING => Some(false),
        _ => None,
    }
}

/// The most important numbers.
pub(crate) fn cards(facts: &Facts, sources: &Sources) -> Vec<Card> {
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
                    better: is_better(before, after),
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
                better: is_better(before, after),
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

/// Traffic between the clusters used by plans, in both runs.
pub(crate) fn between_clusters(facts: &Facts, sources: &Sources) -> Option<[BetweenClusters; 2]> {
    let machine = facts.machine.as_ref().ok()?;
    let after = machine.after.as_ref().filter(|after| after.measured)?;
    let second = (&sources.after.as_ref()?.1, &after.state.bytes);
    clusters::before_and_after((&sources.before.1, &machine.before.bytes), second)
}

pub(crate) fn some_messages(summary: &Summary) -> String {
    format!(
        "{} messages, {} of ranks",
        units::count(summary.messages as f64),
        pluralize(summary.pairs, "ordered pair")
    )
}
