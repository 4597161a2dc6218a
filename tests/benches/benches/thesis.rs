//! LaPIe's experiments on grids, with the statements of its thesis: `cargo bench -p treepie-benches
//! --bench thesis`.
//!
//! For each algorithm of a collective: its formula (chapter 7), the simulation by the thesis's
//! rules (whole messages, a process sends one at a time, nothing is shared), and the present plan,
//! in segments, with the trees of each cluster, if connections of a site share its link.
#![allow(clippy::unwrap_used)] // a benchmark may panic

use treepie_base::Cluster;
use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::algorithms::Between;
use treepie_collective::network::Computing;
use treepie_collective::read::simulate::{Options, Sending, simulate};
use treepie_collective::{Algorithm, Clusters, Network, Operation, Uniform};
use treepie_native::Family;
use treepie_platform::orders::Order;
use treepie_thesis::experiments::{ALL, Contender, Experiment};
use treepie_thesis::links::{MessageModel, Modelled};
use treepie_thesis::models::chapter_7::{Served, exchange_bound, scatter_direct, scatter_grouped};
use treepie_thesis::models::segment::Segmented;
use treepie_thesis::models::tables_6_1_and_6_2::Broadcast;
use treepie_thesis::models::{Group, Reading, makespan};

/// Round trips in which a connection grows to its window (thesis 7.2.2: 6 to 8).
const SLOW_START: f64 = 7.0;

fn main() {
    for experiment in &ALL {
        let (top, without) = experiment.tops;
        let without = without.map_or(String::new(), |top| format!(", {top} s without LAM"));
        println!(
            "\n{} on {} (figures {}: axis to {top} s{without})\n",
            experiment.operation, experiment.grid.name, experiment.figures
        );
        for &bytes in experiment.bytes {
            table(experiment, bytes);
        }
    }
}

fn table(experiment: &Experiment, bytes: u64) {
    let call = Uniform {
        operation: experiment.operation,
        bytes,
        root: 0,
    };
    let platform = experiment.grid.platform();
    let predictor = Predictor::new(&platform, call, Family::OpenMpi, Computing::default()).unwrap();
    let one_port = experiment.grid.network();
    println!(
        "| {} KiB | thesis | formula, s | by its rules, s | over the formula | today, s | trees inside |",
        bytes >> 10
    );
    println!("|---|---|---|---|---|---|---|");
    for contender in experiment.contenders {
        let formula = formula(contender, &call, &one_port);
        let simulated = by_the_rules(contender, &call, &one_port);
        let ratio = formula.map_or("-".to_owned(), |formula| {
            format!("{:.2}", simulated / formula)
        });
        let today = predictor
            .of(
                algorithm(contender, call.operation),
                whole_of_lam(contender, &call),
            )
            .unwrap();
        println!(
            "| {} | {} | {} | {simulated:.3} | {ratio} | {} |",
            contender.name,
            contender.remark,
            formula.map_or("-".to_owned(), |formula| format!("{formula:.3}")),
            plan(&today)
        );
    }
    let (name, chosen) = match predictor.chosen() {
        Some(algorithm) => (algorithm.name, predictor.of(algorithm, None).unwrap()),
        None => ("the MPI's own", native(&predictor)),
    };
    let estimated = chosen.estimated.map_or(String::new(), |seconds| {
        format!(", estimated {seconds:.3} s")
    });
    println!(
        "| `auto`: `{name}`{estimated} | | | | | {} |",
        plan(&chosen)
    );
    println!("| bound | | | | | {:.3} | |\n", predictor.bound());
    if call.operation == Operation::Bcast {
        inside(experiment, &call, &one_port);
    }
}

fn native(predictor: &Predictor) -> Prediction {
    let all = predictor.all(None).unwrap();
    all.into_iter().find(|one| one.algorithm.is_none()).unwrap()
}

