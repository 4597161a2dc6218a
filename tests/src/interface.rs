//! The tables that the library's entry points are made from, read apart from
//! the library's own build.

use crate::artifacts::repository;

/// A parameter of a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What it is: `comm`, `count`, `request*`, ...
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// A procedure that the library defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// Its name: `MPI_Send`, `MPI_Send_c`.
    pub name: String,
    /// Whether it is a large-count twin.
    pub large: bool,
    /// Whether some MPI has it not.
    pub rare: bool,
    /// Its parameters in C.
    pub parameters: Vec<Parameter>,
}

impl Procedure {
    /// The symbols that the procedure has: C procedures have a second name.
    pub fn symbols(&self) -> Vec<String> {
        let mut symbols = vec![self.name.clone()];
        if self.name.starts_with("MPI_") || self.name.starts_with("MPIX_") {
            symbols.push(format!("P{}", self.name));
        }
        symbols
    }
}

/// All procedures, in the order of the tables.
///
/// # Panics
/// If a table cannot be read, or a line is not as the tables say.
#[track_caller]
pub fn procedures() -> Vec<Procedure> {
    ["interface", "extensions"]
        .iter()
        .flat_map(|table| lines(table))
        .flat_map(|line| of_line(&line))
        .collect()
}

#[track_caller]
fn lines(table: &str) -> Vec<String> {
    let file = repository().join(format!("shim/interface/tables/{table}.table"));
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

#[track_caller]
fn of_line(line: &str) -> Vec<Procedure> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (mut rare, mut twin) = (false, None);
    let mut parameters = Vec::new();
    for word in words {
        match (word, word.split_once(':')) {
            (_, Some((kind, name))) => parameters.push(Parameter {
                kind: kind.to_owned(),
                name: name.to_owned(),
            }),
            ("?", None) => rare = true,
            ("+c", None) => twin = Some(false),
            ("+c?", None) => twin = Some(true),
            _ => panic!("{word:?} in {line:?} is no parameter and no mark"),
        }
    }
    let of = |name: String, large: bool, rare: bool| Procedure {
        name,
        large,
        rare,
        parameters: parameters.clone(),
    };
    let mut procedures = vec![of(name.to_owned(), false, rare)];
    if let Some(rare) = twin {
        procedures.push(of(format!("{name}_c"), true, rare));
    }
    procedures
}
