//! Hosts of a job: those that a scheduler has allocated, or that the user names; and a test of
//! whether they answer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

use treepie_base::text;
use treepie_resilience::supervision::Host;
use treepie_topology::formats;

use super::family::{Family, Launcher};
use super::{program, timed};

/// Number of hosts that are tested simultaneously.
const AT_ONCE: usize = 32;

/// Time limit of a scheduler to name the hosts of the job.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The hosts that the scheduler has allocated to the job, with the number of ranks of each, in its
/// order.
pub fn of_scheduler() -> Option<Vec<Host>> {
    let variable = |name: &str| std::env::var(name).ok();
    if let Some(list) = variable("SLURM_JOB_NODELIST") {
        let names = formats::expand(&list).ok()?;
        let tasks = variable("SLURM_TASKS_PER_NODE");
        let counts = tasks.or_else(|| variable("SLURM_JOB_CPUS_PER_NODE"));
        let counts = counts.unwrap_or_default();
        let slots = repeated(&counts);
        let slots = slots.chain(std::iter::repeat(1));
        return Some(added_up(names.into_iter().zip(slots)));
    }
    if variable("FLUX_URI").is_some()
        && let Some(list) = timed::output(Path::new("flux"), &["getattr", "hostlist"], ANSWER_LIMIT)
    {
        let names = formats::expand_flux(list.trim()).ok()?;
        return Some(added_up(names.into_iter().map(|name| (name, 1))));
    }
    let files = [
        "PBS_NODEFILE",
        "PALS_HOSTFILE",
        "PSI_HOSTFILE",
        "LSB_DJOB_HOSTFILE",
        "PE_HOSTFILE",
    ];
    let file = files.iter().find_map(std::env::var_os)?;
    let text = text::read(Path::new(&file)).ok()?;
    let host = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next()?.to_owned();
        let slots = words.next().and_then(|word| word.parse().ok());
        Some((name, slots.unwrap_or(1)))
    };
    Some(added_up(text.lines().filter_map(host)))
}

/// Parses hosts that a user names: `n1:4,n2:4` or `n[1-2]:4`; one rank if there is no number.
///
/// # Errors
/// Error and correct form.
pub fn named(list: &str) -> Result<Vec<Host>, String> {
    let mut hosts = Vec::new();
    for item in formats::expand(list)? {
        let (name, slots) = match item.split_once(':') {
            Some((name, slots)) => (name, slots.parse().ok().filter(|&slots| slots > 0)),
            None => (item.as_str(), Some(1)),
        };
        match slots {
            Some(slots) if !name.is_empty() => hosts.push((name.to_owned(), slots)),
            _ => {
                return Err(format!("`{item}` is no host and its ranks; write `name:4`"));
            }
        }
    }
    if hosts.is_empty() {
        Err("no hosts are named; write `n1:4,n2:4`".to_owned())
    } else {
        Ok(added_up(hosts))
    }
}

/// Slurm's counts: `2(x3),1` for 2, 2, 2, 1.
fn repeated(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.split(',').flat_map(|item| {
        let (count, times) = item.split_once("(x").unwrap_or((item, "1"));
        let times: usize = times.trim_end_matches(')').parse().unwrap_or(0);
        let count = count.parse().ok();
        count
            .into_iter()
            .flat_map(move |count| std::iter::repeat_n(count, times))
    })
}

/// Merges repeated hosts at their first position.
fn added_up(hosts: impl IntoIterator<Item = (String, usize)>) -> Vec<Host> {
    let mut all: Vec<Host> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, slots) in hosts {
        match places.entry(name) {
            Entry::Occupied(place) => {
                let host = &mut all[*place.get()];
                host.slots = host.slots.saturating_add(slots);
            }
            Entry::Vacant(place) => {
                let name = place.key().clone();
                place.insert(all.len());
                all.push(Host { name, slots });
            }
        }
    }
    all
}

/// Options that restrict a launcher to these hosts.
pub fn options(family: Family, hosts: &[Host]) -> Vec<OsString> {
    let list = |item: &dyn Fn(&Host) -> String| {
        let items: Vec<String> = hosts.iter().map(item).collect();
        OsString::from(items.join(","))
    };
    let with_slots = |host: &Host| format!("{}:{}", host.name, host.slots);
    match family {
        Family::OpenMpi => vec!["--host".into(), list(&with_slots)],
        Family::Hydra => vec!["-hosts".into(), list(&with_slots)],
        Family::Slurm => vec![
            "--nodes".into(),
            hosts.len().to_string().into(),
            "--nodelist".into(),
            list(&|host| host.name.clone()),
        ],
        Family::Flux => vec![
            "-N".into(),
            hosts.len().to_string().into(),
            OsString::from(format!(
                "--requires=host:{}",
                hosts
                    .iter()
                    .map(|host| &*host.name)
                    .collect::<Vec<_>>()
                    .join(",")
            )),
        ],
        Family::Pals => vec!["--hosts".into(), list(&|host| host.name.clone())],
        // ParaStation has no list of slots: a host is named once for each.
        Family::ParaStation => vec![
            "--hosts".into(),
            list(&|host| vec![host.name.as_str(); host.slots].join(",")),
        ],
        Family::Plain => Vec::new(),
    }
}

