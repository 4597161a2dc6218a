//! Position of the program on a launcher's command line.

use std::ffi::{OsStr, OsString};

use super::family::Family;
use super::{container, search};

/// Options without a value. All others have a value, like most options.
const FLAGS: &[(Family, &[&str])] = &[
    (
        Family::OpenMpi,
        &[
            "allow-run-as-root",
            "oversubscribe",
            "nooversubscribe",
            "use-hwthread-cpus",
            "report-bindings",
            "display-allocation",
            "display-map",
            "display-devel-map",
            "display-topo",
            "tag-output",
            "timestamp-output",
            "xterm",
            "bynode",
            "byslot",
            "bycore",
            "bysocket",
            "bind-to-core",
            "bind-to-socket",
            "bind-to-none",
            "pernode",
            "nolocal",
            "novm",
            "do-not-launch",
            "do-not-resolve",
            "leave-session-attached",
            "debug-daemons",
            "debug-devel",
            "continuous",
            "disable-recovery",
            "enable-recovery",
            "report-child-jobs-separately",
            "forward-signals",
            "verbose",
            "v",
            "quiet",
            "q",
            "V",
            "version",
            "help",
            "h",
            "tune-dynamic",
            "d",
            "merge-stderr-to-stdout",
            "no-ready-msg",
        ],
    ),
    (
        Family::Hydra,
        &[
            "genvall",
            "genvnone",
            "envall",
            "envnone",
            "verbose",
            "v",
            "info",
            "version",
            "V",
            "print-all-exitcodes",
            "prepend-rank",
            "l",
            "enable-x",
            "disable-x",
            "disable-auto-cleanup",
            "disable-hostname-propagation",
            "localonly",
            "nolocal",
            "print-rank-map",
            "tv",
            "check_mpi",
            "trace",
            "s-all",
            "cleanup",
            "ordered-output",
        ],
    ),
    (
        Family::Slurm,
        &[
            "exclusive",
            "E",
            "preserve-env",
            "K",
            "kill-on-bad-exit",
            "l",
            "label",
            "O",
            "overcommit",
            "s",
            "oversubscribe",
            "overlap",
            "Q",
            "quiet",
            "u",
            "unbuffered",
            "v",
            "vv",
            "vvv",
            "verbose",
            "X",
            "disable-status",
            "Z",
            "no-allocate",
            "H",
            "hold",
            "I",
            "immediate",
            "M",
            "multi-prog",
            "pty",
            "reboot",
            "spread-job",
            "use-min-nodes",
            "contiguous",
            "exact",
            "whole",
            "test-only",
            "no-kill",
            "k",
            "wait-all-nodes",
            // Of pyxis.
            "container-mount-home",
            "no-container-mount-home",
            "container-remap-root",
            "no-container-remap-root",
            "container-entrypoint",
            "no-container-entrypoint",
            "container-entrypoint-log",
            "container-writable",
            "container-readonly",
        ],
    ),
    (
        Family::Flux,
        &[
            "l",
            "label-io",
            "u",
            "unbuffered",
            "x",
            "exclusive",
            "v",
            "verbose",
            "dry-run",
            "watch",
            "wait",
            "h",
            "help",
        ],
    ),
    (
        Family::Pals,
        &[
            "envall",
            "envnone",
            "transfer",
            "no-transfer",
            "l",
            "label",
            "no-label",
            "exclusive",
            "shared",
            "line-buffer",
            "no-line-buffer",
            "abort-on-failure",
            "no-abort-on-failure",
            "sstartup",
            "no-sstartup",
            "v",
            "verbose",
            "version",
            "h",
            "help",
        ],
    ),
    (
        Family::ParaStation,
        &[
            "exclusive",
            "overbook",
            "loopnodesfirst",
            "wait",
            "dynamic",
            "rusage",
            "merge",
            "timestamp",
            "sourceprintf",
            "interactive",
            "genvall",
            "genvnone",
            "envall",
            "envnone",
            "l",
            "v",
            "V",
            "verbose",
            "version",
            "h",
            "help",
        ],
    ),
];

/// Words between a launcher's name and its options: `run`, or `mini run` of older Flux.
pub fn subcommands(family: Family, arguments: &[OsString]) -> usize {
    let is = |place: usize, word: &str| arguments.get(place).is_some_and(|found| found == word);
    match family {
        Family::Flux if is(0, "mini") => 2.min(arguments.len()),
        Family::Flux => 1.min(arguments.len()),
        _ => 0,
    }
}

/// Options with two values.
const PAIRS: &[(Family, &[&str])] = &[
    (
        Family::OpenMpi,
        &["mca", "omca", "gmca", "prtemca", "pmixmca", "opalmca"],
    ),
    (Family::Hydra, &["genv", "env"]),
    (Family::ParaStation, &["E", "export", "genv", "env"]),
];

