//! Only module that uses serde_yaml: text to values and back, with errors that state a line, a
//! field and the expectation.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::brackets::too_deep;
use crate::budget;
use crate::error::{FileError, FileErrorKind};
use crate::nearest::did_you_mean;
use crate::printable::{is_harmless, one_line};

/// Any YAML value.
pub use serde_yaml::Value;

/// Maximum number of brackets that are open together: serde_yaml reads no value that is nested more
/// deeply.
const MOST_OPEN: usize = 128;

/// Rejects text with too many open brackets.
fn require_few_brackets(path: &Path, text: &str) -> Result<(), FileError> {
    match too_deep(text, MOST_OPEN) {
        None => Ok(()),
        Some(line) => {
            let reason = format!("more than {MOST_OPEN} brackets are open");
            Err(error_at(path, (line, 0), FileErrorKind::Syntax(reason)))
        }
    }
}

/// Parses a document without interpretation.
pub fn parse_any(path: &Path, text: &str) -> Result<Value, FileError> {
    require_few_brackets(path, text)?;
    let document: Value = serde_yaml::from_str(text).map_err(|error| {
        let reason = one_line(&without_position(&error));
        let place = if reason.contains("duplicate entry") {
            // serde_yaml only reports where the mapping around it starts.
            (0, 0)
        } else {
            position(&error)
        };
        error_at(path, place, FileErrorKind::Syntax(reason))
    })?;
    match strange_text(&document, &[]) {
        None => Ok(document),
        Some(text) => {
            let reason = format!(
                "`{}` has a character that acts on a terminal or begins a line: no name has one; \
                 write it without",
                one_line(text)
            );
            Err(FileError::at(path, 0, reason))
        }
    }
}

/// Fields whose text may have several lines: arguments of programs, the text of a machine, and text
/// that people write.
const LONG_TEXTS: [&str; 3] = ["command", "machine", "about"];
const BREAKS: &[char] = &['\n', '\t'];

/// Returns a text in a document that is not safe for display.
fn strange_text<'a>(value: &'a Value, kept: &'static [char]) -> Option<&'a str> {
    match value {
        Value::String(text) => (!is_harmless(text, kept)).then_some(text),
        Value::Sequence(parts) => parts.iter().find_map(|part| strange_text(part, kept)),
        Value::Mapping(fields) => fields.iter().find_map(|(name, field)| {
            let kept = kept_in(name, kept);
            strange_text(name, &[]).or_else(|| strange_text(field, kept))
        }),
        Value::Tagged(tagged) => strange_text(&tagged.value, kept),
        _ => None,
    }
}

/// Returns the characters with an effect that may be in the text of a field.
fn kept_in(name: &Value, around: &'static [char]) -> &'static [char] {
    match name.as_str().is_some_and(|name| LONG_TEXTS.contains(&name)) {
        true => BREAKS,
        false => around,
    }
}

/// Escapes text that [`parse_any`] would reject: names are those of programs and machines.
fn make_harmless(value: &mut Value, kept: &'static [char]) {
    match value {
        Value::String(text) if !is_harmless(text, kept) => *text = one_line(text),
        Value::Sequence(parts) => parts.iter_mut().for_each(|part| make_harmless(part, kept)),
        Value::Mapping(fields) => {
            for (name, field) in fields.iter_mut() {
                make_harmless(field, kept_in(name, kept));
            }
        }
        _ => (),
    }
}

/// Parses a document as a `T`. The caller has checked the header, and so that the text is YAML; an
/// error here concerns a field.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    let parsed = budget::within(text.len(), || serde_yaml::from_str(text));
    parsed.map_err(|error: serde_yaml::Error| {
        let problem = explain(&one_line(&without_position(&error)));
        error_at(path, position(&error), FileErrorKind::Problem(problem))
    })
}

fn error_at(path: &Path, (line, column): (usize, usize), kind: FileErrorKind) -> FileError {
    FileError {
        line,
        column,
        ..FileError::new(path, kind)
    }
}

/// Returns the text of a document.
pub fn to_text<T: Serialize>(path: &Path, document: &T) -> Result<String, FileError> {
    let failed = |error: serde_yaml::Error| {
        let reason = one_line(&error.to_string());
        FileError::new(path, FileErrorKind::Unwritable(reason))
    };
    let text = serde_yaml::to_string(document).map_err(failed)?;
    // Only these are written as escapes or as blocks.
    if !text.contains(['\\', '|']) {
        return Ok(text);
    }
    let mut value = serde_yaml::to_value(document).map_err(failed)?;
    make_harmless(&mut value, &[]);
    serde_yaml::to_string(&value).map_err(failed)
}

/// Formats a value for a message.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "(nothing)".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(value) => format!("{value:?}"),
        Value::Sequence(_) => "a list".into(),
        Value::Mapping(_) => "a mapping".into(),
        Value::Tagged(_) => "a tagged value".into(),
    }
}

