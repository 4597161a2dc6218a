//! Text of a file of a store.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::epochs::GuardedEpochs;
use crate::guard::GuardedCell;
use treepie_base::{File, FileContents, FileError, Header, Kind, convert, moment, text};
use treepie_guard::learning::{Experience, Judgement, Run};

/// Application as people know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Application {
    /// Name of the program's file, or of the script that it runs.
    pub program: String,
    /// Number of ranks.
    pub ranks: usize,
    /// Family of its MPI.
    pub mpi: String,
}

/// Experience file: an application, and the knowledge about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperienceFile {
    /// Program that wrote it, such as `treepie 0.1.0`.
    pub producer: String,
    /// Application that it describes.
    pub application: Application,
    /// Knowledge about the application.
    pub experience: Experience,
    /// Results of guards.
    pub guards: Vec<Guarded>,
}

/// Guard results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// Shape of its allocation; the program, if applications share a file.
    #[serde(with = "convert::hexadecimal")]
    pub shape: u64,
    /// Time of the run, in seconds since 1970.
    #[serde(with = "moment")]
    pub made: u64,
    /// Results for collectives.
    pub cells: Vec<GuardedCell>,
    /// Results for small puts and accumulates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<GuardedEpochs>,
}

/// Adds results of other guards; for each shape the newest is kept.
pub(super) fn add_guards(guards: &mut Vec<Guarded>, others: Vec<Guarded>) {
    for other in others {
        match guards.iter_mut().find(|known| known.shape == other.shape) {
            Some(known) if known.made < other.made => *known = other,
            Some(_) => (),
            None => guards.push(other),
        }
    }
}

/// Application and the knowledge about it, as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperienceText {
    program: String,
    ranks: usize,
    mpi: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    judgements: Vec<Judgement>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    guards: Vec<Guarded>,
    runs: Vec<Run>,
}

impl FileContents for ExperienceText {
    const KIND: Kind = Kind::Experience;

    fn on_read(&mut self, path: &Path) -> Result<(), FileError> {
        if self.ranks == 0 {
            let problem = "is 0; a job has at least one rank";
            return Err(FileError::field(path, "ranks", problem));
        }
        for (index, judgement) in self.judgements.iter().enumerate() {
            judgement.check(self.ranks).map_err(|(field, problem)| {
                FileError::field(path, format!("judgements[{index}].{field}"), problem)
            })?;
        }
        for (index, guarded) in self.guards.iter().enumerate() {
            guarded.check(self.ranks).map_err(|(field, problem)| {
                FileError::field(path, format!("guards[{index}].{field}"), problem)
            })?;
        }
        Ok(())
    }
}

impl Guarded {
    /// Checks results of a job of `ranks` ranks; returns the field and the problem on failure.
    fn check(&self, ranks: usize) -> Result<(), (&'static str, String)> {
        for cell in &self.cells {
            cell.check(ranks).map_err(|problem| ("cells", problem))?;
        }
        for found in &self.epochs {
            found.check(ranks).map_err(|problem| ("epochs", problem))?;
        }
        Ok(())
    }
}

impl ExperienceFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// A file that cannot be read, is not an experience, or contradicts itself.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        ExperienceFile::from_text(path, &text::read(path)?)
    }

    /// Reads the experience in the text of a file; `path` is for messages.
    ///
    /// # Errors
    /// Text that is not an experience, or one that contradicts itself.
    pub fn from_text(path: &Path, text: &str) -> Result<Self, FileError> {
        let File { header, body } = File::<ExperienceText>::from_text(path, text)?;
        Ok(ExperienceFile {
            producer: header.producer,
            application: Application {
                program: body.program,
                ranks: body.ranks,
                mpi: body.mpi,
            },
            experience: Experience {
                runs: body.runs,
                judgements: body.judgements,
            },
            guards: body.guards,
        })
    }

    /// Returns the text of the file; `path` is for messages.
    ///
    /// # Errors
    /// Values that YAML cannot represent, which do not occur.
    pub fn to_text(&self, path: &Path) -> Result<String, FileError> {
        let header = Header {
            producer: self.producer.clone(),
            ..Header::default()
        };
        let body = ExperienceText {
            program: self.application.program.clone(),
            ranks: self.application.ranks,
            mpi: self.application.mpi.clone(),
            judgements: self.experience.judgements.clone(),
            guards: self.guards.clone(),
            runs: self.experience.runs.clone(),
        };
        File { header, body }.to_text(path)
    }
}
