//! The core of each rank for launchers whose files only have hosts: a list for the first, second,
//! ... process of a host, the same on all hosts.

use super::slots::LauncherSlot;

/// The cores of the processes of a host in the order of their ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    cores: Vec<usize>,
}

impl Binding {
    /// Finds the one list that fits every host, from slots in the order of processes; `None` if the
    /// hosts need different lists, so that each process has to bind itself.
    ///
    /// Cores are numbered by the operating system if the topology has these numbers, and logically
    /// otherwise.
    pub fn new(slots: &[LauncherSlot]) -> Option<Self> {
        let nodes = slots.iter().map(|slot| slot.node).max()? + 1;
        let mut lists: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for slot in slots {
            lists[slot.node].push(slot.os_index.unwrap_or(slot.leaf_of_host));
        }
        // A list that is longer than the number of a host's processes does no harm.
        let longest = lists.iter().max_by_key(|list| list.len())?;
        let fits = lists.iter().all(|list| longest.starts_with(list));
        fits.then(|| Binding {
            cores: longest.clone(),
        })
    }

    /// `user:0,2,1,3`, for Hydra's `-bind-to`.
    pub fn hydra(&self) -> String {
        format!("user:{}", self.list())
    }

    /// `map_cpu:0,2,1,3`, for Slurm's `--cpu-bind`.
    pub fn slurm(&self) -> String {
        format!("map_cpu:{}", self.list())
    }

    /// `cpu-affinity=map:0;2;1;3`, for `flux run -o`.
    pub fn flux(&self) -> String {
        format!("cpu-affinity=map:{}", self.list().replace(',', ";"))
    }

    /// `list:0:2:1:3`, for `--cpu-bind` of PALS.
    pub fn pals(&self) -> String {
        format!("list:{}", self.list().replace(',', ":"))
    }

    /// `0,2,1,3`, for `I_MPI_PIN_PROCESSOR_LIST`.
    pub fn list(&self) -> String {
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        cores.join(",")
    }
}
