//! Where the time of MPI calls goes: classes of calls, counted and timed.

use std::ops::AddAssign;

use super::names::named;

/// Calls that do the same sort of thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallClass {
    /// Sends, blocking or not, prepared or not, and their starts.
    Send,
    /// Receives and probes.
    Receive,
    /// Sends and receives in one call.
    SendReceive,
    /// Waiting and testing for completion.
    Wait,
    /// Barriers.
    Barrier,
    /// Collectives other than barriers.
    Collective,
    /// Neighbourhood collectives.
    Neighbourhood,
    /// Puts, gets and accumulates.
    OneSided,
    /// All other procedures that have to do with a communicator or a window.
    Other,
}

impl CallClass {
    /// All classes; a class's number is its place here.
    pub const ALL: [CallClass; 9] = [
        CallClass::Send,
        CallClass::Receive,
        CallClass::SendReceive,
        CallClass::Wait,
        CallClass::Barrier,
        CallClass::Collective,
        CallClass::Neighbourhood,
        CallClass::OneSided,
        CallClass::Other,
    ];

    const NAMES: &'static [(&'static str, CallClass)] = &[
        ("send", CallClass::Send),
        ("receive", CallClass::Receive),
        ("send-receive", CallClass::SendReceive),
        ("wait", CallClass::Wait),
        ("barrier", CallClass::Barrier),
        ("collective", CallClass::Collective),
        ("neighbourhood", CallClass::Neighbourhood),
        ("one-sided", CallClass::OneSided),
        ("other", CallClass::Other),
    ];
}

named!(CallClass, "class of calls");

/// Calls and the time in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallTime {
    /// Number of calls.
    pub calls: u64,
    /// Time from their beginnings to their ends, in nanoseconds.
    pub nanoseconds: u64,
}

impl AddAssign for CallTime {
    fn add_assign(&mut self, other: CallTime) {
        self.calls = self.calls.saturating_add(other.calls);
        self.nanoseconds = self.nanoseconds.saturating_add(other.nanoseconds);
    }
}
