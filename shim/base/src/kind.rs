//! Kinds of files.

use strum::{Display, EnumString, VariantArray};

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Traffic between ranks in a job.
    Profile,
    /// Placement of ranks on cores.
    Placement,
    /// The tree of a machine or a cluster.
    Topology,
    /// The settings of a run.
    Configuration,
    /// A site's policy: for which programs the library is switched on.
    Site,
    /// Clusters, and how fast messages are in and between them.
    Platform,
    /// A grid to emulate.
    Grid,
    /// Experience with an application.
    Experience,
    /// Measurements of an MPI's own algorithms.
    Tuning,
    /// A network that is no tree, and its hosts.
    Network,
}