/// The index of the program in `arguments`, a launcher's arguments without its own name: the first
/// word that is neither an option nor the value of one. If that word is not an executable, an
/// option was not recognized, and the first word with a slash that is an executable is taken.
pub fn position(family: Family, arguments: &[OsString]) -> Option<usize> {
    let mut place = subcommands(family, arguments);
    if family != Family::Plain {
        while let Some(argument) = arguments.get(place) {
            match option_name(argument) {
                None => break,
                Some(name) => place += 1 + values_of(family, &name, arguments.get(place + 1)),
            }
        }
    }
    // The run-time of a container may be installed where the job runs, and only there.
    let starts =
        |word: &OsString| container::is_runtime(word) || search::executable(word).is_some();
    if arguments.get(place).is_some_and(starts) {
        return Some(place);
    }
    let with_slash = |word: &OsString| {
        word.as_encoded_bytes().contains(&b'/') && search::executable(word).is_some()
    };
    let other = arguments.iter().position(with_slash);
    other.or((place < arguments.len()).then_some(place))
}

/// `--map-by` is `map-by`; `None` for a word that is not an option.
fn option_name(argument: &OsStr) -> Option<String> {
    let text = argument.to_string_lossy();
    let name = text.strip_prefix('-')?;
    Some(name.strip_prefix('-').unwrap_or(name).to_owned())
}

/// Number of words after an option that are its values.
fn values_of(family: Family, name: &str, next: Option<&OsString>) -> usize {
    let is_listed = |table: &[(Family, &[&str])]| {
        let mut lines = table.iter();
        lines.any(|(of, names)| *of == family && names.contains(&name))
    };
    let is_short = matches!(family, Family::Slurm | Family::Flux) && is_short_with_value(name);
    if name.contains('=') || is_short || is_listed(FLAGS) {
        0
    } else if family == Family::Pals && name == "env" {
        // `--env NAME=VALUE` and `-env NAME VALUE`.
        let one = next.is_some_and(|word| word.as_encoded_bytes().contains(&b'='));
        if one { 1 } else { 2 }
    } else if is_listed(PAIRS) {
        2
    } else {
        1
    }
}

/// Slurm's `-n4` and `-N2`: a letter with its value.
fn is_short_with_value(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(char::is_alphabetic)
        && letters.next().is_some_and(|c| c.is_ascii_digit())
}

/// The first option of a launcher's command line that has one of these names, in its written form.
pub(crate) fn first_option(family: Family, command: &[OsString], names: &[&str]) -> Option<String> {
    let arguments = command.get(1..).unwrap_or_default();
    let end = position(family, arguments).unwrap_or(arguments.len());
    let options = arguments[..end].iter().map(|word| word.to_string_lossy());
    let is_named = |text: &str| {
        let name = text.trim_start_matches('-');
        let name = name.split('=').next().unwrap_or(name);
        text.starts_with('-') && names.contains(&name)
    };
    options
        .filter(|text| is_named(text))
        .map(|text| text.into_owned())
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program_of(family: Family, line: &str) -> Option<String> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let place = position(family, &arguments)?;
        Some(arguments[place].to_string_lossy().into_owned())
    }

    #[test]
    fn options_and_their_values_come_before_the_program() {
        let sh = Some("/bin/sh".to_owned());
        for (family, line) in [
            (Family::OpenMpi, "-np 4 /bin/sh -c true"),
            (
                Family::OpenMpi,
                "--oversubscribe --mca btl self,vader -x LD_PRELOAD=/bin/ls /bin/sh -x",
            ),
            (
                Family::OpenMpi,
                "--map-by node --host=a,b --allow-run-as-root -n 2 /bin/sh",
            ),
            (Family::Hydra, "-genv A /bin/ls -n 4 -genvall /bin/sh"),
            (Family::Slurm, "-n4 -N 2 --mpi=pmix --label -l /bin/sh"),
            (
                Family::Flux,
                "run -n4 -N2 -o cpu-affinity=off --env=A=/bin/ls /bin/sh -c x",
            ),
            (Family::Flux, "mini run -n 4 -l /bin/sh"),
            (
                Family::Pals,
                "-n 8 --ppn 4 --env A=/bin/ls -env B /bin/ls /bin/sh",
            ),
            (Family::ParaStation, "-np 4 -E A /bin/ls --overbook /bin/sh"),
            (Family::Plain, "/bin/sh -np 4"),
        ] {
            assert_eq!(program_of(family, line), sh, "{line}");
        }
    }

    #[test]
    fn an_option_that_nobody_knows_does_not_hide_a_program_with_a_slash() {
        let found = program_of(Family::OpenMpi, "--brand-new-flag /bin/sh -c true");
        assert_eq!(found.as_deref(), Some("/bin/sh"));
    }

    #[test]
    fn a_line_without_a_program_has_none() {
        assert_eq!(program_of(Family::OpenMpi, "-np 4"), None);
    }
}
