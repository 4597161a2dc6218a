//! Header: the two lines that every file starts with, its kind and its version.

use std::path::Path;
use std::str::FromStr;

use strum::VariantArray;

use crate::error::{FileError, FileErrorKind};
use crate::kind::Kind;
use crate::yaml::{self, Value};

/// Version of the files that this treepie writes, and the newest it reads.
pub const VERSION: u64 = 1;

/// Returns the kind of the text, after a check of its version. `expected` is the kind that the
/// caller requires; `None` for any.
///
/// # Errors
/// Text that is not YAML, has no such lines, is of another kind or newer.
pub fn check(path: &Path, text: &str, expected: Option<Kind>) -> Result<Kind, FileError> {
    let no_header = |reason: String| {
        let kinds = match &expected {
            Some(kind) => std::slice::from_ref(kind),
            None => Kind::VARIANTS,
        };
        let kinds: Vec<_> = kinds.iter().map(Kind::to_string).collect();
        let expected = kinds.join("|");
        FileError::new(path, FileErrorKind::NoHeader { reason, expected })
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
        None => return Err(no_header("does not state its kind".into())),
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
        Some(expected) if expected != found => {
            let kind = FileErrorKind::WrongKind { found, expected };
            Err(FileError::new(path, kind))
        }
        _ => Ok(found),
    }
}

/// Rejects a version that is missing, newer or invalid.
fn check_version(
    path: &Path,
    version: Option<&Value>,
    no_header: impl Fn(String) -> FileError,
) -> Result<(), FileError> {
    let version = version.ok_or_else(|| no_header("does not state its version".into()))?;
    match version.as_u64() {
        Some(found) if found > VERSION => {
            let known = VERSION;
            let kind = FileErrorKind::NewerVersion { found, known };
            Err(FileError::new(path, kind))
        }
        Some(1..) => Ok(()),
        _ => Err(no_header(format!(
            "version: {} is not a whole number from 1",
            yaml::describe(version)
        ))),
    }
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
                format!("a.yaml: does not state its kind; {STARTS}"),
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
                format!("a.yaml: does not state its version; {STARTS}"),
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
}
