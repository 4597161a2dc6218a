//! Order of receives, recorded or replayed.

use treepie_base::{Process, Rank};
use treepie_mpi::share::{BoundedMembers, Group, ShareError};
use treepie_process::log;
use treepie_record as record;

use super::part::{End, Part, Start};
use crate::order::{self, Manner};
use crate::session::decision::OrderWay;
use crate::world;

/// Recording or replay of the order of receives. It counts calls, with or without a profile:
/// communicators are identified by the counts.
pub struct Order;

impl Part for Order {
    fn begin(&self, start: &mut Start<'_>) -> Result<(), ShareError> {
        let Some(order) = &start.plan.order else {
            return Ok(());
        };
        if start.plan.recording.is_none() {
            record::begin(None);
        }
        if let Some(seed) = order.delays {
            record::begin_delays(seed);
        }
        let (native, processes) = (start.native, start.processes);
        let rank = Rank(native.rank(world::of_application(native))?);
        match &order.way {
            OrderWay::Record(path, of) => {
                let (run, program) = (**of).clone();
                order::record(native, processes, (path.clone(), run, program), rank)?;
            }
            OrderWay::Replay {
                patience,
                after_end,
            } => {
                let new_rank = start.plan.permutation.as_deref();
                let rank_of = |process: Process| match new_rank {
                    Some(new_rank) => new_rank[process],
                    None => Rank(process.0),
                };
                let logs = (processes.rank() == 0).then_some(start.logs);
                let log = order::distribute(processes, logs, rank_of)?;
                let manner = Manner {
                    patience: *patience,
                    after_end: *after_end,
                };
                order::replay(native, rank, &log, manner)?;
            }
        }
        Ok(())
    }

    fn stop(&self, _end: &mut End<'_>) {
        order::end();
    }

    fn collect(&self, members: &BoundedMembers<'_>, _end: &End<'_>) {
        if let Err(error) = order::write(members)
            && error.is_reported_here()
        {
            log::error(&format!("the order could not be collected: {error}"));
        }
    }
}
