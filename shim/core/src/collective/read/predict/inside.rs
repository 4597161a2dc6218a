//! Strategies inside one cluster: every model of chapter 6 between its hosts,
//! and the best one on each host.

use super::{ClusterShape, Collective, Prediction, Question};
use crate::collective::read::models::allgather::Allgather;
use crate::collective::read::models::allreduce::Allreduce;
use crate::collective::read::models::alltoall::Alltoall;
use crate::collective::read::models::barrier::Barrier;
use crate::collective::read::models::broadcast::Broadcast;
use crate::collective::read::models::reduce::Reduce;
use crate::collective::read::models::scatter::Scatter;
use crate::collective::read::models::{Form, Group, Segmented, best_segment};
use crate::platform::Contention;
use crate::platform::Link;

/// A group of `processes` on `link`, with the reading that is asked for.
pub(super) fn group<'a>(processes: usize, link: &'a Link, form: Form) -> Group<'a> {
    let group = Group::new(processes, link);
    match form {
        Form::Corrected => group,
        Form::Thesis => group.as_printed(),
    }
}

/// All strategies, in the order of the models; one of no time for a cluster of
/// one rank.
pub(super) fn all(cluster: &ClusterShape<'_>, question: &Question) -> Vec<Prediction> {
    let phases = cluster.phases();
    let Some((&(processes, link), closer)) = phases.split_first() else {
        return vec![Prediction::new("none", 0.0)];
    };
    // The ranks of a host together are one process of the outer phase.
    let per_host = match closer.is_empty() {
        true => 1,
        false => cluster.ranks_on_host as u64,
    };
    let outer = group(processes, link, question.form);
    let contention = cluster.contention.unwrap_or(Contention::NONE);
    let mut predictions = of_group(outer, question, per_host, contention);
    for &(processes, link) in closer {
        let inner = of_group(
            group(processes, link, question.form),
            &inner_question(question, cluster.ranks as u64),
            1,
            Contention::NONE,
        );
        let Some(best) = inner
            .into_iter()
            .min_by(|one, other| one.seconds.total_cmp(&other.seconds))
        else {
            continue;
        };
        let ways = ways(question.collective);
        for prediction in &mut predictions {
            prediction.seconds += ways * best.seconds;
            prediction.inside = Some(best.strategy.clone());
        }
    }
    predictions
}

/// The quickest of [`all`].
pub(super) fn best(cluster: &ClusterShape<'_>, question: &Question) -> Prediction {
    all(cluster, question)
        .into_iter()
        .min_by(|one, other| one.seconds.total_cmp(&other.seconds))
        .unwrap_or_else(|| Prediction::new("none", 0.0))
}

/// What is left to do on a host: everything has been gathered by then.
fn inner_question(question: &Question, ranks: u64) -> Question {
    match question.collective {
        Collective::Allgather => Question {
            collective: Collective::Bcast,
            bytes: question.bytes.saturating_mul(ranks),
            ..*question
        },
        Collective::Alltoall => Question {
            collective: Collective::Scatter,
            bytes: question.bytes.saturating_mul(ranks),
            ..*question
        },
        Collective::Allreduce => Question {
            collective: Collective::Reduce,
            ..*question
        },
        _ => *question,
    }
}

/// How often the ranks of a host are served: once, or in and out.
fn ways(collective: Collective) -> f64 {
    match collective {
        Collective::Allreduce | Collective::Alltoall => 2.0,
        _ => 1.0,
    }
}

/// The models of one collective for one group whose members stand for
/// `members` ranks each.
fn of_group(
    group: Group<'_>,
    question: &Question,
    members: u64,
    contention: Contention,
) -> Vec<Prediction> {
    let (bytes, computing) = (question.bytes, question.computing);
    let block = bytes.saturating_mul(members);
    match question.collective {
        Collective::Bcast => Broadcast::ALL
            .map(|strategy| {
                let found = match question.segment {
                    Some(segment) => Segmented {
                        segment,
                        seconds: strategy.seconds(group, bytes, segment),
                    },
                    None => strategy.best(group, bytes, question.granularity),
                };
                Prediction {
                    segment: strategy.is_segmented().then_some(found.segment),
                    ..Prediction::new(strategy, found.seconds)
                }
            })
            .into(),
        Collective::Scatter | Collective::Gather => Scatter::ALL
            .map(|strategy| Prediction::new(strategy, strategy.seconds(group, block)))
            .into(),
        Collective::Reduce => Reduce::ALL
            .map(|strategy| {
                let cost = |segment| strategy.seconds(group, computing, bytes, segment);
                match strategy.is_segmented() {
                    false => Prediction::new(strategy, cost(bytes)),
                    true => {
                        let found = match question.segment {
                            Some(segment) => Segmented {
                                segment,
                                seconds: cost(segment),
                            },
                            None => best_segment(bytes, question.granularity, cost),
                        };
                        Prediction {
                            segment: Some(found.segment),
                            ..Prediction::new(strategy, found.seconds)
                        }
                    }
                }
            })
            .into(),
        Collective::Allreduce => Allreduce::ALL
            .map(|s| Prediction::new(s, s.seconds(group, computing, bytes)))
            .into(),
        Collective::Allgather => Allgather::ALL
            .map(|strategy| Prediction::new(strategy, strategy.seconds(group, block)))
            .into(),
        Collective::Alltoall => {
            let block = block.saturating_mul(members);
            Alltoall::ALL
                .map(|s| Prediction::new(s, s.seconds(group, contention, block)))
                .into()
        }
        Collective::Barrier => Barrier::ALL
            .map(|strategy| Prediction::new(strategy, strategy.seconds(group)))
            .into(),
    }
}
