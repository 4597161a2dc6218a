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
    /// Topology of a machine or a cluster.
    Topology,
    /// Settings of a run.
    Configuration,
    /// Site policy: the programs for which the library is switched on.
    Site,
    /// Clusters, and the speed of messages within and between them.
    Platform,
    /// Grid to emulate.
    Grid,
    /// Experience with an application.
    Experience,
    /// Measurements of an MPI's own algorithms.
    Tuning,
    /// Network that is not a tree, and its hosts.
    Network,
}
