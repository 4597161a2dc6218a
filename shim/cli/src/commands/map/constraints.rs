//! Options for the constraints of a placement.

use std::collections::BTreeMap;

use clap::Args;
use treepie_base::{Leaf, List, Rank, list};
use treepie_placement::Constraints;
use treepie_topology::Topology;

use treepie_launch::error::CommandError;

/// Options that restrict the location of ranks. Cores are numbered depth first over the tree, from
/// 0.
#[derive(Debug, Args, Default)]
#[command(next_help_heading = "Constraints")]
pub struct ConstraintOptions {
    /// Keep a rank on a core; may be repeated
    #[arg(long, value_name = "RANK=CORE", value_delimiter = ',')]
    fix: Vec<String>,
    /// The only cores that a rank may use, such as 3=0-7,12; may be repeated
    #[arg(long, value_name = "RANK=CORES")]
    allow: Vec<String>,
    /// Cores that are not used, such as 0,16-19
    #[arg(long, value_name = "CORES")]
    exclude: Option<String>,
    /// Number of ranks that a core takes: one number for all, or one for each
    #[arg(long, value_name = "NUMBERS")]
    slots: Option<String>,
    /// Ranks that must share a node, such as 0-3; may be repeated
    #[arg(long, value_name = "RANKS")]
    together: Vec<String>,
    /// Level of the tree that ranks of --together share, if not a node
    #[arg(long, value_name = "LEVEL", requires = "together")]
    together_level: Option<String>,
    /// Number of hardware threads used of each core
    #[arg(long, value_name = "NUMBER")]
    threads_per_core: Option<usize>,
    /// Use all cores of the machine, including those where the profile has no process
    #[arg(long)]
    all_cores: bool,
}

impl ConstraintOptions {
    /// True if ranks may use cores where no process of the profile runs.
    pub fn reach_all_cores(&self) -> bool {
        self.all_cores || self.exclude.is_some() || self.slots.is_some()
    }

    /// True if several ranks may share a core.
    pub fn share_cores(&self) -> bool {
        self.slots.is_some()
    }

    /// Builds the constraints on a topology.
    ///
    /// # Errors
    /// An option's text is malformed. Whether ranks and cores exist and are consistent is checked
    /// by the placement.
    pub fn constraints(&self, topology: &Topology) -> Result<Constraints, CommandError> {
        let together = self.together.iter();
        let together = together.map(|text| items("--together", text, Rank));
        Ok(Constraints {
            slots: self.slots_of(topology)?,
            excluded: match &self.exclude {
                Some(text) => items("--exclude", text, Leaf)?,
                None => Vec::new(),
            },
            fixed: self.fixed()?,
            allowed: self.allowed()?,
            together: together.collect::<Result<_, _>>()?,
            together_level: self.together_level.clone(),
            threads_per_core: self.threads_per_core,
        })
    }

    fn slots_of(&self, topology: &Topology) -> Result<List<Leaf, usize>, CommandError> {
        let Some(text) = &self.slots else {
            return Ok(List::new());
        };
        let slots = numbers("--slots", text)?;
        match slots[..] {
            [all] => Ok(vec![all; topology.leaf_count()].into()),
            _ => Ok(slots.into()),
        }
    }

    fn fixed(&self) -> Result<BTreeMap<Rank, Leaf>, CommandError> {
        let mut fixed = BTreeMap::new();
        for text in &self.fix {
            let (rank, core) = rank_and_cores("--fix", text)?;
            let [core] = core[..] else {
                return Err(wrong(
                    "--fix",
                    text,
                    "a rank is fixed to one core: write 0=3",
                ));
            };
            if fixed.insert(rank, core).is_some_and(|other| other != core) {
                let problem = format!("rank {rank} is fixed to another core already: keep one");
                return Err(wrong("--fix", text, &problem));
            }
        }
        Ok(fixed)
    }

    fn allowed(&self) -> Result<BTreeMap<Rank, Vec<Leaf>>, CommandError> {
        let mut allowed: BTreeMap<Rank, Vec<Leaf>> = BTreeMap::new();
        for text in &self.allow {
            let (rank, cores) = rank_and_cores("--allow", text)?;
            allowed.entry(rank).or_default().extend(cores);
        }
        Ok(allowed)
    }
}

/// Splits `3=0-7` in two parts.
fn rank_and_cores(option: &str, text: &str) -> Result<(Rank, Vec<Leaf>), CommandError> {
    let (rank, cores) = text
        .split_once('=')
        .ok_or_else(|| wrong(option, text, "RANK=CORE was expected, such as 0=3"))?;
    let [rank] = items(option, rank, Rank)?[..] else {
        return Err(wrong(option, text, "one rank was expected before `=`"));
    };
    Ok((rank, items(option, cores, Leaf)?))
}

/// Parses ranks or leaves by their numbers.
fn items<I>(option: &str, text: &str, item: fn(usize) -> I) -> Result<Vec<I>, CommandError> {
    Ok(numbers(option, text)?.into_iter().map(item).collect())
}

fn numbers(option: &str, text: &str) -> Result<Vec<usize>, CommandError> {
    let found = list::parse(text).map_err(|error| wrong(option, text, &error.to_string()))?;
    if found.is_empty() {
        Err(wrong(option, text, "a list such as 0,4,8-11 was expected"))
    } else {
        Ok(found)
    }
}

fn wrong(option: &str, text: &str, problem: &str) -> CommandError {
    CommandError::usage(format!("{option} {text}: {problem}"))
}
