//! Tables of the interface, and the procedures in them.

use crate::role::{self, Role};

/// Parameter of a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its kind: `comm`, `count`, `request*`, ...
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// Procedure that the library defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// Its name: `MPI_Send`, `MPI_Send_c`.
    pub name: String,
    /// True if it is a large-count variant.
    pub large: bool,
    /// True if some MPI lacks it: the entry point must be able to be absent.
    pub optional: bool,
    /// Its parameters in C.
    pub parameters: Vec<Parameter>,
    pub(crate) columns: Columns,
}

/// Columns after a procedure's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) action: Action,
    /// Columns whose values are data for the role, as the table has them.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// True if it returns whether or not it succeeded.
    pub(crate) polls: bool,
    /// True if no cut includes the operation that it begins: messages in parts or of two kinds in
    /// one call, processes of other jobs, streams and threads of the MPI, messages that may be
    /// cancelled.
    pub(crate) is_uncut: bool,
    /// True if it is a collective of a group that is not the whole communicator.
    pub(crate) is_of_group: bool,
}

/// Layers around a procedure's calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    /// Layers of a role.
    Role(&'static Role),
    /// Function at this path, which handles the call alone.
    By(String),
}

/// Columns whose values are data for the role.
const FACTS: [&str; 6] = ["operation", "access", "epoch", "open", "waits", "rma"];

/// Returns all procedures, in the order of their tables.
///
/// # Panics
/// A line of a table that cannot be read, with the line.
pub fn procedures() -> Vec<Procedure> {
    read(concat!(
        include_str!("../tables/interface.table"),
        include_str!("../tables/extensions.table")
    ))
    .unwrap_or_else(|problem| panic!("{problem}"))
}

/// Reads the procedures of a table; an error names the line.
pub(crate) fn read(text: &str) -> Result<Vec<Procedure>, String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut procedures = Vec::new();
    for line in lines {
        procedures.extend(read_line(line).map_err(|problem| format!("{problem}: {line:?}"))?);
    }
    Ok(procedures)
}

/// Reads a procedure, and its large-count variant if it has one.
fn read_line(line: &str) -> Result<Vec<Procedure>, String> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (mut optional, mut twin) = (false, None);
    let mut parameters = Vec::new();
    let mut columns = Columns {
        action: Action::Role(role::PLAIN),
        facts: Vec::new(),
        polls: false,
        is_uncut: false,
        is_of_group: false,
    };
    for word in words {
        match word {
            "?" => optional = true,
            "+c" => twin = Some(false),
            "+c?" => twin = Some(true),
            _ => match word.split_once(':').filter(|_| !word.contains('=')) {
                Some((kind, name)) => parameters.push(Parameter {
                    kind: kind.to_owned(),
                    name: name.to_owned(),
                }),
                None => columns.add(word)?,
            },
        }
    }
    let small = Procedure {
        name: name.to_owned(),
        large: false,
        optional,
        parameters,
        columns,
    };
    small.check()?;
    let large = twin.map(|optional| Procedure {
        name: format!("{name}_c"),
        large: true,
        optional,
        ..small.clone()
    });
    Ok([small].into_iter().chain(large).collect())
}

impl Columns {
    fn add(&mut self, word: &str) -> Result<(), String> {
        match word.split_once('=') {
            None if word == "poll" => self.polls = true,
            Some(("cut", "no")) => self.is_uncut = true,
            Some(("of", "group")) => self.is_of_group = true,
            Some(("by", path)) => self.action = Action::By(path.to_owned()),
            Some(("role", name)) => {
                let role = role::find(name).ok_or_else(|| format!("unknown role {name:?}"))?;
                self.action = Action::Role(role);
            }
            Some((column, value)) if FACTS.contains(&column) => {
                let column = FACTS.into_iter().find(|fact| *fact == column);
                self.facts
                    .extend(column.map(|column| (column, value.to_owned())));
            }
            _ => return Err(format!("unknown word {word:?}")),
        }
        Ok(())
    }

    /// Returns the value of a column.
    pub(crate) fn fact(&self, column: &str) -> Option<&str> {
        let found = self.facts.iter().find(|(name, _)| *name == column)?;
        Some(&found.1)
    }
}

impl Procedure {
    /// Returns the symbols of the procedure: those of MPI have a second name.
    pub fn symbols(&self) -> Vec<String> {
        let prefixes: &[&str] = match self.name.split_once('_') {
            Some(("MPI" | "MPIX", _)) => &["", "P"],
            _ => &[""],
        };
        let names = prefixes.iter();
        names
            .map(|prefix| format!("{prefix}{}", self.name))
            .collect()
    }

    /// Returns the path of the function that handles the calls alone.
    pub fn by(&self) -> Option<&str> {
        match &self.columns.action {
            Action::By(path) => Some(path),
            Action::Role(_) => None,
        }
    }

    /// True if a parameter has this kind.
    pub fn has_kind(&self, kind: &str) -> bool {
        self.parameters.iter().any(|one| one.kind == kind)
    }

    /// Checks that the columns are those that the role and the parameters require.
    fn check(&self) -> Result<(), String> {
        let Action::Role(role) = self.columns.action else {
            return Ok(());
        };
        for column in ["operation", "access", "epoch"] {
            let is_wanted = role.detail == Some(column);
            if is_wanted != self.columns.fact(column).is_some() {
                let problem = if is_wanted { "needs" } else { "has no" };
                return Err(format!("role {} {problem} `{column}=`", role.name));
            }
        }
        let makes = self.has_kind("comm*") || self.has_kind("window*");
        if makes && !role.registers() {
            return Err("it makes a communicator or window, and its role does not say so".into());
        }
        Ok(())
    }
}
