//! The tables of the interface, and what a procedure is in them.

use std::collections::BTreeMap;

pub(crate) struct Parameter {
    pub(crate) kind: String,
    pub(crate) name: String,
}

pub(crate) struct Procedure {
    pub(crate) name: String,
    pub(crate) large: bool,
    /// Not every MPI has it: the entry point must be able to be absent.
    pub(crate) optional: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) role: String,
}

/// All procedures, in the order of their tables.
///
/// # Panics
/// A line of a table that cannot be read, with the line.
pub(crate) fn procedures() -> Vec<Procedure> {
    let interface = concat!(
        include_str!("../tables/interface.table"),
        include_str!("../tables/extensions.table")
    );
    read_procedures(
        interface,
        &read_roles(include_str!("../tables/roles.table")),
    )
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn read_roles(text: &str) -> BTreeMap<String, String> {
    let mut roles = BTreeMap::new();
    for line in lines(text) {
        let (role, names) = line
            .split_once(": ")
            .unwrap_or_else(|| panic!("roles.table: no `role: procedures` in {line:?}"));
        for name in names.split_whitespace() {
            if roles.insert(name.to_owned(), role.to_owned()).is_some() {
                panic!("roles.table: {name} has two roles");
            }
        }
    }
    roles
}

fn read_procedures(text: &str, roles: &BTreeMap<String, String>) -> Vec<Procedure> {
    let mut procedures = Vec::new();
    for line in lines(text) {
        let mut words = line.split_whitespace();
        let name = words.next().expect("lines() drops empty lines");
        let (mut optional, mut twin) = (false, None);
        let mut parameters = Vec::new();
        for word in words {
            match (word, word.split_once(':')) {
                (_, Some((kind, name))) => parameters.push((kind, name)),
                ("?", None) => optional = true,
                ("+c", None) => twin = Some(false),
                ("+c?", None) => twin = Some(true),
                _ => panic!("{word:?} in {line:?}"),
            }
        }
        for (large, optional) in [(false, Some(optional)), (true, twin)] {
            let Some(optional) = optional else { continue };
            procedures.push(Procedure {
                name: format!("{name}{}", if large { "_c" } else { "" }),
                large,
                optional,
                parameters: parameters
                    .iter()
                    .map(|&(kind, name)| Parameter {
                        kind: kind.to_owned(),
                        name: name.to_owned(),
                    })
                    .collect(),
                role: roles.get(name).cloned().unwrap_or_default(),
            });
        }
    }
    for name in roles.keys() {
        if !procedures.iter().any(|procedure| procedure.name == *name) {
            panic!("roles.table: {name} is in no other table");
        }
    }
    procedures
}

impl Procedure {
    /// What stands before the names that the procedure has.
    pub(crate) fn prefixes(&self) -> &'static [&'static str] {
        match self.name.split_once('_') {
            Some(("MPI" | "MPIX", _)) => &["", "P"],
            _ => &[""],
        }
    }

    pub(crate) fn find(&self, names: &[&str]) -> Option<&Parameter> {
        names
            .iter()
            .find_map(|name| self.parameters.iter().find(|p| p.name == *name))
    }

    pub(crate) fn of_kind(&self, kind: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|p| p.kind == kind)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(&[name]).is_some()
    }

    /// The names of its parameters, as a call has them.
    pub(crate) fn arguments_as_given(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|p| &*p.name).collect();
        names.join(", ")
    }

    /// Whether this is a collective that is complete when it returns: one that
    /// plans can take the place of.
    pub(crate) fn blocks(&self) -> bool {
        let starts = |prefix| self.name.starts_with(prefix);
        starts("MPI_") && !starts("MPI_I") && !self.has("request")
    }
}
