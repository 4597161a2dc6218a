//! Collectives of a profile as text: one line for each kind of call, with the groups of ranks in a
//! separate table.
//!
//! ```yaml
//! collectives:
//!   groups:
//!   - 0-3
//!   - 0,2
//!   rows:
//!   - allreduce group=0 class=4 calls=100 bytes=800
//!   - bcast group=1 root=1 class=11 calls=5 bytes=5120 plan=grid-chain segment=65536
//!   - allgatherv group=0 class=4 calls=1 bytes-by-rank=8*3,16
//!   - alltoallv group=1 class=4 calls=2 pairs=0>1:16/2,1>0:32/2
//! ```
//!
//! `800*16` is sixteen times 800; `0>1:16/2` is 16 bytes in 2 messages from rank 0 to rank 1 of the
//! group. A row with `plan` was run by that algorithm, in messages of at most `segment` units of
//! `unit` bytes (1 if absent), with operands in the order of ranks if `ordered=1`; the others by
//! the native collective.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use treepie_base::budget::draw;
use treepie_base::{convert, list};
use treepie_collective::{Operation, PlanRun, Record, Volume};

/// Records as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Records {
    groups: Vec<String>,
    rows: Vec<String>,
}

/// Writes records, for `#[serde(with = "records")]`.
pub(crate) fn serialize<S: Serializer>(records: &[Record], out: S) -> Result<S::Ok, S::Error> {
    Records::new(records).serialize(out)
}

/// Reads records, still to be checked, for `#[serde(with = "records")]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Record>, D::Error> {
    convert::mapping(input, |records: Records| records.build())
}

impl Records {
    fn new(records: &[Record]) -> Records {
        let mut index_of = std::collections::HashMap::new();
        let mut groups = Vec::new();
        let rows = records.iter().map(|record| {
            let group = index_of.entry(&record.group).or_insert_with(|| {
                let ranks: Vec<usize> = record.group.iter().map(|&rank| rank as usize).collect();
                groups.push(list::to_text(&ranks));
                groups.len() - 1
            });
            row(record, *group)
        });
        let rows = rows.collect();
        Records { groups, rows }
    }

    /// Returns the records, or the row and the problem on failure.
    fn build(&self) -> Result<Vec<Record>, String> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for (index, text) in self.groups.iter().enumerate() {
            let group =
                read_group(text).map_err(|problem| format!("groups[{index}]: {problem}"))?;
            groups.push(group);
        }
        let read = |(index, text): (usize, &String)| {
            read_row(text, &groups).map_err(|problem| format!("rows[{index}]: {problem}"))
        };
        self.rows.iter().enumerate().map(read).collect()
    }
}

/// Checks a record of a job of `ranks` ranks; `has_locality`: the profile has a locality.
pub(crate) fn check(record: &Record, ranks: usize, has_locality: bool) -> Result<(), String> {
    record.validate(ranks).map_err(|error| error.to_string())?;
    if record.plan.is_some() && !has_locality {
        return Err(
            "a plan ran it, and there is no `locality`, which plans are made by; take the \
                    profile again"
                .into(),
        );
    }
    if record.size_class > 64 {
        let class = record.size_class;
        return Err(format!(
            "class {class} is too large; sizes have classes from 0 to 64"
        ));
    }
    if record.calls == 0 {
        return Err("calls is 0; leave out what was never called".into());
    }
    Ok(())
}

fn read_group(text: &str) -> Result<Arc<[u32]>, String> {
    let ranks = list::parse(text).map_err(|error| error.to_string())?;
    let narrow = |rank| u32::try_from(rank).map_err(|_| format!("rank {rank} is too large"));
    ranks.into_iter().map(narrow).collect()
}

// --- one row -----------------------------------------------------------------

fn row(record: &Record, group: usize) -> String {
    let mut text = format!("{} group={group}", record.operation);
    if let Some(root) = record.root {
        text += &format!(" root={root}");
    }
    text += &format!(" class={} calls={}", record.size_class, record.calls);
    text += &match &record.volume {
        Volume::Uniform(bytes) => format!(" bytes={bytes}"),
        Volume::PerRank(bytes) => format!(" bytes-by-rank={}", repeated(bytes)),
        Volume::Pairs(pairs) => {
            let items: Vec<String> = pairs
                .iter()
                .map(|(from, to, bytes, messages)| format!("{from}>{to}:{bytes}/{messages}"))
                .collect();
            format!(" pairs={}", items.join(","))
        }
    };
    text + &record.plan.as_ref().map_or(String::new(), plan_words)
}

/// Returns the words of a plan, each preceded by a blank.
fn plan_words(plan: &PlanRun) -> String {
    let mut text = format!(" plan={} segment={}", plan.algorithm, plan.segment);
    if plan.unit_bytes != 1 {
        text += &format!(" unit={}", plan.unit_bytes);
    }
    if plan.ordered {
        text += " ordered=1";
    }
    text
}

