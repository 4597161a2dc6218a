//! Partial profile of one rank.

use std::collections::BTreeMap;

use super::kind::MessageKind;
use super::records::Records;
use super::span::Span;
use treepie_base::{Process, Rank};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses};

/// Counts of one phase on one rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its time.
    pub span: Span,
    /// True if its counts are not part of the profile.
    pub left_out: bool,
    /// Messages by kind and partner.
    pub counted: BTreeMap<(MessageKind, Rank), Traffic>,
    /// Collectives.
    pub collectives: Records,
    /// Calls and the time in them, if it was measured.
    pub times: BTreeMap<CallClass, CallTime>,
}

/// One rank's partial profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartialProfile {
    /// Its process in the launcher's world.
    pub process: Process,
    /// Its rank in the application's world.
    pub rank: Rank,
    /// Name of its host.
    pub host: String,
    /// Cores that it may run on, in Linux's list format: `0-3,8`.
    pub allowed_cores: String,
    /// Nanoseconds from the job's start until this was written.
    pub elapsed: u64,
    /// Counts by kind and partner.
    pub counted: BTreeMap<(MessageKind, Rank), Traffic>,
    /// Collectives that it reports.
    pub collectives: Records,
    /// Phases that have ended.
    pub phases: Vec<Phase>,
    /// Current phase; its counts are empty here.
    pub open_phase: Option<Phase>,
    /// Groups of ranks that share memory.
    pub shared_memory: Vec<Vec<Rank>>,
    /// Calls and the time in them, if it was measured.
    pub times: BTreeMap<CallClass, CallTime>,
    /// Windows: the number of earlier windows of the same ranks, and these ranks.
    pub windows: Vec<(u32, Vec<Rank>)>,
    /// Calls on windows, which are identified by their index in `windows`.
    pub accesses: BTreeMap<(u32, Access), Accesses>,
}
