//! A profile cut into phases in time.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::document::LayerFiles;
use super::layers;
use super::records::Records;
use super::times::{Times, TimesDocument};
use treepie_base::FileError;
use treepie_collective::Record;
use treepie_traffic::{Layer, TrafficMatrix};

/// Counts of one phase of a job: marked with `MPI_Pcontrol`, or one phase interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Phase {
    /// Its name: the level of `MPI_Pcontrol`, or `0-10s`.
    pub name: String,
    /// When the first rank first entered it, in seconds since the job's start.
    pub start_seconds: f64,
    /// When the last rank last left it.
    pub end_seconds: f64,
    /// Longest time of a rank in it, all times together.
    pub seconds: f64,
    /// Messages that the application sent itself.
    pub point_to_point: TrafficMatrix,
    /// Puts, gets and accumulates.
    pub one_sided: TrafficMatrix,
    /// Neighbourhood collectives.
    pub neighbourhood: TrafficMatrix,
    /// Collectives, as they were called.
    pub collectives: Vec<Record>,
    /// Time in the phase and in MPI, if it was measured.
    pub times: Option<Times>,
}

impl Phase {
    /// The layers that were counted pair by pair.
    pub(super) fn matrices(&self) -> [(Layer, &TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &self.point_to_point),
            (Layer::OneSided, &self.one_sided),
            (Layer::Neighbourhood, &self.neighbourhood),
        ]
    }

    fn matrices_mut(&mut self) -> [(Layer, &mut TrafficMatrix); 3] {
        [
            (Layer::PointToPoint, &mut self.point_to_point),
            (Layer::OneSided, &mut self.one_sided),
            (Layer::Neighbourhood, &mut self.neighbourhood),
        ]
    }
}

/// A phase as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhaseDocument {
    name: String,
    start_seconds: f64,
    end_seconds: f64,
    seconds: f64,
    #[serde(default, skip_serializing_if = "Records::is_empty")]
    collectives: Records,
    layers: Vec<LayerFiles>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<TimesDocument>,
}

/// Writes the matrices of all phases beside the profile at `path`.
pub(super) fn write(path: &Path, phases: &[Phase]) -> Result<Vec<PhaseDocument>, FileError> {
    let document = |phase: &Phase| {
        Ok(PhaseDocument {
            name: phase.name.clone(),
            start_seconds: phase.start_seconds,
            end_seconds: phase.end_seconds,
            seconds: phase.seconds,
            collectives: Records::new(&phase.collectives),
            layers: layers::write(path, Some(&phase.name), &phase.matrices())?,
            times: phase.times.as_ref().map(TimesDocument::new),
        })
    };
    phases.iter().map(document).collect()
}

/// Reads the phases of the profile at `path`, of `ranks` ranks, with their matrices.
pub(super) fn read(
    path: &Path,
    documents: Vec<PhaseDocument>,
    ranks: usize,
) -> Result<Vec<Phase>, FileError> {
    let mut phases = Vec::new();
    for document in documents {
        let field = format!("phases.{}", document.name);
        let collectives = document
            .collectives
            .build()
            .map_err(|(at, problem)| FileError::field(path, format!("{field}.{at}"), problem))?;
        let mut phase = Phase {
            name: document.name,
            start_seconds: document.start_seconds,
            end_seconds: document.end_seconds,
            seconds: document.seconds,
            collectives,
            times: document
                .times
                .map(|times| times.build(ranks))
                .transpose()
                .map_err(|problem| FileError::field(path, format!("{field}.times"), problem))?,
            ..Phase::default()
        };
        let listed = &document.layers;
        layers::read(
            path,
            &format!("{field}.layers"),
            listed,
            &mut phase.matrices_mut(),
            ranks,
        )?;
        phases.push(phase);
    }
    Ok(phases)
}
