//! Plans replayed by SimGrid's SMPI, compared with Treepie's simulator: `cargo bench -p
//! treepie-benches --bench simgrid [-- PLATFORM|COLLECTIVE ...]`; needs `smpirun`.
//!
//! For each platform, collective and size, the plan with the fastest prediction. SimGrid has one
//! rate for a link, for messages of any size: here that of the sizes in which the plan moves the
//! most bytes over such links; `at one rate` is the ratio of the simulator's time with it to that
//! with the actual links. The other columns are the ratio of SimGrid's time to the simulator's at
//! one rate:
//!
//! * `as exported`: the traces of `treepie predict --export`;
//! * `in turn`: a rank has no more messages in flight than fill its links, and its steps are in the
//!   plan's order or in the order in which the simulator began them; the fastest replay of these,
//!   since each can only wait where a rank that runs the plan does not.
#![allow(clippy::unwrap_used)] // a benchmark may panic

mod case;
mod trace;

use std::path::Path;
use std::process::Command;

use crate::case::{CASES, Case, at_one_rate, sampled};
use crate::trace::{Times, listed, trace};
use treepie_choice::predict::Predictor;
use treepie_collective::network::Computing;
use treepie_collective::read::export::{SMPIRUN_OPTIONS, simgrid, time_independent};
use treepie_collective::read::simulate::{Options, simulate};
use treepie_collective::{Algorithm, Operation, Plan, Uniform};
use treepie_native::Family;
use treepie_platform::Platform;

const OPERATIONS: [Operation; 7] = [
    Operation::Bcast,
    Operation::Reduce,
    Operation::Allreduce,
    Operation::Allgather,
    Operation::Alltoall,
    Operation::Scatter,
    Operation::Gather,
];

const SIZES: [u64; 2] = [8 << 10, 1 << 20];

/// Options for traces with windows: messages are sent when their receiver waits, so that windows
/// apply, or whether it waits or not.
const FLOWS: [&str; 2] = [
    "--cfg=smpi/send-is-detached-thresh:0 --cfg=smpi/async-small-thresh:0",
    "",
];

/// Maximum number of messages of a replayed plan.
const MOST_MESSAGES: usize = 20_000;

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let wants = |name: &str, all: &[String]| {
        let mut of_these = words.iter().filter(|word| all.contains(word)).peekable();
        of_these.peek().is_none() || of_these.any(|word| word == name)
    };
    let platforms: Vec<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
    let collectives = OPERATIONS.map(|operation| operation.to_string());
    let directory = tempfile::tempdir().unwrap();
    println!("| platform | collective | bytes | plan | ms | at one rate | as exported | in turn |");
    println!("|---|---|---|---|---|---|---|---|");
    let operations = || {
        OPERATIONS
            .into_iter()
            .filter(|one| wants(&one.to_string(), &collectives))
    };
    let mut summary = String::new();
    for case in CASES.iter().filter(|case| wants(case.name, &platforms)) {
        summary += &format!("\n| {} |", case.name);
        for operation in operations() {
            let in_turn = SIZES.map(|bytes| {
                let [exported, in_turn] = case.ratios(
                    Uniform {
                        operation,
                        bytes,
                        root: 0,
                    },
                    directory.path(),
                );
                println!("{exported} | {in_turn} |");
                in_turn
            });
            summary += &format!(" {} |", in_turn.join(", "));
        }
    }
    let names: Vec<String> = operations()
        .map(|operation| operation.to_string())
        .collect();
    println!(
        "\nIn turn, 8 KiB and 1 MiB:\n\n| platform | {} |",
        names.join(" | ")
    );
    println!("|---{}|{summary}", "|---".repeat(names.len()));
}

