//! Sums of records of collectives, including those of other ranks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wire::encode::Encoder;
use super::wire::item::RecordKey;
use super::wire::sink::Sink;
use treepie_collective::{Operation, PlanRun, Record, Volume};
use treepie_traffic::Traffic;

/// Operation, root, size class, plan, world ranks of the communicator.
type Key = (Operation, Option<u32>, u8, Option<PlanRun>, Arc<[u32]>);

/// Sum of equal calls.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sum {
    calls: u64,
    volume: SumVolume,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SumVolume {
    Uniform(u64),
    PerRank(Vec<u64>),
    Pairs(BTreeMap<(u32, u32), Traffic>),
}

/// Number of calls and their volume. Communicators with the same processes in the same order are
/// merged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Records(BTreeMap<Key, Sum>);

impl Records {
    /// Adds a record to the sums.
    pub fn add(&mut self, record: Record) {
        self.combine(record, u64::saturating_add);
    }

    /// Returns the difference to `earlier`: the later calls.
    pub fn since(&self, earlier: &Records) -> Records {
        let mut later = self.clone();
        for record in earlier.clone().into_vec() {
            later.combine(record, u64::saturating_sub);
        }
        later
            .0
            .retain(|_, sum| sum.calls > 0 || !sum.volume.is_empty());
        later
    }

    fn combine(&mut self, record: Record, with: impl Fn(u64, u64) -> u64) {
        let key = (
            record.operation,
            record.root,
            record.size_class,
            record.plan,
            record.group,
        );
        let sum = self.0.entry(key).or_insert_with(|| Sum {
            calls: 0,
            volume: match &record.volume {
                Volume::Uniform(_) => SumVolume::Uniform(0),
                Volume::PerRank(bytes) => SumVolume::PerRank(vec![0; bytes.len()]),
                Volume::Pairs(_) => SumVolume::Pairs(BTreeMap::new()),
            },
        });
        sum.calls = with(sum.calls, record.calls);
        match (&mut sum.volume, record.volume) {
            (SumVolume::Uniform(total), Volume::Uniform(more)) => *total = with(*total, more),
            (SumVolume::PerRank(totals), Volume::PerRank(more)) => {
                for (total, more) in totals.iter_mut().zip(more) {
                    *total = with(*total, more);
                }
            }
            (SumVolume::Pairs(pairs), Volume::Pairs(more)) => {
                for (from, to, bytes, messages) in more {
                    let pair = pairs.entry((from, to)).or_default();
                    pair.bytes = with(pair.bytes, bytes);
                    pair.messages = with(pair.messages, messages);
                }
            }
            // The kind of volume follows from the operation.
            _ => (),
        }
    }

    /// Writes all records; nothing is allocated.
    pub fn encode<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        for ((operation, root, size_class, plan, group), sum) in &self.0 {
            let of = RecordKey {
                operation: *operation,
                root: *root,
                size_class: *size_class,
                plan: plan.as_ref(),
            };
            match &sum.volume {
                SumVolume::Uniform(bytes) => encoder.uniform(of, sum.calls, group, *bytes),
                SumVolume::PerRank(bytes) => encoder.per_rank(of, sum.calls, group, bytes),
                SumVolume::Pairs(pairs) => {
                    let pairs = pairs
                        .iter()
                        .map(|(&(from, to), traffic)| (from, to, traffic.bytes, traffic.messages));
                    encoder.pairs(of, sum.calls, group, pairs);
                }
            }
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all records, in a fixed order.
    pub fn into_vec(self) -> Vec<Record> {
        let record = |((operation, root, size_class, plan, group), sum): (Key, Sum)| Record {
            operation,
            group,
            root,
            size_class,
            plan,
            calls: sum.calls,
            volume: match sum.volume {
                SumVolume::Uniform(bytes) => Volume::Uniform(bytes),
                SumVolume::PerRank(bytes) => Volume::PerRank(bytes),
                SumVolume::Pairs(pairs) => Volume::Pairs(
                    pairs
                        .into_iter()
                        .filter(|(_, traffic)| !traffic.is_none())
                        .map(|((from, to), traffic)| (from, to, traffic.bytes, traffic.messages))
                        .collect(),
                ),
            },
        };
        self.0.into_iter().map(record).collect()
    }
}

impl SumVolume {
    fn is_empty(&self) -> bool {
        match self {
            SumVolume::Uniform(bytes) => *bytes == 0,
            SumVolume::PerRank(bytes) => bytes.iter().all(|bytes| *bytes == 0),
            SumVolume::Pairs(pairs) => pairs.values().all(Traffic::is_none),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(calls: u64, volume: Volume) -> Record {
        Record {
            operation: Operation::Alltoallv,
            group: [0, 1].into(),
            root: None,
            size_class: 4,
            plan: None,
            calls,
            volume,
        }
    }

    #[test]
    fn what_two_ranks_report_of_the_same_pairs_is_added_up() {
        let mut records = Records::default();
        records.add(record(1, Volume::Pairs(vec![(0, 1, 8, 1)])));
        records.add(record(0, Volume::Pairs(vec![(1, 0, 9, 1)])));
        records.add(record(1, Volume::Pairs(vec![(0, 1, 2, 1)])));
        let sum = record(2, Volume::Pairs(vec![(0, 1, 10, 2), (1, 0, 9, 1)]));
        assert_eq!(records.into_vec(), [sum]);
    }

    #[test]
    fn what_a_plan_ran_is_apart_from_what_the_native_mpi_ran() {
        let mut records = Records::default();
        let native = record(1, Volume::Uniform(8));
        let plan = PlanRun {
            algorithm: "pairwise".into(),
            segment: 64,
            unit_bytes: 1,
            ordered: false,
        };
        let planned = Record {
            plan: Some(plan),
            ..native.clone()
        };
        for record in [&native, &planned, &planned] {
            records.add(record.clone());
        }
        let calls: Vec<u64> = records
            .into_vec()
            .iter()
            .map(|record| record.calls)
            .collect();
        assert_eq!(calls, [1, 2]);
    }

    #[test]
    fn what_came_since_and_what_was_before_make_the_whole() {
        let mut before = Records::default();
        before.add(record(2, Volume::Uniform(80)));
        let mut all = before.clone();
        assert!(all.since(&before).is_empty());
        all.add(record(3, Volume::Uniform(90)));
        assert_eq!(
            all.since(&before).into_vec(),
            [record(3, Volume::Uniform(90))]
        );
        assert_eq!(all.since(&Records::default()), all);
    }
}
