//! The text of a file of a store.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::epochs::GuardedEpochs;
use crate::guard::GuardedCell;
use treepie_base::{FileError, Kind, VERSION, header, list, text, yaml};
use treepie_guard::learning::{Candidate, End, Experience, Judgement, Run};

/// An application as people know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Application {
    /// The name of the program's file, or of the script that it runs.
    pub program: String,
    /// Number of ranks.
    pub ranks: usize,
    /// The family of its MPI.
    pub mpi: String,
}

/// A file: an application, and what is known of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperienceFile {
    /// What wrote it, such as `treepie 0.1.0`.
    pub producer: String,
    /// Of what.
    pub application: Application,
    /// What is known.
    pub experience: Experience,
    /// What guards found.
    pub guards: Vec<Guarded>,
}

/// What the guards found in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarded {
    /// The shape of its allocation; the program, where applications share a file.
    pub shape: u64,
    /// When, in seconds since 1970.
    pub made: u64,
    /// What was found of collectives.
    pub cells: Vec<GuardedCell>,
    /// Of small puts and accumulates.
    pub epochs: Vec<GuardedEpochs>,
}

/// Adds what other guards found; of each shape the newest holds.
pub(super) fn add_guards(guards: &mut Vec<Guarded>, others: Vec<Guarded>) {
    for other in others {
        match guards.iter_mut().find(|known| known.shape == other.shape) {
            Some(known) if known.made < other.made => *known = other,
            Some(_) => (),
            None => guards.push(other),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GuardedDocument {
    shape: String,
    made: String,
    cells: Vec<GuardedCell>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    epochs: Vec<GuardedEpochs>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    treepie: String,
    version: u64,
    producer: String,
    program: String,
    ranks: usize,
    mpi: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    judgements: Vec<JudgementDocument>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guards: Vec<GuardedDocument>,
    runs: Vec<RunDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunDocument {
    name: String,
    began: String,
    shape: String,
    arm: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    counted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgementDocument {
    shape: String,
    made: String,
    since: String,
    worth: String,
    saved: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_mpi: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permute: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bind: Option<String>,
}

impl ExperienceFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// A file that cannot be read, is no experience, or contradicts itself.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        ExperienceFile::from_text(path, &text::read(path)?)
    }

    /// The experience in the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// Text that is no experience, or one that contradicts itself.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        header::check(path, text, Some(Kind::Experience))?;
        let document: Document = yaml::parse(path, text)?;
        let ranks = document.ranks;
        if ranks == 0 {
            let problem = "is 0; a job has at least one rank";
            return Err(FileError::field(path, "ranks", problem));
        }
        let mut experience = Experience::default();
        for (index, run) in document.runs.into_iter().enumerate() {
            let run = run.build().map_err(|(field, problem)| {
                FileError::field(path, format!("runs[{index}].{field}"), problem)
            })?;
            experience.runs.push(run);
        }
        for (index, judgement) in document.judgements.into_iter().enumerate() {
            let judgement = judgement.build(ranks).map_err(|(field, problem)| {
                FileError::field(path, format!("judgements[{index}].{field}"), problem)
            })?;
            experience.judgements.push(judgement);
        }
        let mut guards = Vec::new();
        for (index, guarded) in document.guards.into_iter().enumerate() {
            let guarded = guarded.build(ranks).map_err(|(field, problem)| {
                FileError::field(path, format!("guards[{index}].{field}"), problem)
            })?;
            guards.push(guarded);
        }
        Ok(ExperienceFile {
            producer: document.producer,
            application: Application {
                program: document.program,
                ranks,
                mpi: document.mpi,
            },
            experience,
            guards,
        })
    }

    /// The text of the file; `path` is for messages.
    ///
    /// # Errors
    /// None that a user meets: values that YAML cannot hold.
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        let document = Document {
            treepie: Kind::Experience.to_string(),
            version: VERSION,
            producer: self.producer.clone(),
            program: self.application.program.clone(),
            ranks: self.application.ranks,
            mpi: self.application.mpi.clone(),
            judgements: self.experience.judgements.iter().map(judgement).collect(),
            guards: self.guards.iter().map(guarded).collect(),
            runs: self.experience.runs.iter().map(run).collect(),
        };
        yaml::to_text(path, &document)
    }
}

/// A field, and what is wrong with it.
type Wrong = (&'static str, String);

impl RunDocument {
    fn build(self) -> Result<Run, Wrong> {
        let end = match (self.seconds, self.failed) {
            (_, true) => End::Failed,
            (None, false) => End::Open,
            (Some(seconds), false) => End::Seconds(from_zero("seconds", seconds)?),
        };
        if !super::store::is_run_name(&self.name) {
            let problem = "is no name of a run: letters, digits and `-` were expected";
            return Err(("name", problem.to_owned()));
        }
        Ok(Run {
            name: self.name,
            began: seconds_of("began", &self.began)?,
            shape: number_of("shape", &self.shape)?,
            arm: self
                .arm
                .parse()
                .map_err(|error| ("arm", format!("{error}")))?,
            counted: self.counted,
            end,
        })
    }
}

impl GuardedDocument {
    fn build(self, ranks: usize) -> Result<Guarded, Wrong> {
        for cell in &self.cells {
            cell.check(ranks).map_err(|problem| ("cells", problem))?;
        }
        for found in &self.epochs {
            found.check(ranks).map_err(|problem| ("epochs", problem))?;
        }
        Ok(Guarded {
            shape: number_of("shape", &self.shape)?,
            made: seconds_of("made", &self.made)?,
            cells: self.cells,
            epochs: self.epochs,
        })
    }
}

impl JudgementDocument {
    fn build(self, ranks: usize) -> Result<Judgement, Wrong> {
        let numbers = |field, text: Option<String>| -> Result<Option<Vec<usize>>, Wrong> {
            let Some(text) = text else { return Ok(None) };
            let numbers = list::parse(&text).map_err(|error| (field, error.to_string()))?;
            match numbers.len() == ranks {
                true => Ok(Some(numbers)),
                false => Err((
                    field,
                    format!("has {} numbers for {ranks} ranks", numbers.len()),
                )),
            }
        };
        let permutation = numbers("permute", self.permute)?;
        if let Some(new_rank) = &permutation {
            treepie_base::permutation::check_for(new_rank, ranks)
                .map_err(|error| ("permute", error.to_string()))?;
        }
        let cores = numbers("bind", self.bind)?;
        let candidates = [
            permutation.map(Candidate::Permute),
            cores.map(Candidate::Bind),
        ];
        Ok(Judgement {
            shape: number_of("shape", &self.shape)?,
            made: seconds_of("made", &self.made)?,
            since: seconds_of("since", &self.since)?,
            worth: self
                .worth
                .parse()
                .map_err(|error| ("worth", format!("{error}")))?,
            saved: from_zero("saved", self.saved)?,
            in_mpi: self
                .in_mpi
                .map(|part| from_zero("in_mpi", part))
                .transpose()?,
            candidates: candidates.into_iter().flatten().collect(),
        })
    }
}

fn run(run: &Run) -> RunDocument {
    RunDocument {
        name: run.name.clone(),
        began: date_of(run.began),
        shape: format!("{:016x}", run.shape),
        arm: run.arm.to_string(),
        counted: run.counted,
        seconds: run.seconds(),
        failed: run.end == End::Failed,
    }
}

fn guarded(guarded: &Guarded) -> GuardedDocument {
    GuardedDocument {
        shape: format!("{:016x}", guarded.shape),
        made: date_of(guarded.made),
        cells: guarded.cells.clone(),
        epochs: guarded.epochs.clone(),
    }
}

fn judgement(judgement: &Judgement) -> JudgementDocument {
    let mut document = JudgementDocument {
        shape: format!("{:016x}", judgement.shape),
        made: date_of(judgement.made),
        since: date_of(judgement.since),
        worth: judgement.worth.to_string(),
        saved: judgement.saved,
        in_mpi: judgement.in_mpi,
        permute: None,
        bind: None,
    };
    for candidate in &judgement.candidates {
        match candidate {
            Candidate::Permute(new_rank) => document.permute = Some(list::to_text(new_rank)),
            Candidate::Bind(cores) => document.bind = Some(list::to_text(cores)),
        }
    }
    document
}

fn date_of(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| format!("{time:.0}"))
}

fn seconds_of(field: &'static str, text: &str) -> Result<u64, Wrong> {
    let time: Option<Timestamp> = text.parse().ok();
    let seconds = time.and_then(|time| u64::try_from(time.as_second()).ok());
    seconds.ok_or_else(|| {
        let problem = format!("`{text}` is no moment such as 2026-11-21T04:03:48Z");
        (field, problem)
    })
}

fn number_of(field: &'static str, text: &str) -> Result<u64, Wrong> {
    let problem = || {
        (
            field,
            format!("`{text}` is no number of 16 hexadecimal digits"),
        )
    };
    u64::from_str_radix(text, 16).map_err(|_| problem())
}

fn from_zero(field: &'static str, number: f64) -> Result<f64, Wrong> {
    match number.is_finite() && number >= 0.0 {
        true => Ok(number),
        false => Err((field, format!("{number} is no number from 0"))),
    }
}
