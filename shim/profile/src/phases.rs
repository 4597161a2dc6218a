//! Phases of a profile, cut in time.

use std::path::Path;

use serde::de::MapAccess;
use serde::{Deserialize, Serialize};

use crate::layers::{self, LayerFiles};
use crate::records;
use crate::times::Times;
use treepie_base::{FileError, Joined, SideFields};
use treepie_collective::Record;
use treepie_traffic::{Layer, TrafficMatrix};

/// Counts of one phase of a job: marked with `MPI_Pcontrol`, or one phase interval.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name: the level of `MPI_Pcontrol`, or `0-10s`.
    pub name: String,
    /// Time when the first rank first entered it, in seconds since the job's start.
    pub start_seconds: f64,
    /// Time when the last rank last left it, in seconds since the job's start.
    pub end_seconds: f64,
    /// Longest time of a rank in it, summed over its occurrences, in seconds.
    pub seconds: f64,
    /// Messages that the application sent itself.
    #[serde(skip)]
    pub point_to_point: TrafficMatrix,
    /// Puts, gets and accumulates.
    #[serde(skip)]
    pub one_sided: TrafficMatrix,
    /// Neighbourhood collectives.
    #[serde(skip)]
    pub neighbourhood: TrafficMatrix,
    /// Calls of collectives.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "records")]
    pub collectives: Vec<Record>,
    /// Time in the phase and in MPI, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
}

impl Phase {
    /// Returns the layers that were counted pair by pair.
    pub(crate) fn matrices(&self) -> [(Layer, &TrafficMatrix); 3] {
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

/// Matrices of a phase on disk.
#[derive(Default, Serialize)]
pub(crate) struct PhaseFiles {
    layers: Vec<LayerFiles>,
}

impl SideFields for PhaseFiles {
    const NAMES: &'static [&'static str] = &["layers"];

    fn read<'de, A: MapAccess<'de>>(&mut self, _name: &str, lines: &mut A) -> Result<(), A::Error> {
        self.layers = lines.next_value()?;
        Ok(())
    }
}

/// Writes the matrices of all phases beside the profile at `path`.
pub(crate) fn write<'a>(
    path: &Path,
    phases: &'a [Phase],
) -> Result<Vec<Joined<&'a Phase, PhaseFiles>>, FileError> {
    let with_files = |phase: &'a Phase| {
        let layers = layers::write(path, Some(&phase.name), &phase.matrices())?;
        Ok(Joined {
            body: phase,
            side: PhaseFiles { layers },
        })
    };
    phases.iter().map(with_files).collect()
}

/// Reads the matrices of the phases of the profile at `path`, of `ranks` ranks.
pub(crate) fn read(
    path: &Path,
    phases: Vec<Joined<Phase, PhaseFiles>>,
    ranks: usize,
) -> Result<Vec<Phase>, FileError> {
    let with_matrices = |Joined { mut body, side }: Joined<Phase, PhaseFiles>| {
        let field = format!("phases.{}.layers", body.name);
        layers::read(path, &field, &side.layers, &mut body.matrices_mut(), ranks)?;
        Ok(body)
    };
    phases.into_iter().map(with_matrices).collect()
}
