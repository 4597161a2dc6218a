//! Experience with an application: trials, their results, and the choice in use with its reason.

use std::time::SystemTime;

use serde::Serialize;
use treepie_base::date;
use treepie_base::proof::Verdict;
use treepie_base::statistics::median;
use treepie_guard::learning::{Arm, End, Experience, Knowledge, Run, next};
use treepie_profile::experience::{Application, Guarded, KeptPlatform, Key};
use treepie_profile::{GuardedCell, GuardedEpochs};

use super::units;
use super::words::pluralize;

/// Summary of an application.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its name in the store.
    pub key: String,
    /// The name of its program or script.
    pub program: String,
    /// Number of ranks.
    pub ranks: usize,
    /// The family of its MPI.
    pub mpi: String,
    /// Number of known runs.
    pub runs: usize,
    /// Collectives that plans replace, from the guards of the newest runs.
    pub collectives: Vec<GuardedCell>,
    /// Epochs whose small puts are joined.
    pub joined: Vec<GuardedEpochs>,
    /// Summaries by the shape of the allocation, in the order of the first run in each.
    pub shapes: Vec<ShapeSummary>,
}

/// Summary of an application in allocations of one shape.
#[derive(Debug, Clone, Serialize)]
pub struct ShapeSummary {
    /// A number for the shape.
    pub shape: String,
    /// State of the comparison in words.
    pub state: String,
    /// Mode of the next run, unless that run compares.
    pub used: String,
    /// Pair under comparison, if any.
    pub compared: Option<Compared>,
    /// Each arm of the comparison.
    pub arms: Vec<ArmSummary>,
    /// The newest runs, the last one last.
    pub newest: Vec<RunSummary>,
}

/// Results of pairs of runs.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// The arm that is known to be good.
    pub with: String,
    /// The arm that may be better.
    pub candidate: String,
    /// Fraction of the time that it saves.
    pub gain: Option<f64>,
    /// Limits of the gain, at 95 %.
    pub interval: [Option<f64>; 2],
    /// Number of pairs of runs.
    pub pairs: usize,
    /// The verdict: gain, worse, none, not-proven.
    pub verdict: &'static str,
}

/// Runs of one arm.
#[derive(Debug, Clone, Serialize)]
pub struct ArmSummary {
    /// Name of the arm.
    pub arm: String,
    /// Number of runs.
    pub runs: usize,
    /// Their median time in seconds.
    pub seconds: Option<f64>,
}

/// A run.
#[derive(Debug, Clone, Serialize)]
pub struct RunSummary {
    /// Start time in UTC.
    pub began: String,
    /// Mode of the run.
    pub arm: String,
    /// True if its traffic was counted.
    pub counted: bool,
    /// Seconds from `MPI_Init` to `MPI_Finalize`.
    pub seconds: Option<f64>,
    /// True if it failed.
    pub failed: bool,
}

/// The links of some hosts, measured by a job.
#[derive(Debug, Clone, Serialize)]
pub struct PlatformSummary {
    /// Its name in the store.
    pub key: String,
    /// Its size in hosts and clusters.
    pub platform: PlatformSize,
    /// Time of the measurement in UTC.
    pub measured: String,
    /// Time until which jobs use it.
    pub until: String,
}

/// Size of a platform.
#[derive(Debug, Clone, Serialize)]
pub struct PlatformSize {
    /// Number of hosts.
    pub hosts: usize,
    /// Number of logical clusters.
    pub clusters: usize,
}

/// Number of the newest runs that are listed.
const NEWEST: usize = 8;

/// Current time in seconds since 1970.
pub fn now() -> u64 {
    treepie_base::since_epoch(SystemTime::now()).as_secs()
}

impl RunSummary {
    /// Summarizes this run.
    pub fn new(run: &Run) -> Self {
        let began = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(run.began);
        RunSummary {
            began: date(began),
            arm: run.arm.to_string(),
            counted: run.counted,
            seconds: run.seconds(),
            failed: run.end == End::Failed,
        }
    }
}

impl Summary {
    /// Summarizes the application with this key at this time, in seconds since 1970.
    pub fn new(
        key: Key,
        application: &Application,
        experience: &Experience,
        guards: &[Guarded],
        now: u64,
    ) -> Self {
        let cells = guards.iter().flat_map(|guarded| &guarded.cells);
        let adopted = cells.filter(|cell| cell.state == treepie_guard::State::Adopted);
        let epochs = guards.iter().flat_map(|guarded| &guarded.epochs);
        let joined = epochs.filter(|found| found.state == treepie_guard::State::Adopted);
        let mut shapes: Vec<u64> = Vec::new();
        for run in &experience.runs {
            if !shapes.contains(&run.shape) {
                shapes.push(run.shape);
            }
        }
        let shapes = shapes.into_iter();
        Summary {
            key: key.to_string(),
            program: application.program.clone(),
            ranks: application.ranks,
            mpi: application.mpi.clone(),
            runs: experience.runs.len(),
            collectives: adopted.cloned().collect(),
            joined: joined.cloned().collect(),
            shapes: shapes
                .map(|shape| ShapeSummary::new(shape, experience, now))
                .collect(),
        }
    }

    /// `halo2d, 16 ranks, open-mpi (5f0c1a2b)`.
    pub fn title(&self) -> String {
        let ranks = pluralize(self.ranks, "rank");
        format!(
            "{}, {ranks}, {} ({})",
            self.program,
            self.mpi,
            &self.key[..8]
        )
    }

