//! Frequency of correct verdicts on pairs of runs, with the noise of real runs.
//!
//! ```text
//! cargo bench -p treepie-benches --bench proof < TIMES
//! ```
//!
//! `TIMES` has two seconds per line: runs of a job with two equal configurations. A comparison
//! draws pairs of them, and randomly which of the two is the candidate's; that one is then made
//! longer. Each row is of 2000 comparisons of up to 40 pairs. scripts/bench prove runs it.

use std::process::ExitCode;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use treepie_base::proof::{Limits, Pairs, Verdict};

const COMPARISONS: usize = 2000;
const LIMITS: Limits = Limits {
    difference: 0.01,
    pairs: 40,
};
/// Fractions of the time by which the candidate is made longer.
const SLOWER: [f64; 5] = [0.0, 0.01, 0.02, 0.03, 0.05];

fn main() -> ExitCode {
    let times = match times() {
        Ok(times) => times,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    println!("| slower by | gain | worse | none | not proven | pairs, median | 90 % |");
    println!("|---|---|---|---|---|---|---|");
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for slower in SLOWER {
        let run = |_| compare(&times, 1.0 + slower, &mut random);
        let compared: Vec<Pairs> = (0..COMPARISONS).map(run).collect();
        println!("{}", row(slower, &compared));
    }
    ExitCode::SUCCESS
}

/// The pairs on standard input.
fn times() -> Result<Vec<[f64; 2]>, String> {
    let lines = std::io::stdin().lines();
    let pair = |line: std::io::Result<String>| {
        let line = line.map_err(|error| error.to_string())?;
        let seconds: Vec<f64> = line.split_whitespace().flat_map(str::parse).collect();
        seconds
            .try_into()
            .map_err(|_| format!("`{line}` is no pair of seconds; write two numbers"))
    };
    let times = lines.map(pair).collect::<Result<Vec<[f64; 2]>, String>>()?;
    match times.is_empty() {
        true => Err("there are no times on standard input; write two a line".to_owned()),
        false => Ok(times),
    }
}

/// Pairs drawn until the verdict.
fn compare(times: &[[f64; 2]], factor: f64, random: &mut TestRng) -> Pairs {
    let mut pairs = Pairs::default();
    while !pairs.is_decided(LIMITS) {
        let drawn = random.next_u32() as usize;
        let [mut baseline, mut candidate] = times[(drawn >> 1) % times.len()];
        if drawn & 1 == 1 {
            std::mem::swap(&mut baseline, &mut candidate);
        }
        pairs.add(baseline, factor * candidate);
    }
    pairs
}

fn row(slower: f64, compared: &[Pairs]) -> String {
    let with = |verdict| {
        let found = compared
            .iter()
            .filter(|pairs| pairs.verdict(LIMITS) == verdict);
        format!(
            "{:.1} %",
            100.0 * found.count() as f64 / compared.len() as f64
        )
    };
    let mut counts: Vec<usize> = compared.iter().map(Pairs::count).collect();
    counts.sort_unstable();
    format!(
        "| {:.0} % | {} | {} | {} | {} | {} | {} |",
        100.0 * slower,
        with(Verdict::Gain),
        with(Verdict::Worse),
        with(Verdict::None),
        with(Verdict::NotProven),
        counts[counts.len() / 2],
        counts[counts.len() * 9 / 10]
    )
}
