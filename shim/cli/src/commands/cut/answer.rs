//! Answer of `treepie cut`.

use serde::Serialize;
use treepie_jobstate::waits::RankState;
use treepie_report::cut::{Pending, WaveReport};

/// Answer of the command.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// The waves in their order.
    pub(crate) waves: Vec<WaveReport>,
    /// Pending operations at the end, or when the job was examined.
    pub(crate) left: Option<Pending>,
}

/// Whether a run's ranks may be stopped and none has ended, and all are there.
pub(super) fn is_whole(ranks: &[RankState], size: usize) -> bool {
    let mut stops = ranks.iter().map(|rank| rank.stop.as_ref());
    ranks.len() == size && size > 0 && stops.all(|stop| stop.is_some_and(|stop| !stop.ended))
}
