//! Answer of `treepie cut`.

use serde::Serialize;
use treepie_jobstate::waits::Rank;
use treepie_report::cut::{Left, WaveReport};

/// What happened.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// The waves in their order.
    pub(crate) waves: Vec<WaveReport>,
    /// What was under way at the end, or when it was looked at.
    pub(crate) left: Option<Left>,
}

/// Whether a run's ranks may be stopped and none has ended, and all are there.
pub(super) fn is_whole(ranks: &[Rank], size: usize) -> bool {
    let mut stops = ranks.iter().map(|rank| rank.stop.as_ref());
    ranks.len() == size && size > 0 && stops.all(|stop| stop.is_some_and(|stop| !stop.ended))
}
