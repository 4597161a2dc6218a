//! Lines of Slurm's text.

use std::path::Path;

use treepie_base::{FileError, text};

use super::switches::{Switch, Switches};
use crate::formats::host_list::expand;
use crate::formats::lines::{begins, first};
use crate::formats::tori::{Torus, of_tori};
use crate::networks::site::Site;

/// True if a file can be read and holds Slurm's text.
pub fn is_of_slurm(path: &Path) -> bool {
    text::read(path).is_ok_and(|text| text.lines().any(|line| is_record(line.trim_start())))
}

/// Keys that begin a record.
const RECORDS: [&str; 7] = [
    "SwitchName=",
    "BlockName=",
    "AggregatedBlock=",
    "BlockSizes=",
    "RingName=",
    "TorusName=",
    "PlacementDims=",
];

/// True if a line is a record of Slurm's text.
fn is_record(line: &str) -> bool {
    RECORDS.iter().any(|key| begins(line, key))
}

/// True if a text begins with a record.
pub(crate) fn recognize(text: &str) -> bool {
    first(text).is_some_and(is_record)
}

/// Reads a network of any kind.
pub(crate) fn read(path: &Path, text: &str, name: Option<&str>) -> Result<Site, FileError> {
    let records = Records::read(path, text)?;
    if !records.tori.is_empty() {
        return of_tori(path, records.tori, name);
    }
    if let Some(name) = name {
        let problem = format!("has one network only, and none called {name}; leave the name out");
        return Err(FileError::field(path, "network", problem));
    }
    records.switches.site(path)
}

/// Switches and tori described by the lines of a file.
#[derive(Default)]
struct Records {
    switches: Switches,
    tori: Vec<Torus>,
}

impl Records {
    fn read(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut found = Records::default();
        let mut sizes: Option<(usize, Vec<usize>)> = None;
        for (number, line) in joined(text) {
            let wrong = |problem: String| FileError::at(path, number, problem);
            let fields = Fields::of(&line).map_err(wrong)?;
            match fields.kind() {
                Some(Kind::Sizes(list)) => {
                    let list = list
                        .split(',')
                        .map(|size| size.trim().parse::<usize>().ok());
                    let list: Option<Vec<usize>> = list.collect();
                    let list = list.filter(|list| list.iter().all(|&size| size > 0));
                    let expected = "`BlockSizes=` lists whole numbers, such as 4,8".to_owned();
                    sizes = Some((number, list.ok_or_else(|| wrong(expected))?));
                }
                Some(Kind::Ring(name)) => {
                    let hosts = expand(fields.get("nodes").unwrap_or_default()).map_err(wrong)?;
                    let count = [hosts.len()];
                    let ring = Torus::in_order(name, &count, hosts).map_err(wrong)?;
                    found.tori.push(ring);
                }
                Some(Kind::Torus(name)) => {
                    let dims = dimensions(fields.get("dims")).map_err(wrong)?;
                    let hosts = expand(fields.get("nodes").unwrap_or_default()).map_err(wrong)?;
                    found
                        .tori
                        .push(Torus::in_order(name, &dims, hosts).map_err(wrong)?);
                }
                Some(Kind::Placement) => {}
                Some(Kind::Switch(name)) => {
                    let switch = switch(name, &fields, number).map_err(wrong)?;
                    found.switches.add(switch).map_err(wrong)?;
                }
                Some(Kind::Aggregate(name)) => {
                    let blocks = expand(name).map_err(wrong)?;
                    found
                        .switches
                        .aggregate(name, &blocks, number)
                        .map_err(wrong)?;
                }
                None => {
                    let problem = "no `SwitchName=` was found; every line describes a switch";
                    return Err(wrong(problem.to_owned()));
                }
            }
        }
        if let Some((line, sizes)) = sizes {
            let wrong = |problem: String| FileError::at(path, line, problem);
            found.switches.group_blocks(&sizes).map_err(wrong)?;
        }
        Ok(found)
    }
}

/// Lines with their numbers, without comments; a line that ends in a backslash is continued by the
/// next.
fn joined(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut lines = text.lines().enumerate();
    std::iter::from_fn(move || {
        loop {
            let (number, line) = lines.next()?;
            let mut whole = without_comment(line).to_owned();
            while let Some(open) = whole.strip_suffix('\\') {
                whole = open.to_owned();
                let Some((_, next)) = lines.next() else { break };
                whole.push_str(without_comment(next));
            }
            let whole = whole.trim().to_owned();
            if !whole.is_empty() {
                return Some((number + 1, whole));
            }
        }
    })
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

/// Subject of a line.
enum Kind<'a> {
    Switch(&'a str),
    Aggregate(&'a str),
    Sizes(&'a str),
    Ring(&'a str),
    Torus(&'a str),
    Placement,
}

/// The words `Key=Value` of a line; keys are in lower case.
struct Fields<'a>(Vec<(String, &'a str)>);

impl<'a> Fields<'a> {
    fn of(line: &'a str) -> Result<Self, String> {
        let open = line.matches('[').count() > line.matches(']').count();
        let fields = line.split_whitespace().map(|word| {
            let (key, value) = word.split_once('=').ok_or_else(|| {
                format!("`{word}` was found, a word such as `Nodes=tux[0-3]` was expected")
            })?;
            Ok((key.to_ascii_lowercase(), value))
        });
        let fields = fields.collect::<Result<Vec<_>, String>>()?;
        // Slurm truncates its output at a length set in the environment.
        if open && line.len() > 100 {
            return Err(
                "the line ends inside a bracket; print it again with SLURM_TOPO_LEN=100000"
                    .to_owned(),
            );
        }
        Ok(Fields(fields))
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|&(_, value)| value)
    }

    fn kind(&self) -> Option<Kind<'a>> {
        let named = |key: &str| self.get(key).filter(|name| !name.is_empty());
        None.or_else(|| named("switchname").map(Kind::Switch))
            .or_else(|| named("blockname").map(Kind::Switch))
            .or_else(|| named("aggregatedblock").map(Kind::Aggregate))
            .or_else(|| named("ringname").map(Kind::Ring))
            .or_else(|| named("torusname").map(Kind::Torus))
            .or_else(|| named("blocksizes").map(Kind::Sizes))
            .or_else(|| named("placementdims").map(|_| Kind::Placement))
    }
}

fn dimensions(text: Option<&str>) -> Result<Vec<usize>, String> {
    let text = text.ok_or("`Dims=` is missing; write it as Dims=4x4x2")?;
    let sizes = text
        .split('x')
        .map(|size| size.parse::<usize>().ok().filter(|&size| size > 0));
    let sizes: Option<Vec<usize>> = sizes.collect();
    sizes.ok_or_else(|| format!("`Dims={text}` lists no sizes; write them as 4x4x2"))
}

/// The switch or block that a line describes.
fn switch(name: &str, fields: &Fields, line: usize) -> Result<Switch, String> {
    let list = |key| fields.get(key).map_or(Ok(Vec::new()), expand);
    Ok(Switch {
        name: name.to_owned(),
        line,
        nodes: list("nodes")?,
        switches: list("switches")?,
    })
}
