//! pLogP parameters of a link: a latency, and costs that depend on the size.
//!
//! Thesis 4.6 and 4.8 (items 19 to 22 of the digest): a message of m bytes needs
//! `L + g(m)`, and its sender may start the next one after `g(m)`.
//!
//! Above some size, MPIs switch from sending immediately (eager) to a request first (rendezvous).
//! The additional round trip delays a message and does not occupy the link, so that it is separate
//! from the gap: `handshake(m)`. Kielmann's own `g(m)`, which includes both, is
//! [`Link::isolated_gap`].

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::transfer_methods::Ways;

/// Measurement of one size, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Size of the message in bytes.
    pub bytes: u64,
    /// `g(m)`: least time between two messages on the link.
    pub gap: f64,
    /// Time of an isolated message beyond `L + g(m)`: the rendezvous.
    pub handshake: f64,
    /// `os(m)`: time for which the sender is occupied.
    pub send: f64,
    /// `or(m)`: time for which the receiver is occupied.
    pub receive: f64,
    /// Half the 95 % confidence interval of the gap.
    pub confidence: f64,
}

/// Reason why numbers are not parameters of a link.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LinkError {
    /// A value that cannot be the latency of a link.
    #[error("the latency is {0}; a number above 0 was expected")]
    Latency(f64),
    /// There are no samples to interpolate.
    #[error("there are no samples; at least one size must be measured")]
    NoSamples,
    /// A size is listed twice.
    #[error("there are two samples of {0} bytes; keep one of them")]
    Twice(u64),
    /// A value that cannot be the cost of a message.
    #[error("the sample of {bytes} bytes has {value} for its {what}; a number from 0 was expected")]
    Cost {
        /// The size.
        bytes: u64,
        /// Name of the cost.
        what: &'static str,
        /// The cost in seconds.
        value: f64,
    },
}

/// The parameters of one link in one direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    latency: f64,
    samples: Vec<Sample>,
    ways: Option<Box<Ways>>,
}

impl Link {
    /// Builds a link from a latency and samples in any order.
    ///
    /// # Errors
    /// The latency is not positive, there is no sample, two samples have the same size, or a cost
    /// is negative.
    pub fn new(latency: f64, mut samples: Vec<Sample>) -> Result<Self, LinkError> {
        if !(latency.is_finite() && latency > 0.0) {
            return Err(LinkError::Latency(latency));
        }
        samples.sort_by_key(|sample| sample.bytes);
        if samples.is_empty() {
            return Err(LinkError::NoSamples);
        }
        for pair in samples.windows(2) {
            if pair[0].bytes == pair[1].bytes {
                return Err(LinkError::Twice(pair[0].bytes));
            }
        }
        for sample in &samples {
            check(sample)?;
        }
        Ok(Link {
            latency,
            samples,
            ways: None,
        })
    }

    /// Builds a link whose gap is linear: `start` seconds for an empty message and `per_byte`
    /// seconds for each byte, without handshakes.
    ///
    /// # Errors
    /// See [`Link::new`].
    pub fn linear(latency: f64, start: f64, per_byte: f64) -> Result<Self, LinkError> {
        let sample = |bytes: u64| {
            let gap = start + per_byte * bytes as f64;
            Sample {
                bytes,
                gap,
                send: gap,
                receive: gap,
                ..Sample::default()
            }
        };
        Link::new(latency, vec![sample(0), sample(1 << 20)])
    }

    /// Adds the measured costs of methods of transfer.
    pub fn with_ways(self, ways: Ways) -> Link {
        Link {
            ways: Some(Box::new(ways)),
            ..self
        }
    }

    /// Costs of methods of transfer, if measured.
    pub fn ways(&self) -> Option<&Ways> {
        self.ways.as_deref()
    }

    /// `L`, in seconds.
    pub fn latency(&self) -> f64 {
        self.latency
    }

    /// Samples, from small to large.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// `g(m)`: least time between two messages of `bytes`.
    pub fn gap(&self, bytes: u64) -> f64 {
        self.at(bytes, |sample| sample.gap)
    }

