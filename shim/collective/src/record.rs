//! Records of collectives in a profile: calls, not the messages that were sent.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::algorithms::algorithm::Algorithm;
use crate::clusters::Clusters;
use crate::composition::Composition;
use crate::network::links::Network;
use crate::operation::{Operation, Unit};
use crate::steps::Flow;

/// Equal calls of one collective, counted together: same operation, same group, same root, same
/// class of size, executed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Operation that was called.
    pub operation: Operation,
    /// For each rank of the communicator, its rank in the world.
    pub group: Arc<[u32]>,
    /// Root, as a rank of the communicator; `None` if there is none.
    pub root: Option<u32>,
    /// [`size_class`] of the bytes of one call.
    pub size_class: u8,
    /// Plan that executed them; `None` for the native collective.
    pub plan: Option<PlanRun>,
    /// Number of calls; one call by all ranks together counts once.
    pub calls: u64,
    /// Bytes of all calls together.
    pub volume: Volume,
}

/// Plan that ran in place of the native collective: the part of it that is not equal for all
/// collectives of the communicator ([`Locality`](crate::Locality)).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlanRun {
    /// Name of its algorithm, with the shapes of trees that the user set ([`Composition::name`]).
    pub algorithm: String,
    /// Largest message in units.
    pub segment: u64,
    /// Bytes of a unit: of an element if operands are reduced, otherwise 1.
    pub unit_bytes: u64,
    /// True if operands had to stay in the order of ranks.
    pub ordered: bool,
}

/// Algorithm as it was run.
#[derive(Debug, Clone)]
pub struct AsRun<'a> {
    /// Algorithm.
    pub algorithm: &'static Algorithm,
    /// Clusters of the communicator's ranks.
    pub clusters: Cow<'a, Clusters>,
    /// Network of the communicator, if it was known.
    pub network: Option<&'a Network>,
    /// True if operands had to stay in order.
    pub ordered: bool,
    /// Bytes of an element if operands were reduced; otherwise 1.
    pub unit_bytes: u64,
    /// Flow of its messages, in elements.
    pub flow: Flow,
}

impl PlanRun {
    /// Algorithm of `operation` as this plan ran it in a communicator of these clusters; `None` if
    /// no algorithm of that name implements the operation.
    pub fn as_run<'a>(
        &self,
        operation: Operation,
        clusters: &'a Clusters,
        network: Option<&'a Network>,
    ) -> Option<AsRun<'a>> {
        let composition = Composition::parse(operation, &self.algorithm).ok()?;
        Some(AsRun {
            algorithm: composition.algorithm,
            clusters: clusters.for_plan(&composition),
            network,
            ordered: self.ordered,
            unit_bytes: self.unit_bytes,
            flow: Flow::from(self.segment),
        })
    }
}

/// Bytes of all calls of a [`Record`] together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Volume {
    /// Equal for all ranks. For `Bcast`, `Reduce`, `Allreduce`, `Scan` and `Exscan`: the message.
    /// For the others: one rank's block, which it contributes (gathers), receives (scatters), or
    /// sends to each other rank (`Alltoall` and its variants). Without meaning for `Barrier`.
    Uniform(u64),
    /// Block of each rank of the communicator, which it contributes to (`Gatherv`, `Allgatherv`),
    /// or receives from (`Scatterv`, `ReduceScatter`) the collective. For `Alltoallv` and
    /// `Alltoallw`, all bytes that the rank sends, its own part included; the model distributes
    /// them evenly.
    PerRank(Vec<u64>),
    /// Exact values for `Alltoall` and its variants: sender and receiver as ranks of the
    /// communicator, bytes, messages.
    Pairs(Vec<(u32, u32, u64, u64)>),
}

/// Class of a size in bytes: 0 for 0 bytes, otherwise `floor(log2(bytes)) + 1`, so that class `c`
/// contains the sizes from `2^(c-1)` to `2^c - 1`.
pub const fn size_class(bytes: u64) -> u8 {
    (u64::BITS - bytes.leading_zeros()) as u8
}

