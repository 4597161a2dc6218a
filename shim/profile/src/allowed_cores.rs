//! Cores that processes may use, as text: processes with the same cores are grouped.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use treepie_base::budget::draw;
use treepie_base::{List, Process, Slice, list};

/// Processes that may run on the same cores.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedCores {
    #[serde(with = "list")]
    processes: Vec<Process>,
    cores: String,
}

/// Writes the cores of each process, for `#[serde(with = "allowed_cores")]`.
pub(crate) fn serialize<S: Serializer>(
    cores: &Slice<Process, String>,
    out: S,
) -> Result<S::Ok, S::Error> {
    together(cores).serialize(out)
}

/// Reads the cores of each process, for `#[serde(with = "allowed_cores")]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<List<Process, String>, D::Error> {
    apart(&Vec::<AllowedCores>::deserialize(input)?).map_err(serde::de::Error::custom)
}

/// Groups consecutive processes with the same cores.
fn together(allowed_cores: &Slice<Process, String>) -> Vec<AllowedCores> {
    let mut groups: Vec<AllowedCores> = Vec::new();
    for (process, cores) in allowed_cores.iter_enumerated() {
        match groups.last_mut() {
            Some(group) if group.cores == *cores => group.processes.push(process),
            _ => groups.push(AllowedCores {
                processes: vec![process],
                cores: cores.clone(),
            }),
        }
    }
    groups
}

/// Returns the cores of each process.
fn apart(groups: &[AllowedCores]) -> Result<List<Process, String>, String> {
    for group in groups {
        let bytes = 2 * size_of::<String>() + group.cores.len();
        draw("processes", group.processes.len(), bytes).map_err(|problem| problem.to_string())?;
    }
    let listed: usize = groups.iter().map(|group| group.processes.len()).sum();
    let mut cores: List<Process, Option<&str>> = vec![None; listed].into();
    for group in groups {
        for &process in &group.processes {
            // A number beyond that of the listed processes leaves a gap before it.
            if let Some(slot) = cores.get_mut(process)
                && slot.replace(&group.cores).is_some()
            {
                return Err(format!(
                    "process {process} is listed twice; keep one of them"
                ));
            }
        }
    }
    let missing =
        |process: Process| format!("process {process} is missing; list the cores it may use");
    let named = |(process, cores): (Process, Option<&str>)| {
        cores.map(str::to_owned).ok_or_else(|| missing(process))
    };
    cores.into_iter_enumerated().map(named).collect()
}
