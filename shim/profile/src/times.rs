//! Time spent in MPI, by class of calls and rank.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use treepie_base::{List, Rank, convert};
use treepie_traffic::times::{CallClass, CallTime};

/// Calls and the time in them, if `times` was set when the profile was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Times {
    /// Nanoseconds of each rank from the end of `MPI_Init` to `MPI_Finalize`.
    pub elapsed: List<Rank, u64>,
    /// One entry for each rank, for each class that was called.
    pub classes: BTreeMap<CallClass, List<Rank, CallTime>>,
}

impl Times {
    /// Creates empty times of `ranks` ranks.
    pub fn new(ranks: usize) -> Times {
        Times {
            elapsed: vec![0; ranks].into(),
            classes: BTreeMap::new(),
        }
    }

    /// Adds the measurements of one rank in `elapsed` nanoseconds.
    pub fn add(&mut self, rank: Rank, elapsed: u64, classes: BTreeMap<CallClass, CallTime>) {
        let ranks = self.elapsed.len();
        self.elapsed[rank] = self.elapsed[rank].saturating_add(elapsed);
        for (class, time) in classes {
            let of_class = self.classes.entry(class);
            of_class.or_insert_with(|| vec![CallTime::default(); ranks].into())[rank] += time;
        }
    }

    /// Checks times of a job of `ranks` ranks; returns the problem on failure.
    pub(crate) fn check(&self, ranks: usize) -> Result<(), String> {
        let mut lengths = self.classes.values().map(|of_ranks| of_ranks.len());
        let other = lengths.find(|&length| length != ranks);
        match other.or(Some(self.elapsed.len()).filter(|&length| length != ranks)) {
            Some(found) => Err(other_ranks(found, ranks)),
            None => Ok(()),
        }
    }

    /// Returns the seconds of each rank outside MPI, which a load balancer uses as its load. Not
    /// below 0, if several threads were in MPI concurrently, or if a call ended here that had begun
    /// before.
    pub fn outside_mpi(&self) -> List<Rank, f64> {
        let outside = |(rank, &elapsed): (Rank, &u64)| {
            let inside = self
                .classes
                .values()
                .map(|of_ranks| of_ranks[rank].nanoseconds);
            let inside = inside.fold(0, u64::saturating_add);
            elapsed.saturating_sub(inside) as f64 / 1e9
        };
        self.elapsed.iter_enumerated().map(outside).collect()
    }
}

/// Times as they are written: numbers of all ranks on one line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimesText {
    /// Microseconds of each rank.
    elapsed_microseconds: String,
    classes: Vec<ClassText>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassText {
    #[serde(with = "convert")]
    class: CallClass,
    calls: String,
    microseconds: String,
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        TimesText::new(self).serialize(out)
    }
}

impl<'de> Deserialize<'de> for Times {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        convert::mapping(input, TimesText::build)
    }
}

impl TimesText {
    fn new(times: &Times) -> TimesText {
        TimesText {
            elapsed_microseconds: to_text(times.elapsed.iter().map(|&time| microseconds(time))),
            classes: times
                .classes
                .iter()
                .map(|(class, of_ranks)| ClassText {
                    class: *class,
                    calls: to_text(of_ranks.iter().map(|time| time.calls.to_string())),
                    microseconds: to_text(
                        of_ranks.iter().map(|time| microseconds(time.nanoseconds)),
                    ),
                })
                .collect(),
        }
    }

    /// Returns the times, or the problem on failure.
    fn build(self) -> Result<Times, String> {
        let elapsed = numbers(&self.elapsed_microseconds, nanoseconds)?;
        let ranks = elapsed.len();
        let mut classes = BTreeMap::new();
        for written in &self.classes {
            let class = written.class;
            let calls = numbers(&written.calls, |text| text.parse().ok())?;
            let times = numbers(&written.microseconds, nanoseconds)?;
            for found in [calls.len(), times.len()] {
                if found != ranks {
                    return Err(other_ranks(found, ranks));
                }
            }
            let of_ranks = calls.into_iter().zip(times);
            let of_ranks = of_ranks.map(|(calls, nanoseconds)| CallTime { calls, nanoseconds });
            if classes.insert(class, of_ranks.collect()).is_some() {
                return Err(format!("{class} is listed twice; keep one of them"));
            }
        }
        Ok(Times {
            elapsed: elapsed.into(),
            classes,
        })
    }
}

fn to_text(numbers: impl Iterator<Item = String>) -> String {
    numbers.collect::<Vec<_>>().join(",")
}

/// Formats nanoseconds as microseconds: `12.345` for 12345.
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

fn numbers(text: &str, read: impl Fn(&str) -> Option<u64>) -> Result<Vec<u64>, String> {
    text.split(',')
        .map(|item| read(item).ok_or_else(|| format!("`{item}` is no number; correct it")))
        .collect()
}

fn other_ranks(found: usize, ranks: usize) -> String {
    format!("{found} numbers were found for {ranks} ranks; write one for each")
}
