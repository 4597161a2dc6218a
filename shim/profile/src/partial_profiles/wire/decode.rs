//! Reading partial profiles.

use super::Tag;
use crate::partial_profiles::{Kind, PartialProfile, Phase, Span};
use treepie_collective::{Operation, PlanRun, Record, Volume};
use treepie_traffic::Traffic;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::windows::{Access, Accesses, EpochKind, WindowCall};

/// The partial profiles that stand one after the other in `bytes`; `None`, and no more after
/// it, where they do not.
pub fn decode_all(bytes: &[u8]) -> impl Iterator<Item = Option<PartialProfile>> {
    let mut decoder = Some(Decoder(bytes));
    std::iter::from_fn(move || {
        let rest = decoder.as_mut().filter(|rest| !rest.0.is_empty())?;
        let partial = rest.partial_profile();
        if partial.is_none() {
            decoder = None;
        }
        Some(partial)
    })
}

/// Reads what [`Encoder`] wrote; `None` where it ends too early or makes no sense.
pub(crate) struct Decoder<'a>(pub(crate) &'a [u8]);

impl Decoder<'_> {
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(crate) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| each(self)).collect()
    }

    fn group(&mut self) -> Option<Vec<u32>> {
        let mut last = 0i64;
        self.list(|d| {
            let coded = d.number()?;
            let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
            last = last.checked_add(difference)?;
            u32::try_from(last).ok()
        })
    }

    fn traffic(&mut self) -> Option<((Kind, u32), Traffic)> {
        let kind = Kind::from_number(self.number()?)?;
        let partner = self.small()?;
        let (messages, bytes) = (self.number()?, self.number()?);
        Some(((kind, partner), Traffic { messages, bytes }))
    }

    /// Calls on one of `windows` windows.
    fn access(&mut self, windows: usize) -> Option<((u32, Access), Accesses)> {
        let place = self.small()?;
        let access = Access {
            epoch: *EpochKind::ALL.get(self.small()? as usize)?,
            call: *WindowCall::ALL.get(self.small()? as usize)?,
            is_contiguous: self.number()? != 0,
            size_class: u8::try_from(self.number()?).ok()?,
            target: self.small()?,
        };
        let accesses = Accesses {
            traffic: Traffic::new(self.number()?, self.number()?),
            intervals: 0,
        };
        let is_known = (place as usize) < windows;
        is_known.then_some(((place, access), accesses))
    }

    fn record(&mut self) -> Option<Record> {
        Some(Record {
            operation: {
                let number = self.number()?;
                Operation::every().find(|&known| known as u64 == number)?
            },
            root: match self.number()?.checked_sub(1) {
                Some(root) => Some(u32::try_from(root).ok()?),
                None => None,
            },
            size_class: u8::try_from(self.number()?).ok()?,
            plan: match self.number()? {
                0 => None,
                _ => Some(self.plan()?),
            },
            calls: self.number()?,
            group: self.group()?,
            volume: match self.number()? {
                0 => Volume::Uniform(self.number()?),
                1 => Volume::PerRank(self.list(Self::number)?),
                2 => Volume::Pairs(
                    self.list(|d| Some((d.small()?, d.small()?, d.number()?, d.number()?)))?,
                ),
                _ => return None,
            },
        })
    }

    fn plan(&mut self) -> Option<PlanRun> {
        Some(PlanRun {
            algorithm: self.text()?,
            segment: self.number()?,
            unit_bytes: self.number()?,
            ordered: self.number()? != 0,
        })
    }

    fn phase(&mut self) -> Option<Phase> {
        Some(Phase {
            name: self.text()?,
            span: Span {
                start: self.number()?,
                end: self.number()?,
                length: self.number()?,
            },
            left_out: self.number()? != 0,
            ..Phase::default()
        })
    }

    /// The next partial profile.
    pub(crate) fn partial_profile(&mut self) -> Option<PartialProfile> {
        let mut partial = PartialProfile::default();
        loop {
            let number = self.number()?;
            match Tag::ALL.into_iter().find(|&tag| tag as u64 == number)? {
                Tag::End => break,
                Tag::Rank => {
                    partial.process = self.small()?;
                    partial.rank = self.small()?;
                    partial.host = self.text()?;
                    partial.allowed_cores = self.text()?;
                    partial.elapsed = self.number()?;
                }
                Tag::Counted => {
                    let (key, traffic) = self.traffic()?;
                    let counted = match partial.phases.last_mut() {
                        Some(phase) => &mut phase.counted,
                        None => &mut partial.counted,
                    };
                    *counted.entry(key).or_default() += traffic;
                }
                Tag::TakenBack => {
                    let (key, traffic) = self.traffic()?;
                    if let Some(sum) = partial.counted.get_mut(&key) {
                        *sum = less(*sum, traffic);
                    }
                }
                Tag::Collective => {
                    let record = self.record()?;
                    match partial.phases.last_mut() {
                        Some(phase) => phase.collectives.add(record),
                        None => partial.collectives.add(record),
                    }
                }
                Tag::Phase => {
                    let phase = self.phase()?;
                    partial.phases.push(phase);
                }
                Tag::OpenPhase => partial.open_phase = Some(self.phase()?),
                Tag::Window => {
                    let number = self.small()?;
                    let group = self.group()?;
                    partial.windows.push((number, group));
                }
                Tag::Access => {
                    let (key, mut accesses) = self.access(partial.windows.len())?;
                    accesses.intervals = self.number()?;
                    *partial.accesses.entry(key).or_default() += accesses;
                }
                Tag::SharedMemory => {
                    let group = self.group()?;
                    partial.shared_memory.push(group);
                }
                Tag::Time => {
                    let number = self.number()?;
                    let class = CallClass::ALL
                        .iter()
                        .copied()
                        .find(|&class| class as u64 == number)?;
                    let (calls, nanoseconds) = (self.number()?, self.number()?);
                    let times = match partial.phases.last_mut() {
                        Some(phase) => &mut phase.times,
                        None => &mut partial.times,
                    };
                    *times.entry(class).or_default() += CallTime { calls, nanoseconds };
                }
            }
        }
        Some(partial)
    }
}

/// `from` without `what`; not below nothing.
pub(crate) fn less(from: Traffic, what: Traffic) -> Traffic {
    Traffic {
        messages: from.messages.saturating_sub(what.messages),
        bytes: from.bytes.saturating_sub(what.bytes),
    }
}