    /// Time of an isolated message of `bytes` beyond `L + g(m)`.
    ///
    /// The switch to rendezvous is a step: between two samples the handshake of the lower one
    /// applies, above the largest that of the largest.
    pub fn handshake(&self, bytes: u64) -> f64 {
        let reached = self.samples.partition_point(|sample| sample.bytes <= bytes);
        self.samples[reached.saturating_sub(1)].handshake
    }

    /// `os(m)`: time for which the sender is occupied.
    pub fn send(&self, bytes: u64) -> f64 {
        self.at(bytes, |sample| sample.send)
    }

    /// `or(m)`: time for which the receiver is occupied.
    pub fn receive(&self, bytes: u64) -> f64 {
        self.at(bytes, |sample| sample.receive)
    }

    /// Kielmann's `g(m) = RTT(m) - RTT(0) + g(0)`: gap and handshake together.
    pub fn isolated_gap(&self, bytes: u64) -> f64 {
        self.gap(bytes) + self.handshake(bytes)
    }

    /// Time of one isolated message of `bytes` from send to receipt.
    pub fn delivery(&self, bytes: u64) -> f64 {
        self.latency + self.isolated_gap(bytes)
    }

    /// The largest sampled size up to which no message waits for a handshake of more than half a
    /// latency; `None` if this is true of all sizes, or not of the first.
    pub fn eager_limit(&self) -> Option<u64> {
        let asks = |sample: &Sample| sample.handshake > self.latency / 2.0;
        let first = self.samples.iter().position(asks)?;
        Some(self.samples[first.checked_sub(1)?].bytes)
    }

    /// Adds a rendezvous of at least two latencies to messages of more than `limit` bytes: for a
    /// limit of an MPI that is known but not measured.
    pub fn with_rendezvous_above(&self, limit: u64) -> Link {
        let rendezvous = 2.0 * self.latency;
        let mut samples = self.samples.clone();
        for bytes in [limit, limit.saturating_add(1)] {
            if samples.iter().all(|sample| sample.bytes != bytes) {
                samples.push(Sample {
                    bytes,
                    gap: self.gap(bytes),
                    handshake: self.handshake(bytes),
                    send: self.send(bytes),
                    receive: self.receive(bytes),
                    confidence: 0.0,
                });
            }
        }
        samples.sort_by_key(|sample| sample.bytes);
        for sample in samples.iter_mut().filter(|sample| sample.bytes > limit) {
            sample.handshake = sample.handshake.max(rendezvous);
        }
        Link {
            latency: self.latency,
            samples,
            ways: self.ways.clone(),
        }
    }

    /// Adds `seconds` to the latency, if positive.
    pub fn delayed(&self, seconds: f64) -> Link {
        Link {
            latency: self.latency + seconds.max(0.0),
            samples: self.samples.clone(),
            ways: None,
        }
    }

    /// A cost at any size: linear between the two nearest samples (thesis 4.8.1), the first sample
    /// below all, and above the last one the line through the last two, which never falls.
    fn at(&self, bytes: u64, cost: impl Fn(&Sample) -> f64) -> f64 {
        let above = self.samples.partition_point(|sample| sample.bytes < bytes);
        let is_beyond = above == self.samples.len();
        match (above, &self.samples[..]) {
            (0, samples) => cost(&samples[0]),
            // With a single sample, the cost is taken to be proportional to the size.
            (_, [only]) => cost(only) * (bytes as f64 / only.bytes.max(1) as f64),
            (above, samples) => {
                let high = above.min(samples.len() - 1);
                let (low, high) = (&samples[high - 1], &samples[high]);
                let part = (bytes - low.bytes) as f64 / (high.bytes - low.bytes) as f64;
                let value = cost(low) + (cost(high) - cost(low)) * part;
                if is_beyond {
                    value.max(cost(high))
                } else {
                    value
                }
            }
        }
    }
}

fn check(sample: &Sample) -> Result<(), LinkError> {
    for (what, value) in [
        ("gap", sample.gap),
        ("handshake", sample.handshake),
        ("send overhead", sample.send),
        ("receive overhead", sample.receive),
        ("confidence interval", sample.confidence),
    ] {
        if !(value.is_finite() && value >= 0.0) {
            let bytes = sample.bytes;
            return Err(LinkError::Cost { bytes, what, value });
        }
    }
    Ok(())
}
