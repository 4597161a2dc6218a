//! Binding each process to its core: in `MPI_Init`, before the application
//! allocates what it works on, so that memory comes from the core's own node.
//!
//! Only the thread that initialises MPI is bound, and what it starts later
//! inherits that. Threads that the MPI has started for itself keep the whole
//! set that the launcher gave: on the same core they would only be in the way.

use std::fmt;

use treepie_core::placement::binding::{BindingError, Process, cores};
use treepie_core::topology::Topology;

use crate::log;
use crate::mpi::native::{Native, NativeError};

/// Where a placement has the processes of the launcher.
#[derive(Debug)]
pub struct Target {
    /// The tree whose leaves are the cores.
    pub topology: Topology,
    /// The leaf of each process.
    pub leaf_of_process: Vec<usize>,
    /// A placement that does not fit ends the job.
    pub strict: bool,
}

/// What became of a binding, the same on all processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Every process is on its core.
    All,
    /// The placement does not fit: nothing was done.
    None,
    /// It does not fit, and `strict` is set.
    Abort,
}

/// What stands for a core where nothing is bound.
const NO_CORE: u32 = u32::MAX;
const ABORT: u32 = u32::MAX - 1;

/// Why the processes are not bound.
enum Refusal {
    Binding(BindingError),
    /// A process did not say where it is.
    Unknown(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Binding(error) => error.fmt(out),
            Refusal::Unknown(process) => write!(
                out,
                "process {process} does not know which cores it may use; apply it with permute"
            ),
        }
    }
}

/// Binds every process, or none. Collective over the native world; process 0
/// alone gives the target and the processes, and says why where they do not fit.
///
/// # Errors
/// A native call that failed.
pub fn bind(
    native: &Native,
    target: Option<&Target>,
    processes: &[Process],
) -> Result<Bound, NativeError> {
    let rank = native.rank(native.world)?;
    let size = native.size(native.world)?;
    let mut answer = vec![NO_CORE; size];
    if let Some(target) = target {
        match decide(target, processes) {
            Ok(cores) => answer = cores.into_iter().map(|core| core as u32).collect(),
            Err(refusal) => answer = vec![refused(&refusal, target.strict); size],
        }
    }
    let mut bytes: Vec<u8> = answer.into_iter().flat_map(u32::to_le_bytes).collect();
    native.broadcast(native.world, &mut bytes)?;
    let (cores, _) = bytes.as_chunks::<4>();
    let core = cores
        .get(rank)
        .map_or(NO_CORE, |core| u32::from_le_bytes(*core));
    Ok(match core {
        ABORT => Bound::Abort,
        NO_CORE => Bound::None,
        core => {
            bind_this_thread(core as usize);
            Bound::All
        }
    })
}

/// Says why; answers what all processes are told.
fn refused(refusal: &Refusal, strict: bool) -> u32 {
    let (outcome, told) = match strict {
        true => ("the job is ended, because strict is set", ABORT),
        false => ("the job runs as it would without treepie", NO_CORE),
    };
    log::error(&format!("apply: {refusal}; {outcome}"));
    told
}

fn decide(target: &Target, processes: &[Process]) -> Result<Vec<usize>, Refusal> {
    let unknown = processes
        .iter()
        .position(|process| process.allowed.is_empty());
    if let Some(process) = unknown {
        return Err(Refusal::Unknown(process));
    }
    cores(&target.topology, &target.leaf_of_process, processes).map_err(Refusal::Binding)
}

/// Binds the calling thread. A system that refuses is told of, and the job goes on.
fn bind_this_thread(core: usize) {
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
            leaf_of_process: vec![1, 0],
            strict: false,
        }
    }

    fn process(host: &str, allowed: &[usize]) -> Process {
        Process {
            host: host.into(),
            allowed: allowed.to_vec(),
        }
    }

    #[test]
    fn each_process_has_its_core() {
        let processes = [process("a", &[1, 3]), process("b", &[0, 1])];
        assert_eq!(decide(&target(), &processes).ok().unwrap(), [1, 0]);
    }

    #[test]
    fn a_process_that_does_not_know_its_cores_stops_the_binding() {
        let processes = [process("a", &[]), process("b", &[0, 1])];
        let refusal = decide(&target(), &processes).err().unwrap();
        assert!(refusal.to_string().starts_with("process 0 does not know"));
    }
}
