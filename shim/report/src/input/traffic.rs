//! Traffic between ranks, from a profile or from a matrix in any format.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use treepie_base::budget::within;
use treepie_base::text::read_with;
use treepie_base::{Leaf, List, Process, Rank, note};
use treepie_launch::error::CommandError;
use treepie_profile::{Phase, Profile, Times, partial_profiles};
use treepie_topology::Topology;
use treepie_topology::formats::HostLocation;
use treepie_traffic::formats::Format;
use treepie_traffic::formats::monitoring::{self, Monitoring};
use treepie_traffic::{Layer, Matrix, Metric, Traffic, TrafficMatrix};

use super::{occupancy, topology};
use crate::input::choice::MatrixChoice;
use crate::picture::scale::Unit;
use crate::times::share_in_mpi;
use crate::verdict::Sent;

/// Bytes of a message if messages were not counted.
pub const USUAL_MESSAGE: u64 = 64 * 1024;

/// A file with the traffic between ranks.
#[derive(Debug)]
pub enum Input {
    /// A profile: several layers, hosts, processes.
    Profile(Box<Profile>),
    /// Layers of Open MPI's monitoring.
    Monitoring(Monitoring),
    /// A bare matrix.
    Matrix(Matrix),
}

impl Input {
    /// Reads a matrix if the name has the ending of one, the partial profiles of a job without an
    /// orderly end if it is a directory, else a profile. Refuses options for data that it does not
    /// have.
    ///
    /// # Errors
    /// The file cannot be read or is none of these, or it lacks the selected data.
    pub fn read(path: &Path, choice: &MatrixChoice) -> Result<Self, CommandError> {
        if path.is_dir() {
            return Input::from_profile(path, parts_in(path)?, choice);
        }
        match Format::from_path(path) {
            Some(Format::Monitoring) => {
                let kind = "what Open MPI's monitoring counted";
                choice.require_none(path, kind, &["--model", "--phase"])?;
                read_monitoring(path).map(Input::Monitoring)
            }
            Some(format) => {
                let options = ["--metric", "--layer", "--model", "--phase"];
                choice.require_none(path, "a bare matrix", &options)?;
                read_matrix(path, format).map(Input::Matrix)
            }
            None => Input::from_profile(path, Profile::read(path)?, choice),
        }
    }

    /// Uses a profile that was read from `path`.
    ///
    /// # Errors
    /// The profile does not have the selected phase: usage.
    pub fn from_profile(
        path: &Path,
        profile: Profile,
        choice: &MatrixChoice,
    ) -> Result<Self, CommandError> {
        let known: Vec<&str> = profile.phases.iter().map(|phase| &*phase.name).collect();
        match &choice.phase {
            Some(name) if !known.contains(&&**name) => Err(CommandError::usage(format!(
                "{}: has no phase `{name}`; {}",
                path.display(),
                if known.is_empty() {
                    "the job was not cut into phases, leave out --phase".to_owned()
                } else {
                    format!("its phases are {}", known.join(", "))
                }
            ))),
            _ => Ok(Input::Profile(Box::new(profile))),
        }
    }

    /// True if it has the location of processes.
    pub fn is_profile(&self) -> bool {
        matches!(self, Input::Profile(_))
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        match self {
            Input::Profile(profile) => profile.ranks,
            Input::Monitoring(counted) => counted.point_to_point.order(),
            Input::Matrix(matrix) => matrix.order(),
        }
    }

    /// The selected matrix; a bare matrix does not change.
    ///
    /// # Errors
    /// Counts are so large that they would be rounded.
    pub fn matrix(&self, choice: &MatrixChoice) -> Result<Matrix, CommandError> {
        self.matrix_of(choice, choice.metric())
    }

    /// The bytes of the selected layers.
    ///
    /// # Errors
    /// See [`Input::matrix`].
    pub fn bytes(&self, choice: &MatrixChoice) -> Result<Matrix, CommandError> {
        self.matrix_of(choice, Metric::Size)
    }

    /// The messages of the selected layers; `None` for a bare matrix, which has one number for each
    /// pair.
    ///
    /// # Errors
    /// See [`Input::matrix`].
    pub fn messages(&self, choice: &MatrixChoice) -> Result<Option<Matrix>, CommandError> {
        match self {
            Input::Matrix(_) => Ok(None),
            _ => self.matrix_of(choice, Metric::Messages).map(Some),
        }
    }

