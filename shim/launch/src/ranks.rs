//! Number of ranks of a job: from its command line, from the scheduler, or from a trial run that
//! only counts its processes.

use std::ffi::OsString;
use std::time::Duration;

use super::family::{Family, Launcher};
use super::{injection, program, timed};

/// Line printed by each process of a trial.
const MARK: &str = "treepie:one-process-of-a-trial";

/// Launchers of large jobs take seconds to start.
const TRIAL_LIMIT: Duration = Duration::from_secs(30);

/// Number of ranks that a job will have, as far as it can be known before the start. If the command
/// line leaves it to the launcher, a trial is run, which takes as long as starting the job.
pub fn for_job(launcher: &Launcher, command: &[OsString]) -> Option<usize> {
    requested(launcher, command).or_else(|| match launcher.family {
        Family::OpenMpi | Family::Hydra => started(launcher, command),
        // Outside an allocation, a trial would wait in the queue.
        Family::Slurm => {
            let tasks = ["SLURM_NTASKS", "SLURM_NPROCS"];
            let tasks = tasks.iter().find_map(|name| std::env::var(name).ok());
            tasks?.parse().ok()
        }
        Family::Pals => std::env::var("PALS_NRANKS").ok()?.parse().ok(),
        Family::Flux | Family::ParaStation | Family::Plain => None,
    })
}

/// Number of processes that this command line starts; `None` if the launcher fails.
fn started(launcher: &Launcher, command: &[OsString]) -> Option<usize> {
    let answer = timed::answer(&launcher.path, &trial(launcher, command)?, TRIAL_LIMIT);
    let answer = answer.ok()??;
    let printed = String::from_utf8_lossy(&answer.output);
    let processes = printed.matches(MARK).count();
    (answer.status.success() && processes > 0).then_some(processes)
}

/// The arguments of a launcher with each program replaced by one that only prints a line.
fn trial(launcher: &Launcher, command: &[OsString]) -> Option<Vec<OsString>> {
    let family = launcher.family;
    let mut line: Vec<OsString> = Vec::new();
    for (place, words) in injection::programs(family, command.get(1..)?).enumerate() {
        if place > 0 {
            line.push(":".into());
        }
        let end = program::position(family, words)?;
        line.extend_from_slice(&words[..end]);
        line.extend(["/bin/echo", MARK].map(OsString::from));
    }
    Some(line)
}

/// Number of ranks of all programs together; `None` if one of them leaves it to the launcher, or
/// uses another option.
fn requested(launcher: &Launcher, command: &[OsString]) -> Option<usize> {
    let family = launcher.family;
    let names: &[&str] = match family {
        Family::OpenMpi => &["n", "np", "c"],
        Family::Hydra | Family::Pals | Family::ParaStation => &["n", "np"],
        Family::Slurm | Family::Flux => &["n", "ntasks"],
        Family::Plain => return None,
    };
    let mut sum = 0_usize;
    for words in injection::programs(family, command.get(1..)?) {
        let end = program::position(family, words).unwrap_or(words.len());
        sum = sum.checked_add(number(names, &words[..end])?)?;
    }
    Some(sum)
}

/// The number after one of these options: `-n 4`, `--ntasks=4`, `-n4`.
fn number(names: &[&str], options: &[OsString]) -> Option<usize> {
    let mut words = options.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        let Some(name) = word.strip_prefix('-') else {
            continue;
        };
        let name = name.strip_prefix('-').unwrap_or(name);
        if names.contains(&name) {
            return words.next()?.parse().ok();
        }
        let joined = names.iter().find_map(|known| {
            let value = name.strip_prefix(known)?;
            value.strip_prefix('=').unwrap_or(value).parse().ok()
        });
        if joined.is_some() {
            return joined;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_of_a_command_line_are_added_up_where_all_programs_say_them() {
        for (family, line, expected) in [
            (Family::OpenMpi, "mpirun -np 4 /bin/sh -n 9", Some(4)),
            (
                Family::OpenMpi,
                "mpirun --map-by node -n 2 /bin/sh : --np 3 /bin/sh",
                Some(5),
            ),
            (Family::OpenMpi, "mpirun -n 2 /bin/sh : /bin/sh", None),
            (Family::OpenMpi, "mpirun --npernode 2 /bin/sh", None),
            (Family::Hydra, "mpiexec -genv A B -n 4 /bin/sh", Some(4)),
            (Family::Slurm, "srun -N2 -n16 /bin/sh", Some(16)),
            (Family::Slurm, "srun --ntasks=8 /bin/sh", Some(8)),
            (Family::Slurm, "srun /bin/sh", None),
            (Family::Flux, "flux run -n8 /bin/sh", Some(8)),
            (Family::Pals, "mpiexec -n 8 --ppn 4 /bin/sh", Some(8)),
            (
                Family::ParaStation,
                "mpiexec -np 2 /bin/sh : -np 3 /bin/sh",
                Some(5),
            ),
            (Family::Plain, "./job.sh -n 4", None),
        ] {
            let command: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            let launcher = Launcher {
                path: "/usr/bin/launcher".into(),
                family,
            };
            assert_eq!(requested(&launcher, &command), expected, "{line}");
        }
    }
}
