//! Request that is prepared once and counted at every start.

use std::sync::Arc;

use treepie_collective::Operation;

use super::collectives::{CallTraffic, Plan};
use super::communicators::Communicator;
use super::counters::MessageKind;

/// Communication of one start of a request.
pub enum Prepared {
    /// Messages: kind, and receiver and bytes of each.
    Messages(MessageKind, Vec<(u32, u64)>),
    /// A receive from this partner.
    Receive(u32),
    /// A collective, and the plan that runs it.
    Collective(Arc<Communicator>, Operation, CallTraffic, Option<Plan>),
}
