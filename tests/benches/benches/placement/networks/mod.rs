//! Placements on networks that are not trees, compared with Scotch's `gmap` with the same target,
//! on the rows of a suite of tori, meshes, parts of a torus, a dragonfly and a HyperX.
//!
//! ```text
//! cargo bench -p treepie-benches --bench placement -- --networks [--strong|--fast] [--large]
//!     [--only HOSTS]
//! ```

mod guests;
mod hosts;
mod scotch;

use std::collections::BTreeMap;

use treepie_base::{Leaf, Rank, Slice};
use treepie_placement::objective::{Measures, Objective};
use treepie_placement::{Effort, Hardware, Options, Strategy, place};
use treepie_traffic::Matrix;

use crate::clock;
use guests::Guest;
use hosts::Host;

/// The requested rows.
pub struct Request {
    pub effort: Effort,
    pub only: Option<Vec<String>>,
    pub large: bool,
}

/// Ratios of a class of rows: cost, most loaded link, and CPU time.
#[derive(Default)]
struct Ratios {
    cost: Vec<f64>,
    link: Vec<f64>,
    seconds: Vec<f64>,
}

/// Prints all rows.
pub fn table(request: &Request) -> Result<(), String> {
    let scotch = scotch::Scotch::find()?;
    let mut classes: BTreeMap<&'static str, Ratios> = BTreeMap::new();
    let wanted = |host: &Host| {
        let only = request.only.as_ref();
        only.is_none_or(|only| only.iter().any(|name| host.name.starts_with(name.as_str())))
    };
    let mut missed = Vec::new();
    for host in hosts::all(request.large)?.into_iter().filter(wanted) {
        println!(
            "\n{}, {} nodes of {}",
            host.name,
            host.nodes.count(),
            host.slots
        );
        println!(
            "{:12} {:>8} {:>12} {:>12} {:>8} {:>12} {:>8} {:>6}  most loaded link of gmap, treepie",
            "guest", "order", "identity", "gmap", "CPU s", "treepie", "CPU s", "ratio"
        );
        for name in &host.guests {
            let guest = Guest::new(name)?;
            for shuffle in 0..=3 {
                let row = Row::measure(&host, &guest, shuffle, request.effort, scotch.as_ref())?;
                row.print();
                if row.ours.cost > row.identity * (1.0 + 1e-9) {
                    missed.push(format!("{} {name}: above identity", host.name));
                }
                let optimum = host.optimum(name);
                if optimum.is_some_and(|optimum| row.ours.cost > optimum * (1.0 + 1e-9)) {
                    missed.push(format!(
                        "{} {name}: {} above the optimum {}",
                        host.name,
                        row.ours.cost,
                        optimum.unwrap_or_default()
                    ));
                }
                if let Some(peer) = &row.peer {
                    for class in host.classes(name) {
                        let ratios = classes.entry(class).or_default();
                        ratios.cost.push(row.ours.cost / peer.cost);
                        ratios.link.push(row.ours.link / peer.link);
                        ratios.seconds.push(row.ours.seconds);
                    }
                }
            }
        }
    }
    println!("\ngeometric means of Treepie's cost by gmap's, and of the most loaded links");
    for (class, ratios) in &classes {
        let mean = |values: &[f64]| {
            let logarithms = values.iter().map(|value| value.max(1e-12).ln());
            (logarithms.sum::<f64>() / values.len() as f64).exp()
        };
        let most = ratios.seconds.iter().copied().fold(0.0, f64::max);
        println!(
            "{class:36} {:7.4} {:7.4}  ({} rows, at most {most:.3} s)",
            mean(&ratios.cost),
            mean(&ratios.link),
            ratios.cost.len()
        );
    }
    for line in missed {
        println!("missed: {line}");
    }
    Ok(())
}

/// The result of a mapper for a row.
struct Found {
    cost: f64,
    link: f64,
    seconds: f64,
}

struct Row {
    guest: String,
    shuffle: u64,
    identity: f64,
    ours: Found,
    peer: Option<Found>,
}

impl Row {
    fn measure(
        host: &Host,
        guest: &Guest,
        shuffle: u64,
        effort: Effort,
        scotch: Option<&scotch::Scotch>,
    ) -> Result<Row, String> {
        let matrix = guest.matrix(shuffle)?;
        let measured = |matrix: &Matrix, leaves: &Slice<Rank, Leaf>, seconds: f64| {
            let measures = Measures::new(matrix, &host.topology, &host.nodes, leaves);
            Found {
                cost: measures.hop_bytes,
                link: measures.loads.most_load,
                seconds,
            }
        };
        let options = Options {
            effort,
            threads: 1,
            objective: Objective::Sum,
            ..Options::default()
        };
        let start = clock::of_this_thread()?;
        let hardware = Hardware {
            topology: &host.topology,
            network: Some(&host.nodes),
        };
        let placed = place(Strategy::Best, &matrix, hardware, &options);
        let placed = placed.map_err(|error| error.to_string())?;
        let seconds = clock::of_this_thread()? - start;
        let peer = match scotch {
            Some(scotch) if guest.ranks() <= 20_000 => {
                let (leaves, seconds) = scotch.map(host, &matrix)?;
                Some(measured(&matrix, &Leaf::list(leaves), seconds))
            }
            _ => None,
        };
        Ok(Row {
            guest: guest.name.clone(),
            shuffle,
            identity: placed.identity_cost,
            ours: measured(&matrix, &placed.placement.leaf_of_rank, seconds),
            peer,
        })
    }

    fn print(&self) {
        let order = match self.shuffle {
            0 => "natural".to_owned(),
            seed => format!("shuffle {seed}"),
        };
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let peer = self.peer.as_ref();
        println!(
            "{:12} {order:>9} {:>11.0} {:>12} {:>8} {:>12.0} {:>8.3} {:>6}  {} {:.0}",
            self.guest,
            self.identity,
            number(peer.map(|p| p.cost), 0),
            number(peer.map(|p| p.seconds), 3),
            self.ours.cost,
            self.ours.seconds,
            number(peer.map(|p| self.ours.cost / p.cost), 3),
            number(peer.map(|p| p.link), 0),
            self.ours.link,
        );
    }
}
