//! Items of a partial profile. Texts and lists are borrowed where items are written, and owned
//! where they are read.

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use treepie_base::{Process, Rank};
use treepie_collective::Operation;
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses};

use crate::partial_profiles::kind::MessageKind;
use crate::partial_profiles::span::Span;

/// Item; `R` is the plan of a collective, `P` are pairs of ranks with their volumes.
#[derive(Serialize, Deserialize)]
pub(super) enum Item<'a, R, P> {
    End,
    Rank {
        process: Process,
        rank: Rank,
        host: Cow<'a, str>,
        cores: Cow<'a, str>,
        elapsed: u64,
    },
    Counted(MessageKind, Rank, Traffic),
    TakenBack(MessageKind, Rank, Traffic),
    Collective {
        of: RecordKey<R>,
        calls: u64,
        group: Ranks<'a>,
        volume: ItemVolume<'a, P>,
    },
    Phase(Cow<'a, str>, Span, LeftOut),
    OpenPhase(Cow<'a, str>, Span, LeftOut),
    SharedMemory(Ranks<'a>),
    Time(CallClass, CallTime),
    Window(u32, Ranks<'a>),
    Access(u32, Access, Accesses),
}

/// True if the counts of a phase are not part of the profile.
type LeftOut = bool;

/// Properties that calls counted together share, except their group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RecordKey<R> {
    /// Collective operation.
    pub operation: Operation,
    /// Root, as a rank of the communicator.
    pub root: Option<u32>,
    /// Size class of the bytes of one call.
    pub size_class: u8,
    /// Plan that ran them; `None` for the native collective.
    pub plan: Option<R>,
}

/// Volume of calls of a collective.
#[derive(Serialize, Deserialize)]
pub(super) enum ItemVolume<'a, P> {
    Uniform(u64),
    PerRank(Cow<'a, [u64]>),
    Pairs(P),
}

/// Two ranks of a communicator, bytes and messages.
pub(super) type Pair = (u32, u32, u64, u64);

/// Pairs from an iterator: nothing is allocated.
pub(super) struct Pairs<I>(pub(super) I);

impl<I: ExactSizeIterator<Item = Pair> + Clone> Serialize for Pairs<I> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.0.clone())
    }
}

/// Ranks of a communicator or window, written as differences: most are runs of neighbours, whose
/// differences are small.
pub(super) struct Ranks<'a>(pub(super) Cow<'a, [u32]>);

impl Serialize for Ranks<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        out.collect_seq(self.0.iter().map(|&rank| {
            let difference = i64::from(rank) - last;
            last = i64::from(rank);
            difference
        }))
    }
}

impl Ranks<'_> {
    /// Returns the ranks of the application's world with these numbers.
    pub(super) fn of_world(&self) -> Vec<Rank> {
        self.0.iter().map(|&rank| Rank(rank as usize)).collect()
    }
}

impl<'de> Deserialize<'de> for Ranks<'_> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut last = 0_i64;
        let differences = Vec::<i64>::deserialize(input)?;
        let ranks = differences.into_iter().map(|difference| {
            last = last.checked_add(difference)?;
            u32::try_from(last).ok()
        });
        let ranks: Option<Vec<u32>> = ranks.collect();
        let ranks = ranks.ok_or_else(|| D::Error::custom("a rank is out of range"))?;
        Ok(Ranks(ranks.into()))
    }
}
