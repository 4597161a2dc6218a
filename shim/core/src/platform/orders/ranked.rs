//! Clusters in the order of times.

/// A time from 0 and a cluster, in the order of times, then of clusters.
///
/// They are compared without a branch: what no processor foresees costs more than what it compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ranked {
    /// Numbers from 0 are in the order of their bits.
    time: u64,
    cluster: usize,
}

impl Ranked {
    /// No time, and no cluster yet.
    pub const NOTHING: Ranked = Ranked {
        time: 0,
        cluster: usize::MAX,
    };

    /// Later than any, and no cluster yet.
    pub const LAST: Ranked = Ranked {
        time: f64::INFINITY.to_bits(),
        cluster: usize::MAX,
    };

    /// A cluster with its time, in seconds.
    pub fn new(seconds: f64, cluster: usize) -> Self {
        debug_assert!(seconds.is_sign_positive(), "times are from 0");
        Ranked {
            time: seconds.to_bits(),
            cluster,
        }
    }

    /// The time, in seconds.
    pub fn seconds(self) -> f64 {
        f64::from_bits(self.time)
    }

    /// The cluster; none that there is where none is known.
    pub fn cluster(self) -> usize {
        self.cluster
    }

    fn place(self) -> u128 {
        u128::from(self.time) << 64 | self.cluster as u128
    }

    /// The first of the two in this order.
    pub fn first(self, other: Ranked) -> Ranked {
        self.or(other, other.place() < self.place())
    }

    /// The last of the two in this order.
    pub fn last(self, other: Ranked) -> Ranked {
        self.or(other, self.place() < other.place())
    }

    /// The other one where that is so, member by member, each of which takes no branch.
    fn or(self, other: Ranked, is_other: bool) -> Ranked {
        Ranked {
            time: if is_other { other.time } else { self.time },
            cluster: if is_other {
                other.cluster
            } else {
                self.cluster
            },
        }
    }
}