/// Reason why a [`Record`] is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RecordError {
    /// The group is empty.
    #[error(
        "a {operation} has an empty group: name the world rank of each rank of its communicator"
    )]
    EmptyGroup {
        /// The operation of the record.
        operation: Operation,
    },
    /// The group has a rank that the world does not have.
    #[error("a {operation} names world rank {rank}, but there are {ranks} ranks: they count from 0 to {}", ranks.saturating_sub(1))]
    NoSuchWorldRank {
        /// The operation of the record.
        operation: Operation,
        /// Invalid rank.
        rank: u32,
        /// Number of ranks in the world.
        ranks: usize,
    },
    /// A world rank is in the group more than once.
    #[error(
        "a {operation} names world rank {rank} twice in its group: each rank is in a communicator once"
    )]
    RankTwice {
        /// The operation of the record.
        operation: Operation,
        /// Repeated rank.
        rank: u32,
    },
    /// A root, a sender or a receiver is not a rank of the communicator.
    #[error("a {operation} names {role} {rank}, but its communicator has {size} ranks: they count from 0 to {}", size.saturating_sub(1))]
    NoSuchRank {
        /// The operation of the record.
        operation: Operation,
        /// Role of the rank: `root`, `sender`, `receiver`.
        role: &'static str,
        /// Invalid rank.
        rank: u32,
        /// Number of ranks in the communicator.
        size: usize,
    },
    /// The operation needs a root, and the record has none.
    #[error("a {operation} has no root: name the rank of its communicator that was the root")]
    NoRoot {
        /// The operation of the record.
        operation: Operation,
    },
    /// The list of bytes does not have one entry for each rank.
    #[error(
        "a {operation} lists the bytes of {listed} ranks, but its communicator has {size}: list one number for each rank"
    )]
    WrongCount {
        /// The operation of the record.
        operation: Operation,
        /// Number of entries in the list.
        listed: usize,
        /// Number of ranks in the communicator.
        size: usize,
    },
    /// Its algorithm is unknown.
    #[error(
        "a {operation} was run by the algorithm `{name}`, which this treepie does not know; read it \
         with the treepie that wrote it"
    )]
    UnknownAlgorithm {
        /// The operation of the record.
        operation: Operation,
        /// Name of the algorithm.
        name: String,
    },
    /// The kind of volume has no meaning for the operation.
    #[error("a {operation} cannot have its bytes {form}: give {expected}")]
    WrongVolume {
        /// The operation of the record.
        operation: Operation,
        /// Kind of volume in the record.
        form: &'static str,
        /// Kinds with a meaning.
        expected: &'static str,
    },
}

impl Record {
    /// Checks that the record is valid in a world of `ranks` ranks.
    ///
    /// # Errors
    /// The first violation, see [`RecordError`].
    pub fn validate(&self, ranks: usize) -> Result<(), RecordError> {
        self.validate_group(ranks)?;
        self.validate_root()?;
        self.validate_plan()?;
        self.validate_volume()
    }

