//! Lists of hosts in the formats of launchers.

use std::path::Path;

/// The text of a list of hosts for a file with this name, with `per_host` ranks on each.
pub(super) fn text(path: &Path, hosts: &[String], per_host: usize) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let line = |place: usize, host: &String| match ending {
        Some("slurm") => format!("{host}\n").repeat(per_host),
        Some("openmpi") => format!("{host} slots={per_host}\n"),
        Some("hydra") => format!("{host}:{per_host}\n"),
        Some("nodes") => format!("{host} {place}\n"),
        Some("rankfile") => (0..per_host)
            .map(|slot| format!("rank {}={host} slot={slot}\n", place * per_host + slot))
            .collect(),
        _ => format!("{host}\n"),
    };
    let lines = hosts.iter().enumerate();
    lines.map(|(place, host)| line(place, host)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_has_the_form_of_its_launcher() {
        let hosts = ["b".to_owned(), "a".to_owned()];
        for (name, expected) in [
            ("f", "b\na\n"),
            ("f.slurm", "b\nb\na\na\n"),
            ("f.openmpi", "b slots=2\na slots=2\n"),
            ("f.hydra", "b:2\na:2\n"),
            ("f.nodes", "b 0\na 1\n"),
            (
                "f.rankfile",
                "rank 0=b slot=0\nrank 1=b slot=1\nrank 2=a slot=0\nrank 3=a slot=1\n",
            ),
        ] {
            assert_eq!(text(Path::new(name), &hosts, 2), expected, "{name}");
        }
    }
}