/// The strategies inside clusters by table 6.2, and the ratio of the time of Flat to that of ECEF
/// from each cluster: the thesis does not give the roots.
fn inside(experiment: &Experiment, call: &Uniform, network: &Network) {
    let clusters = Clusters::of_network(network);
    let best = |(cluster, &size): (Cluster, &usize)| {
        let link = Modelled::new(MessageModel::PLogP, network.within(cluster)?);
        Some(Broadcast::choose(Group::new(size, &link), call.bytes, 1))
    };
    let sizes = clusters.all().zip(experiment.grid.sizes);
    let best: Vec<_> = sizes.filter_map(best).collect();
    let mut strategies: Vec<String> = best
        .iter()
        .map(|(strategy, _)| format!("{strategy:?}"))
        .collect();
    strategies.dedup();
    let range = |of: &dyn Fn(&Segmented) -> f64| {
        let all = || best.iter().map(|(_, best)| of(best));
        (
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        )
    };
    let (least, most) = range(&|best| 1e3 * best.seconds);
    let (shortest, longest) = range(&|best| best.segment as f64);
    println!(
        "Inside, by table 6.2: {} in segments of {shortest} to {longest} B, {least:.1} to {most:.1} ms.",
        strategies.join(", ")
    );
    let roots: Vec<String> = clusters
        .all()
        .map(|cluster| {
            let call = Uniform {
                root: experiment.grid.first_of(cluster),
                ..*call
            };
            let span =
                |order| makespan(order, &call, network, &clusters, Reading::default()).unwrap();
            format!("{:.2}", span(Order::Flat) / span(Order::Ecef))
        })
        .collect();
    println!("Flat over ECEF from each cluster: {}.\n", roots.join(", "));
}

fn algorithm(contender: &Contender, operation: Operation) -> &'static Algorithm {
    Algorithm::find(operation, contender.algorithm).unwrap()
}

/// LAM does not segment messages.
fn whole_of_lam(contender: &Contender, call: &Uniform) -> Option<u64> {
    (contender.name == "LAM").then_some(call.bytes)
}

/// Time of a plan, with its trees inside clusters and its segments.
fn plan(prediction: &Prediction) -> String {
    let seconds = prediction
        .simulated
        .map_or("-".to_owned(), |seconds| format!("{seconds:.3}"));
    match &prediction.inside {
        Some(inside) => format!("{seconds} | {inside}, in {} KiB", prediction.segment >> 10),
        None => format!("{seconds} | -"),
    }
}

/// The thesis's formula; `None` for LAM's tree over ranks, which has none on a grid.
fn formula(contender: &Contender, call: &Uniform, network: &Network) -> Option<f64> {
    let clusters = Clusters::of_network(network);
    let algorithm = algorithm(contender, call.operation);
    match (call.operation, algorithm.name) {
        (Operation::Bcast, "grid-flat") => {
            makespan(Order::Flat, call, network, &clusters, Reading::default())
        }
        (Operation::Bcast, _) => match algorithm.tree {
            Some((Between::Order(order), _)) => {
                makespan(order, call, network, &clusters, Reading::default())
            }
            _ => None,
        },
        (Operation::Scatter, "flat") => Some(scatter_direct(network, call.bytes, SLOW_START)),
        (Operation::Scatter, "grid-grouped") => Some(scatter_grouped(
            network,
            &clusters,
            call.bytes,
            Served::InOrder,
        )),
        (Operation::Scatter, _) => Some(scatter_grouped(
            network,
            &clusters,
            call.bytes,
            Served::SlowestFirst,
        )),
        _ => Some(exchange_bound(network, call.bytes)),
    }
}

/// Seconds with whole messages and one port per process.
fn by_the_rules(contender: &Contender, call: &Uniform, network: &Network) -> f64 {
    let clusters = Clusters::of_network(network);
    let plans =
        algorithm(contender, call.operation).plans(call, Some(network), &clusters, u64::MAX >> 8);
    let options = Options {
        sending: Sending::OnePort,
        ..Options::default()
    };
    simulate(network, &plans, 1, options).unwrap().seconds
}
