//! Forms of a collective call, and the progress of started plans.

use strum::{Display, IntoStaticStr, VariantArray};
use treepie_base::from_name;
use treepie_collective::Operation::{self, *};
use treepie_collective::{Algorithm, Flow};

/// Drives the progress of started plans while the program is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Progress {
    /// Nothing: plans progress only in calls on their own requests.
    Own,
    /// Hooks in all calls of the native MPI that wait, or a thread of Treepie.
    Called,
}

from_name!(Progress, "progress");

impl Progress {
    /// True if an algorithm may execute a started collective: any one if the native MPI calls
    /// Treepie, or else only [`direct`].
    pub fn allows(self, algorithm: &Algorithm, operation: Operation) -> bool {
        self == Progress::Called || direct(operation) == Some(algorithm)
    }
}

/// Form of a collective call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Complete when the call returns.
    Blocking,
    /// Started, once or by each start of a persistent request.
    Started(Progress),
}

impl Form {
    /// Flow of messages of up to `segment` units in such a call.
    pub fn flow(self, segment: u64) -> Flow {
        match self {
            Form::Blocking => Flow::from(segment),
            Form::Started(_) => Flow::from(segment).started(),
        }
    }
}

/// Algorithm of an operation in which no message waits for another rank's.
pub fn direct(operation: Operation) -> Option<&'static Algorithm> {
    let name = match operation {
        Barrier => "all-to-all",
        Reduce | Allreduce | Scan | Exscan | ReduceScatter | ReduceScatterBlock => "at-once",
        _ => "flat",
    };
    Algorithm::find(operation, name)
}
