//! Where the processes of the job are, as process 0 hears from them when the job
//! starts: hosts, cores, and the hardware of the hosts where that is wanted.

use std::collections::{HashMap, HashSet};

use treepie_core::files::list;
use treepie_core::placement::binding::Process;
use treepie_core::topology::Machine;

use crate::machine::{allowed_cores, read_hardware};
use crate::mpi::native::gather::{broadcast_numbers, gather, texts_of};
use crate::mpi::native::{Native, NativeError};

/// The host and the cores of each process, on process 0; nothing elsewhere. Who does
/// not know its cores has none. Collective over the native world.
///
/// # Errors
/// A native call that failed.
pub fn processes(native: &Native) -> Result<Vec<Process>, NativeError> {
    let rank = native.rank(native.world)?;
    let mine = said_by(rank, &allowed_cores(), &native.processor_name());
    let said = gather(native, native.world, mine)?;
    Ok(match rank {
        0 => understood(&said, native.size(native.world)?),
        _ => Vec::new(),
    })
}

/// A line for process 0: who, which cores, which host.
fn said_by(rank: usize, cores: &str, host: &str) -> Vec<u8> {
    format!("{rank} {cores} {host}\n").into_bytes()
}

/// What all have said, in any order.
fn understood(said: &[u8], ranks: usize) -> Vec<Process> {
    let nobody = || Process {
        host: String::new(),
        allowed: Vec::new(),
    };
    let mut processes: Vec<Process> = std::iter::repeat_with(nobody).take(ranks).collect();
    for line in String::from_utf8_lossy(said).lines() {
        if let Some((rank, process)) = parse(line)
            && let Some(slot) = processes.get_mut(rank)
        {
            *slot = process;
        }
    }
    processes
}

fn parse(line: &str) -> Option<(usize, Process)> {
    let mut words = line.splitn(3, ' ');
    let rank = words.next()?.parse().ok()?;
    let allowed = list::parse(words.next()?).unwrap_or_default();
    let host = words.next()?.to_owned();
    Some((rank, Process { host, allowed }))
}

/// The hardware of each host, read by its first process, on process 0, which alone
/// has `processes` and says whether it is wanted. Hosts that cannot be read are
/// missing. Collective over the native world.
///
/// # Errors
/// A native call that failed.
pub fn machines(
    native: &Native,
    processes: &[Process],
    wanted: bool,
) -> Result<HashMap<String, Machine>, NativeError> {
    let mut known = HashSet::new();
    let firsts = processes.iter().enumerate();
    let firsts = firsts.filter(|(_, at)| wanted && known.insert(at.host.as_str()));
    let readers = firsts.map(|(process, _)| process).collect();
    let readers = broadcast_numbers(native, native.world, readers)?;
    let texts = texts_of(native, native.world, &readers, read_hardware)?;
    let read = readers.iter().zip(texts).filter_map(|(&reader, text)| {
        let machine = text?.parse().ok()?;
        Some((processes.get(reader)?.host.clone(), machine))
    });
    Ok(read.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_processes_say_is_understood_in_any_order() {
        let mut said = said_by(1, "0-1", "b");
        said.extend(said_by(0, "1,3", "a host"));
        said.extend(said_by(2, "", "c"));
        let processes = understood(&said, 4);
        assert_eq!(processes[0].host, "a host");
        assert_eq!(processes[0].allowed, [1, 3]);
        assert_eq!(processes[1].allowed, [0, 1]);
        assert_eq!(
            (processes[2].host.as_str(), processes[2].allowed.len()),
            ("c", 0)
        );
        assert_eq!(processes[3].host, "");
    }
}
