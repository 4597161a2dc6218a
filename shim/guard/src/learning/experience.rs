//! Runs of an application, and judgements on its counted traffic.

use serde::{Deserialize, Deserializer, Serialize};
use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::{List, Process, Rank, convert, from_name, list, moment, permutation};
use treepie_placement::worth::Worth;

/// Way to run a job.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Display, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Arm {
    /// Plain: as the launcher starts it.
    Plain,
    /// With other ranks.
    Permute,
    /// With each process bound to a core of its host.
    Bind,
}

from_name!(Arm, "way to run a job");

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// It has not ended, or did not reach `MPI_Finalize`.
    Open,
    /// It ended after these seconds from `MPI_Init` to `MPI_Finalize`, on the rank that took
    /// longest.
    Seconds(f64),
    /// It failed.
    Failed,
}

/// Run of an application.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "RunText", into = "RunText")]
pub struct Run {
    /// Its name: no other run of any application has it.
    pub name: String,
    /// Time when it began, in seconds since 1970.
    pub began: u64,
    /// Shape of the locations of its processes: a number that equal allocations share.
    pub shape: u64,
    /// Arm of the run.
    pub arm: Arm,
    /// True if its traffic was counted.
    pub counted: bool,
    /// Its end.
    pub end: End,
}

impl Run {
    /// True if this is a valid name of a run, which becomes part of a file's name.
    pub fn is_name(name: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=64).contains(&name.len()) && name.bytes().all(plain)
    }

    /// Returns its seconds, if it ended well.
    pub fn seconds(&self) -> Option<f64> {
        match self.end {
            End::Seconds(seconds) => Some(seconds),
            End::Open | End::Failed => None,
        }
    }
}

/// Alternative to the plain way to run a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidate {
    /// New rank of each process of the launcher.
    Permute(List<Process, Rank>),
    /// Core of each process, as the operating system numbers them.
    Bind(List<Process, usize>),
}

impl Candidate {
    /// Returns its arm.
    pub fn arm(&self) -> Arm {
        match self {
            Candidate::Permute(_) => Arm::Permute,
            Candidate::Bind(_) => Arm::Bind,
        }
    }
}

/// Judgement on counted traffic for allocations of one shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "JudgementText", into = "JudgementText")]
pub struct Judgement {
    /// Shape of the allocations.
    pub shape: u64,
    /// Time when it was made, in seconds since 1970.
    pub made: u64,
    /// Time since which its candidates are the same: earlier runs are no evidence about them.
    pub since: u64,
    /// Assessment whether a candidate is worth a trial.
    pub worth: Worth,
    /// Fraction of the cost that the best candidate saves.
    pub saved: f64,
    /// Fraction of the counted run's time that was in MPI.
    pub in_mpi: Option<f64>,
    /// Candidates, the most promising first; none if a trial is not worth it.
    pub candidates: Vec<Candidate>,
}

impl Judgement {
    /// Checks a judgement of a job of `ranks` ranks; returns the field and the problem on failure.
    ///
    /// # Errors
    /// A candidate for other ranks, or one with a duplicate rank.
    pub fn check(&self, ranks: usize) -> Result<(), (&'static str, String)> {
        for candidate in &self.candidates {
            let (field, found) = match candidate {
                Candidate::Permute(new_rank) => ("permute", new_rank.len()),
                Candidate::Bind(cores) => ("bind", cores.len()),
            };
            if found != ranks {
                let problem = format!("has {found} numbers for {ranks} ranks");
                return Err((field, problem));
            }
            if let Candidate::Permute(new_rank) = candidate {
                permutation::check_for(new_rank, ranks)
                    .map_err(|error| (field, error.to_string()))?;
            }
        }
        Ok(())
    }
}

/// Runs of an application, and judgements on its traffic.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Experience {
    /// Its runs, in the order in which they began.
    pub runs: Vec<Run>,
    /// Judgements, one for each shape.
    pub judgements: Vec<Judgement>,
}

impl Experience {
    /// Adds the experience of another file. A run in both is one run, with its end if one of them
    /// has it; of judgements on one shape the newest is kept.
    pub fn add(&mut self, other: Experience) {
        for run in other.runs {
            match self.runs.iter_mut().find(|known| known.name == run.name) {
                Some(known) if known.end == End::Open => *known = run,
                Some(known) if run.end == End::Failed => known.end = End::Failed,
                Some(_) => (),
                None => self.runs.push(run),
            }
        }
        self.runs
            .sort_by(|one, next| (one.began, &one.name).cmp(&(next.began, &next.name)));
        for judgement in other.judgements {
            let mut all = self.judgements.iter_mut();
            match all.find(|known| known.shape == judgement.shape) {
                Some(known) if known.made < judgement.made => *known = judgement,
                Some(_) => (),
                None => self.judgements.push(judgement),
            }
        }
    }

