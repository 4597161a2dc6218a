//! Binds each process to its core in `MPI_Init`, before the application allocates its working
//! memory, so that this memory comes from the core's own NUMA node.
//!
//! Only the thread that initialises MPI is bound; threads that it starts later inherit the binding.
//! Threads that the MPI has started for itself keep the whole set of cores that the launcher gave:
//! on the same core they would compete with the application.

use thiserror::Error;
use treepie_base::{Leaf, List, Process, Slice};
use treepie_placement::binding::{self, BindingError, LaunchedProcess};
use treepie_process::log;
use treepie_topology::Topology;

/// Placement of the launcher's processes.
#[derive(Debug)]
pub struct Target {
    /// Topology whose leaves are the cores.
    pub topology: Topology,
    /// Leaf of each process.
    pub leaf_of_process: List<Process, Leaf>,
}

/// Reason why the processes cannot be bound.
#[derive(Debug, Error)]
pub enum Refusal {
    /// A core that a process may not use, or several processes on one.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// A process did not report its location.
    #[error("process {0} does not know which cores it may use; apply it with permute")]
    Unknown(Process),
}

/// Returns the core of each process.
///
/// # Errors
/// Processes that cannot be bound as the placement demands; then no process may be bound.
pub fn cores(
    target: &Target,
    processes: &Slice<Process, LaunchedProcess>,
) -> Result<Vec<u32>, Refusal> {
    if let Some(process) = processes.position(|process| process.allowed.is_empty()) {
        return Err(Refusal::Unknown(process));
    }
    let cores = binding::cores(&target.topology, &target.leaf_of_process, processes)?;
    Ok(cores.into_iter().map(|core| core as u32).collect())
}

/// Binds the calling thread. If the system refuses, logs a warning and the job continues.
pub fn bind_this_thread(core: usize) {
    if core >= libc::CPU_SETSIZE as usize {
        return log::warn(&format!(
            "core {core} is beyond what the system's calls can name: this process is not bound"
        ));
    }
    // SAFETY: a set of cores is plain data, for which all zeros is the empty set;
    // the call reads it for the length given.
    let code = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    match code {
        0 => log::info(&format!("bound to core {core}")),
        _ => log::warn(&format!(
            "this process cannot be bound to core {core}: {}",
            std::io::Error::last_os_error()
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn target() -> Target {
        Target {
            topology: Topology::from_arities("2:1:1").unwrap(),
            leaf_of_process: Leaf::list([1, 0]),
        }
    }

    fn process(host: &str, allowed: &[usize]) -> LaunchedProcess {
        LaunchedProcess {
            host: host.into(),
            allowed: allowed.to_vec(),
        }
    }

    #[test]
    fn each_process_has_its_core() {
        let processes = List::from(vec![process("a", &[1, 3]), process("b", &[0, 1])]);
        assert_eq!(cores(&target(), &processes).unwrap(), [1, 0]);
    }

    #[test]
    fn a_process_that_does_not_know_its_cores_stops_the_binding() {
        let processes = List::from(vec![process("a", &[]), process("b", &[0, 1])]);
        let refusal = cores(&target(), &processes).unwrap_err();
        assert!(refusal.to_string().starts_with("process 0 does not know"));
    }
}