    fn validate_plan(&self) -> Result<(), RecordError> {
        let operation = self.operation;
        match &self.plan {
            Some(plan) if Composition::parse(operation, &plan.algorithm).is_err() => {
                Err(RecordError::UnknownAlgorithm {
                    operation,
                    name: plan.algorithm.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    fn validate_group(&self, ranks: usize) -> Result<(), RecordError> {
        let operation = self.operation;
        if self.group.is_empty() {
            return Err(RecordError::EmptyGroup { operation });
        }
        let mut seen = HashSet::with_capacity(self.group.len());
        for &rank in self.group.iter() {
            if rank as usize >= ranks {
                return Err(RecordError::NoSuchWorldRank {
                    operation,
                    rank,
                    ranks,
                });
            }
            if !seen.insert(rank) {
                return Err(RecordError::RankTwice { operation, rank });
            }
        }
        Ok(())
    }

    fn validate_root(&self) -> Result<(), RecordError> {
        let operation = self.operation;
        match self.root {
            Some(root) => self.validate_rank("root", root),
            None if operation.has_root() => Err(RecordError::NoRoot { operation }),
            None => Ok(()),
        }
    }

    fn validate_volume(&self) -> Result<(), RecordError> {
        let operation = self.operation;
        let size = self.group.len();
        match (&self.volume, operation.unit()) {
            (Volume::Uniform(_), _) => Ok(()),
            (Volume::PerRank(bytes), Unit::Blocks | Unit::PairBlocks) => {
                let listed = bytes.len();
                if listed == size {
                    return Ok(());
                }
                Err(RecordError::WrongCount {
                    operation,
                    listed,
                    size,
                })
            }
            (Volume::Pairs(pairs), Unit::PairBlocks) => pairs.iter().try_for_each(|pair| {
                self.validate_rank("sender", pair.0)?;
                self.validate_rank("receiver", pair.1)
            }),
            (Volume::PerRank(_), _) => Err(RecordError::WrongVolume {
                operation,
                form: "listed by rank",
                expected: "one number",
            }),
            (Volume::Pairs(_), unit) => Err(RecordError::WrongVolume {
                operation,
                form: "listed by pairs",
                expected: match unit {
                    Unit::Blocks => "one number, or one for each rank",
                    _ => "one number",
                },
            }),
        }
    }

    fn validate_rank(&self, role: &'static str, rank: u32) -> Result<(), RecordError> {
        let size = self.group.len();
        if (rank as usize) < size {
            return Ok(());
        }
        Err(RecordError::NoSuchRank {
            operation: self.operation,
            role,
            rank,
            size,
        })
    }

    /// Bytes of one call, for the choice of an algorithm: the message, or one rank's block; the
    /// mean if ranks or calls differ.
    pub fn block_bytes(&self) -> u64 {
        let calls = u128::from(self.calls.max(1));
        let size = self.group.len().max(1) as u128;
        let mean = |sum: u128, over: u128| u64::try_from(sum / over).unwrap_or(u64::MAX);
        match &self.volume {
            Volume::Uniform(bytes) => bytes / self.calls.max(1),
            Volume::PerRank(bytes) => {
                let sum = bytes.iter().map(|&bytes| u128::from(bytes)).sum();
                let blocks = match self.operation.unit() {
                    Unit::PairBlocks => size * size,
                    _ => size,
                };
                mean(sum, calls * blocks)
            }
            Volume::Pairs(pairs) => {
                let sum = pairs.iter().map(|pair| u128::from(pair.2)).sum();
                let blocks = match self.operation.is_among_neighbours() {
                    true => pairs.len().max(1) as u128,
                    false => size * size,
                };
                mean(sum, calls * blocks)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bcast() -> Record {
        Record {
            operation: Operation::Bcast,
            group: [4, 2, 0].into(),
            root: Some(1),
            size_class: size_class(100),
            plan: None,
            calls: 5,
            volume: Volume::Uniform(500),
        }
    }

    #[test]
    fn size_classes_start_at_powers_of_two() {
        let classes = [0, 1, 2, 3, 4, 1023, 1024, u64::MAX].map(size_class);
        assert_eq!(classes, [0, 1, 2, 2, 3, 10, 11, 64]);
    }

    #[test]
    fn the_bytes_of_one_call_are_an_average() {
        assert_eq!(bcast().block_bytes(), 100);
        let volume = Volume::PerRank(vec![u64::MAX, u64::MAX, u64::MAX]);
        let gather = Record {
            operation: Operation::Gatherv,
            volume,
            ..bcast()
        };
        assert_eq!(gather.block_bytes(), u64::MAX / 5);
    }

    #[test]
    fn a_group_outside_the_world_is_refused() {
        assert_eq!(bcast().validate(5), Ok(()));
        assert_eq!(
            bcast().validate(4).unwrap_err().to_string(),
            "a bcast names world rank 4, but there are 4 ranks: they count from 0 to 3"
        );
    }

    #[test]
    fn a_rank_that_is_twice_in_a_group_is_refused() {
        let record = Record {
            group: [1, 2, 1].into(),
            ..bcast()
        };
        assert!(matches!(
            record.validate(5),
            Err(RecordError::RankTwice { rank: 1, .. })
        ));
    }

    #[test]
    fn a_root_is_needed_and_must_be_a_rank_of_the_communicator() {
        let without = Record {
            root: None,
            ..bcast()
        };
        assert!(matches!(
            without.validate(5),
            Err(RecordError::NoRoot { .. })
        ));
        let outside = Record {
            root: Some(3),
            ..bcast()
        };
        assert!(matches!(
            outside.validate(5),
            Err(RecordError::NoSuchRank {
                role: "root",
                rank: 3,
                ..
            })
        ));
    }

    #[test]
    fn a_plan_of_an_unknown_algorithm_is_refused_by_its_name() {
        let by = |algorithm: &str| Record {
            plan: Some(PlanRun {
                algorithm: algorithm.into(),
                segment: 8,
                unit_bytes: 1,
                ordered: false,
            }),
            ..bcast()
        };
        assert_eq!(by("grid-chain").validate(5), Ok(()));
        assert_eq!(
            by("teleport").validate(5).unwrap_err().to_string(),
            "a bcast was run by the algorithm `teleport`, which this treepie does not know; read it \
             with the treepie that wrote it"
        );
    }

    #[test]
    fn a_volume_that_does_not_fit_the_operation_is_refused() {
        let listed = Record {
            volume: Volume::PerRank(vec![1, 2, 3]),
            ..bcast()
        };
        assert_eq!(
            listed.validate(5).unwrap_err().to_string(),
            "a bcast cannot have its bytes listed by rank: give one number"
        );
        let short = Record {
            operation: Operation::Gatherv,
            volume: Volume::PerRank(vec![1, 2]),
            ..bcast()
        };
        assert!(matches!(
            short.validate(5),
            Err(RecordError::WrongCount {
                listed: 2,
                size: 3,
                ..
            })
        ));
        let pairs = Record {
            operation: Operation::Alltoallv,
            volume: Volume::Pairs(vec![(0, 3, 1, 1)]),
            ..bcast()
        };
        assert!(matches!(
            pairs.validate(5),
            Err(RecordError::NoSuchRank {
                role: "receiver",
                ..
            })
        ));
    }
}