    /// Returns the judgement on a shape.
    pub fn judgement(&self, shape: u64) -> Option<&Judgement> {
        self.judgements.iter().find(|known| known.shape == shape)
    }

    /// Returns the newest run whose traffic was counted to its end.
    pub fn counted(&self) -> Option<&Run> {
        let mut runs = self.runs.iter().rev();
        runs.find(|run| run.counted && run.seconds().is_some())
    }
}

/// Run as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunText {
    #[serde(deserialize_with = "name")]
    name: String,
    #[serde(with = "moment")]
    began: u64,
    #[serde(with = "convert::hexadecimal")]
    shape: u64,
    #[serde(with = "convert")]
    arm: Arm,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    counted: bool,
    #[serde(
        default,
        deserialize_with = "some_from_zero",
        skip_serializing_if = "Option::is_none"
    )]
    seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

/// Judgement as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgementText {
    #[serde(with = "convert::hexadecimal")]
    shape: u64,
    #[serde(with = "moment")]
    made: u64,
    #[serde(with = "moment")]
    since: u64,
    #[serde(with = "convert")]
    worth: Worth,
    #[serde(deserialize_with = "from_zero")]
    saved: f64,
    #[serde(
        default,
        deserialize_with = "some_from_zero",
        skip_serializing_if = "Option::is_none"
    )]
    in_mpi: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permute: Option<ByProcess<Rank>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bind: Option<ByProcess<usize>>,
}

/// Number for each process.
#[derive(Serialize, Deserialize)]
#[serde(bound = "N: Copy + Into<usize> + From<usize>")]
struct ByProcess<N>(#[serde(with = "list")] List<Process, N>);

impl From<RunText> for Run {
    fn from(text: RunText) -> Self {
        Run {
            name: text.name,
            began: text.began,
            shape: text.shape,
            arm: text.arm,
            counted: text.counted,
            end: match (text.seconds, text.failed) {
                (_, true) => End::Failed,
                (None, false) => End::Open,
                (Some(seconds), false) => End::Seconds(seconds),
            },
        }
    }
}

impl From<Run> for RunText {
    fn from(run: Run) -> Self {
        RunText {
            seconds: run.seconds(),
            failed: run.end == End::Failed,
            name: run.name,
            began: run.began,
            shape: run.shape,
            arm: run.arm,
            counted: run.counted,
        }
    }
}

impl From<JudgementText> for Judgement {
    fn from(text: JudgementText) -> Self {
        let permute = text.permute.map(|ranks| Candidate::Permute(ranks.0));
        let bind = text.bind.map(|cores| Candidate::Bind(cores.0));
        Judgement {
            shape: text.shape,
            made: text.made,
            since: text.since,
            worth: text.worth,
            saved: text.saved,
            in_mpi: text.in_mpi,
            candidates: permute.into_iter().chain(bind).collect(),
        }
    }
}

impl From<Judgement> for JudgementText {
    fn from(judgement: Judgement) -> Self {
        let mut text = JudgementText {
            shape: judgement.shape,
            made: judgement.made,
            since: judgement.since,
            worth: judgement.worth,
            saved: judgement.saved,
            in_mpi: judgement.in_mpi,
            permute: None,
            bind: None,
        };
        for candidate in judgement.candidates {
            match candidate {
                Candidate::Permute(new_rank) => text.permute = Some(ByProcess(new_rank)),
                Candidate::Bind(cores) => text.bind = Some(ByProcess(cores)),
            }
        }
        text
    }
}

fn name<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    convert::text(input, |name| {
        if Run::is_name(name) {
            Ok(name.to_owned())
        } else {
            Err("is no name of a run: letters, digits and `-` were expected")
        }
    })
}

fn from_zero<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    convert::number(input, |number| {
        if number.is_finite() && number >= 0.0 {
            Ok(number)
        } else {
            Err(format!("{number} is no number from 0"))
        }
    })
}

fn some_from_zero<'de, D: Deserializer<'de>>(input: D) -> Result<Option<f64>, D::Error> {
    from_zero(input).map(Some)
}
