//! The document of a topology file.

use std::path::Path;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::machines::{Machine, Wrong, machines_of};
use crate::build::Tree;
use crate::error::TopologyError;
use crate::tree::{ProcessingUnit, Topology};
use treepie_base::budget::{self, draw};
use treepie_base::{File, FileContents, FileError, Header, Kind, Leaf, List, convert, list, text};

/// Bytes of memory of a core without known properties: two numbers describe 10,000 hosts of 128.
const CORE: usize = 48;

/// Reads a topology.
///
/// # Errors
/// The file cannot be read, is not a topology file, or does not describe a topology.
pub fn read(path: &Path) -> Result<Topology, FileError> {
    from_text(path, &text::read(path)?)
}

/// Parses a topology from the text of a file; `path` is for messages.
///
/// # Errors
/// The text is not a topology file, or does not describe a topology.
pub fn from_text(path: &Path, text: &str) -> Result<Topology, FileError> {
    let file = File::<Description>::from_text(path, text)?;
    budget::within(text.len(), || file.to_topology())
        .map_err(|(field, problem)| FileError::field(path, field, problem))
}

/// Writes a topology. `producer` and `date` record its origin.
///
/// # Errors
/// The file cannot be written.
pub fn write(
    path: &Path,
    topology: &Topology,
    producer: &str,
    date: &str,
) -> Result<(), FileError> {
    text::write(path, &to_text(path, topology, producer, date)?)
}

/// Formats a topology as the text of a file; `path` is for messages.
///
/// # Errors
/// The file cannot be written.
pub fn to_text(
    path: &Path,
    topology: &Topology,
    producer: &str,
    date: &str,
) -> Result<String, FileError> {
    let header = Header {
        producer: producer.to_owned(),
        date: date.to_owned(),
    };
    let body = Description::new(topology);
    File { header, body }.to_text(path)
}

/// For `#[serde(with = "treepie_topology::file")]`: writes a topology within another file.
///
/// # Errors
/// Errors of the writer.
pub fn serialize<S: Serializer>(topology: &Topology, out: S) -> Result<S::Ok, S::Error> {
    Description::new(topology).serialize(out)
}

/// For `#[serde(with = "treepie_topology::file")]`: reads a topology within another file.
///
/// # Errors
/// The lines do not describe a topology.
pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Topology, D::Error> {
    convert::mapping(input, |description: Description| {
        description
            .to_topology()
            .map_err(|(field, problem)| format!("{field}: {problem}"))
    })
}

/// The written form of a topology.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Description {
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arities: Option<Arities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<Vec<Branch>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machines: Vec<Machine>,
    #[serde(with = "list", skip_serializing_if = "Vec::is_empty")]
    forbidden: Vec<Leaf>,
}

/// `4:2:2` or a list of numbers.
struct Arities(String);

impl Serialize for Arities {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Arities {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(AritiesVisitor)
    }
}

struct AritiesVisitor;

impl<'de> Visitor<'de> for AritiesVisitor {
    type Value = Arities;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("arities such as 4:2:2")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Arities, E> {
        Ok(Arities(text.to_owned()))
    }

    fn visit_u64<E: serde::de::Error>(self, arity: u64) -> Result<Arities, E> {
        Ok(Arities(arity.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Arities, A::Error> {
        let mut arities = Vec::new();
        while let Some(arity) = items.next_element::<u64>()? {
            arities.push(arity.to_string());
        }
        Ok(Arities(arities.join(":")))
    }
}

/// A node of the nested form.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of cores or a list of parts was expected, such as [[4, 4], [8]]"
)]
enum Branch {
    /// A node with this number of cores.
    Cores(usize),
    /// A node with these parts.
    Parts(Vec<Branch>),
}

impl Branch {
    fn cores(&self) -> usize {
        match self {
            Branch::Cores(cores) => *cores,
            Branch::Parts(parts) => parts
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.cores())),
        }
    }

    fn to_tree(&self) -> Tree {
        match self {
            Branch::Cores(cores) => {
                Tree::Inner(vec![Tree::Leaf(ProcessingUnit::default()); *cores])
            }
            Branch::Parts(parts) => Tree::Inner(parts.iter().map(Branch::to_tree).collect()),
        }
    }

    /// The node `node` at `depth`, which is above the leaves.
    fn new(topology: &Topology, depth: usize, node: usize) -> Branch {
        let children = topology.children(depth, node);
        if depth + 1 == topology.depth() {
            return Branch::Cores(children.len());
        }
        Branch::Parts(
            children
                .map(|child| Branch::new(topology, depth + 1, child))
                .collect(),
        )
    }
}

