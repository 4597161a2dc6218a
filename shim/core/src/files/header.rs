//! The two lines that every file starts with: what it is, and which version.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::FileError;
use super::yaml::{self, Value};

/// The version of the files that this treepie writes, and the newest it reads.
pub const VERSION: u64 = 1;

/// What a file of treepie is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Who sent how much to whom in a job.
    Profile,
    /// Which rank belongs on which core.
    Placement,
    /// The tree of a machine or a cluster.
    Topology,
    /// The settings of a run.
    Configuration,
    /// Clusters, and how fast messages are in and between them.
    Platform,
    /// A grid to emulate.
    Grid,
}

impl Kind {
    /// All kinds, in the order in which they are listed to the user.
    pub const ALL: [Kind; 6] = [
        Kind::Profile,
        Kind::Placement,
        Kind::Topology,
        Kind::Configuration,
        Kind::Platform,
        Kind::Grid,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Kind::Profile => "profile",
            Kind::Placement => "placement",
            Kind::Topology => "topology",
            Kind::Configuration => "configuration",
            Kind::Platform => "platform",
            Kind::Grid => "grid",
        })
    }
}

impl FromStr for Kind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.to_string() == name)
            .ok_or(())
    }
}

/// What the text says it is, after a look at the version. `expected` is the kind
/// that the caller wants; `None` when any will do.
///
/// # Errors
/// Text that is not YAML, has no such lines, is of another kind or newer.
pub(super) fn check(path: &Path, text: &str, expected: Option<Kind>) -> Result<Kind, FileError> {
    let no_header = |reason: String| FileError::NoHeader {
        path: path.to_owned(),
        reason,
        expected: match expected {
            Some(kind) => kind.to_string(),
            None => Kind::ALL.map(|kind| kind.to_string()).join("|"),
        },
    };
    let document = yaml::parse_any(path, text)?;
    let Value::Mapping(fields) = document else {
        let reason = match document {
            Value::Null => "is empty",
            _ => "is not a list of `name: value` lines",
        };
        return Err(no_header(reason.into()));
    };
    let found = match fields.get("treepie") {
        None => return Err(no_header("does not say what it is".into())),
        Some(name) => name
            .as_str()
            .and_then(|name| Kind::from_str(name).ok())
            .ok_or_else(|| {
                let name = yaml::describe(name);
                no_header(format!(
                    "treepie: {name} is not a kind of file that this treepie knows"
                ))
            })?,
    };
    check_version(path, fields.get("version"), no_header)?;
    match expected {
        Some(expected) if expected != found => Err(FileError::WrongKind {
            path: path.to_owned(),
            found,
            expected,
        }),
        _ => Ok(found),
    }
}

/// Refuses a version that is missing, newer or no version at all.
fn check_version(
    path: &Path,
    version: Option<&Value>,
    no_header: impl Fn(String) -> FileError,
) -> Result<(), FileError> {
    let version = version.ok_or_else(|| no_header("does not say its version".into()))?;
    match version.as_u64() {
        Some(found) if found > VERSION => Err(FileError::NewerVersion {
            path: path.to_owned(),
            found,
            known: VERSION,
        }),
        Some(1..) => Ok(()),
        _ => Err(no_header(format!(
            "version: {} is not a whole number from 1",
            yaml::describe(version)
        ))),
    }
}

/// A moment as files state it, in UTC: `2026-11-21T04:03:48Z`.
///
/// `seconds` counts from 1970-01-01T00:00:00Z, as `SystemTime::UNIX_EPOCH` does.
/// The calendar is computed with Howard Hinnant's `civil_from_days`.
pub fn date(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468; // days from 0000-03-01
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn message(text: &str, expected: Option<Kind>) -> String {
        check(Path::new("a.yaml"), text, expected)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn each_wrong_header_has_its_own_message() {
        const STARTS: &str =
            "a file of treepie starts with the lines `treepie: profile` and `version: 1`";
        for (text, expected) in [
            ("", format!("a.yaml: is empty; {STARTS}")),
            (
                "just words",
                format!("a.yaml: is not a list of `name: value` lines; {STARTS}"),
            ),
            (
                "version: 1\n",
                format!("a.yaml: does not say what it is; {STARTS}"),
            ),
            (
                "treepie: horoscope\nversion: 1\n",
                format!(
                    "a.yaml: treepie: \"horoscope\" is not a kind of file that this treepie \
                     knows; {STARTS}"
                ),
            ),
            (
                "treepie: profile\n",
                format!("a.yaml: does not say its version; {STARTS}"),
            ),
            (
                "treepie: profile\nversion: new\n",
                format!("a.yaml: version: \"new\" is not a whole number from 1; {STARTS}"),
            ),
            (
                "treepie: profile\nversion: 0\n",
                format!("a.yaml: version: 0 is not a whole number from 1; {STARTS}"),
            ),
            (
                "treepie: profile\nversion: 7\n",
                "a.yaml: version 7: written by a newer treepie, this one reads versions up to 1; \
                 use the newer treepie, or write the file again with this one"
                    .into(),
            ),
            (
                "treepie: placement\nversion: 1\n",
                "a.yaml: this is a placement, a profile was expected; give the profile".into(),
            ),
        ] {
            assert_eq!(message(text, Some(Kind::Profile)), expected);
        }
    }

    #[test]
    fn a_profile_where_a_placement_was_wanted_points_at_treepie_map() {
        assert_eq!(
            message("treepie: profile\nversion: 1\n", Some(Kind::Placement)),
            "a.yaml: this is a profile, a placement was expected; give the placement, which \
             `treepie map` makes from a profile"
        );
    }

    #[test]
    fn text_that_is_not_yaml_is_refused_with_its_line_and_column() {
        assert_eq!(
            message("treepie: profile\nranks: [1, 2\nversion: 1\n", None),
            "a.yaml:3:8: is not valid YAML: did not find expected ',' or ']'; correct this line, \
             or write the file again if it was cut off"
        );
    }

    #[test]
    fn dates_agree_with_the_calendar() {
        // Computed with `date -u -d @N +%FT%TZ`.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_233_828, "2026-11-21T04:03:48Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), expected);
        }
    }
}
