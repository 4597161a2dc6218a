//! What all ranks must agree on. Process 0 reads files and variables, decides,
//! and broadcasts: no rank acts on what it alone has seen.

use std::time::Duration;

use crate::collectives::Wanted;
use crate::mpi::native::{Native, NativeError};
use crate::platform::{File, Known};
use crate::reorder::Places;
use treepie_core::files::configuration::LogLevel;
use treepie_core::files::parts::RunDescription;

/// What every rank of the job does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// The job must end before the application starts.
    pub abort: bool,
    /// Traffic is counted, and a profile is written.
    pub recording: Option<Recording>,
    /// New rank of each process of the native world, for a replay that permutes.
    pub permutation: Option<Vec<u32>>,
    /// Collectives that are replaced.
    pub collectives: Option<Wanted>,
    /// The job ends where what is asked for can't be done.
    pub strict: bool,
    /// Processes are bound to cores, which only process 0 knows yet.
    pub binds: bool,
    /// Process 0 has to know where the processes are before all is decided.
    pub looks: bool,
    /// Where they are, where communicators are to be reordered by it.
    pub places: Option<Places>,
    /// From which level on messages are shown.
    pub log: LogLevel,
}

/// How traffic is counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// The profile to write.
    pub output: String,
    /// Calls are timed.
    pub times: bool,
    /// Counts of each such time are kept apart.
    pub window: Option<Duration>,
    /// Each rank leaves a file this often.
    pub checkpoint: Option<Duration>,
    /// What all ranks write of the run.
    pub run: RunDescription,
}

/// All levels, to read one from its number.
const LEVELS: [LogLevel; 5] = [
    LogLevel::Off,
    LogLevel::Error,
    LogLevel::Warn,
    LogLevel::Info,
    LogLevel::Debug,
];

impl Decision {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![
            u8::from(self.abort),
            u8::from(self.recording.is_some()),
            self.log as u8,
            u8::from(self.permutation.is_some()),
            u8::from(self.collectives.is_some()),
            u8::from(self.strict),
            u8::from(self.binds),
            u8::from(self.looks),
            u8::from(self.places.is_some()),
        ];
        let number = |bytes: &mut Vec<u8>, value: u64| bytes.extend(value.to_le_bytes());
        let numbers = |bytes: &mut Vec<u8>, values: &[u32]| {
            number(bytes, values.len() as u64);
            for value in values {
                bytes.extend(value.to_le_bytes());
            }
        };
        let text = |bytes: &mut Vec<u8>, text: &str| {
            number(bytes, text.len() as u64);
            bytes.extend(text.as_bytes());
        };
        numbers(&mut bytes, self.permutation.as_deref().unwrap_or_default());
        if let Some(places) = &self.places {
            text(&mut bytes, &places.topology);
            numbers(&mut bytes, &places.leaf_of_process);
        }
        if let Some(wanted) = &self.collectives {
            text(&mut bytes, &wanted.collectives);
            bytes.push(u8::from(wanted.reproducible));
            bytes.push(u8::from(wanted.clusters.is_some()));
            numbers(&mut bytes, wanted.clusters.as_deref().unwrap_or_default());
            bytes.push(u8::from(wanted.platform.probe));
            bytes.push(u8::from(wanted.platform.file.is_some()));
            let file = wanted.platform.file.clone().unwrap_or_default();
            text(&mut bytes, &file.name);
            bytes.push(u8::from(file.text.is_some()));
            text(&mut bytes, file.text.as_deref().unwrap_or_default());
        }
        if let Some(recording) = &self.recording {
            text(&mut bytes, &recording.output);
            bytes.push(u8::from(recording.times));
            for time in [recording.window, recording.checkpoint] {
                let nanoseconds = time.unwrap_or_default().as_nanos();
                number(&mut bytes, u64::try_from(nanoseconds).unwrap_or(u64::MAX));
            }
            bytes.extend(recording.run.to_bytes());
        }
        bytes
    }

    /// The decision that [`Decision::encode`] made bytes of: nothing at all where
    /// they are something else.
    fn decode(bytes: &[u8]) -> Decision {
        Reader(bytes).decision().unwrap_or_default()
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|byte| byte != [0])
    }

    fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    fn decision(&mut self) -> Option<Decision> {
        let abort = self.flag()?;
        let records = self.flag()?;
        let level = *self.take(1)?.first()?;
        let permutes = self.flag()?;
        let replaces = self.flag()?;
        let strict = self.flag()?;
        let binds = self.flag()?;
        let looks = self.flag()?;
        let knows_places = self.flag()?;
        let ranks = self.numbers()?;
        let places = match knows_places {
            true => Some(Places {
                topology: self.text()?,
                leaf_of_process: self.numbers()?,
            }),
            false => None,
        };
        let collectives = match replaces {
            true => Some(self.wanted()?),
            false => None,
        };
        Some(Decision {
            abort,
            binds,
            looks,
            places,
            log: LEVELS
                .into_iter()
                .find(|&known| known as u8 == level)
                .unwrap_or_default(),
            permutation: permutes.then_some(ranks),
            collectives,
            strict,
            recording: match records {
                true => Some(self.recording()?),
                false => None,
            },
        })
    }

    fn numbers(&mut self) -> Option<Vec<u32>> {
        let count = usize::try_from(self.number()?).ok()?;
        let (numbers, _) = self.take(count.checked_mul(4)?)?.as_chunks::<4>();
        Some(numbers.iter().map(|n| u32::from_le_bytes(*n)).collect())
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let collectives = self.text()?;
        let reproducible = self.flag()?;
        let has_clusters = self.flag()?;
        let clusters = self.numbers()?;
        let probe = self.flag()?;
        let has_file = self.flag()?;
        let name = self.text()?;
        let has_text = self.flag()?;
        let text = self.text()?;
        let file = File {
            name,
            text: has_text.then_some(text),
        };
        Some(Wanted {
            collectives,
            reproducible,
            clusters: has_clusters.then_some(clusters),
            platform: Known {
                file: has_file.then_some(file),
                probe,
            },
        })
    }

    fn recording(&mut self) -> Option<Recording> {
        let output = self.text()?;
        let times = self.flag()?;
        let mut time = || {
            let time = Duration::from_nanos(self.number()?);
            Some((!time.is_zero()).then_some(time))
        };
        let (window, checkpoint) = (time()?, time()?);
        Some(Recording {
            output,
            times,
            window,
            checkpoint,
            run: RunDescription::from_bytes(self.0)?,
        })
    }
}