/// Reserves the memory of `cores` cores that a field describes.
fn take_cores(field: &'static str, cores: usize) -> Result<(), Wrong> {
    draw("cores", cores, CORE).map_err(|problem| (field, problem.to_string()))
}

fn in_field(field: &'static str) -> impl Fn(TopologyError) -> Wrong {
    move |error| (field, error.to_string())
}

impl FileContents for Description {
    const KIND: Kind = Kind::Topology;
}

impl Description {
    fn new(topology: &Topology) -> Description {
        let names = topology.levels().iter().map(|level| level.name.clone());
        let mut description = Description {
            levels: Some(names.collect()),
            machines: machines_of(topology),
            forbidden: (topology.leaves().keys())
                .filter(|&leaf| topology.leaf(leaf).forbidden)
                .collect(),
            ..Description::default()
        };
        match topology.arities() {
            Some(arities) => {
                let texts: Vec<String> = arities.iter().map(usize::to_string).collect();
                description.arities = Some(Arities(texts.join(":")));
            }
            None => {
                if let Branch::Parts(parts) = Branch::new(topology, 0, 0) {
                    description.tree = Some(parts);
                }
            }
        }
        let depth = topology.depth();
        let hops = (0..depth).map(|level| 2.0 * (depth - level) as f64);
        if !hops.eq(topology.level_distances().iter().copied()) {
            description.distances = Some(topology.level_distances().to_vec());
        }
        description
    }

    fn to_topology(&self) -> Result<Topology, Wrong> {
        let shape = self.shape()?;
        let leaves = self.leaves(&shape)?;
        let topology = shape
            .with_leaves(leaves)
            .map_err(in_field("machines"))?
            .forbidding(&self.forbidden)
            .map_err(in_field("forbidden"))?;
        match &self.distances {
            Some(distances) => topology
                .with_level_distances(distances)
                .map_err(in_field("distances")),
            None => Ok(topology),
        }
    }

    /// The bare tree with the names of its levels.
    fn shape(&self) -> Result<Topology, Wrong> {
        let bare = match (&self.arities, &self.tree) {
            (Some(arities), None) => {
                let arities_read = arities
                    .0
                    .split(':')
                    .filter_map(|part| part.trim().parse().ok());
                take_cores("arities", arities_read.fold(1, usize::saturating_mul))?;
                Topology::from_arities(&arities.0).map_err(in_field("arities"))?
            }
            (None, Some(parts)) => {
                let cores = parts
                    .iter()
                    .fold(0_usize, |sum, part| sum.saturating_add(part.cores()));
                take_cores("tree", cores)?;
                let tree = Tree::Inner(parts.iter().map(Branch::to_tree).collect());
                Topology::from_tree(&tree, None).map_err(in_field("tree"))?
            }
            (Some(_), Some(_)) => {
                return Err(("tree", "is given beside arities; keep one of them".into()));
            }
            (None, None) => {
                return Err((
                    "arities",
                    "are missing; write them, such as 4:2:2, or a tree".into(),
                ));
            }
        };
        match &self.levels {
            Some(names) => bare
                .with_level_names(names.iter().cloned())
                .map_err(in_field("levels")),
            None => Ok(bare),
        }
    }

    /// The leaves with the properties in `machines`.
    fn leaves(&self, topology: &Topology) -> Result<List<Leaf, ProcessingUnit>, Wrong> {
        let mut leaves = topology.leaves().to_owned();
        let mut described: List<Leaf, bool> = vec![false; leaves.len()].into();
        for machine in &self.machines {
            machine.check_lengths()?;
            for (index, &core) in machine.cores.iter().enumerate() {
                let leaf_count = leaves.len();
                let leaf = leaves.get_mut(core).ok_or_else(|| {
                    let problem = format!(
                        "core {core} is none of the {leaf_count} cores, which count from 0; \
                         correct the list"
                    );
                    ("machines", problem)
                })?;
                if std::mem::replace(&mut described[core], true) {
                    let problem = format!("core {core} is listed twice; keep one of them");
                    return Err(("machines", problem));
                }
                leaf.host.clone_from(&machine.host);
                leaf.os_index = machine.physical.get(index).copied();
            }
            machine.put_devices(&mut leaves)?;
        }
        Ok(leaves)
    }
}
