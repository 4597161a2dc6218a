//! Component that runs the native MPI's own collectives, for correct predictions of their times.

use std::env;

use treepie_mpi::native::Native;
use treepie_native::Family;

/// Priority of Open MPI's `tuned`: HAN precedes it with a higher one.
const OF_TUNED: i64 = 30;

/// True if Open MPI's HAN runs them, from information that this process has.
pub fn is_han(native: &Native, family: Family) -> bool {
    family == Family::OpenMpi
        && by_settings(
            &native.library_version(),
            env::var("OMPI_MCA_coll_han_priority").ok().as_deref(),
            env::var("OMPI_MCA_coll").ok().as_deref(),
        )
}

/// True if HAN runs them, by the library's version, HAN's priority and the list of components, if
/// these are set. From version 5 on it is the default.
fn by_settings(version: &str, priority: Option<&str>, components: Option<&str>) -> bool {
    let number = version.trim_start_matches("Open MPI v").split('.').next();
    let usual = number
        .and_then(|number| number.parse::<u32>().ok())
        .is_some_and(|number| number >= 5);
    let is_first = match priority.and_then(|text| text.trim().parse::<i64>().ok()) {
        Some(priority) => priority > OF_TUNED,
        None => usual,
    };
    let is_listed = components.is_none_or(|list| {
        let list = list.trim();
        let without = list.strip_prefix('^');
        let named = without
            .unwrap_or(list)
            .split(',')
            .any(|name| name.trim() == "han");
        list.is_empty() || named != without.is_some()
    });
    is_first && is_listed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn han_does_the_collectives_of_open_mpi_5_unless_it_is_told_otherwise() {
        let (four, five) = (
            "Open MPI v4.1.4, package: Debian",
            "Open MPI v5.0.8, package",
        );
        for (version, priority, components, expected) in [
            (four, None, None, false),
            (four, Some("100"), None, true),
            (five, None, None, true),
            (five, Some("0"), None, false),
            (five, None, Some("^han"), false),
            (five, None, Some("^hcoll,ucc"), true),
            (five, None, Some("tuned,basic,libnbc"), false),
            (five, None, Some("han,tuned,basic,libnbc"), true),
            (five, None, Some(""), true),
            ("MVAPICH2 Version : 2.3", None, None, false),
        ] {
            assert_eq!(
                by_settings(version, priority, components),
                expected,
                "{version} {priority:?} {components:?}"
            );
        }
    }
}
