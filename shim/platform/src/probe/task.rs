//! Orders of rank 0 and their answers.

use serde::{Deserialize, Serialize};

use crate::link::{Link, Sample};
use crate::transfer_methods::Ways;

/// A task for two partners, of whom one measures and the other echoes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Task {
    /// Round trips of an empty message.
    Latency,
    /// All pLogP parameters towards the partner, within `seconds`.
    Link {
        /// Time limit in seconds.
        seconds: f64,
        /// Largest size in bytes.
        largest: u64,
        /// Sizes of interest, in bytes.
        also: Vec<u64>,
    },
    /// All methods towards the partner, within `seconds`.
    Ways {
        /// Time limit in seconds.
        seconds: f64,
    },
    /// Messages one after the other.
    Stream {
        /// Size of each in bytes.
        bytes: u64,
        /// Number of messages.
        count: usize,
    },
    /// Total exchanges, for which all members have an order.
    TimedExchange {
        /// The participating ranks.
        members: Vec<usize>,
        /// Bytes from each rank to each other rank.
        bytes: u64,
        /// Number of exchanges.
        times: usize,
    },
}

/// Order to a rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    /// The task.
    pub(super) task: Task,
    /// The other rank, if any.
    pub(super) partner: usize,
    /// True if this rank measures.
    pub(super) measures: bool,
}

/// Answer of the measuring rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// A latency, or the time of a stream.
    Seconds(f64),
    /// The latency and the samples of a link; `None` if it could not be measured.
    Link(Option<(f64, Vec<Sample>)>),
    /// The costs of methods; `None` if there are none.
    Ways(Option<Box<Ways>>),
    /// The seconds of each exchange.
    Times(Vec<f64>),
}

impl Answer {
    /// Answer with a measured link.
    pub(super) fn of_link(link: Option<&Link>) -> Answer {
        Answer::Link(link.map(|link| (link.latency(), link.samples().to_vec())))
    }

    /// The seconds of an answer.
    pub(super) fn seconds(&self) -> Option<f64> {
        match self {
            Answer::Seconds(seconds) => Some(*seconds),
            Answer::Link(_) | Answer::Ways(_) | Answer::Times(_) => None,
        }
    }

    /// The times of an answer.
    pub(super) fn times(self) -> Option<Vec<f64>> {
        match self {
            Answer::Times(times) => Some(times),
            Answer::Link(_) | Answer::Ways(_) | Answer::Seconds(_) => None,
        }
    }

    /// The link of an answer.
    pub(super) fn link(self) -> Option<Link> {
        match self {
            Answer::Link(Some((latency, samples))) => Link::new(latency, samples).ok(),
            Answer::Link(None) | Answer::Ways(_) | Answer::Seconds(_) | Answer::Times(_) => None,
        }
    }

    /// The ways of an answer.
    pub(super) fn ways(self) -> Option<Ways> {
        match self {
            Answer::Ways(ways) => ways.map(|ways| *ways),
            Answer::Link(_) | Answer::Seconds(_) | Answer::Times(_) => None,
        }
    }
}
