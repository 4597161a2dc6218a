//! Reading partial profiles.

use treepie_base::printable::one_line;
use treepie_collective::{PlanRun, Record, Volume};
use treepie_traffic::Traffic;

use super::item::{Item, ItemVolume, Pair};
use crate::partial_profiles::partial_profile::{PartialProfile, Phase};

/// An item as it is read.
type Owned = Item<'static, PlanRun, Vec<Pair>>;

/// Decodes the partial profiles that are concatenated in `bytes`; yields `None`, and then ends, for
/// invalid bytes.
pub fn decode_all(mut bytes: &[u8]) -> impl Iterator<Item = Option<PartialProfile>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let partial = decode(&mut bytes);
        if partial.is_none() {
            bytes = &[];
        }
        Some(partial)
    })
}

/// Decodes a partial profile; `None` for bytes that end too early or are invalid.
pub(crate) fn decode(bytes: &mut &[u8]) -> Option<PartialProfile> {
    let mut partial = PartialProfile::default();
    loop {
        let (item, rest) = postcard::take_from_bytes::<Owned>(bytes).ok()?;
        *bytes = rest;
        if matches!(item, Item::End) {
            return Some(partial);
        }
        partial.take(item)?;
    }
}

impl PartialProfile {
    /// Adds an item; counts after a phase belong to that phase. `None` for an invalid one.
    fn take(&mut self, item: Owned) -> Option<()> {
        let (counted, records, times) = match self.phases.last_mut() {
            Some(phase) => (&mut phase.counted, &mut phase.collectives, &mut phase.times),
            None => (&mut self.counted, &mut self.collectives, &mut self.times),
        };
        match item {
            Item::End => {}
            Item::Rank {
                process,
                rank,
                host,
                cores,
                elapsed,
            } => {
                (self.process, self.rank, self.elapsed) = (process, rank, elapsed);
                (self.host, self.allowed_cores) = (one_line(&host), one_line(&cores));
            }
            Item::Counted(kind, partner, traffic) => {
                *counted.entry((kind, partner)).or_default() += traffic;
            }
            Item::TakenBack(kind, partner, traffic) => {
                if let Some(sum) = self.counted.get_mut(&(kind, partner)) {
                    *sum = less(*sum, traffic);
                }
            }
            Item::Collective {
                of,
                calls,
                group,
                volume,
            } => records.add(Record {
                operation: of.operation,
                root: of.root,
                size_class: of.size_class,
                plan: of.plan,
                calls,
                group: group.0.into(),
                volume: match volume {
                    ItemVolume::Uniform(bytes) => Volume::Uniform(bytes),
                    ItemVolume::PerRank(bytes) => Volume::PerRank(bytes.into_owned()),
                    ItemVolume::Pairs(pairs) => Volume::Pairs(pairs),
                },
            }),
            Item::Phase(name, span, left_out) => self.phases.push(Phase {
                name: one_line(&name),
                span,
                left_out,
                ..Phase::default()
            }),
            Item::OpenPhase(name, span, left_out) => {
                self.open_phase = Some(Phase {
                    name: one_line(&name),
                    span,
                    left_out,
                    ..Phase::default()
                });
            }
            Item::SharedMemory(group) => self.shared_memory.push(group.of_world()),
            Item::Time(class, time) => *times.entry(class).or_default() += time,
            Item::Window(number, group) => self.windows.push((number, group.of_world())),
            Item::Access(window, access, accesses) => {
                self.windows.get(window as usize)?;
                *self.accesses.entry((window, access)).or_default() += accesses;
            }
        }
        Some(())
    }
}

/// Subtracts `what` from `from`, but not below 0.
pub(crate) fn less(from: Traffic, what: Traffic) -> Traffic {
    Traffic {
        messages: from.messages.saturating_sub(what.messages),
        bytes: from.bytes.saturating_sub(what.bytes),
    }
}