    fn matrix_of(&self, choice: &MatrixChoice, metric: Metric) -> Result<Matrix, CommandError> {
        let layers = choice.layers();
        let traffic = match self {
            Input::Profile(profile) => chosen_traffic(profile, choice, &layers),
            Input::Monitoring(counted) => counted.traffic(&layers),
            Input::Matrix(matrix) => return Ok(matrix.clone()),
        };
        Ok(traffic.exact_affinity(metric)?)
    }

    /// Counts of Open MPI's monitoring in each layer; empty for a bare matrix, which has no layers,
    /// and for a profile, whose summary has them.
    pub fn layers(&self) -> Vec<(Layer, Traffic)> {
        match self {
            Input::Monitoring(counted) => Layer::ALL
                .iter()
                .map(|&layer| (layer, counted.traffic(&[layer]).total()))
                .collect(),
            Input::Profile(_) | Input::Matrix(_) => Vec::new(),
        }
    }

    /// Share of the ranks' time in MPI, if measured.
    pub fn time_in_mpi(&self) -> Option<f64> {
        match self {
            Input::Profile(profile) => share_in_mpi(profile),
            _ => None,
        }
    }

    /// Traffic of the whole run, if it is a profile's.
    pub fn sent(&self) -> Option<Sent> {
        match self {
            Input::Profile(profile) => Some(Sent::of(profile)),
            _ => None,
        }
    }

    /// Unit of [`Input::matrix`].
    pub fn unit(&self, choice: &MatrixChoice) -> Unit {
        match (self, choice.metric()) {
            (Input::Matrix(_), _) => Unit::Plain,
            (_, Metric::Size) => Unit::Bytes,
            (_, Metric::Messages) => Unit::Messages,
            (_, Metric::Average) => Unit::BytesPerMessage,
        }
    }

    /// Unit of [`Input::bytes`].
    pub fn bytes_unit(&self) -> Unit {
        match self {
            Input::Matrix(_) => Unit::Plain,
            Input::Profile(_) | Input::Monitoring(_) => Unit::Bytes,
        }
    }

    /// The topology named by the user, or the machines on which this ran.
    ///
    /// # Errors
    /// The description or file is wrong.
    pub fn topology(&self, named: Option<&str>) -> Result<Topology, CommandError> {
        match (named, self) {
            (Some(text), _) => topology::read(text),
            (None, Input::Profile(profile)) => topology::from_profile(profile),
            (None, _) => topology::from_this_machine(),
        }
    }

    /// The leaf of each process of the launcher.
    ///
    /// # Errors
    /// There are more processes than cores.
    pub fn leaf_of_process(
        &self,
        topology: &Topology,
    ) -> Result<List<Process, Leaf>, CommandError> {
        let found = match self {
            Input::Profile(profile) => occupancy::from_profile(topology, profile),
            _ => occupancy::packed(topology, self.ranks()),
        };
        found.map_err(|error| CommandError::failed(error.to_string()))
    }

    /// The names of the hosts on which the job ran; empty for a bare matrix.
    pub fn hosts(&self) -> Vec<&str> {
        match self {
            Input::Profile(profile) => profile.hosts.iter().map(|h| h.name.as_str()).collect(),
            Input::Monitoring(_) | Input::Matrix(_) => Vec::new(),
        }
    }

    /// Locations of these hosts on their network, as far as reported by their systems.
    pub fn locations(&self) -> &[HostLocation] {
        match self {
            Input::Profile(profile) => &profile.locations,
            Input::Monitoring(_) | Input::Matrix(_) => &[],
        }
    }

    /// Mean bytes per message; [`USUAL_MESSAGE`] if messages were not counted.
    pub(crate) fn mean_message(&self) -> u64 {
        let counted = match self {
            Input::Profile(profile) => profile.traffic(Layer::ALL).total(),
            Input::Monitoring(counted) => counted.traffic(Layer::ALL).total(),
            Input::Matrix(_) => Traffic::default(),
        };
        match counted.messages {
            0 => USUAL_MESSAGE,
            messages => counted.bytes / messages,
        }
    }

    /// Seconds of the run, or of the selected phase. `None` if time was not measured.
    pub fn run_time(&self, choice: &MatrixChoice) -> Option<f64> {
        let Input::Profile(profile) = self else {
            return None;
        };
        match chosen_phase(profile, choice) {
            Some(phase) => Some(phase.seconds),
            None => {
                let longest = profile.times.as_ref()?.elapsed.iter().max()?;
                Some(*longest as f64 / 1e9)
            }
        }
    }

