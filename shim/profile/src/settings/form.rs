//! Forms of values: their parsing, printing and documentation.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use strum::VariantArray;
use treepie_base::{Cluster, List, Process, Rank, UnknownName, list, permutation, time};

use super::choices::{GuardMode, Pages, choice, switch};
use super::collectives::Collectives;
use super::output;

/// Form of the values of a setting.
pub(super) struct Form<T> {
    /// Values, for people.
    pub(super) values: fn() -> String,
    /// Default, if it is not a value.
    pub(super) unset: &'static str,
    /// Parser of a text.
    pub(super) parse: fn(&str) -> Result<T, String>,
    /// Printer of a value, whose text `parse` reads.
    pub(super) print: fn(&T) -> Option<String>,
}

impl<T> Form<T> {
    /// Creates a form in which a setting may have no value.
    const fn new(
        values: fn() -> String,
        parse: fn(&str) -> Result<T, String>,
        print: fn(&T) -> Option<String>,
    ) -> Self {
        Form {
            values,
            unset: "none",
            parse,
            print,
        }
    }
}

impl<T: Display> Form<T> {
    /// Creates a form of values that print themselves.
    const fn shown(values: fn() -> String, parse: fn(&str) -> Result<T, String>) -> Self {
        Form::new(values, parse, |value| Some(value.to_string()))
    }
}

impl<T> Form<T>
where
    T: FromStr<Err = UnknownName> + Display + VariantArray + Copy + Into<&'static str>,
{
    pub(super) const CHOICE: Self = Form::shown(variants::<T>, choice);
}

impl Form<Option<GuardMode>> {
    pub(super) const GUARD: Self = Form {
        values: variants::<GuardMode>,
        unset: "`off`; `on` with `mode: auto`",
        parse: |text| choice(text).map(Some),
        print: print_option,
    };
}

impl Form<bool> {
    pub(super) const SWITCH: Self = Form::shown(|| "`true`, `false`".into(), switch);
}

impl Form<Pages> {
    pub(super) const PAGES: Self = Form::shown(
        || "`true`, `false`, a directory with a `/` in it".into(),
        str::parse,
    );
}

impl Form<Collectives> {
    pub(super) const COLLECTIVES: Self = Form::shown(
        || "`native`, `auto`, `by-name`, a list such as `bcast:0-64K=grid-chain,scan=auto`".into(),
        str::parse,
    );
}

impl Form<Option<PathBuf>> {
    pub(super) const PATH: Self = Form::new(
        || FILE.into(),
        |text| path(text).map(Some),
        |value| value.as_ref().map(|path| path.display().to_string()),
    );
}

impl Form<Option<u64>> {
    pub(super) const NUMBER: Self = Form::new(
        || "a number from 0 on".into(),
        |text| number(text).map(Some),
        print_option,
    );
}

impl Form<Option<Duration>> {
    pub(super) const SECONDS: Self = Form::new(
        || "a time such as `60`, `60s` or `10min`, at least 0.01 s, or 0 for none".into(),
        seconds,
        |value| value.map(|time| time.as_secs_f64().to_string()),
    );
}

impl Form<OrderTimeout> {
    pub(super) const TIMEOUT: Self = Form::new(
        || "a time such as `60s` or `10min`, or 0 for as long as it takes".into(),
        |text| seconds(text).map(OrderTimeout),
        |value| Some(value.0.unwrap_or_default().as_secs_f64().to_string()),
    );
}

impl Form<Option<List<Process, Rank>>> {
    pub(super) const PERMUTATION: Self = Form::new(
        || "each rank once, such as `2,0,1`".into(),
        |text| permutation::parse(text).map(Some).map_err(to_text),
        |value| value.as_ref().map(|new_rank| list::to_text(&new_rank.raw)),
    );
}

impl Form<Option<List<Process, Cluster>>> {
    pub(super) const NUMBERS: Self = Form::new(
        || "numbers, such as `0,0,1,1`".into(),
        |text| {
            list::parse(text)
                .map(Cluster::list)
                .map(Some)
                .map_err(to_text)
        },
        |value| value.as_ref().map(|numbers| list::to_text(&numbers.raw)),
    );
}

impl Form<Option<String>> {
    pub(super) const STORE: Self = Form {
        values: || "whole paths with `:` between them".into(),
        unset: "`~/.local/state/treepie`",
        parse: |text| store(text).map(Some),
        print: Option::clone,
    };

    pub(super) const OUTPUT: Self = Form {
        values: || FILE.into(),
        unset: output::DEFAULT_IN_REFERENCE,
        parse: |text| {
            path(text)?;
            output::check(text)?;
            Ok(Some(text.to_owned()))
        },
        print: Option::clone,
    };

    pub(super) const NETWORK: Self = Form::new(
        || {
            "a description such as `torus:8x8x8`, or a file, with the name of one of its networks \
             behind a colon"
                .into()
        },
        |text| {
            path(text)?;
            Ok(Some(text.trim().to_owned()))
        },
        Option::clone,
    );
}

/// Longest time that a replayed call may wait for its recorded result; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderTimeout(pub Option<Duration>);

impl Default for OrderTimeout {
    /// Returns a minute.
    fn default() -> Self {
        OrderTimeout(Some(Duration::from_secs(60)))
    }
}

/// Values of settings that name a file.
pub(super) const FILE: &str = "a file";

/// Minimum of a phase interval; in a shorter one, the counting itself would take most of the time.
const SHORTEST: Duration = Duration::from_millis(10);

fn variants<T: VariantArray + Copy + Into<&'static str>>() -> String {
    let names: Vec<String> = T::VARIANTS
        .iter()
        .map(|&value| format!("`{}`", value.into()))
        .collect();
    names.join(", ")
}

fn print_option<T: Display>(value: &Option<T>) -> Option<String> {
    value.as_ref().map(T::to_string)
}

fn to_text(error: impl Display) -> String {
    error.to_string()
}

/// Parses the directories of a store.
fn store(text: &str) -> Result<String, String> {
    if text.split(':').all(|path| path.starts_with('/')) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is no list of directories; write whole paths with `:` between them, your own \
             first"
        ))
    }
}

/// Parses the name of a file: any text that is not empty.
fn path(text: &str) -> Result<PathBuf, String> {
    match text.trim() {
        "" => Err("is empty; write the name of a file".into()),
        _ => Ok(PathBuf::from(text)),
    }
}

/// Parses a number, from 0.
fn number(text: &str) -> Result<u64, String> {
    let number = text.trim().parse();
    number.map_err(|_| format!("`{text}` is no number; write one from 0 on"))
}

/// A length of time; none for 0 or `off`.
fn seconds(text: &str) -> Result<Option<Duration>, String> {
    match text.trim() {
        "off" | "false" => Ok(None),
        text => match time::parse(text)? {
            time if time.is_zero() => Ok(None),
            time if time >= SHORTEST => Ok(Some(time)),
            _ => Err(format!(
                "`{text}` is too short; write {} s at least, or 0 for none",
                SHORTEST.as_secs_f64()
            )),
        },
    }
}
