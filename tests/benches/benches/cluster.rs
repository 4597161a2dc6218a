//! Predicted gains of plans inside one cluster of large hosts with a fast network: `cargo bench -p
//! treepie-benches --bench cluster`.
//!
//! For each call the MPI's own collective, the best of the plans that the guard tries, and the best
//! of all plans, by simulation if they have few enough steps, else by estimate.
#![allow(clippy::unwrap_used)] // a benchmark may panic

use std::path::Path;

use treepie_choice::predict::{Prediction, Predictor};
use treepie_collective::network::Computing;
use treepie_collective::{Operation, Uniform};
use treepie_guard::MAX_CANDIDATES;
use treepie_native::Family;
use treepie_platform::file::PlatformFile;

const SIZES: [u64; 4] = [8, 4 << 10, 64 << 10, 1 << 20];

fn main() {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let file = PlatformFile::read(&profiles.join("fast-cluster.platform.yaml")).unwrap();
    println!("| collective | bytes | Open MPI, us | tried | factor | MPICH, us | tried | factor |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut factors = [Vec::new(), Vec::new()];
    use Operation::*;
    for operation in [
        Barrier, Bcast, Reduce, Allreduce, Allgather, Alltoall, Gather, Scatter,
    ] {
        for bytes in SIZES {
            let is_block = !matches!(operation, Bcast | Reduce | Allreduce);
            if operation == Barrier && bytes > 8 || is_block && bytes > 64 << 10 {
                continue;
            }
            let mut row = format!("| {operation} | {bytes} |");
            for (family, factors) in [Family::OpenMpi, Family::Mpich]
                .into_iter()
                .zip(&mut factors)
            {
                let call = Uniform {
                    operation,
                    bytes,
                    root: 0,
                };
                let computing = Computing::default();
                let predictor = Predictor::new(&file.platform, call, family, computing).unwrap();
                row += &columns(&predictor, factors);
            }
            println!("{row}");
        }
    }
    let mean = |all: &[f64]| (all.iter().map(|one| one.ln()).sum::<f64>() / all.len() as f64).exp();
    println!(
        "| **geometric mean** | | | | **{:.2}** | | | **{:.2}** |",
        mean(&factors[0]),
        mean(&factors[1])
    );
}

/// The columns of one MPI: its own time, the best tried plan, and the factor between them; 1 if the
/// MPI's own is faster, which is then kept.
fn columns(predictor: &Predictor, factors: &mut Vec<f64>) -> String {
    let all = predictor.all(None).unwrap();
    let seconds = |one: &Prediction| one.seconds().unwrap_or(f64::INFINITY);
    let native = all
        .iter()
        .find(|one| one.algorithm.is_none())
        .map_or(f64::INFINITY, seconds);
    let tried = predictor.estimates().considered();
    let tried: Vec<&str> = tried
        .iter()
        .take(MAX_CANDIDATES)
        .map(|one| one.algorithm.name)
        .collect();
    let is_tried = |one: &&Prediction| {
        one.algorithm
            .is_some_and(|algorithm| tried.contains(&algorithm.name))
    };
    let best = all.iter().find(is_tried);
    let name = best
        .and_then(|one| one.algorithm)
        .map_or("-", |algorithm| algorithm.name);
    let time = best.map_or(f64::INFINITY, seconds);
    let factor = (native / time).max(1.0);
    factors.push(factor);
    match factor > 1.0 {
        true => format!(
            " {:.1} | {:.1} `{name}` | {factor:.2} |",
            1e6 * native,
            1e6 * time
        ),
        false => format!(" {:.1} | - | 1.00 |", 1e6 * native),
    }
}
