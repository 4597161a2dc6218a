//! A link in its written form: a latency, and one line for each size.

use serde::{Deserialize, Serialize};

use super::transfer_methods::WaysText;
use crate::contents::PlatformError;
use crate::link::{Link, Sample};
use crate::numbers::{MICROSECONDS, rounded};

/// Columns of a sample.
pub(super) const COLUMNS: &str = "bytes gap_us handshake_us send_us receive_us confidence_us";

/// The parameters of a link.
#[derive(Serialize, Deserialize)]
pub(super) struct LinkText {
    latency_us: f64,
    samples: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ways: Option<WaysText>,
}

/// A line of a table. A single number is a number to YAML and not a text.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a line of numbers was expected, such as `65536 5600 0`"
)]
enum Row {
    Text(String),
    Number(f64),
}

impl LinkText {
    pub(super) fn new(link: &Link) -> Self {
        let micro = |seconds: f64| rounded(seconds * MICROSECONDS).to_string();
        let row = |sample: &Sample| {
            let numbers = [
                sample.gap,
                sample.handshake,
                sample.send,
                sample.receive,
                sample.confidence,
            ];
            let words: Vec<String> = numbers.into_iter().map(micro).collect();
            Row::Text(format!("{} {}", sample.bytes, words.join(" ")))
        };
        LinkText {
            latency_us: rounded(link.latency() * MICROSECONDS),
            samples: link.samples().iter().map(row).collect(),
            ways: link.ways().map(WaysText::new),
        }
    }

    /// Builds the link; messages name `field` and the sample.
    pub(super) fn build(&self, field: &str, medium: Medium) -> Result<Link, PlatformError> {
        let start = self
            .samples
            .iter()
            .filter_map(|row| sample_of(row, None).ok());
        let start = start
            .min_by_key(|sample| sample.bytes)
            .map(|sample| sample.gap);
        let overhead = match medium {
            Medium::Wire => start,
            Medium::Memory => None,
        };
        let samples = self.samples.iter().enumerate();
        let samples = samples
            .map(|(place, row)| {
                sample_of(row, overhead).map_err(|problem| {
                    PlatformError::new(format!("{field}.samples[{place}]"), problem)
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let link = Link::new(self.latency_us / MICROSECONDS, samples)
            .map_err(|error| PlatformError::new(field, error))?;
        Ok(match &self.ways {
            Some(ways) => link.with_ways(ways.build(&format!("{field}.ways"))?),
            None => link,
        })
    }
}

/// Medium of the messages: it determines their overheads if these are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// Network cards move the data: every message occupies its ranks as long as the smallest one,
    /// the `o` of LogGP.
    Wire,
    /// Ranks copy the data: overheads equal the gap.
    Memory,
}

/// Parses a sample; missing overheads are `overhead`, or equal to the gap.
fn sample_of(row: &Row, overhead: Option<f64>) -> Result<Sample, String> {
    let text = match row {
        Row::Text(text) => text.as_str(),
        Row::Number(_) => "",
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < 2 || words.len() > COLUMNS.split(' ').count() {
        return Err(format!(
            "`{text}` is no line of `{COLUMNS}`; write at least the first two"
        ));
    }
    let bytes = words[0]
        .parse()
        .map_err(|_| format!("`{}` is no number of bytes; write a whole number", words[0]))?;
    let mut numbers = [None; 5];
    for (place, word) in words[1..].iter().enumerate() {
        let value: f64 = word
            .parse()
            .map_err(|_| format!("`{word}` is no number; write microseconds"))?;
        numbers[place] = Some(value / MICROSECONDS);
    }
    let gap = numbers[0].unwrap_or_default();
    let overhead = overhead.map_or(gap, |overhead| overhead.min(gap));
    Ok(Sample {
        bytes,
        gap,
        handshake: numbers[1].unwrap_or(0.0),
        send: numbers[2].unwrap_or(overhead),
        receive: numbers[3].unwrap_or(overhead),
        confidence: numbers[4].unwrap_or(0.0),
    })
}