/// Formats numbers separated by commas, with `8*3` for 8,8,8.
fn repeated(numbers: &[u64]) -> String {
    let runs = numbers.chunk_by(|one, next| one == next);
    let items: Vec<String> = runs
        .map(|run| match run.len() {
            1 => run[0].to_string(),
            times => format!("{}*{times}", run[0]),
        })
        .collect();
    items.join(",")
}

fn read_row(text: &str, groups: &[Arc<[u32]>]) -> Result<Record, String> {
    let mut words = text.split_whitespace();
    let operation: Operation = words
        .next()
        .ok_or("is empty; leave it out")?
        .parse()
        .map_err(|unknown: treepie_base::UnknownName| unknown.to_string())?;
    let mut fields = Fields::read(words)?;
    let index: usize = fields.number("group")?;
    let group = groups.get(index).ok_or_else(|| {
        format!(
            "group {index} is none of the {} groups, which count from 0; correct it",
            groups.len()
        )
    })?;
    let root = match fields.has("root") {
        true => Some(fields.number("root")?),
        false => None,
    };
    let size_class = fields.number("class")?;
    let calls = fields.number("calls")?;
    let volume = read_volume(&mut fields, group.len())?;
    let plan = read_plan(&mut fields)?;
    fields.finish()?;
    Ok(Record {
        operation,
        group: Arc::clone(group),
        root,
        size_class,
        plan,
        calls,
        volume,
    })
}

/// Reads the plan of a row, whose algorithm is still to be checked.
fn read_plan(fields: &mut Fields<'_>) -> Result<Option<PlanRun>, String> {
    if !fields.has("plan") {
        return Ok(None);
    }
    Ok(Some(PlanRun {
        algorithm: fields.text("plan")?.to_owned(),
        segment: fields.number("segment")?,
        unit_bytes: fields.number_or("unit", 1)?,
        ordered: fields.number_or("ordered", 0)? != 0,
    }))
}

fn read_volume(fields: &mut Fields<'_>, size: usize) -> Result<Volume, String> {
    if fields.has("bytes-by-rank") {
        return read_repeated(fields.text("bytes-by-rank")?, size).map(Volume::PerRank);
    }
    if fields.has("pairs") {
        let items = fields.text("pairs")?.split(',');
        let items = items.filter(|item| !item.is_empty());
        return items
            .map(read_pair)
            .collect::<Result<_, _>>()
            .map(Volume::Pairs);
    }
    fields.number("bytes").map(Volume::Uniform)
}

fn read_repeated(text: &str, size: usize) -> Result<Vec<u64>, String> {
    let mut numbers = Vec::new();
    for item in text.split(',') {
        let (number, times) = item.split_once('*').unwrap_or((item, "1"));
        let (number, times): (u64, usize) = (whole(number)?, whole(times)?);
        if times > size - numbers.len() {
            return Err(format!(
                "bytes-by-rank has more numbers than the {size} ranks of the group; write one for \
                 each"
            ));
        }
        if times > 1 {
            draw("blocks", times, size_of::<u64>()).map_err(|problem| problem.to_string())?;
        }
        numbers.resize(numbers.len() + times, number);
    }
    Ok(numbers)
}

fn read_pair(item: &str) -> Result<(u32, u32, u64, u64), String> {
    let parts = || {
        let (from, rest) = item.split_once('>')?;
        let (to, rest) = rest.split_once(':')?;
        let (bytes, messages) = rest.split_once('/')?;
        Some((from, to, bytes, messages))
    };
    let (from, to, bytes, messages) =
        parts().ok_or_else(|| format!("`{item}` is no pair; write from>to:bytes/messages"))?;
    Ok((whole(from)?, whole(to)?, whole(bytes)?, whole(messages)?))
}

fn whole<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| digits);
    number.ok_or_else(|| format!("`{text}` was found, a whole number was expected; correct it"))
}