/// Process 0's decision, on every process of the world. Collective; `decide` is
/// called on process 0 only.
///
/// # Errors
/// A broadcast that failed.
pub fn agree(native: &Native, decide: impl FnOnce() -> Decision) -> Result<Decision, NativeError> {
    let mine = match native.rank(native.world)? {
        0 => Some(decide()),
        _ => None,
    };
    let bytes = mine.as_ref().map(Decision::encode).unwrap_or_default();
    let bytes = broadcast_any_length(bytes, |part| native.broadcast(native.world, part))?;
    Ok(mine.unwrap_or_else(|| Decision::decode(&bytes)))
}

/// Bytes that go with their length in the first broadcast. Most decisions need no other.
const FIRST: usize = 1024;

/// What process 0 has, on every process: one broadcast of a fixed length, and a second
/// one of the rest where there is more.
fn broadcast_any_length<E>(
    mut bytes: Vec<u8>,
    mut broadcast: impl FnMut(&mut [u8]) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut first = (bytes.len() as u64).to_le_bytes().to_vec();
    first.extend(bytes.iter().take(FIRST));
    first.resize(size_of::<u64>() + FIRST, 0);
    broadcast(&mut first)?;
    let (length, start) = first.split_at(size_of::<u64>());
    let length = length
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    bytes.resize(length, 0);
    let (beginning, rest) = bytes.split_at_mut(length.min(FIRST));
    beginning.copy_from_slice(&start[..beginning.len()]);
    if !rest.is_empty() {
        broadcast(rest)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Process 0's broadcasts, and what another process makes of them.
    #[test]
    fn bytes_of_any_length_arrive_and_few_need_one_broadcast() {
        for length in [0, 1, FIRST, FIRST + 1, 3 * FIRST] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut sent = Vec::new();
            let kept = broadcast_any_length(bytes.clone(), |part| {
                sent.push(part.to_vec());
                Ok::<_, ()>(())
            });
            assert_eq!(kept, Ok(bytes.clone()));
            assert_eq!(sent.len(), if length > FIRST { 2 } else { 1 });
            let mut arriving = sent.into_iter();
            let got: Result<_, ()> = broadcast_any_length(Vec::new(), |part| {
                part.copy_from_slice(&arriving.next().ok_or(())?);
                Ok(())
            });
            assert_eq!(got, Ok(bytes));
        }
    }

    #[test]
    fn a_decision_survives_the_broadcast() {
        let recording = Recording {
            output: "/tmp/ä.profile.yaml".into(),
            times: true,
            window: Some(Duration::from_millis(1_500)),
            checkpoint: None,
            run: RunDescription {
                run: u64::MAX,
                ranks: 3,
                notes: vec!["a note".into()],
                ..RunDescription::default()
            },
        };
        let wanted = Wanted {
            collectives: "bcast=ecef,allreduce=auto".into(),
            reproducible: true,
            clusters: Some(vec![0, 7, 0]),
            platform: Known {
                file: Some(File {
                    name: "ä.platform.yaml".into(),
                    text: Some("treepie: platform".into()),
                }),
                probe: true,
            },
        };
        for permutation in [None, Some(vec![]), Some(vec![2, 0, 70_000])] {
            for recording in [None, Some(recording.clone())] {
                for collectives in [None, Some(wanted.clone())] {
                    let decision = Decision {
                        abort: false,
                        recording: recording.clone(),
                        binds: permutation.is_some(),
                        looks: permutation.is_none(),
                        places: permutation.as_ref().map(|leaves| Places {
                            topology: "treepie: topology".into(),
                            leaf_of_process: leaves.clone(),
                        }),
                        permutation: permutation.clone(),
                        collectives,
                        strict: true,
                        log: LogLevel::Debug,
                    };
                    assert_eq!(Decision::decode(&decision.encode()), decision);
                }
            }
        }
    }
}
