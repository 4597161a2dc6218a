//! Placements side by side: Treepie's, those of Debian's Scotch (`gmap`) and of
//! a multisection with PyPI's Mt-KaHyPar, on the suite of [`suite`].
//!
//! ```text
//! cargo bench -p treepie-benches --bench placement -- [--python PYTHON] [--strong] [--natural] \
//!     [--only PATTERNS] [SIZES]
//! cargo bench -p treepie-benches --bench placement -- --bounds [--only PATTERNS] [SIZES]
//! cargo bench -p treepie-benches --bench placement -- --networks [--fast|--strong] [--large]
//!     [--only HOSTS]
//! ```
//!
//! `--networks` places on tori, dragonflies and other networks that are not trees: [`networks`].
//! `--bounds` shows the ratio of Treepie's placements to the lower bound of all placements.
//!
//! A peer that is not installed is left out. J is the sum over pairs of ranks of weight times
//! distance; CPU is user and system time of one thread, for the peers without the reading of their
//! input if they report it.

mod bounds;
mod clock;
mod networks;
mod numpy;
mod ours;
mod peers;
mod suite;
mod table;

use std::process::ExitCode;

use table::{Row, Table};
use treepie_placement::Effort;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench placement: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The request on the command line.
struct Request {
    python: Option<String>,
    strong: bool,
    natural: bool,
    bounds: bool,
    networks: bool,
    fast: bool,
    large: bool,
    only: Option<Vec<String>>,
    patterns: Vec<String>,
    sizes: Vec<usize>,
}

impl Request {
    fn read() -> Result<Self, String> {
        let mut request = Request {
            python: None,
            strong: false,
            natural: false,
            bounds: false,
            networks: false,
            fast: false,
            large: false,
            only: None,
            patterns: suite::PATTERNS.map(str::to_owned).to_vec(),
            sizes: suite::SIZES.to_vec(),
        };
        let mut arguments = std::env::args().skip(1);
        let list = |text: String| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--bench" => {} // added by `cargo bench`
                "--strong" => request.strong = true,
                "--natural" => request.natural = true,
                "--bounds" => request.bounds = true,
                "--python" => request.python = arguments.next(),
                "--networks" => request.networks = true,
                "--fast" => request.fast = true,
                "--large" => request.large = true,
                "--only" => request.only = arguments.next().map(list),
                sizes => {
                    let sizes = list(sizes.to_owned()).into_iter().map(|size| {
                        let ranks = size.parse().ok();
                        let known = ranks.filter(|&ranks| suite::tree(ranks).is_some());
                        known.ok_or(format!("no tree is known for \"{size}\" ranks"))
                    });
                    request.sizes = sizes.collect::<Result<_, _>>()?;
                }
            }
        }
        if !request.networks
            && let Some(only) = &request.only
        {
            request.patterns = only.clone();
        }
        Ok(request)
    }
}

fn run() -> Result<(), String> {
    let request = Request::read()?;
    if request.networks {
        let effort = match (request.fast, request.strong) {
            (true, _) => Effort::Fast,
            (_, true) => Effort::Strong,
            _ => Effort::Normal,
        };
        return networks::table(&networks::Request {
            effort,
            only: request.only,
            large: request.large,
        });
    }
    if request.bounds {
        return bounds::table(&request.patterns, &request.sizes);
    }
    let peers = peers::Peers::find(request.python.as_deref())?;
    for &ranks in &request.sizes {
        let mut table = Table::new(ranks, request.natural);
        for pattern in &request.patterns {
            let Some(edges) = suite::edges(pattern, ranks) else {
                continue;
            };
            let natural: Vec<usize> = (0..ranks).collect();
            let names = match request.natural {
                true => natural,
                false => suite::shuffle(ranks),
            };
            let instance = suite::Instance::new(pattern, ranks, &edges, &names)?;
            let mut row = Row::new(&instance);
            for effort in ours::efforts(ranks, request.strong) {
                row.push(effort.to_string(), ours::measure(&instance, effort)?);
            }
            for (name, result) in peers.measure(&instance)? {
                row.push(name, result);
            }
            table.push(row);
        }
        table.finish();
    }
    Ok(())
}
