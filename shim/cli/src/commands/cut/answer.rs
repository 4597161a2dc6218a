//! Answer of `treepie cut`.

use serde::Serialize;
use treepie_jobstate::waits::RankState;
use treepie_report::cut::{Pending, WaveReport};

/// Answer of the command.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// The waves in order.
    pub(crate) waves: Vec<WaveReport>,
    /// Pending operations at the end, or when the job was examined.
    pub(crate) left: Option<Pending>,
}

/// True if all of a run's ranks exist, may be stopped, and have not ended.
pub(super) fn is_whole(ranks: &[RankState], size: usize) -> bool {
    let mut stops = ranks.iter().map(|rank| rank.stop.as_ref());
    ranks.len() == size && size > 0 && stops.all(|stop| stop.is_some_and(|stop| !stop.ended))
}
