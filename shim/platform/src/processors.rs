//! Binding of a process inside its host, from the processors that Linux lists in
//! `/sys/devices/system`.
//!
//! | level | file | its text |
//! |---|---|---|
//! | socket | `cpu/cpu3/topology/core_siblings_list` | `0-31` |
//! | NUMA node | `node/node0/cpulist`, of the nodes in `node/online` | `0-7` |
//! | cache | `cpu/cpu3/cache/index*/shared_cpu_list`, with `level` | `0-3` |
//! | core | `cpu/cpu3/topology/thread_siblings_list` | `3,67` |

use std::fs;
use std::path::Path;

use treepie_base::list;

use crate::inside::Identity;

/// Directory in which Linux lists processors.
pub const SYSTEM: &str = "/sys/devices/system";

/// Limit of the number of caches of a processing unit, more than any machine has.
const MOST_CACHES: usize = 16;

/// The identity of a process that may run on these processing units of the given host, whose
/// processors are listed in the directory `system`. Data that cannot be read there is unknown.
pub fn identity(system: &Path, host: String, units: &[usize]) -> Identity {
    let Some(&first) = units.first() else {
        let groups = Default::default();
        return Identity { host, groups };
    };
    let read = |name: String| fs::read_to_string(system.join(name)).ok();
    let units_in = |name: String| list::parse(read(name)?.trim()).ok();
    let of_first = |name: &str| units_in(format!("cpu/cpu{first}/{name}"));
    let node = || {
        let nodes = units_in("node/online".to_owned())?;
        let mut nodes = nodes.into_iter();
        nodes.find_map(|node| {
            let units = units_in(format!("node/node{node}/cpulist"));
            units.filter(|units| units.contains(&first))
        })
    };
    let cache = |level: &str| {
        let is_wanted = |index: &usize| {
            let found = read(format!("cpu/cpu{first}/cache/index{index}/level"));
            found.is_some_and(|found| found.trim() == level)
        };
        let index = (0..MOST_CACHES).find(is_wanted)?;
        of_first(&format!("cache/index{index}/shared_cpu_list"))
    };
    let levels = [
        of_first("topology/core_siblings_list"),
        node(),
        cache("3"),
        cache("2"),
        of_first("topology/thread_siblings_list"),
    ];
    // The number of a group is that of its first unit, if no unit is outside.
    let bound = |group: Option<Vec<usize>>| {
        let group = group?;
        let is_inside = units.iter().all(|unit| group.contains(unit));
        is_inside.then_some(group.first().copied()).flatten()
    };
    Identity {
        host,
        groups: levels.map(bound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inside::Inside;

    /// A host with 2 sockets of 4 NUMA nodes of 8 cores, four of which share a cache.
    fn two_sockets() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |name: String, text: String| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text + "\n").unwrap();
        };
        let around = |unit: usize, size: usize| {
            let first = unit / size * size;
            list::to_text(&(first..first + size).collect::<Vec<_>>())
        };
        write("node/online".into(), "0-7".into());
        for node in 0..8 {
            write(format!("node/node{node}/cpulist"), around(8 * node, 8));
        }
        for unit in 0..64 {
            let of = |name: &str| format!("cpu/cpu{unit}/{name}");
            write(of("topology/core_siblings_list"), around(unit, 32));
            write(of("topology/thread_siblings_list"), around(unit, 1));
            for (index, level, size) in [(0, 1, 1), (1, 1, 1), (2, 2, 1), (3, 3, 4)] {
                write(of(&format!("cache/index{index}/level")), level.to_string());
                let shared = of(&format!("cache/index{index}/shared_cpu_list"));
                write(shared, around(unit, size));
            }
        }
        root
    }

    #[test]
    fn groups_are_those_that_hold_all_units_of_a_process() {
        let root = two_sockets();
        let groups = |units: &[usize]| identity(root.path(), "a".into(), units).groups;
        assert_eq!(groups(&[45]), [32, 40, 44, 45, 45].map(Some));
        assert_eq!(
            groups(&[44, 46]),
            [Some(32), Some(40), Some(44), None, None]
        );
        assert_eq!(groups(&[33, 63]), [Some(32), None, None, None, None]);
        let all: Vec<usize> = (0..64).collect();
        for units in [&[][..], &all, &[99]] {
            assert_eq!(groups(units), [None; 5]);
        }
    }

    #[test]
    fn a_rank_on_each_core_shows_all_levels_that_are_no_single_cores() {
        let root = two_sockets();
        let on = |core| identity(root.path(), "a".into(), &[core]);
        let levels = Inside::of(&(0..64).map(on).collect::<Vec<_>>());
        let names: Vec<&str> = levels.iter().map(|inside| inside.level.as_str()).collect();
        assert_eq!(names, ["socket", "numa", "l3"]);
        assert_eq!(levels[2].group_of_rank[63], 15);
    }

    #[test]
    fn where_nothing_is_shown_nothing_is_known() {
        let root = tempfile::tempdir().unwrap();
        let found = identity(root.path(), "a".into(), &[0]);
        assert_eq!((found.host.as_str(), found.groups), ("a", [None; 5]));
    }
}