impl Case {
    /// A row of the table up to the ratio of the plan as exported, and that of it in turn.
    fn ratios(&self, call: Uniform, directory: &Path) -> [String; 2] {
        let platform = self.platform(|level| sampled(self.links[level]));
        let measured = predictor(&platform, call);
        let (algorithm, segment) = fastest(&measured);
        let plans = measured.plans(algorithm, segment);
        let sizes = self.usual_sizes(&plans);
        let platform = self.platform(|level| at_one_rate(self.links[level], sizes[level]));
        let rated = predictor(&platform, call).network;
        let timeline = Options {
            timeline: true,
            ..Options::default()
        };
        let outcome = simulate(&rated, &plans, 1, timeline).unwrap();
        let simulated = simulate(&measured.network, &plans, 1, Options::default()).unwrap();
        let (platform, hosts) = simgrid(&rated);
        std::fs::write(directory.join("hosts"), hosts).unwrap();
        let replayed = |platform: &str, traces: &[String], options: &str| {
            let is_short = outcome.messages <= MOST_MESSAGES;
            is_short
                .then(|| replayed(platform, traces, options, directory))
                .flatten()
        };
        let windows = self.windows(sizes);
        let times = Times::new(&outcome.bars);
        let traces = |order: &dyn Fn(usize, &Plan) -> Vec<usize>| -> Vec<String> {
            let one = |(rank, plan)| {
                trace(rank, plan, &order(rank, plan), |to| {
                    windows[self.level(rank, to)]
                })
            };
            plans.iter().enumerate().map(one).collect()
        };
        let in_turn = [
            traces(&|_, plan| listed(plan)),
            traces(&|rank, plan| times.order(rank, plan)),
        ];
        let in_turn = in_turn
            .iter()
            .flat_map(|traces| FLOWS.map(|options| replayed(&platform, traces, options)));
        let in_turn = in_turn.flatten().min_by(f64::total_cmp);
        let ratio = |seconds: Option<f64>| match seconds {
            Some(seconds) => format!("{:.2}", seconds / outcome.seconds),
            None => "-".to_owned(),
        };
        let exported = format!(
            "| {} | {} | {} | {}/{segment} | {:.3} | {:.2} | {}",
            self.name,
            call.operation,
            call.bytes,
            algorithm.name,
            1e3 * simulated.seconds,
            outcome.seconds / simulated.seconds,
            ratio(replayed(&platform, &time_independent(&plans, 1), ""))
        );
        [exported, ratio(in_turn)]
    }
}

fn predictor(platform: &Platform, call: Uniform) -> Predictor {
    Predictor::new(platform, call, Family::OpenMpi, Computing::default()).unwrap()
}

/// The chosen algorithm, or the best of those considered if the MPI's own is chosen.
fn fastest(predictor: &Predictor) -> (&'static Algorithm, u64) {
    let choice = predictor.estimates();
    let considered = choice.considered();
    let best = considered.first().unwrap();
    (best.algorithm, best.segment)
}

/// Seconds reported by SimGrid; `None` if it does not end.
fn replayed(platform: &str, traces: &[String], options: &str, directory: &Path) -> Option<f64> {
    let path = |name: &str| directory.join(name);
    std::fs::write(path("platform.xml"), platform).unwrap();
    let mut list = String::new();
    for (rank, trace) in traces.iter().enumerate() {
        let file = path(&format!("rank{rank}.ti"));
        std::fs::write(&file, trace).unwrap();
        list += &format!("{}\n", file.display());
    }
    std::fs::write(path("plan.ti"), list).unwrap();
    let mut command = Command::new("timeout");
    command
        .arg("30")
        .arg("smpirun")
        .args(["-np", &traces.len().to_string()]);
    for (option, file) in [
        ("-platform", "platform.xml"),
        ("-hostfile", "hosts"),
        ("-replay", "plan.ti"),
    ] {
        command.arg(option).arg(path(file));
    }
    command
        .args(SMPIRUN_OPTIONS.split_whitespace())
        .args(options.split_whitespace());
    let done = command.current_dir(directory).output().unwrap();
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    let time = said.split("Simulation time ").nth(1)?;
    time.split_whitespace().next()?.parse().ok()
}
