//! Collectives, one counter a call: how often each was called on a communicator,
//! with which root and which size. What traffic that causes is modelled when the
//! profile is read.
//!
//! Where all ranks of a communicator know the same of a call, one of them
//! reports it: rank 0, or the root where only the root knows. Where each rank
//! knows only what itself sends (`MPI_Alltoallv`, `MPI_Alltoallw`), each does.

mod observe;
mod tallies;

use std::collections::BTreeMap;

use once_cell::sync::Lazy;
use parking_lot::Mutex;
use treepie_core::affinity::collective::{Operation, Record, Volume, size_class};

pub use observe::{Arguments, Reader, Seen, observe};
pub use tallies::{Latest, Tallies};

/// Operation, root, size class, world ranks of the communicator.
type RecordKey = (Operation, Option<u32>, u8, Vec<u32>);

/// What was counted: calls and their volume. Communicators with the same
/// processes in the same order count as one.
#[derive(Default)]
pub struct Records(BTreeMap<RecordKey, (u64, Volume)>);

/// Records of the communicators that were put away.
static RECORDS: Lazy<Mutex<Records>> = Lazy::new(Mutex::default);

/// Keeps what was counted on a communicator whose ranks are `group` in the world.
/// Collectives with processes of another world are left out: a profile has no
/// ranks for those.
pub fn put_away(group: &[u32], tallies: Tallies) {
    if group.contains(&u32::MAX) {
        return;
    }
    let mut records = RECORDS.lock();
    for record in tallies.into_records(group) {
        records.add(record);
    }
}

/// Takes all records that were put away.
pub fn take_records() -> Records {
    std::mem::take(&mut RECORDS.lock())
}

impl Records {
    /// Adds a record to what there is, of this rank or of another.
    pub fn add(&mut self, record: Record) {
        let key = (
            record.operation,
            record.root,
            record.size_class,
            record.group,
        );
        let Some((calls, volume)) = self.0.get_mut(&key) else {
            self.0.insert(key, (record.calls, record.volume));
            return;
        };
        *calls = calls.saturating_add(record.calls);
        match (volume, record.volume) {
            (Volume::Uniform(total), Volume::Uniform(more)) => *total = total.saturating_add(more),
            (Volume::PerRank(totals), Volume::PerRank(more)) => {
                for (total, more) in totals.iter_mut().zip(more) {
                    *total = total.saturating_add(more);
                }
            }
            (Volume::Pairs(pairs), Volume::Pairs(more)) => pairs.extend(more),
            // The kind of volume follows from the operation.
            _ => (),
        }
    }

    /// All records of this rank, in a fixed order.
    pub fn into_vec(self) -> Vec<Record> {
        let record = |((operation, root, size_class, group), (calls, volume))| Record {
            operation,
            group,
            root,
            size_class,
            calls,
            volume,
        };
        self.0.into_iter().map(record).collect()
    }

    /// All records, when those of all ranks are together.
    pub fn of_all_ranks(self) -> Vec<Record> {
        let mut records = self.into_vec();
        for record in &mut records {
            if let Volume::Pairs(pairs) = &record.volume {
                record.size_class = class_of_pairs(pairs, record.calls, record.group.len());
            }
        }
        records
    }
}

/// The size class of the block that a rank sends to another in one call, in the
/// mean.
fn class_of_pairs(pairs: &[(u32, u32, u64, u64)], calls: u64, ranks: usize) -> u8 {
    let total = pairs
        .iter()
        .fold(0u64, |sum, pair| sum.saturating_add(pair.2));
    let blocks = calls.saturating_mul((ranks * ranks) as u64);
    size_class(total / blocks.max(1))
}
