//! The order of ranks on a host, where devices depend on it. GROMACS, Kokkos' wrappers, JAX and
//! others number the ranks of a host, in the order of the world, and give each the device of its
//! number: a permutation would give a process a device that is far from its cores.

use std::env;

use treepie_base::{Process, Rank, Slice};
use treepie_mpi::lookup::is_loaded;
use treepie_placement::binding::LaunchedProcess;
use treepie_placement::local_order::ascend;
use treepie_process::log;
use treepie_profile::settings::LocalOrder;

use super::input::Seated;

/// Run-times of devices, by the starts of their files' names.
const RUN_TIMES: [(&str, &str); 5] = [
    ("libcuda.so", "CUDA"),
    ("libcudart.so", "CUDA"),
    ("libamdhip64.so", "HIP"),
    ("libhsa-runtime64.so", "HIP"),
    ("libze_loader.so", "Level Zero"),
];

/// Has the ranks of each host ascend with the launcher's local numbers, if the setting or the
/// devices of this process ask for it.
pub(super) fn keep(
    setting: LocalOrder,
    new_rank: &mut Slice<Process, Rank>,
    processes: &Slice<Process, LaunchedProcess>,
    seated: &Seated,
) {
    let why = match setting {
        LocalOrder::Ignore => None,
        LocalOrder::Keep => Some("as asked for".to_owned()),
        LocalOrder::Auto => devices(),
    };
    let Some(why) = why else { return };
    let hosts = processes.iter().map(|process| process.host.as_str());
    let changed = ascend(new_rank, hosts, seated.processes());
    let line =
        format!("local order: on each host, ranks ascend with the launcher's numbers, {why}");
    match (changed, setting) {
        (0, _) | (_, LocalOrder::Keep) => log::info(&format!("{line}; {changed} ranks moved")),
        _ => log::warn(&format!(
            "{line}: {changed} ranks moved within their hosts (not with TREEPIE_LOCAL_ORDER=ignore)"
        )),
    }
}

/// Returns the sign that this process uses devices, if there is one.
fn devices() -> Option<String> {
    let mut run_times = RUN_TIMES.iter();
    if let Some((_, name)) = run_times.find(|(start, _)| is_loaded(start)) {
        return Some(format!("because {name} is loaded"));
    }
    let named = |name: &str| name.ends_with("_VISIBLE_DEVICES") || name == "ZE_AFFINITY_MASK";
    let mut variables = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let variable = variables.find(|name| named(name))?;
    Some(format!("because {variable} is set"))
}
