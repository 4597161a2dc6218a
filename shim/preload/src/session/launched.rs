//! Launch of the job, as far as a process can see it: remarks for people.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Names of launchers' commands.
const LAUNCHERS: [&str; 9] = [
    "mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "aprun", "jsrun", "flux",
];

/// Variables that influence where ranks run, by their names or prefixes of their names.
const VARIABLES: [&str; 28] = [
    "OMPI_MCA_rmaps_",
    "OMPI_MCA_hwloc_base_binding_policy",
    "PRTE_MCA_rmaps_",
    "PRTE_MCA_hwloc_",
    "HYDRA_TOPO",
    "HYDRA_HOST_FILE",
    "HYDRA_RANK_MAP",
    "MPICH_RANK_REORDER_METHOD",
    "MPICH_CPUMASK_DISPLAY",
    "I_MPI_PIN",
    "I_MPI_PERHOST",
    "MV2_CPU_",
    "SLURM_JOB_ID",
    "SLURM_JOB_NODELIST",
    "SLURM_NTASKS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_CPUS_PER_TASK",
    "SLURM_DISTRIBUTION",
    "SLURM_CPU_BIND",
    "PBS_JOBID",
    "FLUX_JOB_ID",
    "FLUX_JOB_SIZE",
    "PALS_PPN",
    "PALS_CPU_BIND",
    "PSI_HOSTFILE",
    "PSI_LOOP_NODES_FIRST",
    "LSB_JOBID",
    "OMP_NUM_THREADS",
];

/// Maximum length of a command line; longer ones are cut.
const LONGEST: usize = 1_000;

/// Returns remarks about the launch.
pub fn remarks() -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(launcher) = launcher(std::process::id()) {
        let mut line = launcher.words.join(" ");
        if let Some((at, _)) = line.char_indices().nth(LONGEST) {
            line.truncate(at);
            line += " ...";
        }
        remarks.push(format!("launched by: {line}"));
    }
    let mut variables: Vec<String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_about_places(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    variables.sort();
    if !variables.is_empty() {
        remarks.push(format!("environment: {}", variables.join(" ")));
    }
    remarks
}

fn is_about_places(name: &str) -> bool {
    VARIABLES.iter().any(|known| match known.ends_with('_') {
        true => name.starts_with(known),
        false => name == *known,
    })
}

/// Launcher that runs on this host.
pub struct Launcher {
    process: u32,
    /// Its command line.
    words: Vec<String>,
}

impl Launcher {
    /// True if it is known to have no input to forward: its own is closed, `/dev/null`, a terminal
    /// or an empty file.
    pub fn has_no_input(&self) -> bool {
        match fs::metadata(format!("/proc/{}/fd/0", self.process)) {
            Ok(about) if about.is_file() => about.len() == 0,
            Ok(about) => about.file_type().is_char_device(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        }
    }
}

/// Finds the nearest launcher among a process's ancestors.
pub fn launcher(process: u32) -> Option<Launcher> {
    let mut process = process;
    for _ in 0..16 {
        process = parent(process)?;
        let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let words: Vec<String> = line
            .split(|&byte| byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .filter(|word| !word.is_empty())
            .collect();
        let name = Path::new(words.first()?).file_name()?.to_string_lossy();
        let plain = name.split('.').next().unwrap_or_default();
        if LAUNCHERS.contains(&plain) {
            return Some(Launcher { process, words });
        }
    }
    None
}

fn parent(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok().filter(|&parent| parent > 0)
}

/// True if the launcher's variables identify this process as the first: for the one message that
/// must be given without MPI's help.
pub fn launcher_says_first() -> bool {
    [
        "OMPI_COMM_WORLD_RANK",
        "PMI_RANK",
        "PMIX_RANK",
        "SLURM_PROCID",
    ]
    .iter()
    .find_map(|name| env::var(name).ok())
    .is_none_or(|rank| rank == "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_known_by_name_or_beginning() {
        assert!(is_about_places("OMPI_MCA_rmaps_base_mapping_policy"));
        assert!(is_about_places("SLURM_NTASKS"));
        assert!(!is_about_places("SLURM_NTASKS_OF_ANOTHER"));
        assert!(!is_about_places("HOME"));
    }

    #[test]
    fn this_process_has_a_parent() {
        assert!(parent(std::process::id()).is_some());
    }
}