    /// Formats some lines for human readers.
    pub fn text(&self) -> String {
        let mut text = self.title() + "\n";
        for (number, shape) in self.shapes.iter().enumerate() {
            if self.shapes.len() > 1 {
                text += &format!("  allocation {} ({})\n", number + 1, &shape.shape[..8]);
            }
            text += &shape.text();
        }
        for cell in &self.collectives {
            text += &format!("  {}\n", replaced(cell));
        }
        for found in &self.joined {
            text += &format!("  {}\n", joined(found));
        }
        text
    }

    /// Describes a run and its result in one line.
    pub fn after(&self, run: &Run) -> String {
        let shape = format!("{:016x}", run.shape);
        let state = self.shapes.iter().find(|known| known.shape == shape);
        let how = match run.end {
            End::Seconds(seconds) => units::seconds(seconds),
            End::Failed => "failed".to_owned(),
            End::Open => "it did not reach MPI_Finalize".to_owned(),
        };
        let counted = if run.counted { ", counted" } else { "" };
        format!(
            "{}, {}: run {} ({}{counted}): {how}; {}",
            self.program,
            pluralize(self.ranks, "rank"),
            self.runs,
            run.arm.in_words(),
            state.map_or("", |known| &known.state),
        )
    }
}

impl PlatformSummary {
    /// Summarizes this platform.
    pub fn new(kept: &KeptPlatform) -> Self {
        let at = |seconds| date(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds));
        let contents = kept.file.platform.contents();
        PlatformSummary {
            key: kept.key.to_string(),
            platform: PlatformSize {
                hosts: contents.hosts.len(),
                clusters: contents.clusters.len(),
            },
            measured: at(kept.made),
            until: at(kept.until()),
        }
    }

    /// `platform of 4 hosts in 2 clusters (5f0c1a2b)`.
    pub fn title(&self) -> String {
        format!(
            "platform of {} in {} ({})",
            pluralize(self.platform.hosts, "host"),
            pluralize(self.platform.clusters, "cluster"),
            &self.key[..8]
        )
    }

    /// Formats a line for human readers.
    pub fn text(&self) -> String {
        format!(
            "{}, measured {}: jobs there start with it until {}\n",
            self.title(),
            self.measured,
            self.until
        )
    }
}

/// `bcast of up to 64 KiB by grid-chain: 1.2 ms for 2.5 ms`.
fn replaced(cell: &GuardedCell) -> String {
    let bytes = cell.bytes.map(|bytes| units::bytes(bytes as f64));
    let bytes = bytes.map_or(String::new(), |bytes| format!(" of up to {bytes}"));
    let plan = cell.plan.as_ref().map_or("", |plan| &plan.algorithm);
    let times = cell.plan_seconds.zip(cell.native_seconds);
    let times = times.map_or(String::new(), |(plan, native)| {
        format!(": {} for {}", units::seconds(plan), units::seconds(native))
    });
    let collective = cell.form.named(cell.operation);
    format!("{collective}{bytes} by {plan}{times}")
}

/// `small puts of lock-all epochs of 4 ranks, joined: 1.2 ms for 2.5 ms`.
fn joined(found: &GuardedEpochs) -> String {
    let times = found.joined_seconds.zip(found.native_seconds);
    let times = times.map_or(String::new(), |(joined, native)| {
        format!(
            ": {} for {}",
            units::seconds(joined),
            units::seconds(native)
        )
    });
    let ranks = pluralize(found.ranks as usize, "rank");
    format!(
        "small puts of {} epochs of {ranks}, joined{times}",
        found.epoch
    )
}

impl ShapeSummary {
    fn new(shape: u64, experience: &Experience, now: u64) -> Self {
        let known = next(experience, shape, now, false);
        let runs = experience.runs.iter().filter(|run| run.shape == shape);
        let runs: Vec<&Run> = runs.collect();
        let mut arms = Vec::new();
        for arm in [Arm::Plain, Arm::Permute, Arm::Bind] {
            let of_arm: Vec<&&Run> = runs.iter().filter(|run| run.arm == arm).collect();
            let seconds: Vec<f64> = of_arm.iter().filter_map(|run| run.seconds()).collect();
            if !of_arm.is_empty() {
                arms.push(ArmSummary {
                    arm: arm.to_string(),
                    runs: of_arm.len(),
                    seconds: median(&seconds),
                });
            }
        }
        let newest = runs.len().saturating_sub(NEWEST);
        ShapeSummary {
            shape: format!("{shape:016x}"),
            state: known.knowledge.to_string(),
            used: known.knowledge.used().to_string(),
            compared: compared(&known.knowledge),
            arms,
            newest: runs[newest..]
                .iter()
                .map(|run| RunSummary::new(run))
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("  {}\n", self.state);
        for arm in &self.arms {
            let seconds = arm.seconds.map(units::seconds);
            text += &format!(
                "    {:<8} {:>8}  median {}\n",
                arm.arm,
                pluralize(arm.runs, "run"),
                seconds.unwrap_or_else(|| "unknown".to_owned())
            );
        }
        text
    }
}

fn compared(state: &Knowledge) -> Option<Compared> {
    let Knowledge::Compared {
        known,
        candidate,
        evidence,
        ..
    } = state
    else {
        return None;
    };
    let finite = |bound: f64| bound.is_finite().then_some(bound);
    Some(Compared {
        with: known.to_string(),
        candidate: candidate.to_string(),
        gain: evidence.gain,
        interval: [finite(evidence.interval.0), finite(evidence.interval.1)],
        pairs: evidence.pairs,
        verdict: match evidence.verdict {
            Verdict::Gain => "gain",
            Verdict::Worse => "worse",
            Verdict::None => "none",
            Verdict::NotProven => "not-proven",
        },
    })
}