    /// Load of each rank: its seconds outside MPI, in the selected phase. `None` if time was not
    /// measured.
    pub fn loads(&self, choice: &MatrixChoice) -> Option<List<Rank, f64>> {
        let Input::Profile(profile) = self else {
            return None;
        };
        let times = match chosen_phase(profile, choice) {
            Some(phase) => phase.times.as_ref(),
            None => profile.times.as_ref(),
        };
        times.map(Times::outside_mpi)
    }

    /// The process that ran each rank; the one with its number if that is not known.
    pub fn process_of_rank(&self) -> List<Rank, Process> {
        match self {
            Input::Profile(profile) => profile.process_of_rank.clone(),
            _ => (0..self.ranks()).map(Process).collect(),
        }
    }
}

/// The layers of a profile, or of the selected phase.
fn chosen_traffic(profile: &Profile, choice: &MatrixChoice, layers: &[Layer]) -> TrafficMatrix {
    match chosen_phase(profile, choice) {
        Some(phase) => profile.traffic_of_phase(phase, layers, choice.model),
        None => profile.traffic_by(layers, choice.model),
    }
}

fn chosen_phase<'a>(profile: &'a Profile, choice: &MatrixChoice) -> Option<&'a Phase> {
    let named = |phase: &&Phase| Some(&phase.name) == choice.phase.as_ref();
    profile.phases.iter().find(named)
}

/// Builds a profile from the partial profiles in a directory of a job without an orderly end;
/// missing ranks are reported on standard error.
///
/// # Errors
/// The directory has no partial profiles, or some are wrong or of different runs.
pub fn parts_in(directory: &Path) -> Result<Profile, CommandError> {
    let profile = partial_profiles::read_directory(directory)?.profile;
    let note = match profile.notes.last() {
        Some(note) if !profile.missing_ranks.is_empty() => note,
        _ => "put together from what all ranks left",
    };
    note!("{}: {note}", directory.display());
    Ok(profile)
}

/// Reads a matrix in one format.
///
/// # Errors
/// The file cannot be read, or is not in that format.
fn read_matrix(path: &Path, format: Format) -> Result<Matrix, CommandError> {
    // Line by line: the text of a large matrix takes as much memory as its numbers.
    let name = path.display().to_string();
    Ok(read_with(path, |file| format.read(file, &name))?)
}

/// Reads the output of Open MPI's monitoring: all ranks' files if the name ends in `.RANK.prof`,
/// because each only has the sends of its rank, else the one file.
///
/// # Errors
/// The file cannot be read, or is not such output.
fn read_monitoring(path: &Path) -> Result<Monitoring, CommandError> {
    let mut text = String::new();
    for file in monitoring_files(path) {
        text += &treepie_base::text::read(&file)?;
        text.push('\n');
    }
    let name = path.display().to_string();
    Ok(within(text.len(), || {
        monitoring::read(text.as_bytes(), &name)
    })?)
}

/// All files of one run of the monitoring, by rank.
fn monitoring_files(path: &Path) -> Vec<PathBuf> {
    let rank_of = |file: &Path| -> Option<(OsString, usize)> {
        let stem = Path::new(file.file_stem()?);
        let rank = stem.extension()?.to_str()?.parse().ok()?;
        (file.extension()? == "prof").then_some((stem.file_stem()?.to_owned(), rank))
    };
    let Some((name, _)) = rank_of(path) else {
        return vec![path.to_owned()];
    };
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut files: Vec<(usize, PathBuf)> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let found = entry.ok()?.path();
            let (of, rank) = rank_of(&found)?;
            (of == name).then_some((rank, found))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        vec![path.to_owned()]
    } else {
        files.into_iter().map(|(_, file)| file).collect()
    }
}

/// Possible location of the profile from which a placement was computed: under the recorded name,
/// or next to the placement.
pub fn profile_of_placement(placement: &Path, named: &str) -> Option<PathBuf> {
    let named = Path::new(named);
    let beside = placement
        .parent()
        .unwrap_or(Path::new(""))
        .join(named.file_name()?);
    [named.to_owned(), beside]
        .into_iter()
        .find(|path| path.is_file())
}
