//! Runner of each collective: the native MPI, or plans of ours.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::choices::choice;
use treepie_collective::{Algorithm, Operation};

/// Runner of one collective.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Runner {
    /// The native MPI, unchanged.
    #[default]
    Native,
    /// The plan that is predicted to be fastest.
    Auto,
    /// The plan of this algorithm, such as `ecef-lat`.
    Algorithm(String),
}

impl Runner {
    fn parse(text: &str) -> Result<Self, String> {
        let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match text {
            "native" => Ok(Runner::Native),
            "auto" => Ok(Runner::Auto),
            name if !name.is_empty() && name.bytes().all(letters) => {
                Ok(Runner::Algorithm(name.into()))
            }
            name => Err(format!(
                "`{name}` names no algorithm; write native, auto or an algorithm such as ecef-lat"
            )),
        }
    }
}

impl fmt::Display for Runner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Runner::Native => out.write_str("native"),
            Runner::Auto => out.write_str("auto"),
            Runner::Algorithm(name) => out.write_str(name),
        }
    }
}

/// Runner of each collective: `native`, `auto`, or one by one as in
/// `bcast=ecef-lat,allreduce=native`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collectives {
    /// Runner of collectives that are not listed.
    pub otherwise: Runner,
    /// The listed operations.
    pub listed: Vec<(Operation, Runner)>,
    /// Operations for which the native MPI is to take this algorithm of its own, as in
    /// `bcast=native:chain`; whether it has that, the MPI alone says.
    pub native_algorithms: Vec<(Operation, String)>,
    /// Communicators have runners of their own, where their names (`MPI_Comm_set_name`) begin with
    /// [`NAMED`]: how `treepie tune` compares plans.
    pub by_name: bool,
}

/// What stands before the name of an algorithm of the native MPI's own.
const NATIVE_ALGORITHM: &str = "native:";

/// The setting that lets communicators have runners of their own.
const BY_NAME: &str = "by-name";

/// What the name of a communicator begins with that has runners of its own, which follow as the
/// setting has them: `treepie:bcast=binomial`.
pub const NAMED: &str = "treepie:";

/// An algorithm that a setting names and that its collective does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation} has no algorithm `{name}`; known are native, auto, {known}")]
pub struct UnknownAlgorithm {
    /// The collective.
    pub operation: Operation,
    /// The name.
    pub name: String,
    /// The names that there are.
    pub known: String,
}

impl Collectives {
    /// Checks that every algorithm that is named exists.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), UnknownAlgorithm> {
        for (operation, runner) in &self.listed {
            if let Runner::Algorithm(name) = runner
                && Algorithm::find(*operation, name).is_none()
            {
                let known: Vec<&str> = Algorithm::of(*operation).map(|known| known.name).collect();
                return Err(UnknownAlgorithm {
                    operation: *operation,
                    name: name.clone(),
                    known: known.join(", "),
                });
            }
        }
        Ok(())
    }

    /// Runner of `operation`.
    pub fn runner(&self, operation: Operation) -> &Runner {
        self.listed
            .iter()
            .find(|(listed, _)| *listed == operation)
            .map_or(&self.otherwise, |(_, runner)| runner)
    }

    /// All are chosen.
    pub fn all_auto() -> Collectives {
        Collectives {
            otherwise: Runner::Auto,
            ..Collectives::default()
        }
    }

    /// The runners on a communicator of this name.
    ///
    /// # Errors
    /// A name that begins with [`NAMED`], and what follows is no such setting.
    pub fn of_name(name: &str) -> Result<Collectives, String> {
        match name.strip_prefix(NAMED) {
            Some(setting) => setting.parse(),
            None => Ok(Collectives::default()),
        }
    }

    /// True if every collective is left to the native MPI.
    pub fn all_native(&self) -> bool {
        !self.by_name
            && self.otherwise == Runner::Native
            && self
                .listed
                .iter()
                .all(|(_, runner)| *runner == Runner::Native)
    }
}

