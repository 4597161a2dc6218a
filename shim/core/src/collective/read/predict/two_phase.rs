//! A broadcast in two phases as something that can be run: who sends to whom, in which
//! pieces. What is measured of it stands beside what is predicted for it.

use std::str::FromStr;

use super::across::Across;
use super::{Collective, Platform, Prediction, Question, Shape, Tree};
use crate::platform::orders::Order;

/// Who sends to whom, and in which pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoPhase {
    /// Children of every rank: first those in other clusters.
    pub tree: Tree,
    /// Bytes of the pieces in which each rank gets the message.
    pub pieces: Vec<u64>,
}

/// The broadcast that `strategy`, an order of clusters or `magpie`, is predicted for.
///
/// `None` for another strategy, for what is best inside a cluster and is no tree of
/// its ranks, and for hosts of several ranks, which make a phase of their own.
pub fn two_phase(platform: &Platform, question: &Question, strategy: &str) -> Option<TwoPhase> {
    if platform.hosts().iter().any(|host| host.ranks.len() > 1) {
        return None;
    }
    let shape = Shape::of(platform, None);
    let across = Across::of(platform, &shape, question);
    let bytes = question.bytes;
    let (order, inside) = match strategy {
        "magpie" => {
            let binomial = Prediction::new("binomial", 0.0);
            (Order::Flat, vec![binomial; shape.clusters.len()])
        }
        other => {
            let order = Order::from_str(other).ok()?;
            (order, across.inside(Collective::Bcast, bytes))
        }
    };
    let seconds = inside.iter().map(|best| best.seconds).collect();
    let costs = across.costs(|_, _| bytes, seconds)?;
    let ranks = platform.ranks();
    let leader = |cluster: usize| match cluster == across.root {
        true => question.root,
        false => platform.clusters()[cluster].leader,
    };
    let mut children = vec![Vec::new(); ranks];
    for send in order.schedule(&costs, across.root).sends {
        children[leader(send.from)].push(leader(send.to));
    }
    let mut pieces = vec![bytes; ranks];
    for (cluster, best) in inside.iter().enumerate() {
        let mut members = platform.ranks_of(cluster);
        let first = members.iter().position(|&rank| rank == leader(cluster))?;
        members.swap(0, first);
        let tree = match best.strategy.as_str() {
            "flat" | "segmented-flat" => Tree::flat(members.len(), 0),
            "binomial" | "segmented-binomial" => Tree::binomial(members.len(), 0),
            "chain" | "segmented-chain" => Tree::chain(members.len(), 0),
            "none" => continue,
            _ => return None,
        };
        for (place, below) in tree.children.iter().enumerate() {
            children[members[place]].extend(below.iter().map(|&child| members[child]));
        }
        for &member in &members[1..] {
            pieces[member] = best.segment.unwrap_or(bytes);
        }
    }
    let root = question.root;
    Some(TwoPhase {
        tree: Tree { children, root },
        pieces,
    })
}
