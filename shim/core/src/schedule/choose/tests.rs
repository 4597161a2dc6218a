use super::*;
use crate::schedule::simulate::{Options, simulate};
use crate::schedule::{Uniform, bound, grids};

const KIB: u64 = 1024;
const BLOCKS: [Operation; 4] = [
    Operation::Gather,
    Operation::Scatter,
    Operation::Allgather,
    Operation::Alltoall,
];
const SIZES: [u64; 3] = [KIB, 64 * KIB, 1 << 20];

fn grids() -> Vec<(&'static str, Network)> {
    vec![
        ("four by four", grids::four_by_four()),
        ("unequal", grids::unequal()),
        ("uneven", grids::uneven()),
    ]
}

fn simulated(network: &Network, clusters: &Clusters, call: &Uniform, plan: &Considered) -> f64 {
    let plans = plan
        .strategy
        .plans(call, Some(network), clusters, plan.segment);
    simulate(network, &plans, 1, Options::default())
        .unwrap()
        .seconds
}

/// One row: what was chosen, on which grid.
struct Row {
    name: String,
    /// Predicted over simulated, for what was chosen.
    ratio: f64,
    /// The chosen plan over the best of all that were considered, both simulated.
    regret: f64,
}

fn rows() -> Vec<Row> {
    let operations = [
        Operation::Bcast,
        Operation::Reduce,
        Operation::Allreduce,
        Operation::Gather,
        Operation::Scatter,
        Operation::Allgather,
        Operation::Alltoall,
        Operation::Barrier,
    ];
    let mut rows = Vec::new();
    for (grid, network) in grids() {
        let clusters = Clusters::of_network(&network);
        let mut chooser = Chooser::new(Some(Arc::new(network.clone())), &clusters, None);
        for operation in operations {
            for bytes in SIZES {
                // Blocks of 64 KiB and less: 16 ranks send 15 of them each.
                let is_blocks = BLOCKS.contains(&operation);
                if (is_blocks && bytes > 64 * KIB)
                    || (operation == Operation::Barrier && bytes > KIB)
                {
                    continue;
                }
                let call = Uniform {
                    operation,
                    bytes,
                    root: 0,
                };
                let choice = chooser.choose(operation, Some(bytes), 0, false, &clusters);
                let chosen = choice.strategy.unwrap();
                let mut times: Vec<(&str, f64, f64)> = choice
                    .considered()
                    .iter()
                    .map(|plan| {
                        let found = simulated(&network, &clusters, &call, plan);
                        (plan.strategy.name, plan.seconds, found)
                    })
                    .collect();
                times.sort_by(|one, other| one.2.total_cmp(&other.2));
                let (_, predicted, taken) = *times
                    .iter()
                    .find(|(name, _, _)| *name == chosen.name)
                    .unwrap();
                rows.push(Row {
                    name: format!(
                        "{grid} {operation} {bytes}: {} (best {}, bound {:.2} ms)",
                        chosen.name,
                        times[0].0,
                        1e3 * bound(&network, &clusters, operation, bytes, 0)
                    ),
                    ratio: predicted / taken,
                    regret: taken / times[0].2,
                });
                for (name, predicted, found) in &times {
                    println!("    {name:24} {:9.3} {:9.3}", 1e3 * predicted, 1e3 * found);
                }
            }
        }
    }
    rows
}

#[test]
fn what_is_chosen_is_nearly_always_the_best_of_all_in_the_simulator_and_predicted_well() {
    let rows = rows();
    for row in &rows {
        println!("{:.3} {:.3} {}", row.ratio, row.regret, row.name);
    }
    let worse = rows.iter().filter(|row| row.regret > 1.05).count();
    assert!(
        worse * 20 <= rows.len(),
        "{worse} of {} rows are more than 5 % above the best",
        rows.len()
    );
    let mut off: Vec<f64> = rows.iter().map(|row| (row.ratio - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    assert!(off[off.len() / 2] <= 0.15, "median {}", off[off.len() / 2]);
}
