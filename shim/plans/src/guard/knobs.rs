//! The MPI's other algorithms, which the guard tries beside plans: the operations for which they
//! may be tried in this job, and the candidates for a call.
//!
//! Each process tests its own conditions, and all exchange the results: an algorithm that one of
//! them must not try is tried by none.

use std::env;

use serde::{Deserialize, Serialize};
use treepie_choice::{Candidate, Challenger};
use treepie_collective::Operation;
use treepie_guard::{AdoptedPlan, CellKey, Form};
use treepie_mpi::native::Native;
use treepie_mpi::share::{Group, Members, ShareError, gather_to_all};
use treepie_native::knobs::{Library, Maker};
use treepie_process::log;
use treepie_profile::settings::GuardMode;

use super::forced;

/// Variable by which MPICH reports an error for an algorithm that does not serve a call; and its
/// default value, with which MPICH makes its own choice.
const FALLBACK: (&str, &str) = ("MPIR_CVAR_COLLECTIVE_FALLBACK", "silent");

/// Algorithms that may be tried, the same on all ranks.
#[derive(Debug)]
pub struct Knobs {
    /// The MPI library.
    pub library: Library,
    operations: Vec<Operation>,
    /// Host of every rank of the application's world, if Open MPI's HAN runs the collectives of
    /// communicators over several hosts; otherwise empty.
    host_of_rank: Vec<String>,
}

/// Algorithms that one process may try.
#[derive(Serialize, Deserialize)]
struct OwnKnobs {
    library: String,
    /// Bit `i` is set if algorithms of the `i`th operation may be tried.
    operations: u32,
    host: String,
}

impl Knobs {
    /// Returns the algorithms that may be tried in this job; `None` if there are none. Collective,
    /// if there is a guard.
    ///
    /// # Errors
    /// A call that failed.
    pub fn agree(
        native: &Native,
        members: &Members<'_>,
        (guard, is_han): (GuardMode, bool),
    ) -> Result<Option<Knobs>, ShareError> {
        if guard == GuardMode::Off {
            return Ok(None);
        }
        let library = Library::from_version_text(&native.library_version()).ok();
        let library = library.filter(|library| library.maker != Maker::IntelMpi);
        let mine = OwnKnobs {
            library: library.map_or(String::new(), |library| library.to_string()),
            operations: library.map_or(0, |library| open(native, library, members.rank() == 0)),
            host: native.processor_name(),
        };
        let all = gather_to_all(members, &mine)?;
        let Some(library) = library.filter(|_| all.iter().all(|one| one.library == mine.library))
        else {
            return Ok(None);
        };
        let operations = all.iter().fold(u32::MAX, |open, one| open & one.operations);
        let host_of_rank = match is_han {
            true => all.into_iter().map(|one| one.host).collect(),
            false => Vec::new(),
        };
        let is_open = |(place, _): &(usize, Operation)| operations >> place & 1 == 1;
        let open = Operation::all().enumerate().filter(is_open);
        let operations: Vec<Operation> = open.map(|(_, operation)| operation).collect();
        Ok((!operations.is_empty()).then_some(Knobs {
            library,
            operations,
            host_of_rank,
        }))
    }

    /// True if HAN would run the collectives of a communicator with these ranks of the
    /// application's world: over several hosts, if HAN is present.
    pub fn are_behind_han(&self, ranks: &[usize]) -> bool {
        let mut hosts = ranks.iter().map(|&rank| self.host_of_rank.get(rank));
        let first = hosts.next();
        hosts.any(|host| Some(host) != first)
    }

    /// Returns the candidates for the calls of a cell among `ranks` ranks, in addition to plans.
    pub fn challengers(&self, key: &CellKey, ranks: usize) -> Vec<Challenger> {
        let is_empty = key.bytes == Some(0) && key.operation != Operation::Barrier;
        // Started collectives have separate algorithms.
        if is_empty || key.form != Form::Blocking || !self.operations.contains(&key.operation) {
            return Vec::new();
        }
        let CellKey {
            operation,
            bytes,
            ordered,
            ..
        } = *key;
        let knobs = self.library.often_faster(operation, bytes, ranks, ordered);
        let unpredicted = |knob| Challenger {
            candidate: Candidate::Native(knob),
            per_mille: None,
        };
        knobs.into_iter().map(unpredicted).collect()
    }

    /// True if a result of an earlier run, or of a damaged file, is a candidate that may be tried
    /// in its cell.
    pub fn allow(&self, known: &AdoptedPlan, ranks: usize) -> bool {
        let mut tried = self.challengers(&known.key, ranks).into_iter();
        tried.any(|one| one.candidate.is_like(&known.challenger.candidate))
    }
}

/// Returns the operations whose algorithms this process may set: bit `i` for the `i`th.
fn open(native: &Native, library: Library, says: bool) -> u32 {
    // Variables apply to the whole process: they would affect another thread's calls.
    if native.has_many_threads() {
        return 0;
    }
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let (name, silent) = FALLBACK;
    if library.maker == Maker::Mpich && is_set(name) && env::var(name).as_deref() != Ok(silent) {
        return 0;
    }
    let mut set: Vec<String> = Vec::new();
    let mut open = 0;
    for (place, operation) in Operation::all().enumerate() {
        match library.decided_by_user(operation, is_set) {
            None => open |= 1 << place,
            Some(name) if !set.contains(&name) => set.push(name),
            Some(_) => (),
        }
    }
    if says && !set.is_empty() {
        let names = set.join(", ");
        log::info(&format!(
            "guard: {names} is set, and wins: the MPI's other algorithms are not tried there"
        ));
    }
    match open == 0 || forced::start_controls(native) {
        true => open,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knobs(library: &str, hosts: &[&str]) -> Knobs {
        Knobs {
            library: library.parse().unwrap_or_else(|error| panic!("{error}")),
            operations: vec![Operation::Scan, Operation::Alltoall],
            host_of_rank: hosts.iter().map(|&host| host.to_owned()).collect(),
        }
    }

    fn tried(knobs: &Knobs, operation: Operation, bytes: u64) -> Vec<String> {
        let key = CellKey::new(operation, 0, Some(bytes), true);
        let all = knobs.challengers(&key, 4).into_iter();
        all.map(|one| one.candidate.to_string()).collect()
    }

    #[test]
    fn han_is_before_communicators_over_several_hosts_and_nobody_before_others() {
        let knobs_of = |hosts: &[&str]| knobs("open-mpi 5.0.3", hosts);
        let with_han = knobs_of(&["a", "a", "b", "b"]);
        assert!(!with_han.are_behind_han(&[0, 1]) && !with_han.are_behind_han(&[3, 2]));
        assert!(with_han.are_behind_han(&[0, 1, 2]));
        assert!(!knobs_of(&[]).are_behind_han(&[0, 1, 2]));
    }

    #[test]
    fn only_operations_that_are_open_are_tried_and_only_where_there_is_data() {
        let knobs = knobs("mpich 4.0.2", &[]);
        let of = |operation, bytes| tried(&knobs, operation, bytes);
        assert_eq!(of(Operation::Scan, 8), ["native:recursive_doubling"]);
        for (operation, bytes) in [
            (Operation::Scan, 0),
            (Operation::Bcast, 8),
            (Operation::Alltoall, 8),
        ] {
            assert_eq!(of(operation, bytes), [""; 0], "{operation} {bytes}");
        }
    }
}