/// `name=value` words of a row, each to be taken once.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn read(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut fields = Fields(Vec::new());
        for word in words {
            let (name, value) = word
                .split_once('=')
                .ok_or_else(|| format!("`{word}` is not name=value; write it as in calls=1"))?;
            if fields.has(name) {
                return Err(format!("{name} is given twice; keep one of them"));
            }
            fields.0.push((name, value));
        }
        Ok(fields)
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == name)
    }

    fn text(&mut self, name: &str) -> Result<&'a str, String> {
        let at = self.0.iter().position(|(known, _)| *known == name);
        at.map(|at| self.0.remove(at).1)
            .ok_or_else(|| format!("{name} is missing; write {name}=..."))
    }

    fn number<N: std::str::FromStr>(&mut self, name: &str) -> Result<N, String> {
        let text = self.text(name)?;
        whole(text).map_err(|problem| format!("{name}: {problem}"))
    }

    fn number_or(&mut self, name: &str, otherwise: u64) -> Result<u64, String> {
        match self.has(name) {
            true => self.number(name),
            false => Ok(otherwise),
        }
    }

    fn finish(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!(
                "{name} is unknown here; known are group, root, class, calls, one of bytes, \
                 bytes-by-rank, pairs, and plan with segment, unit, ordered"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use treepie_base::budget::within;
    use treepie_collective::size_class;

    fn records() -> Vec<Record> {
        let record = |operation, group: &[u32], root, bytes, volume| Record {
            operation,
            group: group.into(),
            root,
            size_class: size_class(bytes),
            plan: None,
            calls: 2,
            volume,
        };
        vec![
            record(
                Operation::Allreduce,
                &[0, 1, 2, 3],
                None,
                8,
                Volume::Uniform(u64::MAX),
            ),
            record(
                Operation::Bcast,
                &[2, 0],
                Some(1),
                1024,
                Volume::Uniform(2048),
            ),
            record(
                Operation::Allgatherv,
                &[0, 1, 2, 3],
                None,
                8,
                Volume::PerRank(vec![8, 8, 8, 16]),
            ),
            record(
                Operation::Alltoallv,
                &[2, 0],
                None,
                8,
                Volume::Pairs(vec![(0, 1, 16, 2), (1, 0, 32, 2)]),
            ),
            record(
                Operation::Alltoallw,
                &[2, 0],
                None,
                0,
                Volume::Pairs(Vec::new()),
            ),
            Record {
                plan: Some(PlanRun {
                    algorithm: "grid-direct".into(),
                    segment: 4096,
                    unit_bytes: 8,
                    ordered: true,
                }),
                ..record(Operation::Allreduce, &[2, 0], None, 8, Volume::Uniform(16))
            },
        ]
    }

    #[test]
    fn rows_share_their_groups_and_blocks_take_memory() {
        let records = |row: &str| Records {
            groups: vec!["0-99999".to_owned()],
            rows: vec![row.to_owned(); 2_000],
        };
        let shared = records("bcast group=0 root=1 class=3 calls=2 bytes=8");
        assert_eq!(within(0, || shared.build()).unwrap().len(), 2_000);
        let blocks = records("allgatherv group=0 class=4 calls=1 bytes-by-rank=8*100000");
        let problem = within(0, || blocks.build()).unwrap_err();
        assert!(
            problem.contains("100000 blocks would take more than"),
            "{problem}"
        );
    }

    #[test]
    fn every_kind_of_record_is_one_line_and_reads_back() {
        let written = Records::new(&records());
        assert_eq!(written.groups, ["0-3", "2,0"]);
        assert_eq!(
            written.rows,
            [
                "allreduce group=0 class=4 calls=2 bytes=18446744073709551615",
                "bcast group=1 root=1 class=11 calls=2 bytes=2048",
                "allgatherv group=0 class=4 calls=2 bytes-by-rank=8*3,16",
                "alltoallv group=1 class=4 calls=2 pairs=0>1:16/2,1>0:32/2",
                "alltoallw group=1 class=0 calls=2 pairs=",
                "allreduce group=1 class=4 calls=2 bytes=16 plan=grid-direct segment=4096 unit=8 \
                 ordered=1",
            ]
        );
        assert_eq!(written.build().unwrap(), records());
    }

    #[test]
    fn wrong_rows_say_what_to_write() {
        let groups = [Arc::from([0, 1, 2])];
        for (row, expected) in [
            ("", "is empty; leave it out"),
            (
                "bcast group=0 root=0 class=1 calls=1",
                "bytes is missing; write bytes=...",
            ),
            (
                "bcast group=3 root=0 class=1 calls=1 bytes=1",
                "group 3 is none of the 1 groups, which count from 0; correct it",
            ),
            (
                "bcast group=0 root=0 class=1 calls=many bytes=1",
                "calls: `many` was found, a whole number was expected; correct it",
            ),
            (
                "bcast group=0 root=0 class=1 calls=1 bytes=-1",
                "bytes: `-1` was found, a whole number was expected; correct it",
            ),
            (
                "bcast group=0 group=0 root=0 class=1 calls=1 bytes=1",
                "group is given twice; keep one of them",
            ),
            (
                "bcast group=0 root=0 class=1 calls=1 bytes=1 plan=grid-chain",
                "segment is missing; write segment=...",
            ),
            (
                "bcast group=0 root=0 class=1 calls=1 bytes=1 colour=2",
                "colour is unknown here; known are group, root, class, calls, one of bytes, \
                 bytes-by-rank, pairs, and plan with segment, unit, ordered",
            ),
            (
                "gatherv group=0 root=0 class=1 calls=1 bytes-by-rank=1*99999999999",
                "bytes-by-rank has more numbers than the 3 ranks of the group; write one for each",
            ),
            (
                "alltoallv group=0 class=1 calls=1 pairs=0-1",
                "`0-1` is no pair; write from>to:bytes/messages",
            ),
        ] {
            assert_eq!(read_row(row, &groups).unwrap_err(), expected, "{row}");
        }
    }
}
