//! Formats of rank files.

use std::path::Path;

use strum::{Display, IntoStaticStr, VariantArray};

use treepie_base::from_name;

/// Formats that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Form {
    /// `rank 0=host slot=SOCKET:CORE`, counted logically.
    OpenMpi,
    /// `rank 0=host slot=pSOCKET:CORE`.
    OpenMpiPhysical,
    /// `host:count`, hosts in the order of the ranks.
    Hydra,
    /// The host of each rank, one per line.
    Slurm,
    /// The host of each rank, one per line.
    Flux,
    /// The host of each rank, one per line.
    #[strum(serialize = "parastation")]
    ParaStation,
    /// The host of each rank, one per line.
    Pbs,
    /// The ranks in the order of the job's cores, separated by commas.
    Cray,
    /// The node of each rank as a coordinate, `(3)`, one per line.
    Pjm,
}

impl Form {
    /// The format indicated by a file's name: `.rankfile`, `.hostfile`, `MPICH_RANK_ORDER`.
    pub fn from_path(path: &Path) -> Option<Form> {
        let name = path.file_name()?.to_str()?;
        if name.starts_with("MPICH_RANK_ORDER") {
            return Some(Form::Cray);
        }
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("rankfile") => Some(Form::OpenMpi),
            Some("hostfile") => Some(Form::Hydra),
            _ if name == "rankfile" => Some(Form::OpenMpi),
            _ => None,
        }
    }
}

from_name!(Form, "form of rank file");
