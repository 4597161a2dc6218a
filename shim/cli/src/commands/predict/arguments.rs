//! Arguments of `treepie predict`.

use std::path::PathBuf;

use clap::Args;
use treepie_base::Cluster;
use treepie_choice::Progress;
use treepie_choice::predict::Predictor;
use treepie_collective::network::Computing;
use treepie_collective::read::simulate::SimulationError;
use treepie_collective::{Operation, Uniform};
use treepie_launch::error::CommandError;
use treepie_native::Family;
use treepie_platform::Platform;
use treepie_report::input::choice::size;
use treepie_report::input::collective::Collective;

use crate::commands::options::Printing;
use crate::commands::predict::checkpoints::CheckpointOptions;

/// Predict the time of collectives, of data with gaps, or of a job with checkpoints
#[derive(Debug, Args)]
pub struct Arguments {
    /// Platform, as written by `treepie probe`
    #[arg(value_name = "PLATFORM")]
    pub(crate) file: PathBuf,
    /// Collective: bcast, scatter, gather, reduce, allreduce, allgather, alltoall, barrier, scan,
    /// ...; in the form of its call: iallreduce (non-blocking), allreduce-init (persistent)
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Collective>, required_unless_present_any = ["measured", "protocols", "pieces", "choices"])]
    pub(crate) collective: Option<Collective>,
    /// For neighbor-allgather and similar collectives: neighbours of each rank, torus:4x4 or
    /// mesh:2x8 for a Cartesian topology, or a matrix or profile, in which each sender has an edge
    /// to its receiver
    #[arg(
        long,
        visible_alias = "neighbors",
        value_name = "GRID|FILE",
        requires = "collective"
    )]
    pub(crate) neighbours: Option<String>,
    /// Print the choice for every collective and size as one line for TREEPIE_COLLECTIVES, to be
    /// kept or changed
    #[arg(long, conflicts_with_all = ["collective", "measured", "pieces"])]
    pub(crate) choices: bool,
    /// For non-blocking and persistent ones: called, if the MPI calls Treepie in all of its waits
    /// (Open MPI; MPICH since 4.3), or own [default: as --mpi]
    #[arg(long, value_name = "WHO", value_parser = str::parse::<Progress>, requires = "collective")]
    progress: Option<Progress>,
    /// Instead of a collective: N separate pieces of --bytes, from one rank to another, as
    /// messages, by a datatype, packed, and by puts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["collective", "measured"])]
    pub(crate) pieces: Option<u64>,
    /// Bytes of the message, of one rank's block, or of a piece: 64, 16K, 1M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "0")]
    pub(super) bytes: u64,
    /// For gatherv, scatterv, alltoallv and alltoallw: bytes of each block instead, from a matrix
    /// or profile whose entries are bytes from one rank to another; for gatherv its column of the
    /// root, for scatterv its row
    #[arg(
        long,
        value_name = "FILE",
        requires = "collective",
        conflicts_with = "bytes"
    )]
    pub(crate) block_sizes: Option<PathBuf>,
    /// Rank of the root
    #[arg(long, value_name = "RANK", default_value = "0")]
    pub(crate) root: usize,
    /// Number of ranks, if not those of the platform: all clusters are enlarged or shrunk alike
    #[arg(long, value_name = "N")]
    pub(crate) ranks: Option<usize>,
    /// Bytes of the largest message, instead of the best size
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) segment: Option<u64>,
    /// Compare the predictions with the times in this file instead: lines of
    /// collective,algorithm,bytes,segment,seconds
    #[arg(long, value_name = "FILE", conflicts_with_all = ["collective", "bytes", "segment"])]
    pub(super) measured: Option<PathBuf>,
    /// Nanoseconds that a reduction takes for each byte
    #[arg(long, value_name = "NS", default_value = "0.25")]
    pub(crate) compute: f64,
    /// The MPI whose own collectives are modelled: open-mpi, mpich
    #[arg(long, value_name = "FAMILY", default_value = "open-mpi")]
    pub(crate) mpi: Family,
    /// One plan instead of all: grid-chain, grid-chain/32K, or with the trees inside clusters, the
    /// widest level first, grid-chain/32K@binomial/flat
    #[arg(long, value_name = "PLAN", requires = "collective")]
    pub(crate) algorithm: Option<String>,
    /// Write this file, by its ending, and may be repeated. Of a collective, the plan that is
    /// chosen, or that of --algorithm: .svg or .png (the steps of each rank in time), .json (the
    /// same), .trace.json for Perfetto, .goal for LogGOPSim, .ti for SimGrid's smpirun -replay
    /// (beside it a file for each rank, the platform and the hosts). Of --measured and --protocols,
    /// .svg or .png
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) printing: Printing,
    #[command(flatten)]
    pub(crate) checkpoints: CheckpointOptions,
}

impl Arguments {
    /// Predicts a call.
    pub fn predictor(&self, platform: &Platform, call: Uniform) -> Result<Predictor, CommandError> {
        let computing = Computing {
            per_byte: self.compute * 1e-9,
        };
        Predictor::new(platform, call, self.mpi, computing).ok_or_else(|| {
            let file = self.file.display();
            CommandError::failed(format!("{file}: has no ranks; probe it again"))
        })
    }

    /// Driver of the progress of started plans; the default is that of the usual MPIs of the
    /// family.
    pub(crate) fn progress(&self) -> Progress {
        self.progress.unwrap_or(match self.mpi {
            Family::OpenMpi => Progress::Called,
            Family::Mpich => Progress::Own,
        })
    }

    /// The call in words.
    pub(crate) fn called(&self, predictor: &Predictor) -> String {
        let operation = predictor.call.operation;
        self.collective
            .map_or(operation.to_string(), |one| one.to_string())
    }

    /// The root of an operation that has one.
    pub fn root(&self, operation: Operation, platform: &Platform) -> usize {
        match operation.has_root() {
            true if self.root < platform.ranks() => self.root,
            // The lowest rank of the first cluster, if the platform has no such rank.
            true => platform.ranks_of(Cluster(0)).first().copied().unwrap_or(0),
            false => 0,
        }
    }
}

/// Converts an error of the simulator.
pub fn failed(error: SimulationError) -> CommandError {
    CommandError::failed(error.to_string())
}