/// The first option of a command line that names hosts.
pub fn contradiction(family: Family, command: &[OsString]) -> Option<String> {
    let names: &[&str] = match family {
        Family::OpenMpi => &[
            "host",
            "H",
            "hostfile",
            "machinefile",
            "default-hostfile",
            "rankfile",
            "rf",
        ],
        Family::Hydra => &["f", "hostfile", "machinefile", "hosts", "host"],
        Family::Slurm => &[
            "w", "nodelist", "N", "nodes", "x", "exclude", "F", "nodefile",
        ],
        Family::Flux => &["requires", "N", "nodes"],
        Family::Pals => &["host", "hosts", "hostlist", "f", "hostfile"],
        Family::ParaStation => &["N", "nodes", "H", "hosts", "f", "hostfile"],
        Family::Plain => &[],
    };
    program::first_option(family, command, names)
}

/// The hosts on which the launcher cannot run `hostname` within `limit`.
pub fn silent(launcher: &Launcher, hosts: &[String], limit: Duration) -> Vec<String> {
    let (next, silent) = (Mutex::new(hosts.iter()), Mutex::new(Vec::new()));
    let ask = || {
        // The lock is released before the host is tested.
        while let Some(host) = { next.lock().unwrap_or_else(PoisonError::into_inner).next() } {
            if !answers(launcher, host, limit) {
                let mut silent = silent.lock().unwrap_or_else(PoisonError::into_inner);
                silent.push(host.clone());
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..hosts.len().min(AT_ONCE) {
            scope.spawn(ask);
        }
    });
    let mut silent = silent.into_inner().unwrap_or_else(PoisonError::into_inner);
    silent.sort();
    silent
}

fn answers(launcher: &Launcher, host: &str, limit: Duration) -> bool {
    let one = Host {
        name: host.to_owned(),
        slots: 1,
    };
    let mut arguments = options(launcher.family, &[one]);
    if launcher.family == Family::Flux {
        arguments.insert(0, "run".into());
    }
    arguments.extend(["-n", "1", "hostname"].map(OsString::from));
    let answer = timed::answer(&launcher.path, &arguments, limit);
    answer.is_ok_and(|answer| answer.is_some_and(|answer| answer.status.success()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn pairs(hosts: Vec<Host>) -> Vec<(String, usize)> {
        hosts
            .into_iter()
            .map(|host| (host.name, host.slots))
            .collect()
    }

    #[test]
    fn hosts_are_named_with_the_ranks_that_they_take() {
        let hosts = pairs(named("n[08-09]:4,m,n08:2").unwrap());
        let expected = [("n08", 6), ("n09", 4), ("m", 1)];
        assert_eq!(
            hosts,
            expected.map(|(name, slots)| (name.to_owned(), slots))
        );
        for wrong in ["", "a:0", "a:x", ":4", "a[1-"] {
            assert!(named(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn slurm_counts_equal_nodes_together() {
        let all = |text| repeated(text).collect::<Vec<_>>();
        assert_eq!(all("2(x3),1"), [2, 2, 2, 1]);
        assert_eq!(all(""), [0; 0]);
        // No more are taken than there are hosts.
        assert_eq!(repeated("2(x18446744073709551615)").nth(9), Some(2));
    }

    #[test]
    fn many_hosts_are_added_up_in_time_by_their_number_and_slots_do_not_overflow() {
        let hosts = (0..30_000).map(|host| (format!("n{host}"), 2));
        let start = std::time::Instant::now();
        assert_eq!(added_up(hosts).len(), 30_000);
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
        let most = [usize::MAX, 1].map(|slots| ("n".to_owned(), slots));
        assert_eq!(pairs(added_up(most)), [("n".to_owned(), usize::MAX)]);
    }

    #[test]
    fn each_launcher_is_told_its_hosts_in_its_own_way() {
        let hosts = named("a:2,b:2").unwrap();
        for (family, expected) in [
            (Family::OpenMpi, "--host a:2,b:2"),
            (Family::Hydra, "-hosts a:2,b:2"),
            (Family::Slurm, "--nodes 2 --nodelist a,b"),
            (Family::Flux, "-N 2 --requires=host:a,b"),
            (Family::Pals, "--hosts a,b"),
            (Family::ParaStation, "--hosts a,a,b,b"),
        ] {
            let words = options(family, &hosts);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }
}
