//! How a rank's part of the record travels to process 0: little-endian numbers,
//! each list after its length.

use treepie_core::affinity::Traffic;
use treepie_core::affinity::collective::{Operation, Record, Volume};

use super::counters::Kind;

/// One rank's part of the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its process in the launcher's world.
    pub process: u32,
    /// Its rank in the application's world.
    pub rank: u32,
    /// Name of its host.
    pub host: String,
    /// The cores it may run on, as Linux lists them: `0-3,8`.
    pub allowed_cores: String,
    /// What it counted, by kind and partner.
    pub counted: Vec<(Kind, u32, Traffic)>,
    /// The collectives that it reports.
    pub collectives: Vec<Record>,
}

/// Writes numbers, texts and lists.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u64);
        for item in list {
            each(self, item);
        }
    }

    fn record(&mut self, record: &Record) {
        self.number(record.operation as u64);
        self.number(record.root.map_or(u64::MAX, u64::from));
        self.number(u64::from(record.size_class));
        self.number(record.calls);
        self.list(&record.group, |w, rank| w.number(u64::from(*rank)));
        match &record.volume {
            Volume::Uniform(bytes) => {
                self.number(0);
                self.number(*bytes);
            }
            Volume::PerRank(parts) => {
                self.number(1);
                self.list(parts, |w, part| w.number(*part));
            }
            Volume::Pairs(pairs) => {
                self.number(2);
                self.list(pairs, |w, &(from, to, bytes, messages)| {
                    w.number(u64::from(from));
                    w.number(u64::from(to));
                    w.number(bytes);
                    w.number(messages);
                });
            }
        }
    }
}

/// Reads what [`Writer`] wrote; `None` where it ends too early.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*bytes))
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| each(self)).collect()
    }

    fn record(&mut self) -> Option<Record> {
        Some(Record {
            operation: {
                let number = self.number()?;
                Operation::all().find(|&known| known as u64 == number)?
            },
            root: u32::try_from(self.number()?).ok(),
            size_class: u8::try_from(self.number()?).ok()?,
            calls: self.number()?,
            group: self.list(Self::small)?,
            volume: match self.number()? {
                0 => Volume::Uniform(self.number()?),
                1 => Volume::PerRank(self.list(Self::number)?),
                2 => Volume::Pairs(
                    self.list(|r| Some((r.small()?, r.small()?, r.number()?, r.number()?)))?,
                ),
                _ => return None,
            },
        })
    }

    fn part(&mut self) -> Option<Part> {
        Some(Part {
            process: self.small()?,
            rank: self.small()?,
            host: self.text()?,
            allowed_cores: self.text()?,
            counted: self.list(|r| {
                let kind = Kind::from_number(r.number()?)?;
                let partner = r.small()?;
                let (messages, bytes) = (r.number()?, r.number()?);
                Some((kind, partner, Traffic { messages, bytes }))
            })?,
            collectives: self.list(Self::record)?,
        })
    }
}

impl Part {
    /// This part as bytes. Parts can be put one after the other.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(u64::from(self.process));
        writer.number(u64::from(self.rank));
        writer.text(&self.host);
        writer.text(&self.allowed_cores);
        writer.list(&self.counted, |w, (kind, partner, traffic)| {
            w.number(*kind as u64);
            w.number(u64::from(*partner));
            w.number(traffic.messages);
            w.number(traffic.bytes);
        });
        writer.list(&self.collectives, Writer::record);
        writer.0
    }

    /// All parts that stand one after the other in `bytes`; `None` if they do not.
    pub fn decode_all(bytes: &[u8]) -> Option<Vec<Part>> {
        let mut reader = Reader(bytes);
        let mut parts = Vec::new();
        while !reader.0.is_empty() {
            parts.push(reader.part()?);
        }
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(process: u32) -> Part {
        let record = |operation, root, volume| Record {
            operation,
            group: vec![2, 0, 1],
            root,
            size_class: 7,
            calls: 3,
            volume,
        };
        Part {
            process,
            rank: 3 - process,
            host: "node-ä".to_owned(),
            allowed_cores: "0-3,8".to_owned(),
            counted: vec![(
                Kind::Got,
                1,
                Traffic {
                    messages: 2,
                    bytes: u64::MAX,
                },
            )],
            collectives: vec![
                record(Operation::Bcast, Some(1), Volume::Uniform(64)),
                record(Operation::Allgatherv, None, Volume::PerRank(vec![1, 2, 3])),
                record(
                    Operation::Alltoallv,
                    None,
                    Volume::Pairs(vec![(0, 1, 9, 1)]),
                ),
            ],
        }
    }

    #[test]
    fn parts_put_one_after_the_other_are_read_as_they_were() {
        let parts = vec![part(0), part(1)];
        let bytes: Vec<u8> = parts.iter().flat_map(Part::encode).collect();
        assert_eq!(Part::decode_all(&bytes), Some(parts));
    }

    #[test]
    fn bytes_that_end_too_early_are_refused() {
        let bytes = part(0).encode();
        for length in 1..bytes.len() {
            assert_eq!(Part::decode_all(&bytes[..length]), None, "{length} bytes");
        }
    }
}