impl FromStr for Collectives {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == BY_NAME {
            return Ok(Collectives {
                by_name: true,
                ..Collectives::default()
            });
        }
        if !text.contains('=') {
            let otherwise = match Runner::parse(text.trim())? {
                Runner::Algorithm(name) => {
                    return Err(format!(
                        "`{name}` stands alone; write native, auto, or the operation in front, such \
                         as bcast={name}"
                    ));
                }
                runner => runner,
            };
            return Ok(Collectives {
                otherwise,
                ..Collectives::default()
            });
        }
        let mut seen = BTreeMap::new();
        let (mut listed, mut native_algorithms) = (Vec::new(), Vec::new());
        for item in text.split(',').map(str::trim) {
            let (operation, runner) = item.split_once('=').ok_or_else(|| {
                format!("`{item}` is not operation=strategy; write it as in bcast=ecef-lat")
            })?;
            let operation: Operation = choice(operation.trim())?;
            let name = operation.to_string();
            if seen.insert(name.clone(), ()).is_some() {
                return Err(format!("{name} is listed twice; keep one of them"));
            }
            let runner = runner.trim();
            if let Some(name) = runner.strip_prefix(NATIVE_ALGORITHM) {
                native_algorithms.push((operation, native_name(name)?));
                listed.push((operation, Runner::Native));
            } else {
                listed.push((operation, Runner::parse(runner)?));
            }
        }
        Ok(Collectives {
            listed,
            native_algorithms,
            ..Collectives::default()
        })
    }
}

/// A name as MPIs have them: `scatter_allgather`.
fn native_name(name: &str) -> Result<String, String> {
    let is_of_one = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    match !name.is_empty() && name.bytes().all(is_of_one) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "`{name}` names no algorithm of an MPI's own; write one such as native:binomial"
        )),
    }
}

impl fmt::Display for Collectives {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by_name {
            return out.write_str(BY_NAME);
        }
        if self.listed.is_empty() {
            return self.otherwise.fmt(out);
        }
        for (index, (operation, runner)) in self.listed.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(out, "{comma}{operation}={runner}")?;
            let mut named = self.native_algorithms.iter();
            if let Some((_, name)) = named.find(|(of, _)| of == operation) {
                write!(out, ":{name}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_three_forms_are_read_and_written() {
        for text in [
            "native",
            "auto",
            "by-name",
            "bcast=ecef-lat,allreduce=native",
            "bcast=native:scatter_allgather,scan=native:2",
        ] {
            let collectives: Collectives = text.parse().unwrap();
            assert_eq!(collectives.to_string(), text);
        }
        let some: Collectives = "bcast=ecef-lat,allreduce=native".parse().unwrap();
        assert_eq!(
            some.runner(Operation::Bcast),
            &Runner::Algorithm("ecef-lat".into())
        );
        assert_eq!(some.runner(Operation::Barrier), &Runner::Native);
        assert!(!some.all_native());
        assert!("bcast=native".parse::<Collectives>().unwrap().all_native());
        let own: Collectives = "bcast=native:chain".parse().unwrap();
        assert!(own.all_native());
        assert_eq!(
            own.native_algorithms,
            [(Operation::Bcast, "chain".to_owned())]
        );
    }

    #[test]
    fn a_communicator_s_name_may_say_who_runs_its_collectives() {
        let of = |name| Collectives::of_name(name).unwrap();
        let named = of("treepie:bcast=binomial");
        let binomial = Runner::Algorithm("binomial".into());
        assert_eq!(named.runner(Operation::Bcast), &binomial);
        assert!(of("rows of the matrix").all_native() && of("").all_native());
        assert!(Collectives::of_name("treepie:bcast").is_err());
    }

    #[test]
    fn wrong_lists_say_what_to_write() {
        for (text, expected) in [
            (
                "fast",
                "`fast` stands alone; write native, auto, or the operation in front, such as \
                 bcast=fast",
            ),
            (
                "bcast=auto,allreduce",
                "`allreduce` is not operation=strategy; write it as in bcast=ecef-lat",
            ),
            (
                "bcast=native:two words",
                "`two words` names no algorithm of an MPI's own; write one such as native:binomial",
            ),
            (
                "bcast=auto,bcast=native",
                "bcast is listed twice; keep one of them",
            ),
            (
                "bcast=",
                "`` names no algorithm; write native, auto or an algorithm such as ecef-lat",
            ),
        ] {
            assert_eq!(text.parse::<Collectives>().unwrap_err(), expected);
        }
    }
}
