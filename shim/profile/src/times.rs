//! Time spent in MPI, by class of calls and rank.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Profile;
use treepie_collective::Volume;
use treepie_traffic::times::{CallClass, CallTime};
use treepie_traffic::{Layer, Traffic};

/// Calls and the time in them, if `times` was set when the profile was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times {
    /// For each rank, nanoseconds from the end of `MPI_Init` to `MPI_Finalize`.
    pub elapsed: Vec<u64>,
    /// For each class that was called, one entry a rank.
    pub classes: BTreeMap<CallClass, Vec<CallTime>>,
}

impl Times {
    /// No times yet, of so many ranks.
    pub fn new(ranks: usize) -> Times {
        Times {
            elapsed: vec![0; ranks],
            classes: BTreeMap::new(),
        }
    }

    /// Adds what one rank measured in `elapsed` nanoseconds.
    pub fn add(&mut self, rank: usize, elapsed: u64, classes: BTreeMap<CallClass, CallTime>) {
        let ranks = self.elapsed.len();
        self.elapsed[rank] = self.elapsed[rank].saturating_add(elapsed);
        for (class, time) in classes {
            let of_class = self.classes.entry(class);
            of_class.or_insert_with(|| vec![CallTime::default(); ranks])[rank] += time;
        }
    }

    /// Seconds of each rank outside MPI: what a load balancer takes as its load. Not below 0, where
    /// several threads were in MPI at a time, or where a call ended here that had begun before.
    pub fn outside_mpi(&self) -> Vec<f64> {
        let outside = |(rank, &elapsed): (usize, &u64)| {
            let inside = self
                .classes
                .values()
                .map(|of_ranks| of_ranks[rank].nanoseconds);
            let inside = inside.fold(0, u64::saturating_add);
            elapsed.saturating_sub(inside) as f64 / 1e9
        };
        self.elapsed.iter().enumerate().map(outside).collect()
    }
}

impl Profile {
    /// Bytes that each rank moved with the calls of a class: sent for sends,
    /// received for receives. For collectives, the rank's own message or block of
    /// each call. Waiting and what is in no layer moves none.
    pub fn bytes_of_class(&self, class: CallClass) -> Vec<u64> {
        let mut bytes = vec![0u64; self.ranks];
        let mut add = |rank: usize, more: u64| bytes[rank] = bytes[rank].saturating_add(more);
        let layer = match class {
            CallClass::Send | CallClass::Receive => Layer::PointToPoint,
            CallClass::Neighbourhood => Layer::Neighbourhood,
            CallClass::OneSided => Layer::OneSided,
            CallClass::Collective => {
                for record in &self.collectives {
                    for (at, &rank) in record.group.iter().enumerate() {
                        add(rank as usize, share(&record.volume, at));
                    }
                }
                return bytes;
            }
            _ => return bytes,
        };
        for (_, traffic) in self.matrices().into_iter().filter(|(l, _)| *l == layer) {
            for (from, to, Traffic { bytes, .. }) in traffic.entries() {
                add(
                    if class == CallClass::Receive {
                        to
                    } else {
                        from
                    },
                    bytes,
                );
            }
        }
        bytes
    }
}

/// Share of the rank `at` of a communicator in a collective's volume.
fn share(volume: &Volume, at: usize) -> u64 {
    match volume {
        Volume::Uniform(bytes) => *bytes,
        Volume::PerRank(parts) => parts.get(at).copied().unwrap_or(0),
        Volume::Pairs(pairs) => pairs
            .iter()
            .filter(|(from, ..)| *from as usize == at)
            .fold(0, |sum, (_, _, bytes, _)| sum.saturating_add(*bytes)),
    }
}

/// The times as they are written: numbers of all ranks on one line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimesDocument {
    /// Microseconds, one for each rank.
    elapsed_microseconds: String,
    classes: Vec<ClassDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassDocument {
    class: String,
    calls: String,
    microseconds: String,
}

impl TimesDocument {
    pub(super) fn new(times: &Times) -> TimesDocument {
        TimesDocument {
            elapsed_microseconds: to_text(times.elapsed.iter().map(|&time| microseconds(time))),
            classes: times
                .classes
                .iter()
                .map(|(class, of_ranks)| ClassDocument {
                    class: class.to_string(),
                    calls: to_text(of_ranks.iter().map(|time| time.calls.to_string())),
                    microseconds: to_text(
                        of_ranks.iter().map(|time| microseconds(time.nanoseconds)),
                    ),
                })
                .collect(),
        }
    }

    /// The times of `ranks` ranks; on failure the problem.
    pub(super) fn build(&self, ranks: usize) -> Result<Times, String> {
        let mut classes = BTreeMap::new();
        for written in &self.classes {
            let class: CallClass = written.class.parse().map_err(|e| format!("{e}"))?;
            let calls = numbers(&written.calls, ranks, |text| text.parse().ok())?;
            let times = numbers(&written.microseconds, ranks, nanoseconds)?;
            let of_ranks = calls
                .into_iter()
                .zip(times)
                .map(|(calls, nanoseconds)| CallTime { calls, nanoseconds })
                .collect();
            if classes.insert(class, of_ranks).is_some() {
                return Err(format!("{class} is listed twice; keep one of them"));
            }
        }
        Ok(Times {
            elapsed: numbers(&self.elapsed_microseconds, ranks, nanoseconds)?,
            classes,
        })
    }
}

fn to_text(numbers: impl Iterator<Item = String>) -> String {
    numbers.collect::<Vec<_>>().join(",")
}

/// `12.345` for 12345 nanoseconds.
fn microseconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1_000, nanoseconds % 1_000)
}

/// Inverse of [`microseconds`].
fn nanoseconds(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.')?;
    let rest: u64 = rest.parse().ok().filter(|_| rest.len() == 3)?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000)?
        .checked_add(rest)
}

fn numbers(
    text: &str,
    ranks: usize,
    read: impl Fn(&str) -> Option<u64>,
) -> Result<Vec<u64>, String> {
    let found: Vec<u64> = text
        .split(',')
        .map(|item| read(item).ok_or_else(|| format!("`{item}` is no number; correct it")))
        .collect::<Result<_, _>>()?;
    match found.len() == ranks {
        true => Ok(found),
        false => Err(format!(
            "{} numbers were found for {ranks} ranks; write one for each",
            found.len()
        )),
    }
}
