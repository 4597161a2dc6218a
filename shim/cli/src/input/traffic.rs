//! Who sends what to whom, from a profile or from a matrix in any format.

use std::path::{Path, PathBuf};

use treepie_core::affinity::formats::Format;
use treepie_core::affinity::{Layer, Matrix, Metric, Traffic};
use treepie_core::files::profile::Profile;
use treepie_core::topology::Topology;

use super::{occupancy, topology};
use crate::commands::options::MatrixChoice;
use crate::error::CommandError;
use crate::picture::Unit;

/// A file that says who sends what to whom.
#[derive(Debug)]
pub enum Input {
    /// A profile: several layers, hosts, processes.
    Profile(Box<Profile>),
    /// A bare matrix.
    Matrix(Matrix),
}

impl Input {
    /// Reads a matrix where the name ends as one, else a profile.
    ///
    /// # Errors
    /// A file that cannot be read or is neither.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        match Format::of_path(path) {
            Some(format) => read_matrix(path, format).map(Input::Matrix),
            None => Ok(Input::Profile(Box::new(Profile::read(path)?))),
        }
    }

    /// Whether it knows where processes ran.
    pub fn is_profile(&self) -> bool {
        matches!(self, Input::Profile(_))
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        match self {
            Input::Profile(profile) => profile.ranks,
            Input::Matrix(matrix) => matrix.order(),
        }
    }

    /// The matrix that was chosen; a bare matrix is what it is.
    pub fn matrix(&self, choice: &MatrixChoice) -> Matrix {
        self.matrix_of(choice, choice.metric)
    }

    /// The bytes of the layers that were chosen.
    pub fn bytes(&self, choice: &MatrixChoice) -> Matrix {
        self.matrix_of(choice, Metric::Size)
    }

    fn matrix_of(&self, choice: &MatrixChoice, metric: Metric) -> Matrix {
        match self {
            Input::Profile(profile) => profile.traffic(choice.layers()).affinity(metric),
            Input::Matrix(matrix) => matrix.clone(),
        }
    }

    /// What the numbers of [`Input::matrix`] count.
    pub fn unit(&self, choice: &MatrixChoice) -> Unit {
        match (self, choice.metric) {
            (Input::Matrix(_), _) => Unit::Plain,
            (_, Metric::Size) => Unit::Bytes,
            (_, Metric::Messages) => Unit::Messages,
            (_, Metric::Average) => Unit::BytesPerMessage,
        }
    }

    /// What the numbers of [`Input::bytes`] count.
    pub fn bytes_unit(&self) -> Unit {
        match self {
            Input::Matrix(_) => Unit::Plain,
            Input::Profile(_) => Unit::Bytes,
        }
    }

    /// The topology that the user names, or the machines that this ran on.
    ///
    /// # Errors
    /// Whatever is wrong with it.
    pub fn topology(&self, named: Option<&str>) -> Result<Topology, CommandError> {
        match (named, self) {
            (Some(text), _) => topology::read(text),
            (None, Input::Profile(profile)) => topology::of_profile(profile),
            (None, Input::Matrix(_)) => topology::of_this_machine(),
        }
    }

    /// The leaf of each process of the launcher.
    ///
    /// # Errors
    /// More processes than cores.
    pub fn leaf_of_process(&self, topology: &Topology) -> Result<Vec<usize>, CommandError> {
        let found = match self {
            Input::Profile(profile) => occupancy::of_profile(topology, profile),
            Input::Matrix(matrix) => occupancy::packed(topology, matrix.order()),
        };
        found.map_err(|error| CommandError::failed(error.to_string()))
    }

    /// The names of the hosts where the job ran; none for a bare matrix.
    pub fn hosts(&self) -> Vec<&str> {
        match self {
            Input::Profile(profile) => profile.hosts.iter().map(|h| h.name.as_str()).collect(),
            Input::Matrix(_) => Vec::new(),
        }
    }

    /// Bytes of a message on average; 64 KiB where nobody counted messages.
    pub fn mean_message(&self) -> u64 {
        let counted = match self {
            Input::Profile(profile) => profile.traffic(&Layer::ALL).total(),
            Input::Matrix(_) => Traffic::default(),
        };
        match counted.messages {
            0 => 64 * 1024,
            messages => counted.bytes / messages,
        }
    }

    /// The process that ran each rank; for a bare matrix, the one of its number.
    pub fn process_of_rank(&self) -> Vec<usize> {
        match self {
            Input::Profile(profile) => profile.process_of_rank.clone(),
            Input::Matrix(matrix) => (0..matrix.order()).collect(),
        }
    }
}

/// Reads a matrix in one format.
///
/// # Errors
/// A file that cannot be read, or is not in that format.
pub fn read_matrix(path: &Path, format: Format) -> Result<Matrix, CommandError> {
    let missing = |error: std::io::Error| {
        CommandError::failed(format!(
            "{}: cannot be read: {error}; check its name",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(missing)?;
    format
        .read(text.as_bytes(), &path.display().to_string())
        .map_err(|error| CommandError::failed(error.to_string()))
}

/// Where the profile that a placement was made from may be: as it was named,
/// or beside the placement.
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
