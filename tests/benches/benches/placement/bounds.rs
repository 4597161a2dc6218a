//! Ratio of placements to the lower bound of all placements.

use treepie_placement::bound::lower_bound;
use treepie_placement::{Effort, Options, Strategy, place};
use treepie_topology::Topology;

use crate::clock;
use crate::suite::{self, Instance};

/// Prints a line for each pattern: on the tree of the suite, and on four clusters.
pub fn table(patterns: &[String], sizes: &[usize]) -> Result<(), String> {
    println!("| pattern | ranks | tree | above the bound | time of the bound |");
    println!("|---|---|---|---|---|");
    for &ranks in sizes {
        for pattern in patterns {
            let Some(edges) = suite::edges(pattern, ranks) else {
                continue;
            };
            let instance = Instance::new(pattern, ranks, &edges, &suite::shuffle(ranks))?;
            row(&instance, &instance.topology)?;
            let clusters = Topology::from_arity_list(&[4, 4, ranks / 16], None);
            let clusters =
                clusters.and_then(|tree| tree.with_level_distances(&[1000.0, 10.0, 1.0]));
            row(&instance, &clusters.map_err(|error| error.to_string())?)?;
        }
    }
    Ok(())
}

fn row(instance: &Instance, topology: &Topology) -> Result<(), String> {
    let options = Options {
        effort: Effort::Strong,
        ..Options::default()
    };
    let found = place(Strategy::Best, &instance.matrix, topology, &options);
    let found = found.map_err(|error| error.to_string())?;
    let start = clock::of_this_thread()?;
    let bound = lower_bound(&instance.matrix, topology, &found.placement.leaf_of_rank);
    let seconds = clock::of_this_thread()? - start;
    let arities: Vec<String> = topology
        .widest_arities()
        .iter()
        .map(usize::to_string)
        .collect();
    println!(
        "| {} | {} | {} | {:.1} % | {seconds:.2} s |",
        instance.pattern,
        instance.ranks,
        arities.join(":"),
        100.0 * (found.cost / bound - 1.0),
    );
    Ok(())
}