/// Returns the position of the error, from line 1 and column 1; line 0 if unknown.
fn position(error: &serde_yaml::Error) -> (usize, usize) {
    match error.location() {
        Some(location) => (location.line(), location.column()),
        None => (0, 0),
    }
}

/// Returns the message without the position that serde_yaml appends, and without the state of its
/// reader at that moment: the position precedes the message.
fn without_position(error: &serde_yaml::Error) -> String {
    let message = error.to_string();
    if let Some(location) = error.location() {
        let at = format!(" at line {} column {}", location.line(), location.column());
        if let Some(end) = message.rfind(&at) {
            return message[..end].to_owned();
        }
    }
    message
}

/// Rephrases serde's message for users who do not write Rust, with the nearest known name after an
/// unknown one.
fn explain(message: &str) -> String {
    let mut message = message.to_owned();
    for (theirs, ours) in [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected u32", "expected a whole number"),
        ("expected u8", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected a string", "expected text"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected `name: value` lines"),
    ] {
        if let Some(start) = message.strip_suffix(theirs) {
            message = format!("{start}{ours}");
        }
    }
    if let Some(start) = message.find("expected struct ") {
        message = format!("{}expected `name: value` lines", &message[..start]);
    }
    if let Some((unknown, known)) = unknown_field(&message) {
        let suggestion = did_you_mean(unknown, known.iter().copied());
        let prefix = message.split("unknown field `").next().unwrap_or_default();
        let known = known.join(", ");
        return format!("{prefix}unknown field `{unknown}`{suggestion}; known here are {known}");
    }
    if message.contains("missing field `") {
        return format!("{message}; write it, or write the file again if it was cut off");
    }
    message
}

/// Returns the unknown name and the known ones in serde's "unknown field" message.
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.split_once("unknown field `")?.1;
    let (unknown, expected) = rest.split_once("`, expected ")?;
    let known = expected.split('`').skip(1).step_by(2).collect();
    Some((unknown, known))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[allow(dead_code)]
        ranks: usize,
        #[allow(dead_code)]
        inner: Inner,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        #[allow(dead_code)]
        names: Vec<String>,
    }

    #[test]
    fn brackets_without_end_are_refused_before_they_are_read() {
        let lines = [
            "[".repeat(100) + "\nx: ",
            "[".repeat(100) + "\"" + &"]".repeat(100) + "\", ",
        ];
        for line in lines {
            let text = format!("x: {}", line.repeat(1_000));
            let error = parse_any(Path::new("a.yaml"), &text)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(": is not valid YAML: more than 128 brackets"),
                "{error}"
            );
        }
    }

    #[test]
    fn names_that_act_are_refused_where_read_and_escaped_where_written() {
        let path = Path::new("a.yaml");
        for text in [
            "a: {b: [\"x\\e[31m\"]}",
            "a: \"x\\ny\"",
            "\"a\\u202e\": 1",
            "about: \"\\e\"",
        ] {
            let error = parse_any(path, text).unwrap_err().to_string();
            assert!(
                error.contains("has a character that acts on a terminal"),
                "{error}"
            );
            assert!(!error.contains(['\u{1b}', '\n', '\u{202e}']), "{error}");
        }
        parse_any(path, "about: |\n  two\n  lines\ncommand: [\"a\\nb\"]\n").unwrap();
        let document = serde_yaml::from_str::<Value>(
            "name: \"a\\e\\nb\"\nlist: [\"c\\td|\", 1.5, 18446744073709551615]\ncommand: [\"e\\nf\"]\n",
        );
        let written = to_text(path, &document.unwrap()).unwrap();
        assert_eq!(
            parse_any(path, &written).unwrap(),
            serde_yaml::from_str::<Value>(
                "name: a\\u{1b}\\nb\nlist: ['c\\td|', 1.5, 18446744073709551615]\ncommand: [\"e\\nf\"]\n",
            )
            .unwrap()
        );
    }

    #[test]
    fn a_wrong_field_is_reported_with_line_name_and_expectation() {
        for (text, expected) in [
            (
                "ranks: many\ninner: {names: []}\n",
                "a.yaml:1:8: ranks: invalid type: string \"many\", expected a whole number",
            ),
            (
                "ranks: 3\ninner: {names: 4}\n",
                "a.yaml:2:16: inner.names: invalid type: integer `4`, expected a list",
            ),
            (
                "ranks: 3\ninner: 7\n",
                "a.yaml:2:8: inner: invalid type: integer `7`, expected `name: value` lines",
            ),
            (
                "ranks: 3\n",
                "a.yaml:1:1: missing field `inner`; write it, or write the file again if it was \
                 cut off",
            ),
            (
                "rnaks: 3\n",
                "a.yaml:1:1: unknown field `rnaks`, did you mean `ranks`?; known here are ranks, \
                 inner",
            ),
        ] {
            let error = parse::<Sample>(Path::new("a.yaml"), text).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
